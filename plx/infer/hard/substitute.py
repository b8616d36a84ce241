"""Unknowns that hard rules define become computed: a model in which they are derived nodes.

Exact: the distribution of every query is that of the original model. Worlds that only a simultaneous
change of several unknowns connects may then be one change apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx.graph.assemble import FactorBatch, assemble, factor_batches, reassembled, variable_cards
from plx.graph.derived import DerivedNodes, VectorStore, derived_of
from plx.graph.model import FactorGraph, GroundModel
from plx.graph.node_map import NodeMap, nodes_of
from plx.graph.ragged import segments, starts
from plx.graph.worlds import input_owner, node_states
from plx.infer.hard.assignments import assignments
from plx.infer.hard.functional_dependencies import (
    Dependencies,
    functional_dependencies,
    other_vectors,
    others,
)
from plx.infer.hard.limits import READS
from plx.infer.problem import Problem
from plx.values import IMPOSSIBLE, IntArray

_ROUNDS = 20


@dataclass(frozen=True)
class Substituted:
    """``model`` computes what hard rules define. Its queries are those of the original model.

    ``nodes`` says what became of each original node.
    """

    problem: Problem
    nodes: NodeMap

    @property
    def model(self) -> GroundModel:
        """The model that computes what hard rules define."""
        return self.problem.model

    def original(self, problem: Problem, states: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
        """The states of the original problem's variables, from those of this one's; both (variables, n)."""
        nodes = node_states(self.model.graph, states)
        node, fixed = self.nodes
        own = nodes[np.maximum(node, 0)] if len(nodes) else np.zeros((len(node), nodes.shape[1]), np.int32)
        all_nodes = np.where(node[:, None] >= 0, own, fixed[:, None])
        return all_nodes[: problem.graph.n_variables].astype(np.int32)


def substitute(problem: Problem, but_assignments: bool = False) -> Substituted:
    """Replace defined unknowns until none is found. The constant is impossible if no world is possible.

    ``but_assignments``: not by the rules of assignments, in which rows change places as a whole.
    """
    nodes, now = NodeMap.identity(problem.graph.n_nodes), problem
    for _ in range(_ROUNDS):
        factors = now.parts.hard_factors
        if but_assignments:
            whole = [found.factors for found in assignments(now.graph, factors)]
            factors = np.setdiff1d(factors, np.concatenate([*whole, factors[:0]]))
        chosen = functional_dependencies(now.graph, factors)
        if not len(chosen.variable):
            break
        step = _substitute(now.model, chosen)
        if step is None:
            break
        work, then = step
        nodes = nodes.then(then)
        now = Problem(replace(work, atoms=nodes.atoms(problem.model.atoms, work.graph.n_variables)))
        if work.constant_weight == IMPOSSIBLE:
            break
    return Substituted(now, nodes)


# ------------------------------------------------------------ substitution


class _Order(NamedTuple):
    """Which definitions are used, and the new number of every node: variables, then inputs first."""

    used: IntArray
    number: IntArray  # [V + D]
    n_variables: int


def _substitute(model: GroundModel, chosen: Dependencies) -> tuple[GroundModel, NodeMap] | None:
    """The model with definitions applied, and where each node went."""
    graph = model.graph
    order = _order(graph, chosen)
    if not len(order.used):
        return None
    chosen = chosen.take(order.used)
    kept = np.ones(graph.n_variables, dtype=bool)
    kept[chosen.variable] = False
    assembly = assemble(
        model.values,
        variable_cards(graph)[kept],
        _batches(graph, chosen, order.number),
        _derived(graph, chosen, order),
        keep=order.number[nodes_of(model.queries)],
    )
    nodes = assembly.nodes.take(order.number)
    return reassembled(model, assembly, nodes), nodes


def _order(graph: FactorGraph, chosen: Dependencies) -> _Order:
    """Number the nodes, level by level; leave out definitions where too much would depend on too much."""
    owner, source = others(graph, chosen)
    head = np.concatenate([input_owner(graph) + graph.n_variables, chosen.variable[owner]])
    tail = np.concatenate([graph.input_node, source])
    by_tail = np.argsort(tail, kind="stable")
    start = starts(np.bincount(tail, minlength=graph.n_nodes))
    waiting = np.bincount(head, minlength=graph.n_nodes)
    defined = np.zeros(graph.n_nodes, dtype=bool)
    defined[chosen.variable] = True
    below = np.zeros(graph.n_nodes, dtype=np.float64)
    level = np.zeros(graph.n_nodes, dtype=np.int64)
    ready, depth, reads = np.flatnonzero(waiting == 0), 0, 0.0
    while len(ready):
        level[ready] = depth
        reads += float(below[ready].sum())
        if reads > READS:
            defined[ready] = False
        free = (ready < graph.n_variables) & ~defined[ready]
        below[ready[free]] = 1
        edges = by_tail[segments(start[ready], start[ready + 1] - start[ready])]
        np.add.at(below, head[edges], below[tail[edges]])
        np.subtract.at(waiting, head[edges], 1)
        reached = np.unique(head[edges])
        ready, depth = reached[waiting[reached] == 0], depth + 1
    free = np.arange(graph.n_nodes) < graph.n_variables
    free &= ~defined
    order = np.lexsort((np.arange(graph.n_nodes), level, ~free))
    number = np.empty(graph.n_nodes, dtype=np.int64)
    number[order] = np.arange(graph.n_nodes)
    return _Order(np.flatnonzero(defined[chosen.variable]), number, int(free.sum()))


def _batches(graph: FactorGraph, chosen: Dependencies, number: IntArray) -> Iterator[FactorBatch]:
    """The factors over the new nodes; those that define something, at what they define."""
    defining = np.zeros(graph.n_factors, dtype=bool)
    defining[chosen.factor] = True
    for batch, factors in _numbered(graph):
        rest = np.flatnonzero(~defining[factors])
        if len(rest):
            rule = np.asarray(batch.rule)[rest]
            yield FactorBatch(number[batch.scope[rest]], batch.table[rest], batch.tables, rule)
    tables = graph.table_of[chosen.factor].astype(np.int64)
    arity = np.diff(graph.scope_start)[chosen.factor]
    for kind, table, k in np.unique(np.stack([chosen.kind, tables, arity], axis=1), axis=0).tolist():
        mine = np.flatnonzero((chosen.kind == kind) & (tables == table))
        yield _left(graph, chosen.take(mine), k, number)


def _numbered(graph: FactorGraph) -> Iterator[tuple[FactorBatch, IntArray]]:
    """The factors in batches, and which ones these are."""
    numbered = graph._replace(rule_of=np.arange(graph.n_factors, dtype=np.int32))
    for batch in factor_batches(numbered):
        factors = np.asarray(batch.rule).astype(np.int64)
        yield batch._replace(rule=graph.rule_of[factors]), factors


def _left(graph: FactorGraph, alike: Dependencies, arity: int, number: IntArray) -> FactorBatch:
    """What is left of factors that define a variable in one way: their weights where they allow it."""
    kind, first = alike.kinds[alike.kind[0]], int(alike.factor[0])
    scope = graph.scope[graph.scope_start[alike.factor][:, None] + np.arange(arity)]
    weights = graph.table_weights(first)
    if alike.entry[0] < 0:
        scope = np.delete(scope, kind.axis, axis=1)
        at = kind.function.reshape(kind.cards)
        weights = np.take_along_axis(weights, np.expand_dims(at, kind.axis), axis=kind.axis)
    elif kind.total:
        weights = np.where(weights == IMPOSSIBLE, weights[weights != IMPOSSIBLE][0], weights)
    rule = graph.rule_of[alike.factor]
    return FactorBatch(number[scope], np.zeros(len(scope), dtype=np.int64), weights.reshape(1, -1), rule)


def _derived(graph: FactorGraph, chosen: Dependencies, order: _Order) -> DerivedNodes:
    """The derived nodes, old and new, in the new order."""
    old = derived_of(graph)
    vectors, maps = VectorStore(), VectorStore()
    owner, node = others(graph, chosen)
    contribution = _contributions(graph, chosen, owner, node, vectors)
    output = np.array([maps.id(kind.function.T.ravel()) for kind in chosen.kinds], dtype=np.int64)
    new_start, new_flat = vectors.flat()
    map_start, map_flat = maps.flat()
    head = np.concatenate([input_owner(graph) + graph.n_variables, chosen.variable[owner]])
    source = np.concatenate([graph.input_node, node])
    vector = np.concatenate([old.input_contribution, contribution + len(old.contribution_start) - 1])
    place = order.number[head] - order.n_variables
    by_place = np.argsort(place, kind="stable")
    ids = np.concatenate([np.arange(graph.n_variables, graph.n_nodes), chosen.variable])
    by_number = np.argsort(order.number[ids])
    made = np.concatenate([old.output_of, output[chosen.kind] + len(old.output_start) - 1])
    return DerivedNodes(
        card=graph.card[ids[by_number]],
        input_start=starts(np.bincount(place, minlength=len(ids))),
        input_node=order.number[source[by_place]].astype(np.int32),
        input_contribution=vector[by_place].astype(np.int32),
        contribution_start=np.concatenate(
            [old.contribution_start, old.contribution_start[-1] + new_start[1:]]
        ),
        contribution=np.concatenate([old.contribution, new_flat]),
        output_of=made[by_number].astype(np.int32),
        output_start=np.concatenate([old.output_start, old.output_start[-1] + map_start[1:]]),
        output=np.concatenate([old.output, map_flat]),
    )


def _contributions(
    graph: FactorGraph, chosen: Dependencies, owner: IntArray, node: IntArray, vectors: VectorStore
) -> IntArray:
    """What each input adds: a counter's own inputs what they add there, other nodes their place value."""
    radix = np.array([kind.function.shape[0] for kind in chosen.kinds], dtype=np.int64)
    given = other_vectors(graph, chosen)
    out = np.empty(len(owner), dtype=np.int64)
    counted = given >= 0
    used, inverse = np.unique(given[counted], return_inverse=True)
    copied = [vectors.id(graph.contribution_of(int(v)).astype(np.int64)) for v in used]
    out[counted] = np.array(copied, dtype=np.int64)[inverse]
    plain = np.flatnonzero(~counted)
    position = np.arange(len(plain)) - np.searchsorted(owner[plain], owner[plain])
    keys = np.stack([chosen.kind[owner[plain]], position], axis=1)
    rows, inverse = np.unique(keys, axis=0, return_inverse=True)
    made = []
    for kind, place in rows.tolist():
        cards = chosen.kinds[kind].cards
        stride = int(radix[kind]) * int(np.prod(cards[place + 1 :], dtype=np.int64))
        made.append(vectors.id(stride * np.arange(cards[place])))
    out[plain] = np.array(made, dtype=np.int64)[inverse.ravel()]
    return out
