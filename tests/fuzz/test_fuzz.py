"""Five thousand damaged inputs: programs, networks, evidence and tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from plx.errors import PlxError
from tests.fuzz.inputs import BIF, FILES, PAPER, SMALL, Inputs, kinds
from tests.fuzz.trial import case, fault, memory_bounded

KINDS = kinds()
CASES = {kind: 250 if kind.endswith(".csv") else 480 for kind in KINDS}
CASES |= {"program": 1120, "jsonl": 60, "names": 100}


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


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("uai", "MARKOV 1 2 1 1 0 2 1 N"),
        ("fg", "1\n\n1\n0\n2\n1\n0 N\n"),
        ("virt", "1 0 2 1 N"),
        ("bif", BIF.replace("0.8", "N")),
        ("json", PAPER.replace("1.2", "N")),
        ("json", PAPER.replace("3}]", "N}]")),
        ("json", PAPER.replace("[1, 2, 0]", "[1, N, 0]")),
        ("w.csv", FILES["w"].replace("0.5", "N")),
        ("seen.csv", FILES["seen"].replace("2", "N")),
        ("program", "random a weight N: a query a"),
    ],
)
@pytest.mark.parametrize("number", ["7" * 1001, "7" * 5000, "0." + "3" * 5000, "1" * 5000 + "e-5000"])
def test_numbers_of_thousands_of_digits_are_refused(
    tmp_path: Path, kind: str, text: str, number: str
) -> None:
    with pytest.raises(PlxError):
        KINDS[kind].read(text.replace("N", number).encode(), tmp_path)
