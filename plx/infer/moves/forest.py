"""Forests of unknowns that are drawn at once (Hamze & de Freitas 2004, *From fields to trees*).

Unknowns are taken as long as no factor is about three of them and no cycle arises; all others are given. A
second forest begins with those that the first one leaves out, and so on; the forests take turns.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph
from plx.graph.ragged import owners, segments, starts
from plx.graph.rows import BoolArray
from plx.graph.worlds import scope_strides
from plx.infer.gibbs.chains import ChainBlock, state_type
from plx.infer.gibbs.compiled import CompiledModel
from plx.infer.gibbs.markov_blanket import DerivedRows
from plx.infer.kernels.forests import Forest, kernel
from plx.infer.moves.couplings import Ends, ends
from plx.infer.moves.limits import BELIEFS, FORESTS, HARD, PLANTED, RANGE, TIED
from plx.infer.moves.mobile import Entries, entries, movable
from plx.infer.problem import Parts, Problem
from plx.values import FloatArray, IntArray


def is_tied(problem: Problem) -> bool:
    """Whether unknowns of a forest hold each other so strongly that drawing it at once may be worth a try."""
    graph = problem.graph
    found = next((ends(problem.parts, chosen) for chosen in forest_sets(problem.parts, 1)), None)
    if found is None or not found.pairs.any():
        return False
    hard = np.bincount(owners(graph.table_start), weights=graph.table == -np.inf, minlength=graph.n_tables)
    width = np.where(hard > 0, HARD, _widths(graph))[graph.table_of[found.factor[found.pairs]]]
    return float(width.mean()) >= TIED


def forest_sets(parts: Parts, most: int = FORESTS) -> list[BoolArray]:
    """Sets of variables that are forests given all others [V], until each that can be is in one."""
    graph = parts.graph
    free = movable(parts) & (graph.card[: graph.n_variables] > 1) & (_ranges(graph) <= RANGE)
    found = entries(parts, free)
    if len(found.factor) > PLANTED:
        return []
    sets: list[BoolArray] = []
    left = free.copy()
    while left.any() and len(sets) < most:
        sets.append(_planted(graph, free, left, found))
        left &= ~sets[-1]
    return sets


def _ranges(graph: FactorGraph) -> FloatArray:
    """By how much the possible entries of all factors about each variable differ, added up [V]."""
    weight = _widths(graph)[graph.table_of][owners(graph.scope_start)]
    found = np.bincount(graph.scope, weights=weight, minlength=graph.n_nodes).astype(np.float64)
    return found[: graph.n_variables]


def _widths(graph: FactorGraph) -> FloatArray:
    """By how much the possible entries of each table differ [T]."""
    first = graph.table_start[:-1]
    high = np.maximum.reduceat(graph.table, first)
    low = np.minimum.reduceat(np.where(graph.table == -np.inf, np.inf, graph.table), first)
    width: FloatArray = np.where(np.isfinite(low), high - np.where(np.isfinite(low), low, 0.0), 0.0)
    return width


def _planted(graph: FactorGraph, free: BoolArray, first: BoolArray, found: Entries) -> BoolArray:
    """A largest forest of free variables: those of ``first``, then the others, each in order."""
    by_variable = np.argsort(found.variable, kind="stable")
    factor = found.factor[by_variable].tolist()
    begin = starts(np.bincount(found.variable, minlength=graph.n_variables)).tolist()
    inside: dict[int, list[int]] = {}
    root = list(range(graph.n_variables))
    chosen = np.zeros(graph.n_variables, dtype=bool)
    for v in np.concatenate([np.flatnonzero(first), np.flatnonzero(free & ~first)]).tolist():
        mine = factor[begin[v] : begin[v + 1]]
        met: dict[int, int] = {}
        for f in mine:
            there = inside.get(f, ())
            if len(there) > 1 or (there and met.setdefault(_root(root, there[0]), there[0]) != there[0]):
                break
        else:
            chosen[v] = True
            for f in mine:
                inside.setdefault(f, []).append(v)
            for other in met:
                root[other] = v
    return chosen


def _root(root: list[int], v: int) -> int:
    while root[v] != v:
        root[v] = v = root[root[v]]
    return v


def planted(graph: FactorGraph, rows: DerivedRows, found: Ends) -> Forest:
    """What the kernel reads; ``found`` are the members and the factors about them."""
    parent = _parents(found)
    depth = _depths(parent)
    order = np.argsort(depth, kind="stable")
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    pair = np.flatnonzero(found.pairs)
    first, second = found.first[pair], found.second[pair]
    swapped = parent[second] == first
    child = np.where(swapped, second, first)
    strides = found.first_stride[pair], found.second_stride[pair]
    ties = np.argsort(position[child], kind="stable")
    single = np.flatnonzero(~found.pairs)
    terms = single[np.argsort(position[found.first[single]], kind="stable")]
    members = found.mobile[order]
    tie_operand, tie_row, tie_step = _others(graph, rows, found, pair[ties])
    term_operand, term_row, term_step = _others(graph, rows, found, terms)
    table = graph.table_of[found.factor]
    n = len(order)
    return Forest(
        member=_i32(members),
        card=graph.card[members].astype(np.int64),
        parent=np.where(parent[order] < 0, -1, position[parent[order]]),
        term_start=starts(np.bincount(position[found.first[terms]], minlength=n)),
        term_entry=graph.table_start[table[terms]].astype(np.int64),
        term_stride=found.first_stride[terms].astype(np.int64),
        term_operand=term_operand,
        tie_start=starts(np.bincount(position[child], minlength=n)),
        tie_entry=graph.table_start[table[pair[ties]]].astype(np.int64),
        tie_child=np.where(swapped, strides[1], strides[0])[ties].astype(np.int64),
        tie_parent=np.where(swapped, strides[0], strides[1])[ties].astype(np.int64),
        tie_operand=tie_operand,
        term_row=term_row,
        term_step=term_step,
        tie_row=tie_row,
        tie_step=tie_step,
        potential=np.require(graph.table, np.float64, ("C", "W")),
        weight=_weights(graph),
    )


def _weights(graph: FactorGraph) -> FloatArray:
    """exp of all log potentials, each less the largest of its table."""
    high = np.maximum.reduceat(graph.table, graph.table_start[:-1])[owners(graph.table_start)]
    weights: FloatArray = np.exp(graph.table - np.where(np.isfinite(high), high, 0.0))
    return weights


def _parents(found: Ends) -> IntArray:
    """For each member its parent, -1 for roots."""
    near: list[list[int]] = [[] for _ in found.mobile]
    pair = found.pairs
    for a, b in zip(found.first[pair].tolist(), found.second[pair].tolist(), strict=True):
        near[a].append(b)
        near[b].append(a)
    parent = np.full(len(near), -2, dtype=np.int64)
    for root in range(len(near)):
        if parent[root] != -2:
            continue
        parent[root] = -1
        waiting = deque([root])
        while waiting:
            v = waiting.popleft()
            for other in near[v]:
                if parent[other] == -2:
                    parent[other] = v
                    waiting.append(other)
    return parent


def _depths(parent: IntArray) -> IntArray:
    """How far each member is from its root."""
    depth = np.zeros(len(parent), dtype=np.int64)
    above = parent.copy()
    while (far := above >= 0).any():
        depth[far] += 1
        above[far] = parent[above[far]]
    return depth


def _others(
    graph: FactorGraph, rows: DerivedRows, found: Ends, chosen: IntArray
) -> tuple[IntArray, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """What else some factors are about: starts, rows and strides."""
    factor = found.factor[chosen]
    arity = np.diff(graph.scope_start)[factor]
    place = segments(graph.scope_start[factor], arity)
    of = np.repeat(np.arange(len(factor)), arity)
    ends = (found.mobile[end[chosen]][of] for end in (found.first, found.second))
    other = np.logical_and(*(graph.scope[place] != end for end in ends))
    start = starts(np.bincount(of[other], minlength=len(factor)))
    place = place[other]
    return start, _i32(rows.of_nodes(graph, graph.scope[place])), _i32(scope_strides(graph)[place])


def _i32(values: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    return np.require(values, np.int32, ("C", "W"))


@dataclass(frozen=True)
class ForestMove:
    """Forests that take turns; ``lanes`` of each are moved at once, so that what is known fits a cache."""

    state: str
    forests: tuple[Forest, ...]
    lanes: tuple[int, ...]

    def __call__(self, block: ChainBlock, random: npt.NDArray[np.uint32], turn: int) -> None:
        """Move lanes."""
        which = turn % len(self.forests)
        width, most = block.state.shape[1], self.lanes[which]
        for first in range(0, width, most):
            part = slice(first, min(width, first + most))
            state, level, own = (
                np.ascontiguousarray(rows[:, part]) for rows in (block.state, block.level, random)
            )
            with np.errstate(over="ignore"):
                kernel(self.state)(self.forests[which], state, level, own)
            block.state[:, part], random[:, part] = state, own


def forest_move(plan: CompiledModel) -> ForestMove | None:
    """Forests of a model, None if no factor is about two unknowns of one."""
    found = list(_forests(plan))
    if not found:
        return None
    sizes = [len(one.member) * int(one.card.max(initial=1)) for one in found]
    lanes = tuple(int(np.clip(BELIEFS // size // 8 * 8, 8, 64)) for size in sizes)
    return ForestMove(state_type(plan.graph), tuple(found), lanes)


def _forests(plan: CompiledModel) -> Iterator[Forest]:
    parts = plan.problem.parts
    for chosen in forest_sets(parts):
        found = ends(parts, chosen)
        if found.pairs.any():
            yield planted(plan.graph, plan.rows, found)
