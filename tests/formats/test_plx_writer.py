"""Bayesian networks as programs: the same answers, and names that plx can read."""

from __future__ import annotations

from pathlib import Path

import pytest

import plx
from plx.formats import read_observed, write_plx

BIF = """
network odd { }
variable random { type discrete [ 2 ] { true, false }; }
variable X-ray { type discrete [ 3 ] { <5, b, X-ray }; }
variable b { type discrete [ 3 ] { <5, b, X-ray }; }
variable thirds { type discrete [ 3 ] { u, v, w }; }
probability ( random ) { table 0.125, 0.875; }
probability ( X-ray | random ) { (true) 0.5, 0.5, 0; (false) 0, 1e-12, 0.999999999999; }
probability ( b | X-ray, random ) {
  (<5, true) 0.1, 0.2, 0.7; (b, true) 1, 0, 0; (X-ray, true) 0.3, 0.3, 0.4; default 0.25, 0.25, 0.5;
}
probability ( thirds | random ) { (true) 0.3333333, 0.3333333, 0.3333333; (false) 0.2, 0.3, 0.5; }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "odd.bif"
    path.write_text(BIF)
    return path


@pytest.mark.parametrize("evidence", [[], ["b=X-ray"], ["X-ray=b", "thirds=v"]])
def test_the_program_gives_the_same_answers(file: Path, evidence: list[str]) -> None:
    text = write_plx(read_observed(file, evidence, best=2))
    mine, theirs = (
        plx.run(text, method="exact"),
        plx.load(file, **dict(item.split("=") for item in evidence)).run(method="exact"),
    )
    theirs_by_position = [a for a in theirs if a.kind != "map"]
    assert mine.log_z == pytest.approx(theirs.log_z, abs=1e-12)
    for one, other in zip((a for a in mine if a.kind != "map"), theirs_by_position, strict=True):
        assert list(one.distribution) == list(other.distribution)
        assert list(one.distribution.values()) == pytest.approx(list(other.distribution.values()), abs=1e-12)


def test_rows_that_do_not_sum_to_one_stay_a_factor(file: Path) -> None:
    text = write_plx(read_observed(file))
    assert text.count("factor log(") == 1 and text.count(" ~ ") == 3
    assert "# X-ray" in text and '"<5"' in text and '"true"' in text
