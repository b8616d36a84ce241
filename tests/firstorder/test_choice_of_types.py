"""Which types are summed over: the cheapest, where the first choice is dear."""

from __future__ import annotations

from pathlib import Path

import plx
from plx.answering import first_order_way
from plx.firstorder.limits import DEAR

CAPTURE = Path(__file__).parents[2] / "examples/capture/capture.plx"


def test_the_few_are_expanded_where_evidence_on_pairs_would_be_dear() -> None:
    way = first_order_way(plx.load(CAPTURE).origin, None)
    assert way is not None and way.cost() < DEAR
    assert "40 members of Newt summed over" in way.words
