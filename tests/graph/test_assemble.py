"""Loose parts against enumeration: the assembled graph has the same log weights, and every invariant."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from plx.graph.assemble import Assembly, FactorBatch, assemble, factor_batches, variable_cards
from plx.graph.derived import NO_DERIVED, DerivedNodes, VectorStore, derived_of
from plx.graph.model import FactorGraph
from plx.graph.ragged import starts
from plx.graph.rows import Packing, row_keys, unique_rows
from plx.values import IMPOSSIBLE, Values
from tests.models import all_states, log_weights, node_states, random_model

WEIGHTS = (0, 0, 1, Fraction(1, 3), -1, 2)


def derived_nodes(cards: list[int], nodes) -> DerivedNodes:
    vectors, maps = VectorStore(), VectorStore()
    entries = [(node, vectors.id(np.array(v))) for inputs, _ in nodes for node, v in inputs]
    output_of = [maps.id(np.array(out)) for _, out in nodes]
    contribution_start, contribution = vectors.flat()
    output_start, output = maps.flat()
    return DerivedNodes(
        card=np.array([max(out) + 1 for _, out in nodes], dtype=np.int32),
        input_start=starts(np.array([len(inputs) for inputs, _ in nodes], dtype=np.int64)),
        input_node=np.array([n for n, _ in entries], dtype=np.int32),
        input_contribution=np.array([v for _, v in entries], dtype=np.int32),
        contribution_start=contribution_start,
        contribution=contribution,
        output_of=np.array(output_of, dtype=np.int32),
        output_start=output_start,
        output=output,
    )


def check_invariants(graph: FactorGraph) -> None:
    scopes = [tuple(graph.scope_of(f)) for f in range(graph.n_factors)]
    assert len(set(scopes)) == len(scopes)
    for f, scope in enumerate(scopes):
        assert scope and all(a < b for a, b in pairwise(scope))
        assert (graph.card[list(scope)] > 1).all()
        assert graph.table_values(f).size == np.prod(graph.card[list(scope)])
        assert len(set(graph.table_weights(f).ravel())) > 1
    tables = [tuple(graph.weight[a:b]) for a, b in pairwise(graph.table_start)]
    assert len(set(tables)) == len(tables) and set(graph.table_of) == set(range(len(tables)))
    nodes = set()
    for d in range(graph.n_derived):
        inputs, vectors = graph.inputs_of(d)
        assert (inputs < graph.n_variables + d).all() and (np.diff(inputs) > 0).all()
        top = 0
        for node, k in zip(inputs, vectors, strict=True):
            vector = graph.contribution_of(k)
            assert len(vector) == graph.card[node] and vector.min() == 0 and vector.max() > 0
            top += vector.max()
        output = graph.output_map(d)
        assert len(output) == top + 1 and output.max() < graph.card[graph.n_variables + d]
        nodes.add((tuple(inputs), tuple(vectors), graph.output_of[d], graph.card[graph.n_variables + d]))
    assert len(nodes) == graph.n_derived
    for start, flat in (("contribution_start", "contribution"), ("output_start", "output")):
        s, a = getattr(graph, start), getattr(graph, flat)
        rows = [tuple(a[i:j]) for i, j in pairwise(s)]
        assert len(set(rows)) == len(rows)


@st.composite
def loose_parts(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = Values()
    n = draw(st.integers(1, 4))
    cards = [int(c) for c in rng.integers(1, 4, size=n)]
    card, nodes = list(cards), []
    for _ in range(draw(st.integers(0, 4))):
        inputs = rng.integers(0, len(card), size=int(rng.integers(1, 4)))
        parts = [(int(i), [int(x) for x in rng.integers(0, 3, size=card[i])]) for i in inputs]
        top = sum(max(v) for _, v in parts)
        kind = rng.integers(3)
        output = list(range(top + 1)) if kind == 0 else [0] + [1] * top if kind == 1 else [0] * top + [1]
        nodes.append((parts, output))
        card.append(max(output) + 1)
    batches = []
    for _ in range(draw(st.integers(0, 5))):
        columns = rng.integers(0, len(card), size=int(rng.integers(0, 4)))
        shape = [card[c] for c in columns]
        rows = [
            [int(rng.choice([i for i in range(len(card)) if card[i] == c])) for c in shape]
            for _ in range(int(rng.integers(1, 4)))
        ]
        m = int(rng.integers(1, 3))
        ids = values.ids([WEIGHTS[i] for i in rng.integers(len(WEIGHTS), size=m * int(np.prod(shape)))])
        ids[rng.random(len(ids)) < 0.05] = IMPOSSIBLE
        batches.append(
            FactorBatch(
                np.array(rows, dtype=np.int32).reshape(len(rows), len(shape)),
                rng.integers(0, m, size=len(rows)),
                ids.reshape(m, -1),
                rng.integers(0, 3, size=len(rows)),
            )
        )
    fixed = [int(rng.integers(c)) if rng.random() < 0.3 else -1 for c in cards]
    keep = [int(i) for i in range(n, len(card)) if rng.random() < 0.3]
    return values, cards, nodes, batches, np.array(fixed), keep


def worlds(cards, nodes, fixed) -> np.ndarray:
    """States of all old nodes, one row per world that agrees with the evidence."""
    grid = np.indices(cards).reshape(len(cards), -1).T
    grid = grid[((fixed < 0) | (grid == fixed)).all(axis=1)]
    columns = list(grid.T)
    for inputs, output in nodes:
        columns.append(np.array(output)[sum(np.array(v)[columns[i]] for i, v in inputs)])
    return np.stack(columns, axis=1)


def plain_log_weights(values: Values, states: np.ndarray, card: list[int], batches) -> np.ndarray:
    total = np.zeros(len(states))
    for batch in batches:
        for scope, table in zip(batch.scope, batch.table, strict=True):
            shaped = values.floats(batch.tables[table]).reshape([card[i] for i in scope])
            total = total + shaped[tuple(states[:, i] for i in scope)]
    return total


@settings(max_examples=400, deadline=None)
@given(loose_parts())
def test_assembled_graph_agrees_with_the_parts(parts):
    values, cards, nodes, batches, fixed, keep = parts
    derived = derived_nodes(cards, nodes) if nodes else NO_DERIVED
    out: Assembly = assemble(values, np.array(cards), batches, derived, fixed, keep)
    check_invariants(out.graph)
    card = cards + [int(c) for c in derived.card]
    states = worlds(cards, nodes, fixed)
    expected = plain_log_weights(values, states, card, batches)
    free = np.flatnonzero(out.nodes.node[: len(cards)] >= 0)
    assert (out.nodes.node[free] == np.arange(len(free))).all()
    new = states[:, free]
    got = log_weights(out.graph, new) + float(values.logs(np.array([out.constant_weight]))[0])
    np.testing.assert_allclose(got, expected, atol=1e-9)
    known = node_states(out.graph, new)
    for old, (node, state) in enumerate(zip(*out.nodes, strict=True)):
        if state >= 0:
            assert node == -1 and (states[:, old] == state).all()
        elif node >= 0:
            assert (known[:, node] == states[:, old]).all()
        else:
            assert old >= len(cards) and old not in keep


def reassembled(graph, values):
    kept = np.arange(graph.n_variables, graph.n_nodes)
    return assemble(values, variable_cards(graph), factor_batches(graph), derived_of(graph), keep=kept)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
@example(294311023)  # equal nodes of different depth
def test_a_graph_is_a_fixed_point(seed):
    model = random_model(np.random.default_rng(seed), derived=2, hard=0.05)
    once = reassembled(model.graph, model.values)
    states = all_states(model.graph)
    got = log_weights(once.graph, states) + model.values.floats(np.array([once.constant_weight]))
    np.testing.assert_allclose(got, log_weights(model.graph, states), atol=1e-9)
    # factors that were added may have cancelled an axis, which is dropped when they are read again
    twice = reassembled(once.graph, model.values)
    again = reassembled(twice.graph, model.values)
    assert twice.constant_weight == again.constant_weight == 2
    for a, b in zip(twice.graph, again.graph, strict=True):
        np.testing.assert_array_equal(a, b)


def test_many_contributions_to_one_scope_are_scaled_exactly():
    values = Values()
    third = values.id(Fraction(1, 3))
    n = 100_000
    scope = np.tile([[0, 1]], (n, 1))
    scope[::2] = [1, 0]
    batch = FactorBatch(scope, np.zeros(n, dtype=np.int64), np.array([[2, third, third, 2]]))
    out = assemble(values, np.array([2, 2]), [batch])
    assert out.graph.n_factors == 1
    assert values[int(out.graph.weight[1])] == Fraction(n, 3)


@pytest.mark.parametrize("width", [1, 3, 30, 200])
def test_row_keys_are_equal_exactly_where_rows_are(width):
    rng = np.random.default_rng(width)
    rows = rng.integers(-(2**40), 2**40, size=(20, width))[rng.integers(0, 20, size=300)]
    keys = row_keys(rows)
    same = (rows[:, None] == rows[None]).all(axis=2)
    assert ((keys[:, None] == keys[None]) == same).all()
    first, inverse = unique_rows(rows)
    assert (rows[first][inverse] == rows).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rows", [[[-(2**63), 0], [2**63 - 1, 1], [-(2**63), 1]], [[-(2**63)], [2**63 - 1]]])
def test_row_keys_of_hashes_sort_as_they_do(rows):
    order = np.argsort(row_keys(np.array(rows)))
    assert [rows[i] for i in order] == sorted(rows)


@settings(max_examples=40)
@given(
    st.integers(1, 5),
    st.lists(st.lists(st.integers(-3, 2**12), min_size=5, max_size=5), min_size=1, max_size=20),
)
def test_packed_rows_sort_as_they_do(k, rows):
    columns = [np.array(column, dtype=np.int32) for column in list(zip(*rows, strict=True))[:k]]
    packing = Packing.between([int(c.min()) for c in columns], [int(c.max()) for c in columns])
    keys = np.empty(len(rows), dtype=np.int64)
    packing.pack(columns, keys)
    keys.sort()
    out = [np.empty(len(rows), dtype=np.int32) for _ in range(k)]
    heads = packing.heads(keys, k - 1)
    packing.unpack(keys, out)
    assert list(zip(*(c.tolist() for c in out), strict=True)) == sorted(tuple(row[:k]) for row in rows)
    assert heads.tolist() == [i == 0 or out[0][i] != out[0][i - 1] for i in range(len(rows))]


@pytest.mark.parametrize("nodes", [40, 10_000])  # 10,000 to the power of 5 is more than a key holds
def test_factors_over_one_scope_are_added_whether_or_not_they_fit_a_key(nodes):
    values, generator = Values(), np.random.default_rng(1)
    few = np.sort(generator.choice(nodes, (60, 5), replace=True), axis=1)
    few = few[(few[:, 1:] > few[:, :-1]).all(axis=1)]
    few = np.concatenate([few, [[0, 1, 2, 3, nodes - 1], [1, 2, 3, 4, nodes - 2]]])
    scope = few[generator.integers(0, len(few), 300)]
    tables = values.ids([0] * 31 + [1, *[0] * 31, 2]).reshape(2, 32)
    table, rule = generator.integers(0, 2, (2, len(scope)))
    graph = assemble(values, np.full(nodes, 2), [FactorBatch(scope, table, tables, rule)]).graph
    total: dict[tuple[int, ...], int] = {}
    first: dict[tuple[int, ...], int] = {}
    for nodes_of, t, r in zip(scope.tolist(), table.tolist(), rule.tolist(), strict=True):
        key = tuple(nodes_of)
        total[key] = total.get(key, 0) + 1 + t
        first[key] = min(first.get(key, 1), r)
    found = {tuple(graph.scope_of(f).tolist()): f for f in range(graph.n_factors)}
    assert list(found) == sorted(total)
    assert {key: int(graph.table_values(f).max()) for key, f in found.items()} == total
    assert {key: int(graph.rule_of[f]) for key, f in found.items()} == first
