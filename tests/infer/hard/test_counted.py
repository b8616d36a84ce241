"""Worlds that hard rules leave are counted by closed forms as by enumeration, where these say all."""

from __future__ import annotations

import math

import numpy as np
import pytest

import plx
from plx.graph.model import GroundModel
from plx.infer.hard.counted import counted, log_matchings, log_partitions
from plx.infer.problem import Parts, Problem
from plx.infer.tempering.reference import log_worlds
from tests.models import all_states, log_weights

MATCHINGS = """
type Row = 1..{rows}
type Column = 1..{columns}
random put(Row, Column)
require {row}(1, put(i, j) for j in Column) for i in Row
require {column}(1, put(i, j) for i in Row) for j in Column
weight 0.5: put(1, 2)
"""
DISTINCT = """
type Guest = 1..{guests}
type Seat = 1..{seats}
random seat(Guest): Seat
require alldifferent(seat(g) for g in Guest)
"""
PARTITION = """
type Record = 1..{n}
random same(Record, Record)
require same(x, x) for x in Record
require same(x, y) => same(y, x) for x, y in Record
require same(x, y) & same(y, z) => same(x, z) for x, y, z in Record
"""
KINDS = ("exactly", "at_most")
PROGRAMS = [
    *(
        MATCHINGS.format(rows=rows, columns=columns, row=row, column=column)
        for rows, columns in ((3, 3), (3, 4), (4, 3))
        for row in KINDS
        for column in KINDS
        if (row, column) != ("exactly", "exactly") or rows == columns
        if not (row == "exactly" and rows > columns) and not (column == "exactly" and columns > rows)
    ),
    *(DISTINCT.format(guests=guests, seats=seats) for guests, seats in ((3, 3), (3, 5), (4, 4))),
    MATCHINGS.format(rows=3, columns=3, row="exactly", column="exactly")
    + "random other\nrequire other | put(1, 1)",
    DISTINCT.format(guests=3, seats=4) + "require seat(1) != 2",
    DISTINCT.format(guests=3, seats=4) + "observe seat(1) = 2",
    MATCHINGS.format(rows=3, columns=4, row="exactly", column="at_most")
    + "random other\nrandom more\nrequire other | more",
]


def _enumerated(model: GroundModel) -> float:
    logs = log_weights(model.graph, all_states(model.graph))
    return math.log(np.isfinite(logs).sum())


@pytest.mark.parametrize("text", PROGRAMS)
def test_worlds_are_as_many_as_enumeration_finds(text: str) -> None:
    model = plx.compile(text).ground
    found = log_worlds(Problem(model))
    assert found == pytest.approx(_enumerated(model), abs=1e-9)


@pytest.mark.parametrize("n", [4, 5])
def test_partitions_are_counted(n: int) -> None:
    from plx.infer.hard.substitute import substitute

    own = substitute(Problem(plx.compile(PARTITION.format(n=n)).ground), but_assignments=True).problem
    rules, _ = own.parts.hard_part
    (one,) = counted(rules)
    assert len(one.factors) == rules.n_factors
    assert one.log_count == pytest.approx(_enumerated(own.model), abs=1e-9)


def test_what_other_rules_are_about_is_not_counted_by_a_form() -> None:
    for text, forms in zip(PROGRAMS[-4:], (0, 0, 0, 1), strict=True):
        rules, _ = Parts(plx.compile(text).ground.graph).hard_part
        assert len(counted(rules)) == forms


def test_closed_forms() -> None:
    assert [round(math.exp(log_partitions(n))) for n in range(1, 7)] == [1, 2, 5, 15, 52, 203]
    assert math.exp(log_matchings((0, 2), (0, 2))) == pytest.approx(7)
    assert math.exp(log_matchings((1, 1), (0, 3))) == pytest.approx(3 + 6)
    assert log_matchings((3, 0), (0, 2)) == -math.inf


def test_log_z_is_known_where_items_are_matched() -> None:
    """Weights on a single row: its items are alike but for these, so log Z is log(29! Σ e^w)."""
    text = MATCHINGS.replace(
        "weight 0.5: put(1, 2)", "weight 2.0: put(1, j) for j in Column if j < 4\nquery logz"
    )
    asked = plx.compile(text.format(rows=14, columns=14, row="exactly", column="exactly"))
    found = asked.run(method="tempered", seed=1, samples=1024)["logz"]
    truth = math.lgamma(14) + math.log(3 * math.exp(2) + 11)
    assert found.log_z is not None and abs(found.log_z - truth) < 4 * found.mcse < 0.5
