"""Whatever the text, there is a program or a list of mistakes in words, never anything else."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plx.errors import PlxError
from plx.syntax.words import STATEMENTS
from tests.compiling import compile_text

PROGRAM = (Path(__file__).parents[1] / "programs" / "good" / "everything.plx").read_text()
LINES = [line for line in PROGRAM.splitlines() if line and line[0] != "#"]
WORDS = re.compile(r'"[^"]*"|\w+|[^\w\s]')
POOL = sorted({word for line in LINES for word in WORDS.findall(line)})
NAMES = [word for word in POOL if word[0].isalpha() and word not in STATEMENTS]


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """The program with a few words exchanged for others."""
    lines = list(LINES)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        words = WORDS.findall(lines[at])
        place = draw(st.integers(0, len(words) - 1))
        words[place] = draw(st.sampled_from(NAMES if words[place] in NAMES else POOL))
        lines[at] = " ".join(words)
    return "\n".join(lines)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(damaged())
def test_damaged_programs(text: str) -> None:
    try:
        compile_text(text)
    except PlxError as error:
        for found in error.diagnostics:
            assert found.message and found.span is not None and found.span.start <= len(text)
        assert str(error).count("error:") >= len(error.diagnostics)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(LINES), max_size=len(LINES)))
def test_parts_of_a_program(lines: list[str]) -> None:
    try:
        compile_text("\n".join(lines))
    except PlxError as error:
        assert error.diagnostics
