"""From blocks of variables to the arrays that the block kernel reads."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from plx.graph.joins import Lookup
from plx.graph.model import FactorGraph
from plx.graph.ragged import owners, segments, starts
from plx.graph.worlds import input_owner, scope_strides
from plx.infer.gibbs.markov_blanket import DerivedRows
from plx.infer.kernels.blocks import BlockArrays
from plx.values import FloatArray, IntArray

_UNCUT = 1 << 14

_PASSES = 8
"""Blocks are updated at most so often in a draw."""


@dataclass(frozen=True, eq=False)
class Proposal:
    """To merge the clusters of two elements, or to split the one of both; ``between`` [n, n] has the place of
    the member over each pair of elements, -1 where there is none."""

    between: IntArray
    one: int
    other: int


@dataclass(frozen=True)
class VariableBlock:
    """Variables that are updated together: ``states`` are the joint states, [K, members], that are possible.

    ``settled``: no hard rule reaches outside the block, so that its joint states need no test.
    ``exchange``: ``states`` name for each member the held row whose state it takes. Held rows are those of
    the members, then ``sources`` (variables, or -1 - k: always k) or what is proposed for each member.
    ``guards``, if any, are for each joint state held rows that must be 0, or it is not allowed.
    """

    members: IntArray
    states: npt.NDArray[np.int32]
    settled: bool
    exchange: bool = False
    sources: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    guards: tuple[tuple[int, ...], ...] = ()
    proposal: Proposal | None = None
    structure: int = -1  # whose rules are kept in any case

    @property
    def permutes(self) -> bool:
        """Whether members only exchange their states."""
        return self.exchange and self.proposal is None and int(self.states.max()) < len(self.members)


def block_arrays(
    graph: FactorGraph, rows: DerivedRows, blocks: list[VariableBlock], kept_in: IntArray | None = None
) -> BlockArrays:
    """The arrays for blocks over a compiled model: ``rows`` are its derived nodes.

    Blocks are all exchanges or none is. ``kept_in`` [F]: the structure within which moves keep a factor's
    rule in any case, -1: none.
    """
    build = _BlockJoins(graph, rows, blocks, kept_in)
    owner, row = build.affected()
    edge_of, edge_source, edge_contribution = build.edges(owner, row)
    term_block, term_factor = build.terms(owner, row)
    operand_of, operand_row, operand_stride = build.operands(owner, row, term_block, term_factor)
    outside = np.bincount(operand_of[operand_row >= 0], minlength=len(term_block)) > 0
    outside |= blocks[0].exchange  # its joint states are others in every lane, and so are their weights
    base_start, base = build.base(term_block[~outside], term_factor[~outside])
    kept = outside[operand_of]
    operand_of = (np.cumsum(outside) - 1)[operand_of[kept]]
    operand_row, operand_stride = operand_row[kept], operand_stride[kept]
    term_block, term_factor = term_block[outside], term_factor[outside]
    joint_start, joint = build.joint()
    n = len(blocks)
    derived = rows.node - graph.n_variables
    return BlockArrays(
        max_states=max(len(block.states) for block in blocks),
        max_affected=int(np.bincount(owner, minlength=n).max(initial=0)),
        member_start=build.start,
        member=_i32(build.member),
        n_states=np.array([len(block.states) for block in blocks], dtype=np.int64),
        joint_start=joint_start,
        joint=joint,
        base_start=base_start,
        base=base,
        affected_start=starts(np.bincount(owner, minlength=n)),
        affected=_i32(row),
        edge_start=starts(np.bincount(edge_of, minlength=len(row))),
        edge_source=_i32(edge_source),
        edge_contribution=edge_contribution,
        contribution=_i32(graph.contribution),
        output_start=_i64(graph.output_start[graph.output_of[derived]]),
        output=_i32(graph.output),
        term_start=starts(np.bincount(term_block, minlength=n)),
        term_entry=_i64(graph.table_start[graph.table_of[term_factor]]),
        operand_start=starts(np.bincount(operand_of, minlength=len(term_factor))),
        operand_row=_i32(operand_row),
        operand_stride=_i32(operand_stride),
        potential=np.require(graph.table, np.float64, ("C", "W")),
    )


def portions(graph: FactorGraph, arrays: BlockArrays, most: float) -> IntArray:
    """Where to cut the blocks so that each portion is at most ``most`` times as much work as a sweep.

    Work is counted in entries of tables looked at; so little of it that calls cost more is not cut.
    """
    work = np.cumsum(_work(arrays))
    portion = (work - 1) // max(_UNCUT, most * _sweep_work(graph))
    return np.concatenate([[0], np.flatnonzero(np.diff(portion)) + 1, [len(work)]]).astype(np.int64)


def passes(graph: FactorGraph, arrays: BlockArrays, most: float) -> int:
    """How often all blocks are updated in at most ``most`` times as much work as a sweep, 1 to `_PASSES`."""
    return int(min(_PASSES, max(1.0, most * _sweep_work(graph) / int(_work(arrays).sum()))))


def _work(arrays: BlockArrays) -> IntArray:
    """The work of updating each block, in entries of tables looked at."""
    work: IntArray = arrays.n_states * (np.diff(arrays.term_start) + np.diff(arrays.affected_start) + 1)
    return work


def _sweep_work(graph: FactorGraph) -> float:
    return float(graph.card[: graph.n_variables].sum() + graph.card[graph.scope].sum())


class _BlockJoins:
    """The joins. Derived nodes are rows of ``rows`` that feed factors; n of them are kept."""

    def __init__(
        self, graph: FactorGraph, rows: DerivedRows, blocks: list[VariableBlock], kept_in: IntArray | None
    ) -> None:
        self.graph, self.rows, self.blocks = graph, rows, blocks
        self.rules = _only_rules(graph)[graph.table_of]
        nowhere = np.full(graph.n_factors, -1)
        self.kept_in = nowhere if kept_in is None else np.where(self.rules, kept_in, -1)
        self.n_rows = max(1, len(rows.node))
        sizes = np.array([len(block.members) for block in blocks], dtype=np.int64)
        self.start = starts(sizes)
        self.member = np.concatenate([block.members for block in blocks]).astype(np.int64)
        self.owner = np.repeat(np.arange(len(blocks)), sizes)
        edge_owner = rows.row[input_owner(graph)]
        entry = np.flatnonzero((edge_owner >= 0) & (edge_owner < rows.first_passive))
        self.edge_source = rows.of_nodes(graph, graph.input_node[entry])
        self.edge_owner = edge_owner[entry]
        self.edge_contribution = graph.contribution_start[graph.input_contribution[entry]]
        self.direct = self.edge_source < graph.n_variables
        self.scope = rows.of_nodes(graph, graph.scope)
        self.stride = scope_strides(graph)

    def affected(self) -> tuple[IntArray, IntArray]:
        """(block, derived row) such that the row depends on a member, sorted: inputs first."""
        direct, nested = np.flatnonzero(self.direct), np.flatnonzero(~self.direct)
        at, edge = Lookup(self.edge_source[direct], self.graph.n_variables).join(self.member)
        key = self.owner[at] * self.n_rows + self.edge_owner[direct[edge]]
        found = self._unbalanced(key, self.edge_contribution[direct[edge]])
        above = Lookup(self.edge_source[nested] - self.graph.n_variables, self.n_rows)
        fresh = found
        while len(fresh):
            at, edge = above.join(fresh % self.n_rows)
            reached = fresh[at] // self.n_rows * self.n_rows + self.edge_owner[nested[edge]]
            fresh = np.setdiff1d(reached, found)
            found = np.union1d(found, fresh)
        return found // self.n_rows, found % self.n_rows

    def _unbalanced(self, key: IntArray, contribution: IntArray) -> IntArray:
        """The keys (block, derived row), each once, without sums to which all members of an exchange
        contribute in one way: whoever has which state, they stay the same."""
        found, inverse = np.unique(key, return_inverse=True)
        permutes = np.array([block.permutes for block in self.blocks], dtype=bool)
        if not permutes.any():
            return found
        edges = np.bincount(inverse, minlength=len(found))
        low = np.full(len(found), np.iinfo(np.int64).max)
        high = np.full(len(found), -1)
        np.minimum.at(low, inverse, contribution)
        np.maximum.at(high, inverse, contribution)
        members = np.diff(self.start)[found // self.n_rows]
        kept: IntArray = found[(edges < members) | (low < high) | ~permutes[found // self.n_rows]]
        return kept

    def edges(self, owner: IntArray, row: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Inputs of affected rows that change with the block: position of the row, source, contribution."""
        key, first = owner * self.n_rows + row, np.searchsorted(owner, np.arange(len(self.blocks)))
        direct, nested = np.flatnonzero(self.direct), np.flatnonzero(~self.direct)
        at, edge = Lookup(self.edge_source[direct], self.graph.n_variables).join(self.member)
        known, hit = _find(key, self.owner[at] * self.n_rows + self.edge_owner[direct[edge]])
        of, at, edge = known, at[hit], edge[hit]
        slot = at - self.start[self.owner[at]]
        at, more = Lookup(self.edge_source[nested] - self.graph.n_variables, self.n_rows).join(row)
        above = np.searchsorted(key, owner[at] * self.n_rows + self.edge_owner[nested[more]])
        of = np.concatenate([of, above])
        source = np.concatenate([-1 - slot, at - first[owner[at]]])
        contribution = self.edge_contribution[np.concatenate([direct[edge], nested[more]])]
        order = np.argsort(of, kind="stable")
        return of[order], source[order], contribution[order]

    def terms(self, owner: IntArray, row: IntArray) -> tuple[IntArray, IntArray]:
        """(block, factor) such that the factor depends on a member, sorted; settled ones left out."""
        graph = self.graph
        factor_of = owners(graph.scope_start)
        lookup = Lookup(self.scope, graph.n_variables + self.n_rows)
        at, place = lookup.join(np.concatenate([self.member, graph.n_variables + row]))
        block = np.concatenate([self.owner, owner])[at]
        key = np.unique(block * max(1, graph.n_factors) + factor_of[place])
        block, factor = key // max(1, graph.n_factors), key % max(1, graph.n_factors)
        settled = np.array([b.settled for b in self.blocks], dtype=bool)
        structure = np.array([b.structure for b in self.blocks], dtype=np.int64)[block]
        kept = (structure >= 0) & (self.kept_in[factor] == structure)
        needed = ~(settled[block] & self.rules[factor] | kept)
        return block[needed], factor[needed]

    def base(self, block: IntArray, factor: IntArray) -> tuple[IntArray, FloatArray]:
        """The log weights of joint states by factors over members alone, and where those of a block begin."""
        base_start = starts(np.array([len(b.states) for b in self.blocks], dtype=np.int64))
        base = np.zeros(base_start[-1])
        for b, f in zip(block.tolist(), factor.tolist(), strict=True):
            found = self.blocks[b]
            slots = [int(np.flatnonzero(found.members == node)[0]) for node in self.graph.scope_of(f)]
            weights = self.graph.table_values(f)[tuple(found.states[:, slot] for slot in slots)]
            base[base_start[b] : base_start[b + 1]] += weights
        return base_start[:-1], base

    def operands(
        self, owner: IntArray, row: IntArray, block: IntArray, factor: IntArray
    ) -> tuple[IntArray, IntArray, IntArray]:
        """What the entry of each term depends on: position of the term, row, stride."""
        n, wide = self.graph.n_variables, self.graph.n_variables + self.n_rows
        arity = np.diff(self.graph.scope_start)[factor]
        term = np.repeat(np.arange(len(factor)), arity)
        place = segments(self.graph.scope_start[factor], arity)
        found = self.scope[place]
        member = np.argsort(self.owner * wide + self.member)
        member_key = (self.owner * wide + self.member)[member]
        affected_key = owner * wide + n + row
        first = np.searchsorted(owner, np.arange(len(self.blocks)))
        key = block[term] * wide + found
        out = found.copy()
        at, hit = _find(member_key, key)
        out[hit] = -1 - (member[at] - self.start[block[term[hit]]])
        at, hit = _find(affected_key, key)
        out[hit] = wide_row(self.graph, self.rows) + at - first[block[term[hit]]]
        return term, out, self.stride[place]

    def joint(self) -> tuple[IntArray, npt.NDArray[np.int32]]:
        """Where the joint states of each block begin; equal arrays are stored once."""
        seen: dict[int, int] = {}
        parts: list[npt.NDArray[np.int32]] = []
        at, size = [], 0
        for block in self.blocks:
            if id(block.states) not in seen:
                seen[id(block.states)] = size
                parts.append(block.states.ravel())
                size += block.states.size
            at.append(seen[id(block.states)])
        return np.array(at, dtype=np.int64), _i32(np.concatenate(parts))


def wide_row(graph: FactorGraph, rows: DerivedRows) -> int:
    """The row of the first candidate state."""
    return graph.n_variables + len(rows.node)


def _find(keys: IntArray, wanted: IntArray) -> tuple[IntArray, IntArray]:
    """Where some of the wanted are among sorted keys, and which these are."""
    if not len(keys):
        return keys, keys
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    hit = np.flatnonzero(keys[at] == wanted)
    return at[hit], hit


def _only_rules(graph: FactorGraph) -> npt.NDArray[np.bool_]:
    """Which tables say what is possible and nothing else, shape (T,)."""
    soft = np.isfinite(graph.table) & (graph.table != 0)
    owner = np.searchsorted(graph.table_start, np.flatnonzero(soft), side="right") - 1
    only = np.ones(graph.n_tables, dtype=bool)
    only[owner] = False
    return only


def _i32(values: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    return np.require(values, np.int32, ("C", "W"))


def _i64(values: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    return np.require(values, np.int64, ("C", "W"))
