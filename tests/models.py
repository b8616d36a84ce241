"""Small factor graphs for tests, and brute-force enumeration over them: the oracle.

Written apart from the grounder and the inference code, plainly and slowly.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from plx.graph.model import AtomBlock, Atoms, FactorGraph, GroundModel, GroundQuery, GroundRule, Target
from plx.values import IMPOSSIBLE, Values
from plx.weights import add

Derived = tuple[Sequence[tuple[int, Sequence[int]]], Sequence[int]]
"""Inputs as (node, contribution per state), and the output map."""


def make_model(
    cards: Sequence[int],
    factors: Sequence[tuple[Sequence[int], object]],
    derived: Sequence[Derived] = (),
    queries: str = "variables",
) -> GroundModel:
    """A ground model; factor tables are nested lists of int, Fraction or -inf.

    Factors over one scope are added; scopes are sorted. ``queries="variables"`` asks for the
    marginal of every variable, ``"nodes"`` of every derived node too.
    """
    values = Values()
    n = len(cards)
    card = list(cards)
    for _, output in derived:
        card.append(max(output) + 1)
    tables: dict[tuple[int, ...], np.ndarray] = {}
    for scope, table in factors:
        ids = np.array(
            [
                IMPOSSIBLE if w == -np.inf else values.id(_exact(w))
                for w in np.array(table, dtype=object).ravel()
            ],
            dtype=np.int64,
        ).reshape([card[s] for s in scope])
        order = np.argsort(scope, kind="stable")
        key = tuple(int(scope[i]) for i in order)
        ids = ids.transpose(order)
        tables[key] = _add(values, tables[key], ids) if key in tables else ids
    tables = {key: ids for key, ids in tables.items() if (ids != 2).any()}
    stored: dict[bytes, int] = {}
    flat: list[np.ndarray] = []
    table_of = [_intern(stored, flat, ids.ravel()) for ids in tables.values()]
    contributions: dict[bytes, int] = {}
    vectors: list[np.ndarray] = []
    outputs: dict[bytes, int] = {}
    maps: list[np.ndarray] = []
    input_node: list[int] = []
    input_vector: list[int] = []
    input_start, output_of = [0], []
    for inputs, output in derived:
        for node, vector in inputs:
            assert len(vector) == card[node]
            input_node.append(node)
            input_vector.append(_intern(contributions, vectors, np.array(vector)))
        input_start.append(len(input_node))
        output_of.append(_intern(outputs, maps, np.array(output)))
    weight = _concat(flat)
    graph = FactorGraph(
        n_variables=n,
        card=np.array(card, dtype=np.int32),
        input_start=np.array(input_start, dtype=np.int64),
        input_node=np.array(input_node, dtype=np.int32),
        input_contribution=np.array(input_vector, dtype=np.int32),
        contribution_start=_starts(vectors),
        contribution=_concat(vectors).astype(np.int32),
        output_of=np.array(output_of, dtype=np.int32),
        output_start=_starts(maps),
        output=_concat(maps).astype(np.int32),
        scope_start=_starts([np.array(key) for key in tables]),
        scope=np.array([node for key in tables for node in key], dtype=np.int32),
        table_of=np.array(table_of, dtype=np.int32),
        table_start=_starts(flat),
        table=values.floats(weight),
        weight=weight,
        rule_of=np.zeros(len(tables), dtype=np.int32),
    )
    return GroundModel(
        graph=graph,
        atoms=_atoms(values, cards),
        values=values,
        rules=(GroundRule("factor", "factor …", None),),
        queries=_queries(values, card if queries == "nodes" else list(cards)),
    )


def all_states(graph: FactorGraph) -> np.ndarray:
    """Every assignment of the variables, shape (S, V), last variable fastest."""
    ranges = [range(c) for c in graph.card[: graph.n_variables]]
    return np.array(list(itertools.product(*ranges)), dtype=np.int64).reshape(
        -1 if len(ranges) else 1, len(ranges)
    )


def node_states(graph: FactorGraph, states: np.ndarray) -> np.ndarray:
    """States of variables and derived nodes, shape (S, V + D)."""
    columns = [states[:, v] for v in range(graph.n_variables)]
    for d in range(graph.n_derived):
        total = np.zeros(len(states), dtype=np.int64)
        for node, vector in zip(*graph.inputs_of(d), strict=True):
            total += graph.contribution_of(vector)[columns[node]]
        columns.append(graph.output_map(d)[total])
    return np.stack(columns, axis=1) if columns else np.zeros((len(states), 0), dtype=np.int64)


def log_weights(graph: FactorGraph, states: np.ndarray) -> np.ndarray:
    """The log weight of each assignment, shape (S,)."""
    nodes = node_states(graph, states)
    total = np.zeros(len(states))
    for f in range(graph.n_factors):
        total += graph.table_values(f)[tuple(nodes[:, s] for s in graph.scope_of(f))]
    return total


def log_z(graph: FactorGraph) -> float:
    return float(np.logaddexp.reduce(log_weights(graph, all_states(graph))))


def marginal(graph: FactorGraph, nodes: Sequence[int]) -> np.ndarray:
    """The joint distribution of some nodes, flattened in C order."""
    states = all_states(graph)
    logs = log_weights(graph, states)
    p = np.exp(logs - np.logaddexp.reduce(logs))
    columns = node_states(graph, states)[:, list(nodes)]
    shape = [int(graph.card[node]) for node in nodes]
    return np.bincount(
        np.ravel_multi_index(tuple(columns.T), shape), weights=p, minlength=int(np.prod(shape))
    )


def random_model(
    rng: np.random.Generator,
    variables: int = 5,
    factors: int = 6,
    derived: int = 1,
    max_card: int = 3,
    hard: float = 0.0,
    weights: Sequence[object] = (0, 0, 1, Fraction(1, 2), -1),
) -> GroundModel:
    """A random model; few distinct weights, so that symmetries occur. Some world is possible."""
    cards = [int(rng.integers(2, max_card + 1)) for _ in range(variables)]
    card = list(cards)
    nodes: list[Derived] = []
    for _ in range(derived):
        inputs = rng.choice(len(card), size=min(len(card), int(rng.integers(2, 5))), replace=False)
        parts = [(int(i), [int(x) for x in rng.integers(0, 2, size=card[i])]) for i in sorted(inputs)]
        top = sum(max(vector) for _, vector in parts)
        output = list(range(top + 1)) if rng.random() < 0.5 else [0] + [1] * top
        nodes.append((parts, output))
        card.append(max(output) + 1)
    world = [int(rng.integers(c)) for c in cards]
    for inputs, output in nodes:
        world.append(output[sum(vector[world[node]] for node, vector in inputs)])
    tables = []
    for _ in range(factors):
        k = min(len(card), int(rng.integers(1, 4)))
        scope = sorted(int(i) for i in rng.choice(len(card), size=k, replace=False))
        shape = [card[s] for s in scope]
        table = np.array(
            [weights[i] for i in rng.integers(len(weights), size=int(np.prod(shape)))], dtype=object
        )
        table[rng.random(len(table)) < hard] = -np.inf
        table = table.reshape(shape)
        if table[tuple(world[s] for s in scope)] == -np.inf:
            table[tuple(world[s] for s in scope)] = 0
        tables.append((scope, table))
    return make_model(cards, tables, nodes)


def _exact(weight: object) -> int | Fraction:
    exact = Fraction(weight)  # type: ignore[arg-type]
    return int(exact) if exact.denominator == 1 else exact


def _add(values: Values, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = [
        IMPOSSIBLE if IMPOSSIBLE in (x, y) else values.id(add(values[x], values[y]))  # type: ignore[arg-type]
        for x, y in zip(a.ravel(), b.ravel(), strict=True)
    ]
    return np.array(out, dtype=np.int64).reshape(a.shape)


def _intern(seen: dict[bytes, int], store: list[np.ndarray], array: np.ndarray) -> int:
    key = array.astype(np.int64).tobytes()
    if key not in seen:
        seen[key] = len(store)
        store.append(array)
    return seen[key]


def _concat(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _starts(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.cumsum([0] + [len(part) for part in parts], dtype=np.int64)


def _atoms(values: Values, cards: Sequence[int]) -> Atoms:
    n = len(cards)
    sizes = sorted(set(cards))
    domains = tuple(np.array([0, 1]) if c == 2 else values.ids(range(c)) for c in sizes)
    index = values.ids(range(n)).reshape(n, 1)
    return Atoms(
        blocks=(AtomBlock("x", index, 0),),
        node=np.arange(n, dtype=np.int32),
        fixed=np.full(n, -1, dtype=np.int64),
        domain=np.array([sizes.index(c) for c in cards], dtype=np.int32),
        domains=domains,
        atom_of=np.arange(n, dtype=np.int64),
        values=values,
    )


def _queries(values: Values, card: Sequence[int]) -> tuple[GroundQuery, ...]:
    out = []
    for node, c in enumerate(card):
        labels = np.array([0, 1]) if c == 2 else values.ids(range(c))
        kind = "probability" if c == 2 else "distribution"
        out.append(GroundQuery(kind, f"x({node})", f"x({node})", (Target(node, labels),), (), None))
    return tuple(out)
