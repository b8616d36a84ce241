"""Loose factors and derived nodes → a FactorGraph that satisfies every invariant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from plx.graph.derived import NO_DERIVED, DerivedNodes, Simplified, simplify
from plx.graph.merge import EqualArity, Merged, merge
from plx.graph.model import FactorGraph, GroundModel, Int32Array
from plx.graph.node_map import NodeMap
from plx.graph.ragged import owners, segments, starts
from plx.graph.room import empty, look_up, pieces, starts_of
from plx.graph.rows import AnyInt, BoolArray, unique_keys, unique_rows
from plx.graph.tables import gather_map, relevant_axes, total_weight
from plx.values import IntArray, Values


class FactorBatch(NamedTuple):
    """n factors over k nodes each; the j-th nodes of all scopes have the same number of states.

    Scopes need not be sorted, and a node may stand in a scope twice (then the diagonal is meant).
    """

    scope: AnyInt  # [n, k] nodes
    table: AnyInt  # [n] row of tables
    tables: IntArray  # [m, entries] weight ids, C order of the columns of `scope`
    rule: AnyInt | int = 0  # [n], or one for all: an index of GroundModel.rules


class Assembly(NamedTuple):
    """A graph, the log weight that is in every world, and where the old nodes went."""

    graph: FactorGraph
    constant_weight: int
    nodes: NodeMap


def assemble(
    values: Values,
    cards: AnyInt,
    batches: Iterable[FactorBatch],
    derived: DerivedNodes = NO_DERIVED,
    fixed: AnyInt | None = None,
    keep: AnyInt | Sequence[int] = (),
) -> Assembly:
    """Put a factor graph together.

    ``cards`` [V] are the numbers of states of the variables; ``fixed`` [V] holds the state of each
    observed variable and -1 for the free ones. Fixed variables and those of one state leave the
    graph. ``keep`` are derived nodes that stay even if no factor uses them. Factors over one scope
    are added exactly, constant ones go to the constant; a constant of -inf means that no world is
    possible.
    """
    cards = np.asarray(cards, dtype=np.int64)
    state = np.where(cards == 1, 0, -1) if fixed is None else np.where(cards == 1, 0, fixed)
    nodes = simplify(len(cards), derived, state.astype(np.int64))
    card = np.concatenate([cards, derived.card.astype(np.int64)])
    constants: list[EqualArity] = []
    merged = merge(values, _normalised(batches, nodes, card, constants))
    constant = _constant(values, constants)
    more = _constant(values, [merged.constants])
    constant = total_weight(values, np.array([constant, more]))
    number = _renumber(nodes, merged, np.asarray(keep, dtype=np.int64), len(cards))
    graph = _graph(values, card, nodes, merged, number)
    moved = NodeMap(np.where(nodes.state >= 0, -1, number[nodes.node]), nodes.state)
    return Assembly(graph, constant, moved)


def reassembled(model: GroundModel, assembly: Assembly, nodes: NodeMap | None = None) -> GroundModel:
    """The model over another graph: its queries, and its constant with that of the assembly. Atoms stay.

    ``nodes`` says where the nodes of the model went if not as in the assembly.
    """
    nodes = assembly.nodes if nodes is None else nodes
    constants = np.array([model.constant_weight, assembly.constant_weight])
    return replace(
        model,
        graph=assembly.graph,
        queries=nodes.queries(model.queries),
        constant_weight=total_weight(model.values, constants),
    )


def factor_batches(graph: FactorGraph) -> Iterator[FactorBatch]:
    """The factors of a graph as batches, one per list of cards: what `assemble` takes."""
    arity = np.diff(graph.scope_start)
    for k in np.unique(arity):
        group = np.flatnonzero(arity == k)
        scope = graph.scope[segments(graph.scope_start[group], arity[group])].reshape(-1, k)
        first, inverse = unique_rows(graph.card[scope])
        for i, row in enumerate(first):
            mine = np.flatnonzero(inverse == i)
            factors = group[mine]
            used, table = unique_keys(graph.table_of[factors].astype(np.int64))
            entries = int(np.prod(graph.card[scope[row]], dtype=np.int64))
            begin = graph.table_start[graph.table_of[factors[used]]]
            tables = graph.weight[begin[:, None] + np.arange(entries)]
            yield FactorBatch(scope[mine], table, tables, graph.rule_of[factors])


def variable_cards(graph: FactorGraph) -> Int32Array:
    """The numbers of states of the variables of a graph."""
    return graph.card[: graph.n_variables]


def _normalised(
    batches: Iterable[FactorBatch], nodes: Simplified, card: IntArray, constants: list[EqualArity]
) -> Iterator[EqualArity]:
    """The parts of all batches; those over no nodes are added to ``constants``. A batch is let go before the
    next is asked for, so that an iterator that gives them away holds none of them twice."""
    for batch in batches:
        for part in _normalise(batch, nodes, card):
            if part.scope.shape[1]:
                yield part
            else:
                constants.append(part)
        del batch


def _normalise(batch: FactorBatch, nodes: Simplified, card: IntArray) -> Iterator[EqualArity]:
    """Sorted scopes without repeats, fixed nodes or nodes that the table ignores."""
    n = len(batch.scope)
    if n == 0:
        return
    cards = [int(c) for c in card[batch.scope[0]]]
    scope = nodes.node[batch.scope] if nodes.moved else batch.scope
    rule = np.broadcast_to(np.asarray(batch.rule, dtype=np.int32), (n,))
    if (scope[:, 1:] > scope[:, :-1]).all() and (nodes.state[scope] < 0).all():
        yield from _drop_irrelevant(EqualArity(scope, batch.table, batch.tables, rule), cards)
        return
    axes = _axes(scope, nodes.state)
    first, inverse = unique_rows(axes)
    for i, row in enumerate(first):
        pattern = [int(a) for a in axes[row]]
        mine = slice(None) if len(first) == 1 else np.flatnonzero(inverse == i)
        columns = [pattern.index(axis) for axis in range(max(pattern, default=-1) + 1)]
        tables = batch.tables[:, gather_map(cards, pattern)]
        part = EqualArity(scope[mine][:, columns], batch.table[mine], tables, rule[mine])
        yield from _drop_irrelevant(part, [cards[j] for j in columns])


def _axes(scope: AnyInt, state: IntArray) -> Int32Array:
    """What becomes of each column of the scopes, as in `gather_map`: small integers [n, k].

    A free node's axis is its rank among the distinct free nodes of the scope.
    """
    n, k = scope.shape
    columns = [np.ascontiguousarray(column) for column in scope.T]
    fixed = state >= 0
    free = [~fixed[column] for column in columns] if fixed.any() else [np.ones(n, dtype=bool)] * k
    axes = np.zeros((n, k), dtype=np.int32, order="F")
    for i, column in enumerate(columns):
        fresh = free[i].copy()
        for earlier in columns[:i]:
            fresh &= earlier != column
        for j, other in enumerate(columns):
            if j != i:
                axes[:, j] += fresh & (column < other)
    for j, column in enumerate(columns):
        if not free[j].all():
            axes[:, j] = np.where(free[j], axes[:, j], -1 - state[column])
    return axes


def _drop_irrelevant(part: EqualArity, cards: list[int]) -> Iterator[EqualArity]:
    """Split a part by the axes that its tables depend on."""
    relevant = relevant_axes(part.tables, cards)
    if relevant.all():
        yield part
        return
    first, inverse = unique_rows(relevant.astype(np.int64))
    for i, row in enumerate(first):
        mine = np.flatnonzero(inverse[part.table] == i)
        kept = np.flatnonzero(relevant[row])
        place = np.cumsum(relevant[row]) - 1
        axes = [int(place[j]) if relevant[row, j] else -1 for j in range(len(cards))]
        tables = part.tables[:, gather_map(cards, axes)]
        yield EqualArity(part.scope[mine][:, kept], part.table[mine], tables, part.rule[mine])


def _constant(values: Values, parts: list[EqualArity]) -> int:
    """The id of the sum of the tables of empty scopes."""
    weights = [part.tables[:, 0] for part in parts]
    counts = [np.bincount(part.table, minlength=len(part.tables)) for part in parts]
    used = [count > 0 for count in counts]
    return total_weight(
        values,
        np.concatenate([w[u] for w, u in zip(weights, used, strict=True)] + [np.empty(0, dtype=np.int64)]),
        np.concatenate([c[u] for c, u in zip(counts, used, strict=True)] + [np.empty(0, dtype=np.int64)]),
    )


def _renumber(nodes: Simplified, merged: Merged, keep: IntArray, n_variables: int) -> IntArray:
    """New numbers of the nodes that stay; -1 for the others."""
    derived = nodes.derived
    used = np.zeros(len(nodes.node), dtype=bool)
    used[:n_variables] = nodes.state[:n_variables] < 0
    used[nodes.node[keep]] = True
    for scope in merged.scopes:
        for part in pieces(len(scope)):
            used[scope[part]] = True
    owner = n_variables + owners(derived.input_start)
    while True:
        reached = derived.input_node[used[owner]]
        if used[reached].all():
            break
        used[reached] = True
    used &= nodes.state < 0
    return np.where(used, np.cumsum(used) - 1, -1)


def _graph(
    values: Values, card: IntArray, nodes: Simplified, merged: Merged, number: IntArray
) -> FactorGraph:
    n_old = len(card) - len(nodes.derived.output_of)
    alive = number >= 0
    derived = _compact(nodes.derived, alive[n_old:], number)
    scope_start, scope = _flat(merged.scopes, number.astype(np.int32))
    graph = FactorGraph(
        n_variables=int(alive[:n_old].sum()),
        **{**derived._asdict(), "card": card[alive].astype(np.int32)},
        scope_start=scope_start,
        scope=scope,
        table_of=merged.table.astype(np.int32, copy=False),
        table_start=merged.table_start,
        table=values.logs(merged.weight),
        weight=merged.weight,
        rule_of=merged.rule.astype(np.int32, copy=False),
    )
    for array in graph[1:]:
        array.setflags(write=False)
    return graph


def _flat(scopes: list[AnyInt], number: Int32Array) -> tuple[IntArray, Int32Array]:
    """Where each scope starts, and all of them with new numbers of their nodes. The list is used up."""
    start = starts_of([scope.shape for scope in scopes])
    same = bool((number == np.arange(len(number))).all())
    if same and len(scopes) == 1 and scopes[0].dtype == np.int32:
        only: Int32Array = scopes.pop().reshape(-1).astype(np.int32, copy=False)
        return start, only
    flat: Int32Array = empty(sum(scope.size for scope in scopes), np.int32)
    first = 0
    while scopes:
        scope = scopes.pop(0).reshape(-1)
        look_up(number, scope, flat[first : first + len(scope)])
        first += len(scope)
        del scope
    return start, flat


def _compact(derived: DerivedNodes, alive: BoolArray, number: IntArray) -> DerivedNodes:
    """The nodes that stay, and only the vectors and maps that they use."""
    kept = np.flatnonzero(alive)
    count = np.diff(derived.input_start)[kept]
    entries = segments(derived.input_start[kept], count)
    vector, vectors = _used(derived.input_contribution[entries], derived.contribution_start)
    output, maps = _used(derived.output_of[kept], derived.output_start)
    return DerivedNodes(
        card=derived.card[kept],
        input_start=starts(count),
        input_node=number[derived.input_node[entries]].astype(np.int32),
        input_contribution=vector,
        contribution_start=starts(np.diff(derived.contribution_start)[vectors]),
        contribution=derived.contribution[
            segments(derived.contribution_start[vectors], np.diff(derived.contribution_start)[vectors])
        ],
        output_of=output,
        output_start=starts(np.diff(derived.output_start)[maps]),
        output=derived.output[segments(derived.output_start[maps], np.diff(derived.output_start)[maps])],
    )


def _used(reference: Int32Array, start: IntArray) -> tuple[Int32Array, IntArray]:
    """References renumbered to what is used, and the old numbers of that."""
    used = np.bincount(reference, minlength=len(start) - 1) > 0
    return (np.cumsum(used) - 1)[reference].astype(np.int32), np.flatnonzero(used)


def unmerged(
    values: Values, cards: IntArray, batches: Sequence[FactorBatch], derived: DerivedNodes
) -> FactorGraph:
    """A graph of factors as they come: several may have one scope."""
    batches = [batch for batch in batches if batch.scope.shape[1]]
    none = np.empty(0, dtype=np.int64)
    shift = starts(np.array([len(batch.tables) for batch in batches], dtype=np.int64))
    sizes = [np.full(len(batch.tables), batch.tables.shape[1], dtype=np.int64) for batch in batches]
    arity = [np.full(len(batch.scope), batch.scope.shape[1], dtype=np.int64) for batch in batches]
    table = [batch.table + first for batch, first in zip(batches, shift, strict=False)]
    rule = [np.broadcast_to(np.asarray(batch.rule, dtype=np.int64), len(batch.scope)) for batch in batches]
    weight = np.concatenate([*(batch.tables.ravel() for batch in batches), none])
    return FactorGraph(
        n_variables=len(cards),
        **{**derived._asdict(), "card": np.concatenate([cards, derived.card]).astype(np.int32)},
        scope_start=starts(np.concatenate([*arity, none])),
        scope=np.concatenate([*(batch.scope.ravel() for batch in batches), none]).astype(np.int32),
        table_of=np.concatenate([*table, none]).astype(np.int32),
        table_start=starts(np.concatenate([*sizes, none])),
        table=values.logs(weight),
        weight=weight,
        rule_of=np.concatenate([*rule, none]).astype(np.int32),
    )
