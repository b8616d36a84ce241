"""A model with its leaves summed out: unknowns that hang on the factors of few others.

A leaf's factors all lie within the scope of one of them, and no other leaf is in those. Summing it out
leaves a factor over the others, exact in its weights, and its own distribution given them is known:
it need not be sampled (Rao & Blackwell). Which unknowns are leaves does not depend on how things are
named or ordered, so symmetries of the model are still ones of what is left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from plx import deadline
from plx.graph.assemble import Assembly, FactorBatch, assemble, factor_batches, variable_cards
from plx.graph.derived import derived_of
from plx.graph.model import FactorGraph, GroundModel
from plx.graph.node_map import NodeMap
from plx.graph.ragged import starts
from plx.graph.rows import BoolArray, unique_rows
from plx.graph.tables import add_weights, total_weight
from plx.lift.normal import select
from plx.values import IMPOSSIBLE, FloatArray, IntArray, Values
from plx.weights import log_sum_exp

WIDEST = 3
"""Leaves are summed out of factors over at most this many unknowns, …"""

_MOST_FACTORS = 3
"""… this many of them, …"""

_ENTRIES = 4096
"""… of at most this many entries."""

_ROUNDS = 4


@dataclass(frozen=True)
class Leaves:
    """Unknowns summed out alike: P(variable[i] | others[i]) = ``conditional[others, variable]``."""

    variable: IntArray  # [n]
    others: IntArray  # [n, k], original nodes that stay
    conditional: FloatArray  # [cards of the others …, card]


@dataclass(frozen=True)
class Collapsed:
    """``model`` is over what is left, its queries those of the original one that ask for no leaf.

    ``leaves`` are the groups of leaves that queries ask for. ``nodes`` says what became of each original
    node.
    """

    original: GroundModel
    model: GroundModel
    nodes: NodeMap
    leaves: tuple[Leaves, ...]


def collapse(model: GroundModel, held: IntArray | None = None) -> Collapsed:
    """Sum out leaves, round by round. ``held`` are unknowns that stay.

    Unknowns of hard rules stay, and those that queries ask for together with others.
    """
    work = _Work(model, held)
    for _ in range(_ROUNDS):
        if deadline.over() or not work.advance():
            break
    return work.finish()


def not_collapsed(model: GroundModel) -> Collapsed:
    """The model as it is."""
    return Collapsed(model, model, NodeMap.identity(model.graph.n_nodes), ())


class _Work:
    def __init__(self, model: GroundModel, held: IntArray | None) -> None:
        n = model.graph.n_variables
        self.original, self.graph = model, model.graph
        self.nodes = NodeMap.identity(model.graph.n_nodes)
        self.variable = np.arange(n)  # the original variable of each one that is left
        self.stays = np.zeros(n, dtype=bool)
        self.asked = np.zeros(n, dtype=bool)
        alone = [q.targets[0].node for q in model.queries if len(q.targets) == 1]
        together = [t.node for q in model.queries if len(q.targets) > 1 for t in q.targets]
        for mark, nodes in ((self.asked, alone), (self.stays, together)):
            mark[[node for node in nodes if 0 <= node < n]] = True
        self.derived = np.unique([node for node in (*alone, *together) if node >= n]).astype(np.int64)
        if held is not None:
            self.stays[held] = True
        self.leaves: list[Leaves] = []
        self.constant_weight = model.constant_weight

    def advance(self) -> bool:
        """One round; whether anything was summed out."""
        read = self._read()
        leaf, factors = _leaves(self.graph, self.stays[self.variable])
        if not len(leaf):
            return False
        values = self.original.values
        kinds = _kinds(values, self.graph, leaf, factors)
        for kind in kinds:
            asked = self.asked[self.variable[kind.leaf]]
            if asked.any():
                others = self.variable[kind.others[asked]]
                conditional = _conditional(values.floats(kind.total))
                self.leaves.append(Leaves(self.variable[kind.leaf[asked]], others, conditional))
                self.stays[others.ravel()] = True
        gone = np.bincount(factors[factors >= 0], minlength=self.graph.n_factors) > 0
        assembly = _sum_out(values, self.graph, kinds, gone, read)
        self.nodes = self.nodes.then(assembly.nodes)
        self.variable = self.variable[assembly.nodes.node[: self.graph.n_variables] >= 0]
        both = np.array([self.constant_weight, assembly.constant_weight])
        self.constant_weight = total_weight(values, both)
        self.graph = assembly.graph
        return True

    def _read(self) -> list[int]:
        """Derived nodes that queries read. One that has become an unknown makes that stay."""
        now = self.nodes.node[self.derived]
        self.stays[self.variable[now[(now >= 0) & (now < self.graph.n_variables)]]] = True
        return [int(node) for node in now[now >= self.graph.n_variables]]

    def finish(self) -> Collapsed:
        if self.graph is self.original.graph:
            return not_collapsed(self.original)
        model = self.original
        leaf = {variable for leaves in self.leaves for variable in leaves.variable.tolist()}
        queries = tuple(
            self.nodes.query(query)
            for query in model.queries
            if len(query.targets) != 1 or query.targets[0].node not in leaf
        )
        inner = replace(
            model,
            graph=self.graph,
            atoms=self.nodes.atoms(model.atoms, self.graph.n_variables),
            queries=queries,
            constant_weight=self.constant_weight,
        )
        return Collapsed(model, inner, self.nodes, tuple(self.leaves))


def _leaves(graph: FactorGraph, stays: BoolArray) -> tuple[IntArray, IntArray]:
    """The leaves, and their factors [n, 3], widest first and -1 where there are fewer."""
    n, size = graph.n_variables, np.diff(graph.scope_start)
    factor = np.repeat(np.arange(graph.n_factors), size)
    blocked = stays.copy()
    blocked[graph.scope[~_usable(graph)[factor] & (graph.scope < n)]] = True
    blocked[graph.input_node[graph.input_node < n]] = True
    degree = np.bincount(graph.scope, minlength=graph.n_nodes)[:n]
    leaf = np.flatnonzero(~blocked & (degree <= _MOST_FACTORS))
    if not len(leaf):
        return leaf, np.empty((0, _MOST_FACTORS), dtype=np.int64)
    factors = _factors_of(graph, leaf, factor, size)
    whole = _scopes(graph, factors[:, 0])
    nested = np.ones(len(leaf), dtype=bool)
    for narrower in factors.T[1:]:
        scope = _scopes(graph, narrower)
        nested &= ((scope[:, :, None] == whole[:, None, :]).any(axis=2) | (scope < 0)).all(axis=1)
    leaf, factors = leaf[nested], factors[nested]
    shared = np.bincount(factors[factors >= 0], minlength=graph.n_factors + 1) > 1
    alone = ~shared[factors].any(axis=1)  # the last entry is False, for -1
    return leaf[alone], factors[alone]


def _usable(graph: FactorGraph) -> BoolArray:
    """Which factors leaves may be summed out of [F]: over few unknowns, small, without impossible states."""
    size = np.diff(graph.scope_start)
    entries = np.diff(graph.table_start)
    table = np.repeat(np.arange(graph.n_tables), entries)
    impossible = np.bincount(table[graph.weight == IMPOSSIBLE], minlength=graph.n_tables) > 0
    fit = ~impossible & (entries <= _ENTRIES)
    usable = (size <= WIDEST) & fit[graph.table_of]
    if graph.n_derived and len(size):
        usable &= np.maximum.reduceat(graph.scope, graph.scope_start[:-1]) < graph.n_variables
    return np.asarray(usable)


def _factors_of(graph: FactorGraph, variable: IntArray, factor: IntArray, size: IntArray) -> IntArray:
    """The factors of some variables [n, 3], widest first, -1 at the end of a row."""
    row = np.full(graph.n_nodes, -1, dtype=np.int64)
    row[variable] = np.arange(len(variable))
    entry = np.flatnonzero(row[graph.scope] >= 0)
    owner, factor = row[graph.scope[entry]], factor[entry]
    order = np.lexsort((-size[factor], owner))
    owner, factor = owner[order], factor[order]
    out = np.full((len(variable), _MOST_FACTORS), -1, dtype=np.int64)
    first = starts(np.bincount(owner, minlength=len(variable)))
    out[owner, np.arange(len(owner)) - first[owner]] = factor
    return out


def _scopes(graph: FactorGraph, factor: IntArray) -> IntArray:
    """The scopes of factors, [n, WIDEST] with -1 at the end; -1 throughout for factor -1."""
    place = graph.scope_start[factor][:, None] + np.arange(WIDEST)
    inside = (factor[:, None] >= 0) & (place < graph.scope_start[factor + 1][:, None])
    if not len(graph.scope):
        return np.full(place.shape, -1, dtype=np.int64)
    return np.where(inside, graph.scope[np.minimum(place, len(graph.scope) - 1)], -1).astype(np.int64)


class _LeafKind(NamedTuple):
    """Leaves that are alike: ``total`` [cards of the others …, card] are the weights of their factors."""

    leaf: IntArray  # [n]
    factor: IntArray  # [n] the widest of each, -1 for none
    others: IntArray  # [n, k]
    total: IntArray


def _sum_out(
    values: Values, graph: FactorGraph, kinds: list[_LeafKind], gone: BoolArray, keep: list[int]
) -> Assembly:
    """The graph with a message in the place of the factors of each leaf; those are ``gone``."""
    messages, batches = _Messages(values), []
    left = variable_cards(graph).astype(np.int64)
    for kind in kinds:
        left[kind.leaf] = 1
        same = np.zeros(len(kind.leaf), dtype=np.int64)
        rule = np.append(graph.rule_of, 0)[kind.factor]
        batches.append(FactorBatch(kind.others, same, messages.of(kind.total).reshape(1, -1), rule))
    rest = factor_batches(select(graph, ~gone))
    return assemble(values, left, [*rest, *batches], derived_of(graph), keep=keep)


def _kinds(values: Values, graph: FactorGraph, leaf: IntArray, factors: IntArray) -> list[_LeafKind]:
    """Leaves with the same tables at the same places are of one kind."""
    whole = _scopes(graph, factors[:, 0])
    whole[:, 0] = np.where(factors[:, 0] < 0, leaf, whole[:, 0])
    inside = [
        (_scopes(graph, narrower)[:, :, None] == whole[:, None, :]).any(axis=1) & (whole >= 0)
        for narrower in factors.T
    ]
    tables = np.append(graph.table_of, -1)[factors]
    cards = np.where(whole >= 0, graph.card[whole].astype(np.int64), 0)
    first, kind = unique_rows(np.column_stack([tables, cards, whole == leaf[:, None], *inside[1:]]))
    found = []
    for i, example in enumerate(first.tolist()):
        members = np.flatnonzero(kind == i) if len(first) > 1 else np.arange(len(leaf))
        shape = cards[example][cards[example] > 0].tolist()
        axis = int(np.argmax(whole[example] == leaf[example]))
        total = _total(values, graph, factors[example], [part[example] for part in inside], shape)
        others = np.delete(whole[members][:, : len(shape)], axis, axis=1)
        found.append(_LeafKind(leaf[members], factors[members, 0], others, np.moveaxis(total, axis, -1)))
    return found


def _total(
    values: Values, graph: FactorGraph, factors: IntArray, inside: list[BoolArray], shape: list[int]
) -> IntArray:
    """The sum of a leaf's factors over the scope of the widest: exact weights, of this shape."""
    total: IntArray = np.full(shape, values.id(0), dtype=np.int64)
    for f, axes in zip(factors.tolist(), inside, strict=True):
        if f >= 0:
            part = graph.table_weights(f).reshape([n if a else 1 for n, a in zip(shape, axes, strict=False)])
            total = add_weights(values, total, np.broadcast_to(part, total.shape))
    return total


class _Messages:
    """Sums over a last axis, exact and in log space; each one is computed once."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.known: dict[tuple[int, ...], int] = {}

    def of(self, total: IntArray) -> IntArray:
        rows = np.sort(total.reshape(-1, total.shape[-1]), axis=1)
        first, inverse = unique_rows(rows)
        return np.array([self._sum(tuple(row)) for row in rows[first].tolist()], dtype=np.int64)[inverse]

    def _sum(self, row: tuple[int, ...]) -> int:
        if row not in self.known:
            self.known[row] = self.values.id(log_sum_exp([self.values[i] for i in row]))  # type: ignore[misc]
        return self.known[row]


def _conditional(log_potential: FloatArray) -> FloatArray:
    """Distributions over the last axis, in proportion to exp."""
    p = np.exp(log_potential - log_potential.max(axis=-1, keepdims=True))
    out: FloatArray = p / p.sum(axis=-1, keepdims=True)
    return out
