"""Unknowns that a hard factor defines as functions of other nodes.

A factor defines variable v if, whatever state the other nodes have, at most one state of v is
possible. v may stand in the factor's scope, or be an input of a counter there: then the function
is of the counter's other inputs too. A definition is *total* if there always is such a state.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph
from plx.graph.ragged import segments, starts
from plx.graph.rows import BoolArray, unique_rows
from plx.infer.hard.dependence import Ways, dependence
from plx.infer.hard.limits import FUNCTION_ENTRIES
from plx.infer.kernels.definitions import choose
from plx.values import IntArray


class DependencyKind(NamedTuple):
    """What definitions have in common: an axis of a hard table, and what the counter there adds.

    ``function`` is v's state per state of the others: [totals of the counter's other inputs, states of
    the scope's other nodes in C order]; the first axis is of length 1 where v is in the scope itself.
    """

    axis: int
    cards: tuple[int, ...]
    function: npt.NDArray[np.int64]
    total: bool


class Dependencies(NamedTuple):
    """Definition i makes ``variable[i]`` a function by ``factor[i]``; ``entry[i]`` is its place among the
    inputs of the counter on the factor's axis, or -1."""

    variable: IntArray
    factor: IntArray
    entry: IntArray
    kind: IntArray  # position in kinds
    kinds: tuple[DependencyKind, ...]

    def take(self, pick: npt.NDArray[np.generic]) -> Dependencies:
        return self._replace(
            variable=self.variable[pick],
            factor=self.factor[pick],
            entry=self.entry[pick],
            kind=self.kind[pick],
        )


def functional_dependencies(graph: FactorGraph, factors: IntArray) -> Dependencies:
    """A choice of definitions by hard factors, one per variable and per factor, without cycles among them.

    Preferred are total ones, and to define what little else depends on.
    """
    found = _candidates(graph, factors)
    if not len(found.variable):
        return found
    ways, inner = dependence(graph, factors)
    found = found.take(_once(graph, found, factors, ways, inner))
    total = np.array([kind.total for kind in found.kinds], dtype=bool)[found.kind]
    found = found.take(np.argsort(~total, kind="stable"))
    place = np.searchsorted(ways.key, _key(graph, np.searchsorted(factors, found.factor), found.variable))
    first, at = np.unique(place, return_index=True)
    rank = np.full(len(ways.key), -1, dtype=np.int64)
    rank[first] = at >= total.sum()
    definition = np.full(len(ways.key), -1, dtype=np.int64)
    definition[first] = at
    above = np.argsort(ways.variable, kind="stable")
    taken = np.zeros(len(ways.key), dtype=np.int64)
    choose.sized(20.0 * len(ways.key))(
        starts(np.bincount(ways.owner, minlength=len(factors))),
        ways.variable,
        rank,
        starts(np.bincount(ways.variable, minlength=graph.n_variables)),
        ways.owner[above],
        _order(graph, ways.variable[rank == 0]),
        taken,
    )
    return found.take(definition[taken > 0])


def _order(graph: FactorGraph, definable: IntArray) -> IntArray:
    """The order in which variables become known without a definition: those without a total one first,
    and those that much depends on."""
    uses = np.bincount(graph.scope, minlength=graph.n_nodes) + np.bincount(
        graph.input_node, minlength=graph.n_nodes
    )
    late = np.zeros(graph.n_variables, dtype=bool)
    late[definable] = True
    return np.lexsort((-uses[: graph.n_variables], late))


def _once(graph: FactorGraph, found: Dependencies, factors: IntArray, ways: Ways, inner: Ways) -> BoolArray:
    """Which definitions are no function of something that depends on the variable itself."""
    single: BoolArray = ways.of(_key(graph, np.searchsorted(factors, found.factor), found.variable)) == 1
    counted = np.flatnonzero(found.entry >= 0)
    counter = _counter_of(graph, found)[counted]
    single[counted] &= inner.of(_key(graph, counter, found.variable[counted])) == 1
    return single


def _key(graph: FactorGraph, owner: IntArray, variable: IntArray) -> IntArray:
    return owner * max(1, graph.n_variables) + variable


def others(graph: FactorGraph, chosen: Dependencies) -> tuple[IntArray, IntArray]:
    """What each definition is a function of: (definition, node) pairs, sorted by definition.

    The nodes of the scope but the one on the axis, in order, then the other inputs of the counter there.
    """
    owner, node, _ = _others(graph, chosen)
    return owner, node


def _counter_of(graph: FactorGraph, chosen: Dependencies) -> IntArray:
    """The counter on the axis of each definition, from 0; meaningless where there is none."""
    axis = np.array([kind.axis for kind in chosen.kinds], dtype=np.int64)[chosen.kind]
    counter: IntArray = graph.scope[graph.scope_start[chosen.factor] + axis].astype(np.int64)
    return counter - graph.n_variables


def _others(graph: FactorGraph, chosen: Dependencies) -> tuple[IntArray, IntArray, IntArray]:
    axis = np.array([kind.axis for kind in chosen.kinds], dtype=np.int64)[chosen.kind]
    start, arity = graph.scope_start[chosen.factor], np.diff(graph.scope_start)[chosen.factor]
    owner = np.repeat(np.arange(len(arity)), arity)
    place = segments(start, arity)
    kept = place - start[owner] != axis[owner]
    counted = np.flatnonzero(chosen.entry >= 0)
    counter = _counter_of(graph, chosen)[counted]
    fan_in = np.diff(graph.input_start)[counter]
    entry = segments(graph.input_start[counter], fan_in)
    of = np.repeat(counted, fan_in)
    rest = entry != chosen.entry[of]
    owner = np.concatenate([owner[kept], of[rest]])
    node = np.concatenate([graph.scope[place[kept]], graph.input_node[entry[rest]]]).astype(np.int64)
    vector = np.concatenate([np.full(int(kept.sum()), -1), graph.input_contribution[entry[rest]]])
    order = np.argsort(owner, kind="stable")
    return owner[order], node[order], vector[order]


def other_vectors(graph: FactorGraph, chosen: Dependencies) -> IntArray:
    """The contribution vector of each pair of `others` that is an input of the counter; -1 for the rest."""
    return _others(graph, chosen)[2]


# -------------------------------------------------------------- candidates


def _candidates(graph: FactorGraph, hard: IntArray) -> Dependencies:
    """Every definition there is."""
    kinds: list[DependencyKind] = []
    parts = [np.empty((4, 0), dtype=np.int64)]
    for factors, scope in _alike(graph, hard):
        allowed = graph.table_values(int(factors[0])) > -np.inf
        for axis in range(scope.shape[1]):
            parts += _in_scope(graph, factors, scope, allowed, axis, kinds)
            parts += _in_counter(graph, factors, scope, allowed, axis, kinds)
    variable, factor, entry, kind = np.concatenate(parts, axis=1)
    return Dependencies(variable, factor, entry, kind, tuple(kinds))


def _alike(graph: FactorGraph, factors: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Factors with equal tables over equal cards, and their scopes [n, k]."""
    arity = np.diff(graph.scope_start)[factors]
    for k in np.unique(arity).tolist():
        mine = factors[arity == k]
        scope = graph.scope[graph.scope_start[mine][:, None] + np.arange(k)].astype(np.int64)
        kind = np.concatenate([graph.table_of[mine][:, None], graph.card[scope]], axis=1)
        first, inverse = unique_rows(kind)
        for i in range(len(first)):
            yield mine[inverse == i], scope[inverse == i]


def _in_scope(
    graph: FactorGraph,
    factors: IntArray,
    scope: IntArray,
    allowed: BoolArray,
    axis: int,
    kinds: list[DependencyKind],
) -> Iterator[IntArray]:
    """Definitions of the variables on an axis of the scopes."""
    mine = np.flatnonzero(scope[:, axis] < graph.n_variables)
    if len(mine) and _add_kind(allowed, axis, np.moveaxis(allowed, axis, -1)[None], kinds):
        none = np.full(len(mine), -1)
        yield np.stack([scope[mine, axis], factors[mine], none, np.full(len(mine), len(kinds) - 1)])


def _in_counter(
    graph: FactorGraph,
    factors: IntArray,
    scope: IntArray,
    allowed: BoolArray,
    axis: int,
    kinds: list[DependencyKind],
) -> Iterator[IntArray]:
    """Definitions of the inputs of the counters on an axis of the scopes."""
    mine = np.flatnonzero(scope[:, axis] >= graph.n_variables)
    counter = scope[mine, axis] - graph.n_variables
    fan_in = np.diff(graph.input_start)[counter]
    entry = segments(graph.input_start[counter], fan_in)
    of = np.repeat(np.arange(len(mine)), fan_in)
    plain = graph.input_node[entry] < graph.n_variables
    entry, of = entry[plain], of[plain]
    if not len(entry):
        return
    kind = np.stack([graph.output_of[counter[of]], graph.input_contribution[entry]], axis=1)
    first, inverse = unique_rows(kind)
    for i, at in enumerate(first):
        own = graph.contribution_of(int(graph.input_contribution[entry[at]])).astype(np.int64)
        output = graph.output_map(int(counter[of[at]]))
        rest = np.arange(len(output) - own.max())
        by_total = np.moveaxis(allowed, axis, -1)[..., output[rest[:, None] + own]]
        if _add_kind(allowed, axis, np.moveaxis(by_total, -2, 0), kinds):
            same = np.flatnonzero(inverse == i)
            place = mine[of[same]]
            number = np.full(len(same), len(kinds) - 1)
            yield np.stack([graph.input_node[entry[same]], factors[place], entry[same], number])


def _add_kind(allowed: BoolArray, axis: int, possible: BoolArray, kinds: list[DependencyKind]) -> bool:
    """Append the kind if ``possible`` [totals, others…, states of v] allows at most one state everywhere.

    Where no state is possible the function is that which makes it constant, if there is one.
    """
    count = possible.sum(axis=-1)
    if possible.size > FUNCTION_ENTRIES * possible.shape[-1] or (count > 1).any() or not count.any():
        return False
    function = possible.argmax(axis=-1)
    usual = np.bincount(function[count > 0]).argmax()
    function = np.where(count > 0, function, usual)
    cards = tuple(c for i, c in enumerate(allowed.shape) if i != axis)
    kinds.append(DependencyKind(axis, cards, function.reshape(len(function), -1), bool((count == 1).all())))
    return True
