"""Five thousand damaged inputs: programs, networks, evidence and tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from plx.errors import PlxError
from tests.fuzz.inputs import SMALL, Inputs, kinds
from tests.fuzz.trial import case, fault, memory_bounded

KINDS = kinds()
CASES = {kind: 250 if kind.endswith(".csv") else 480 for kind in KINDS} | {"program": 1120}


@pytest.mark.parametrize("kind", KINDS)
def test_the_inputs_are_good_before_they_are_damaged(tmp_path: Path, kind: str) -> None:
    """All but some of those from files, which are bad programs."""
    for text in SMALL if kind == "program" else KINDS[kind].texts:
        KINDS[kind].read(text.encode(), tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_inputs_are_read_or_refused_in_words(tmp_path: Path, kind: str) -> None:
    with memory_bounded():
        for number in range(CASES[kind]):
            content = case(KINDS[kind], f"{kind} {number}")
            found = fault(KINDS[kind], content, tmp_path)
            assert found is None, f"{kind} {number}: {content!r}\n{found}"


def test_five_thousand_are_tried_and_many_of_each_outcome(tmp_path: Path) -> None:
    """A fuzzer whose inputs are all refused at once, or all still good, finds nothing."""
    assert sum(CASES.values()) >= 5000
    for kind, inputs in KINDS.items():
        contents = [case(inputs, f"{kind} {number}") for number in range(40)]
        read = sum(_is_read(inputs, content, tmp_path) for content in contents)
        assert 0 < read < 38, kind


def _is_read(inputs: Inputs, content: bytes, folder: Path) -> bool:
    try:
        inputs.read(content, folder)
    except PlxError:
        return False
    return True
