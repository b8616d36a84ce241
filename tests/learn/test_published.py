"""The public folds in ../shared/learning: the maximum that closed-form sums over persons give."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import plx

DATA = Path(__file__).parents[3] / "shared" / "learning"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the public data in ../shared/learning are absent")

SLOTS = {
    "male": "P", "director": "P", "actor": "P", "movie": "FP", "workedUnder": "PP", "genre": "PG",
}  # fmt: skip
PROGRAM = """
type P
type F
type G
random male(P)
random director(P)
random actor(P)
random movie(F, P)
random workedUnder(P, P)
random genre(P, G)
learn w1 learn w2 learn w3 learn w4 learn w5 learn w6 learn w7 learn w8 learn w9
weight w1: workedUnder(x, y) for x, y in P
weight w2: male(x) for x in P
weight w3: movie(x, y) for x in F, y in P
weight w4: genre(x, y) for x in P, y in G
weight w5: actor(x) for x in P
weight w6: director(x) for x in P
weight w7: genre(x, y) | workedUnder(z, x) for x, z in P, y in G
weight w8: !genre(x, y) | !workedUnder(z, x) for x, z in P, y in G
weight w9: !workedUnder(x, y) | director(y) for x, y in P
"""


def fold(k: int) -> dict[str, object]:
    """A fold as bindings: what occurs in it, and what is true."""
    members: dict[str, dict[str, None]] = {"P": {}, "F": {}, "G": {}}
    facts: dict[str, list[tuple[str, ...]]] = {name: [] for name in SLOTS}
    for line in (DATA / f"imdb_fold{k}.db").read_text().splitlines():
        if match := re.fullmatch(r"(\w+)\((.*)\)", line.strip()):
            index = tuple(part.strip() for part in match[2].split(","))
            for slot, value in zip(SLOTS[match[1]], index, strict=True):
                members[slot].setdefault(value)
            facts[match[1]].append(index)
    closed = {name: plx.Else(rows, False) for name, rows in facts.items()}
    return {**{slot: list(found) for slot, found in members.items()}, **closed}


@needs_data
def test_imdb() -> None:
    truth = json.loads((DATA / "expected_mle.json").read_text())["imdb folds 1,2,4,5 -> 3"]
    model = plx.compile(PROGRAM, **fold(1))
    fit = model.learn([fold(k) for k in (1, 2, 4, 5)], objective="likelihood")
    assert fit.converged
    assert fit.log_likelihood == pytest.approx(truth["train_ll"], abs=1e-4)
    assert list(fit.weights.values()) == pytest.approx(list(truth["weights"].values()), abs=1e-4)
    assert fit.model.score([fold(3)]).log_likelihood == pytest.approx(truth["test_ll"], abs=1e-3)
