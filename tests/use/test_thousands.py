"""Thousands are written one way in all that is said: ``65,536``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import plx

MISTAKES = [
    "random x: 0..70000",
    "random x\nweight 1e60000: x",
    "random x\nweight " + "1" * 1001 + ": x",
    "type T = 1..9999999999",
    "random f(s1..s99999999)",
    "type T = 1..2000\nrelation r(x: T, y: T) = y = x + 1",
    "type T = 1..20000\nrandom f(T)\nquery f(x) as a for x in T\nquery f(1) as a",
    "type T = 1..12\nrandom f(T): 0..9\nquery (" + ", ".join(f"f({i})" for i in range(1, 13)) + ")",
    "type T = 1..3000\nparam w(T) = {1: 2}",
]


@pytest.mark.parametrize("program", MISTAKES)
def test_in_messages(program: str) -> None:
    with pytest.raises(plx.PlxError) as caught:
        plx.run(program)
    for diagnostic in caught.value.diagnostics:
        said = re.sub(r"`[^`]*`|\d+\.\.\d+", "", f"{diagnostic.message} {diagnostic.hint}")
        assert not re.search(r"\d{4}", said), said


def test_in_messages_about_arrays() -> None:
    with pytest.raises(plx.PlxError, match=r"has 2,000 × 2 cells, its slots have 3 × 2 members"):
        plx.run("param w(1..3, 0..1)\nrandom x\nquery x", w=np.zeros((2000, 2)))


def limits() -> Iterator[tuple[str, str]]:
    """The constants that stand in f-strings without a format."""
    for path in Path(plx.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FormattedValue) and node.format_spec is None:
                name = ast.unparse(node.value).rpartition(".")[2]
                if re.fullmatch(r"_?(MOST|MAX|LONGEST|LARGEST|LIMIT)[A-Z_]*", name):
                    yield path.name, name


def test_limits_are_written_with_their_thousands() -> None:
    assert list(limits()) == []
