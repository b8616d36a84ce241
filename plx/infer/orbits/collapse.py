"""A model with its leaves summed out: unknowns that hang on the factors of few others.

A leaf's factors all lie within the scope of one of them, and no other leaf is in those. Summing it out
leaves a factor over the others, exact in its weights, and its own distribution given them is known:
it need not be sampled (Rao & Blackwell). Which unknowns are leaves does not depend on how things are
named or ordered, so symmetries of the model are still ones of what is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from plx import deadline
from plx.deadline import OutOfTimeError
from plx.graph.assemble import FactorBatch, assemble, factor_batches, reassembled, variable_cards
from plx.graph.derived import derived_of
from plx.graph.leaves import Alike, LeafFactors, alike, find_leaves, narrow_factors, padded_scopes
from plx.graph.model import FactorGraph, GroundModel, GroundQuery, Target
from plx.graph.node_map import NodeMap
from plx.graph.queries import QueryBlock, blocks, singles
from plx.graph.ragged import owners
from plx.graph.rows import BoolArray, unique_rows
from plx.graph.tables import add_weights
from plx.lift.normal import select
from plx.sequences import joined, parts
from plx.values import IMPOSSIBLE, FloatArray, IntArray, Values
from plx.weights import count_terms, log_sum_exp

_ENTRIES = 4096
"""Leaves are summed out of factors of at most this many entries."""

_ROUNDS = 4

_TERMS = 32
"""Weights of more terms than this, sums of sums, are not summed again: each round makes them longer by a
factor."""


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
        try:
            if not work.advance():
                break
        except OutOfTimeError:
            break
    return work.finish()


def not_collapsed(model: GroundModel) -> Collapsed:
    """The model as it is."""
    return Collapsed(model, model, NodeMap.identity(model.graph.n_nodes), ())


def _nodes(targets: Iterable[tuple[Target, ...]]) -> IntArray:
    return np.array([target.node for several in targets for target in several], dtype=np.int64)


class _Work:
    def __init__(self, model: GroundModel, held: IntArray | None) -> None:
        n = model.graph.n_variables
        self.original = self.model = model
        self.nodes = NodeMap.identity(model.graph.n_nodes)
        self.variable = np.arange(n)  # the original variable of each one that is left
        self.stays = np.zeros(n, dtype=bool)
        self.asked = np.zeros(n, dtype=bool)
        few = [query.targets for _, query in singles(model.queries)]
        wide = [block.node.astype(np.int64) for _, block in blocks(model.queries)]
        alone = np.concatenate([_nodes(t for t in few if len(t) == 1), *wide])
        together = _nodes(t for t in few if len(t) > 1)
        for mark, nodes in ((self.asked, alone), (self.stays, together)):
            mark[nodes[(nodes >= 0) & (nodes < n)]] = True
        self.derived = np.unique([*alone[alone >= n], *together[together >= n]]).astype(np.int64)
        if held is not None:
            self.stays[held] = True
        self.leaves: list[Leaves] = []
        self.sums = _Sums(model.values)

    def advance(self) -> bool:
        """One round; whether anything was summed out. Raises OutOfTimeError, and then nothing was."""
        read, values, graph = self._read(), self.model.values, self.model.graph
        usable = _usable(graph) & self._short(graph)
        scope = padded_scopes(graph, usable)
        leaves = find_leaves(scope, ~_blocked(graph, usable, self.stays[self.variable]))
        leaves = _alone(leaves, graph.n_factors)
        if not len(leaves.variable):
            return False
        messages: list[FactorBatch] = []
        found: list[Leaves] = []
        for kind in alike(leaves, scope, graph.table_of, graph.card):
            total = _total(values, graph, kind)
            found += self._asked_of(kind, total)
            messages.append(self._message(kind, total))
        self.leaves += found
        kept = np.ones(graph.n_factors, dtype=bool)
        kept[leaves.factor[leaves.factor >= 0]] = False
        cards = variable_cards(graph).astype(np.int64)
        cards[leaves.variable] = 1
        batches = [*factor_batches(select(graph, kept)), *messages]
        assembly = assemble(values, cards, batches, derived_of(graph), keep=read)
        self.model = reassembled(self.model, assembly)
        self.nodes = self.nodes.then(assembly.nodes)
        self.variable = self.variable[assembly.nodes.node[: graph.n_variables] >= 0]
        return True

    def _short(self, graph: FactorGraph) -> BoolArray:
        """Which factors have weights of few terms [F]."""
        distinct, of = np.unique(graph.weight, return_inverse=True)
        terms = np.array([count_terms(self.model.values[int(i)]) for i in distinct])
        most = np.maximum.reduceat(terms[of.ravel()], graph.table_start[:-1])
        short: BoolArray = most[graph.table_of] <= _TERMS
        return short

    def _asked_of(self, kind: Alike, total: IntArray) -> Iterator[Leaves]:
        """The conditional of the leaves that queries ask for; what they depend on stays."""
        asked = self.asked[self.variable[kind.leaf]]
        if asked.any():
            others = self.variable[kind.others[asked]]
            conditional = _conditional(self.model.values.floats(total))
            self.stays[others.ravel()] = True
            yield Leaves(self.variable[kind.leaf[asked]], others, conditional)

    def _message(self, kind: Alike, total: IntArray) -> FactorBatch:
        """What takes the place of the factors of leaves that are alike."""
        same = np.zeros(len(kind.leaf), dtype=np.int64)
        rule = np.append(self.model.graph.rule_of, 0)[kind.widest]
        return FactorBatch(kind.others, same, self.sums.of(total).reshape(1, -1), rule)

    def _read(self) -> list[int]:
        """Derived nodes that queries read. One that has become an unknown makes that stay."""
        now, n = self.nodes.node[self.derived], self.model.graph.n_variables
        self.stays[self.variable[now[(now >= 0) & (now < n)]]] = True
        return [int(node) for node in now[now >= n]]

    def finish(self) -> Collapsed:
        if self.model is self.original:
            return not_collapsed(self.original)
        leaf = np.zeros(self.original.graph.n_nodes + 1, dtype=bool)  # the last entry for -1
        for leaves in self.leaves:
            leaf[leaves.variable] = True
        queries = joined(_without(self.original.queries, self.model.queries, leaf))
        atoms = self.nodes.atoms(self.original.atoms, self.model.graph.n_variables)
        inner = replace(self.model, atoms=atoms, queries=queries)
        return Collapsed(self.original, inner, self.nodes, tuple(self.leaves))


def _without(
    before: Sequence[GroundQuery], now: Sequence[GroundQuery], leaf: BoolArray
) -> Iterator[Sequence[GroundQuery]]:
    """The queries of ``now`` but for those that before asked for a leaf alone."""
    for old, new in zip(parts(before), parts(now), strict=True):
        if isinstance(old, QueryBlock) and isinstance(new, QueryBlock):
            yield new.take(np.flatnonzero(~leaf[old.node]))
        else:
            pairs = zip(old, new, strict=True)
            yield tuple(q for o, q in pairs if len(o.targets) != 1 or not leaf[o.targets[0].node])


def _blocked(graph: FactorGraph, usable: BoolArray, stays: BoolArray) -> BoolArray:
    """Which variables are no leaves [V]: those that stay, of other factors, or that derived nodes read."""
    blocked = np.zeros(graph.n_nodes, dtype=bool)
    blocked[: graph.n_variables] = stays
    blocked[graph.scope[~usable[owners(graph.scope_start)]]] = True
    blocked[graph.input_node] = True
    return blocked[: graph.n_variables]


def _alone(leaves: LeafFactors, n_factors: int) -> LeafFactors:
    """Those of whose factors no other leaf is in any, which does not depend on names."""
    shared = np.bincount(leaves.factor[leaves.factor >= 0], minlength=n_factors + 1) > 1
    return leaves.take(np.flatnonzero(~shared[leaves.factor].any(axis=1)))  # the last entry is False, for -1


def _usable(graph: FactorGraph) -> BoolArray:
    """Which factors leaves may be summed out of [F]: over few unknowns, small, without impossible states."""
    entries = np.diff(graph.table_start)
    table = np.repeat(np.arange(graph.n_tables), entries)
    impossible = np.bincount(table[graph.weight == IMPOSSIBLE], minlength=graph.n_tables) > 0
    fit = ~impossible & (entries <= _ENTRIES)
    return narrow_factors(graph) & fit[graph.table_of]


def _total(values: Values, graph: FactorGraph, kind: Alike) -> IntArray:
    """The sum of a leaf's factors over the widest scope, the leaf last: exact weights."""
    total: IntArray = np.full(kind.shape, values.id(0), dtype=np.int64)
    for part in kind.laid_out([graph.table_weights(f) for f in kind.factors]):
        total = add_weights(values, total, part)
    return np.moveaxis(total, kind.axis, -1)


class _Sums:
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
            deadline.check()
            self.known[row] = self.values.id(log_sum_exp([self.values[i] for i in row]))  # type: ignore[misc]
        return self.known[row]


def _conditional(log_potential: FloatArray) -> FloatArray:
    """Distributions over the last axis, in proportion to exp."""
    p = np.exp(log_potential - log_potential.max(axis=-1, keepdims=True))
    out: FloatArray = p / p.sum(axis=-1, keepdims=True)
    return out
