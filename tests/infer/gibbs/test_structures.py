"""Partitions and assignments: found from ground rules, and moved in by what keeps their distribution."""

from __future__ import annotations

import numpy as np
import pytest

import plx
from plx.graph.worlds import node_states
from plx.infer.gibbs.block_arrays import block_arrays
from plx.infer.gibbs.chains import chains_at
from plx.infer.gibbs.compiled import compile_model
from plx.infer.gibbs.held_rows import held_rows
from plx.infer.gibbs.structures import Structures, found_structures
from plx.infer.hard.assignments import assignments
from plx.infer.hard.partitions import partitions
from plx.infer.hard.substitute import substitute
from plx.infer.kernels.exchanges import kernel
from plx.infer.problem import Problem
from tests.ground.programs import grounded
from tests.models import all_states, log_weights

RECORDS = """
type Record = 1..{n}
random same(Record, Record)
require same(x, x)                            for x in Record
require same(x, y) <=> same(y, x)             for x, y in Record if x < y
require same(x, y) & same(y, z) => same(x, z) for x, y, z in Record
"""
SQUARE = """
type N = 1..{n}
random at(N, N)
require count(at(i, j) for j in N) = 1 for i in N
require count(at(i, j) for i in N) = 1 for j in N
"""
SEATS = """
type Guest = 1..3
type Seat = 1..4
random at(Guest, Seat)
require count(at(g, s) for s in Seat) = 1  for g in Guest
require count(at(g, s) for g in Guest) <= 1 for s in Seat
"""
AGREE = "weight ((x * y * 3 + x) % 5 - 2) / 2: same(x, y) for x, y in Record if x < y\n"
CELLS = "weight (i * j * 2 % 5) / 3: at(i, j) for i, j in N\n"
PROGRAMS = {
    "records": RECORDS.format(n=5) + AGREE,
    "counts and triples": RECORDS.format(n=5)
    + "weight 0.7: same(x, y) & same(x, z) for x, y, z in Record if x < y & y < z\n"
    + "weight -0.4: count(same(x, y) for x, y in Record if x < y) >= 4\n"
    + "weight 1: same(1, 4) <=> same(2, 5)",
    "some apart": RECORDS.format(n=6)
    + "observe !same(1, 2)\nobserve !same(1, 5)\nobserve same(3, 6)\n"
    + "weight 0.6: same(x, y) for x, y in Record if x < y",
    "square": SQUARE.format(n=4) + CELLS + "weight 1: at(1, 2) <=> at(2, 1)",
    "gaps": SQUARE.format(n=4) + "observe !at(1, 1)\nobserve !at(2, 3)\n" + CELLS,
    "seats": SEATS + "weight (g * s % 5) / 2: at(g, s) for g in Guest, s in Seat",
}


def structured(text: str) -> tuple[Problem, Structures]:
    problem = substitute(Problem(grounded(text)), but_assignments=True).problem
    return problem, found_structures(problem.parts)


@pytest.mark.parametrize("name", PROGRAMS)
def test_moves_alone_reach_every_world_in_its_proportion(name: str) -> None:
    """From one world, without single updates; what is stored of derived nodes stays right."""
    problem, found = structured(PROGRAMS[name])
    graph = problem.graph
    worlds = all_states(graph)
    logs = log_weights(graph, worlds)
    worlds, logs = worlds[np.isfinite(logs)], logs[np.isfinite(logs)]
    lanes, turns = 64, 150
    plan = compile_model(problem)
    arrays = block_arrays(graph, plan.rows, found.moves, found.kept_in)
    chains = chains_at(plan, np.repeat(worlds[:1].T, lanes, axis=1), 1, 1)
    block = chains.blocks[0]
    weigh = 1 << np.arange(graph.n_variables)
    code = np.sort(worlds @ weigh)
    seen = np.zeros((turns, len(worlds)))
    for turn in range(turns):
        with np.errstate(over="ignore"):
            kernel("uint8")(
                arrays, held_rows(found.moves), 0, len(found.moves),
                block.state, block.total, block.level, block.random,
            )  # fmt: skip
        now = weigh @ chains.states
        place = np.searchsorted(code, now)
        assert (code[place] == now).all()  # every rule is kept
        seen[turn] = np.bincount(place, minlength=len(worlds))
    np.testing.assert_array_equal(block.level, node_states(graph, chains.states)[plan.rows.node])
    p = np.exp(logs - np.logaddexp.reduce(logs))[np.argsort(worlds @ weigh)]
    draws = turns - 10
    share = seen[10:].sum(axis=0) / (draws * lanes)
    # turns depend on each other: a quarter of the draws are taken for independent
    assert (np.abs(share - p) <= 5 * np.sqrt(p * (1 - p) / (draws * lanes / 4)) + 1e-3).all()


def test_a_partition_is_told_by_its_rules_alone() -> None:
    problem, found = structured(RECORDS.format(n=7) + "query same(1, 2)")
    (partition,) = partitions(problem.graph, problem.parts.hard_factors)
    assert partition.edge.shape == (7, 7)
    assert len(partition.factors) == 35
    assert found.free.all()
    assert len(found.moves) == 7 + 21


def test_every_partition_of_several_is_found() -> None:
    text = """
type Part = {a, b, c}
type Record = 1..4
random same(Part, Record, Record)
require same(p, x, x)                                  for p in Part, x in Record
require same(p, x, y) <=> same(p, y, x)                for p in Part, x, y in Record if x < y
require same(p, x, y) & same(p, y, z) => same(p, x, z) for p in Part, x, y, z in Record
query same(a, 1, 2)
"""
    problem, _ = structured(text)
    found = list(partitions(problem.graph, problem.parts.hard_factors))
    assert [len(one.edge) for one in found] == [4, 4, 4]


@pytest.mark.parametrize(
    "text",
    [
        RECORDS.format(n=5).replace("for x, y, z in Record", "for x, y, z in Record if x + y + z != 6"),
        SQUARE.format(n=4).replace("= 1 for j", "<= 2 for j"),
        SQUARE.format(n=4) + "require at(1, 1) | at(2, 2)\n",
    ],
)
def test_what_is_no_such_structure_keeps_its_blocks(text: str) -> None:
    _, found = structured(text + "query true")
    assert not found.free.all()


def test_an_involution_is_both_and_keeps_the_rules_of_both() -> None:
    """Pairs of four: the truths of a partition, of which each element has exactly one."""
    text = RECORDS.format(n=6) + "require count(same(x, y) for y in Record if y != x) = 1 for x in Record\n"
    text += "weight (x * y) % 4: same(x, y) for x, y in Record if x < y\nquery same(1, 2)\nquery same(3, 4)"
    exact, found = (plx.run(text, method=method, seed=1) for method in ("exact", "gibbs"))
    for right, answer in zip(exact.queries, found.queries, strict=True):
        assert abs(right.probability - answer.probability) < 5 * answer.mcse + 1e-3 or not answer.converged


@pytest.mark.parametrize("n", [4, 14])
def test_counts_and_tables_say_the_same(n: int) -> None:
    """Rules over few truths are tables, over many they are counts."""
    problem = Problem(grounded(SQUARE.format(n=n) + "query at(1, 1)"))
    (found,) = assignments(problem.graph, problem.parts.hard_factors)
    assert found.cell.shape == (n, n)
    assert len(np.unique(found.cell)) == n * n


def test_records_mix_where_single_updates_are_stuck() -> None:
    text = PROGRAMS["records"].replace("1..5", "1..8").replace("/ 2:", "* 1.5:")
    text += "\nquery same(x, y) for x, y in Record if x < y"
    exact, found = (plx.run(text, method=method, seed=1, samples=8192) for method in ("exact", "gibbs"))
    assert max(answer.rhat or 9 for answer in found.queries) < 1.01
    for right, answer in zip(exact.queries, found.queries, strict=True):
        assert abs(right.probability - answer.probability) < 4.5 * answer.mcse + 1e-4
