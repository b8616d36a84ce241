"""Symmetries by the definition, over all variable-value permutations: the oracle of these tests.

A model is taken as the sum of its tables, one per set of variables that a rule depends on, each up
to a constant. A permutation of the pairs that keeps the pairs of a variable together is a symmetry
iff it maps these tables to themselves.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from plx.graph.model import FactorGraph, GroundModel
from tests.models import node_states

Table = dict[tuple[int, ...], object]
Tables = dict[tuple[int, ...], Table]


def pair_starts(graph: FactorGraph) -> list[int]:
    return [0, *np.cumsum(graph.card[: graph.n_variables]).tolist()]


def support(graph: FactorGraph, node: int) -> set[int]:
    if node < graph.n_variables:
        return {node}
    return set().union(*(support(graph, int(i)) for i in graph.inputs_of(node - graph.n_variables)[0]))


def tables(model: GroundModel) -> Tables:
    """Exact tables by support, as dictionaries from states; -inf where impossible."""
    graph = model.graph
    found: Tables = {}
    for f in range(graph.n_factors):
        scope = [int(s) for s in graph.scope_of(f)]
        variables = sorted(set().union(*(support(graph, s) for s in scope)))
        content = {}
        for states in itertools.product(*(range(graph.card[v]) for v in variables)):
            full = np.zeros((1, graph.n_variables), dtype=np.int64)
            full[0, variables] = states
            nodes = node_states(graph, full)[0]
            weight = model.values[int(graph.table_weights(f)[tuple(nodes[scope])])]
            content[states] = weight if weight == -np.inf else Fraction(weight)  # type: ignore[arg-type]
        _put(found, tuple(variables), content)
    return {key: _shifted(content) for key, content in found.items()}


def _put(found: Tables, variables: tuple[int, ...], content: Table) -> None:
    """Add a table; without variables that it does not depend on."""
    if variables in found:
        old = found.pop(variables)
        content = {s: w + old[s] for s, w in content.items()}  # type: ignore[operator]
    for i in range(len(variables)):
        rest: dict[tuple[int, ...], set[object]] = {}
        for states, weight in content.items():
            rest.setdefault(states[:i] + states[i + 1 :], set()).add(weight)
        if all(len(weights) == 1 for weights in rest.values()):
            smaller = {states: next(iter(weights)) for states, weights in rest.items()}
            _put(found, variables[:i] + variables[i + 1 :], smaller)
            return
    if variables:
        found[variables] = content


def _shifted(content: Table) -> Table:
    base = min(w for w in content.values() if w != -np.inf)  # type: ignore[type-var]
    return {s: w if w == -np.inf else w - base for s, w in content.items()}  # type: ignore[operator]


def symmetries(
    model: GroundModel, fixed_values: Sequence[int] = (), multiplicity: Sequence[int] | None = None
) -> Iterator[tuple[int, ...]]:
    """Every symmetry, as the images of the pairs.

    Variables in ``fixed_values`` keep their values by number. With ``multiplicity`` (per pair) the
    image of a pair has the multiplicity of the pair.
    """
    graph = model.graph
    n, start = graph.n_variables, pair_starts(graph)
    content = tables(model)
    for image in itertools.permutations(range(n)):
        if any(graph.card[v] != graph.card[image[v]] for v in range(n)):
            continue
        if {tuple(sorted(image[v] for v in key)) for key in content} != set(content):
            continue
        for values in _values(graph, content, image, [], set(fixed_values)):
            pairs = tuple(start[image[v]] + values[v][s] for v in range(n) for s in range(graph.card[v]))
            if multiplicity is None or all(multiplicity[p] == multiplicity[q] for p, q in enumerate(pairs)):
                yield pairs


def _values(
    graph: FactorGraph, content: Tables, image: Sequence[int], values: list[Sequence[int]], fixed: set[int]
) -> Iterator[list[Sequence[int]]]:
    v = len(values)
    if v == graph.n_variables:
        yield list(values)
        return
    states = range(graph.card[v])
    both = v in fixed or image[v] in fixed
    for permutation in [tuple(states)] if both else itertools.permutations(states):
        values.append(permutation)
        if all(_maps(content, key, image, values) for key in content if max(key) == v):
            yield from _values(graph, content, image, values, fixed)
        values.pop()


def _maps(content: Tables, key: tuple[int, ...], image: Sequence[int], values: list[Sequence[int]]) -> bool:
    order = sorted(range(len(key)), key=lambda i: image[key[i]])
    other = content[tuple(image[key[i]] for i in order)]
    return all(
        other[tuple(values[key[i]][states[i]] for i in order)] == weight
        for states, weight in content[key].items()
    )


def orbits(permutations: Sequence[tuple[int, ...]], n: int) -> list[int]:
    """The smallest member of the orbit of every point, under a whole group."""
    return [min(p[i] for p in permutations) for i in range(n)]


def value_classes(model: GroundModel) -> list[int]:
    """The first interchangeable state of every state, by the definition."""
    graph = model.graph
    content = tables(model)
    out = []
    for v in range(graph.n_variables):
        first: list[int] = []
        for s in range(graph.card[v]):
            swaps = (r for r in range(s) if first[r] == r and _swap_keeps(content, v, r, s))
            first.append(next(swaps, s))
        out += first
    return out


def _swap_keeps(content: Tables, v: int, r: int, s: int) -> bool:
    swap = {r: s, s: r}
    for key, table in content.items():
        for states in table:
            moved = [swap.get(x, x) if u == v else x for u, x in zip(key, states, strict=True)]
            if table[tuple(moved)] != table[states]:
                return False
    return True
