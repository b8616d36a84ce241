"""Every sampler that uses symmetries agrees with exact answers on the examples, or says it does not yet."""

from __future__ import annotations

from pathlib import Path

import pytest

import plx

EXAMPLES = Path(__file__).parents[2] / "examples"

# Too wide to converge in so few samples, or as others are and slower.
LEFT_OUT = {"capture", "epidemic", "colouring", "fusion", "ranking"}
PROGRAMS = sorted(path for path in EXAMPLES.rglob("*.plx") if path.stem not in LEFT_OUT)

# Two modes, between which single unknowns hardly move.
SLOW = {"water"}

# So many answers are asked that one in a million may be five standard errors away.
ERRORS = 5


@pytest.fixture(scope="module")
def exact() -> dict[Path, plx.Result]:
    return {path: plx.load(path).run(method="exact", seed=1) for path in PROGRAMS}


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
@pytest.mark.parametrize("method", ["orbital", "vv", "nec", "lifted"])
def test_answers_agree_with_exact_ones(exact: dict[Path, plx.Result], path: Path, method: str) -> None:
    found = plx.load(path).run(method=method, seed=3, accuracy=0.03, samples=4000)
    compared = 0
    for truth, answer in zip(exact[path], found, strict=True):
        if truth.kind in ("map", "logz") or not answer.converged:
            continue
        expected = {estimate.text: estimate.p for estimate in truth.estimates}
        for estimate in answer.estimates:
            error = 2e-3 + ERRORS * estimate.mcse
            assert estimate.p == pytest.approx(expected.get(estimate.text, 0.0), abs=error), (
                answer.name,
                estimate.text,
            )
            compared += 1
    assert compared or path.stem in SLOW
