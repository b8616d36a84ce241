"""The reduced model: one state per class of interchangeable values, until no more are found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from plx import deadline
from plx.graph.assemble import Assembly, FactorBatch, assemble, factor_batches, variable_cards
from plx.graph.derived import DerivedNodes, VectorStore, derived_of
from plx.graph.model import FactorGraph
from plx.graph.node_map import NodeMap
from plx.graph.ragged import segments, starts
from plx.graph.rows import AnyInt, BoolArray, unique_keys, unique_rows
from plx.graph.tables import total_weight
from plx.lift.normal import normalise
from plx.lift.swaps import value_classes
from plx.values import ZERO, IntArray, Values
from plx.weights import log


@dataclass(frozen=True)
class Quotient:
    """A model with one state per class of interchangeable values.

    Pairs of the original model are numbered through, variable by variable; so are the *reduced states*
    of its variables: those of variable i are ``start[i] … start[i + 1] - 1``, and pair p lies in
    ``state[p]``, which has ``multiplicity`` many. ``graph`` has the variables that still have several
    reduced states, ``normal`` is its normal form with the same variables.
    """

    graph: FactorGraph
    normal: FactorGraph
    start: IntArray  # [V + 1]
    state: IntArray  # [pairs]
    members: IntArray  # the pairs by reduced state; symmetries keep their order within one
    multiplicity: IntArray  # [start[-1]]
    variable: IntArray  # [variables of graph] which variable of the original model each one is
    nodes: NodeMap  # what became of each original node in `graph`
    constant_weight: int  # the log weight that has left `graph`, an id
    merges: tuple[IntArray, ...]
    """The exchanges found, step by step: arrays [classes, states, pairs of each state], of original pairs."""

    def pair_of(self) -> IntArray:
        """The reduced states of the variables of ``graph``, one variable after the other."""
        return segments(self.start[self.variable], np.diff(self.start)[self.variable])


def reduce(
    values: Values, graph: FactorGraph, label: AnyInt, equal: bool = False, keep: Sequence[int] = ()
) -> Quotient:
    """Merge interchangeable values until no more are found: a reduction can expose new exchanges. At the
    deadline, what is merged is enough.

    Values with different labels [pairs] stay apart. With ``equal``, values are merged only if as
    many original values stand behind each, so that every merge is a symmetry of the original model.
    ``keep`` are derived nodes that queries read.
    """
    step = _Step(values, graph, np.asarray(label, dtype=np.int64), equal, keep)
    while step.advance() and not deadline.over():
        pass
    return Quotient(
        step.graph, step.normal, step.start, step.state, step.order, step.multiplicity(), step.variable,
        step.nodes, step.constant_weight, tuple(step.merges),
    )  # fmt: skip


def weighted(values: Values, quotient: Quotient, keep: Sequence[int] = ()) -> Assembly:
    """The reduced model in which each state weighs as many values as it stands for.

    Its distribution is that of the original model, summed over interchangeable values. ``keep`` are
    derived nodes of ``quotient.graph``.
    """
    graph = quotient.graph
    first, inverse = unique_keys(quotient.multiplicity)
    logs = [values.id(log(int(m))) for m in quotient.multiplicity[first]]
    ids = np.array(logs, dtype=np.int64)[inverse]
    cards = variable_cards(graph).astype(np.int64)
    unary = []
    for c in np.unique(cards):
        mine = np.flatnonzero(cards == c)
        tables = ids[quotient.start[quotient.variable[mine]][:, None] + np.arange(c)]
        unary.append(FactorBatch(mine[:, None], np.arange(len(mine)), tables))
    return assemble(values, cards, [*factor_batches(graph), *unary], derived_of(graph), keep=keep)


class _Step:
    """The reduction so far."""

    def __init__(
        self, values: Values, graph: FactorGraph, label: IntArray, equal: bool, keep: Sequence[int]
    ) -> None:
        card = variable_cards(graph).astype(np.int64)
        self.values, self.graph, self.equal, self.label = values, graph, equal, label
        self.keep = np.asarray(keep, dtype=np.int64)
        self.normal = normalise(values, graph)
        self.start = starts(card)
        self.state = np.arange(len(label))
        self.order = np.arange(len(label))  # original pairs by reduced state
        self.variable = np.arange(len(card))
        self.nodes = NodeMap.identity(graph.n_nodes)
        self.constant_weight = ZERO
        self.merges: list[IntArray] = []

    def multiplicity(self) -> IntArray:
        return np.bincount(self.state, minlength=int(self.start[-1]))

    def advance(self) -> bool:
        """Merge what can be merged now; whether there was anything."""
        card = np.diff(self.start)[self.variable]
        pair = segments(self.start[self.variable], card)
        label = self.label[self.order[starts(self.multiplicity())[:-1]]][pair]
        if self.equal:
            _, label = unique_rows(np.stack([label, self.multiplicity()[pair]], axis=1))
        classes = value_classes(self.normal, label)
        first = np.arange(self.start[-1])
        first[pair] = np.repeat(self.start[self.variable], card) + classes
        if (first == np.arange(len(first))).all():
            return False
        if self.equal:
            self.merges += self._blocks(first)
        self._restrict(classes == segments(np.zeros_like(card), card))
        self._renumber(first)
        return True

    def _blocks(self, first: IntArray) -> Iterator[IntArray]:
        """The classes of reduced states, as original pairs, by number of states and of pairs in each."""
        size, width = np.bincount(first, minlength=len(first)), self.multiplicity()
        members = np.argsort(first, kind="stable")
        begin, place = starts(size), starts(width)
        shapes = np.stack([size, width], axis=1)[size > 1]
        for k, w in np.unique(shapes, axis=0):
            mine = np.flatnonzero((size == k) & (width == w))
            states = members[begin[mine][:, None] + np.arange(k)]
            yield self.order[place[states][:, :, None] + np.arange(w)]

    def _renumber(self, first: IntArray) -> None:
        kept = first == np.arange(len(first))
        number = (np.cumsum(kept) - 1)[first]
        self.state = number[self.state]
        self.order = self.order[np.argsort(self.state[self.order], kind="stable")]
        self.start = starts(kept)[self.start]

    def _restrict(self, kept: BoolArray) -> None:
        """The graphs on the first states of all classes."""
        keep = self.nodes.node[self.keep]
        assembly = restrict(self.values, self.graph, kept, keep[keep >= self.graph.n_variables])
        self.nodes = self.nodes.then(assembly.nodes)
        self.variable = self.variable[assembly.nodes.node[: self.graph.n_variables] >= 0]
        both = np.array([self.constant_weight, assembly.constant_weight])
        self.constant_weight = total_weight(self.values, both)
        self.normal = normalise(self.values, assembly.graph)
        self.graph = assembly.graph


def restrict(
    values: Values, graph: FactorGraph, kept: BoolArray, keep: AnyInt | Sequence[int] = ()
) -> Assembly:
    """The graph in which each variable has only some of its states, renumbered in order.

    ``kept`` [Σ card of the variables] says which; ``keep`` are derived nodes that stay though no factor
    reads them.
    """
    patterns = VectorStore()
    cards, of_variable = _patterns(patterns, variable_cards(graph).astype(np.int64), kept)
    full = [patterns.id(np.arange(c)) for c in graph.card[graph.n_variables :]]
    pattern = np.concatenate([of_variable, np.array(full, dtype=np.int64)])
    batches = [part for batch in factor_batches(graph) for part in _slices(batch, graph, pattern, patterns)]
    derived = _sliced_derived(derived_of(graph), pattern, patterns)
    return assemble(values, cards, batches, derived, keep=keep)


def _patterns(patterns: VectorStore, card: IntArray, kept: BoolArray) -> tuple[IntArray, IntArray]:
    """How many states of each variable are kept, and the pattern that lists them."""
    begin = starts(card)[:-1]
    count, number = np.empty_like(card), np.empty_like(card)
    for c in np.unique(card):
        mine = np.flatnonzero(card == c)
        rows = kept[begin[mine][:, None] + np.arange(c)]
        first, inverse = unique_rows(rows.astype(np.int64))
        ids = [patterns.id(np.flatnonzero(rows[i])) for i in first]
        number[mine], count[mine] = np.array(ids)[inverse], rows.sum(axis=1)
    return count, number


def _slices(
    batch: FactorBatch, graph: FactorGraph, pattern: IntArray, patterns: VectorStore
) -> Iterator[FactorBatch]:
    """A batch split by what is kept of its axes."""
    scope = np.asarray(batch.scope)
    cards = tuple(int(c) for c in graph.card[scope[0]])
    shaped = batch.tables.reshape(len(batch.tables), *cards)
    first, inverse = unique_rows(pattern[scope])
    rule = np.broadcast_to(np.asarray(batch.rule), (len(scope),))
    for i, row in enumerate(first):
        mine = np.flatnonzero(inverse == i)
        states = [patterns.vectors[p] for p in pattern[scope[row]]]
        tables = shaped[np.ix_(np.arange(len(shaped)), *states)].reshape(len(shaped), -1)
        yield FactorBatch(scope[mine], batch.table[mine], tables, rule[mine])


def _sliced_derived(derived: DerivedNodes, pattern: IntArray, patterns: VectorStore) -> DerivedNodes:
    """Derived nodes with the contributions of the states that are kept."""
    rows = np.stack([derived.input_contribution, pattern[derived.input_node]], axis=1)
    first, inverse = unique_rows(rows)
    store = VectorStore()
    found = []
    for vector, p in rows[first]:
        begin, end = derived.contribution_start[vector : vector + 2]
        found.append(store.id(derived.contribution[begin:end][patterns.vectors[p]]))
    start, flat = store.flat()
    return derived._replace(
        input_contribution=np.array(found, dtype=np.int32)[inverse] if found else derived.input_contribution,
        contribution_start=start,
        contribution=flat,
    )
