"""A part of a model that can be summed over: what stays at β = 0, where worlds are drawn from it.

If β is on the other factors alone, the way from β = 0 to 1 is short where these are few, as between strips of
a grid. log Z of the part is exact, so its share of the way adds nothing to the error, and at β = 0 each world
is independent of the one before, however strong the weights are.

Which factors stay is a search for a subgraph of small treewidth that has as much weight as possible: greedily
from scratch, and with bands of it cut apart before (Baker 1994, *Approximation algorithms for NP-complete
problems on planar graphs*).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from plx.graph.components import smallest_reachable
from plx.graph.model import FactorGraph
from plx.graph.ragged import entries_of, owners, segments, starts
from plx.graph.rows import BoolArray
from plx.graph.worlds import scope_strides
from plx.infer.kernels.thin import Bags, Forward, Ties, drawing, fill, grow, levels
from plx.infer.problem import Parts
from plx.infer.tempering.limits import (
    CUT,
    MOST_STEPS,
    OFTEN,
    PART_BITS,
    PART_ENTRIES,
    PART_FACTORS,
    PART_UNKNOWNS,
    PART_WIDE,
)
from plx.threads import spread
from plx.values import FloatArray, IntArray


@dataclass(frozen=True)
class Cover:
    """Bags, see `plx.infer.kernels.thin`: ``order`` [V], ``bag`` [V, most] and ``size`` [V]; ``worth``: how
    strong the ties within them are."""

    order: IntArray
    bag: IntArray
    size: IntArray
    worth: float

    @cached_property
    def place(self) -> IntArray:
        """The inverse of the order."""
        place = np.empty(len(self.order), dtype=np.int64)
        place[self.order] = np.arange(len(self.order))
        return place


@dataclass(frozen=True)
class Part:
    """``owner`` [F]: in whose bag of the ``cover`` each factor is that stays, -1 for the others; ``share``:
    of the weights that is theirs, in squares."""

    cover: Cover
    owner: IntArray
    share: float

    @property
    def cut(self) -> BoolArray:
        """The factors that do not stay [F]."""
        cut: BoolArray = self.owner < 0
        return cut

    def over(self, graph: FactorGraph) -> Solvable:
        """The part of a graph, which may have other tables than the one in which it was found."""
        log_z, forward = _summed(graph, self.cover, self.owner)
        return Solvable(self.cut, graph.table, log_z, forward)


@dataclass(frozen=True)
class Solvable:
    """``cut`` [F]: the factors that do not stay; ``table``: the log potentials of those that do, and
    ``log_z`` of these, without the model's constant."""

    cut: BoolArray
    table: FloatArray
    log_z: float
    forward: Forward

    def draw(self, state: npt.NDArray[np.unsignedinteger], random: npt.NDArray[np.uint32]) -> None:
        """Draw the worlds of all lanes anew: state [V, C], generators [4, C]."""
        with np.errstate(over="ignore"):
            drawing(state.dtype.name)(self.forward, state, random)


def solvable_part(parts: Parts) -> Part | None:
    """The part of a model that stays at β = 0; None where there are hard rules, where the rest would have too
    much weight, or none."""
    graph = parts.graph
    if len(parts.hard_factors) or graph.n_factors > PART_FACTORS or graph.n_variables > PART_UNKNOWNS:
        return None
    search = Search(graph)
    if not search.is_promising:
        return None
    found = search.best()
    owner = search.owners(found)
    share = float(search.squares[owner < 0].sum()) / float(search.squares.sum())
    return Part(found, owner, share) if 0 < share <= CUT else None


def _worth(one: Cover) -> float:
    return one.worth


_ANY = np.empty(0, dtype=np.int64)
"""No order is given."""

_PARTS = 16
"""Parts of a sum for threads."""


class Search:
    """Of the factors over several variables, and no derived nodes, those that bags cover."""

    def __init__(self, graph: FactorGraph) -> None:
        self.graph, n = graph, graph.n_variables
        ranges = np.maximum.reduceat(graph.table, graph.table_start[:-1])
        ranges = ranges - np.minimum.reduceat(graph.table, graph.table_start[:-1])
        self.squares: FloatArray = ranges[graph.table_of] ** 2
        arity = np.diff(graph.scope_start)
        derived = np.bincount(owners(graph.scope_start)[graph.scope >= n], minlength=graph.n_factors) > 0
        self.open = ~derived & (arity <= PART_WIDE)
        self.bits = np.log2(graph.card[:n].astype(np.float64))
        self.budget = float(np.clip(np.log2(PART_ENTRIES / max(1, n)), 1, PART_BITS))
        one, other, tie = self._pairs(np.flatnonzero(self.open & (arity > 1)), arity)
        keys, inverse = np.unique(one * n + other, return_inverse=True)
        self.one, self.other = np.divmod(keys, n)
        self.tie = np.bincount(inverse.ravel(), weights=tie, minlength=len(keys))

    def _pairs(self, factors: IntArray, arity: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Pairs of variables in a factor, the lesser one first, and what each weighs."""
        graph = self.graph
        found: list[tuple[IntArray, IntArray, FloatArray]] = []
        for k in np.unique(arity[factors]).tolist():
            mine = factors[arity[factors] == k]
            scope = graph.scope[graph.scope_start[mine][:, None] + np.arange(k)].astype(np.int64)
            weight = self.squares[mine] * 2 / (k * (k - 1))
            for j in range(k):
                found += [(scope[:, i], scope[:, j], weight) for i in range(j)]
        none = np.empty(0, dtype=np.int64)
        one, other, tie = (np.concatenate(x) for x in zip(*found, (none, none, np.empty(0)), strict=True))
        return np.minimum(one, other), np.maximum(one, other), tie

    @property
    def is_promising(self) -> bool:
        """Whether bags might cover enough: each variable is with no more than a bag holds."""
        most = int(self.budget) * self.graph.n_variables
        lost = float(np.sort(self.tie)[: max(0, len(self.tie) - most)].sum())
        lost += float(self.squares[~self.open].sum())
        return bool(self.tie.any()) and lost <= CUT * float(self.squares.sum())

    def best(self) -> Cover:
        """The cover worth most of those found from scratch, and where bands are cut apart before."""
        found = self.covered(np.zeros(len(self.one), dtype=bool))
        for step in self._steps():
            for cut, order in self._strips(step):
                if self._left(cut) > found.worth:
                    found = max(found, self.covered(cut, order), key=_worth)
        for width, cut in self._bands():
            for more in self._within(width, cut) if self._left(cut) > found.worth else ():
                if self._left(cut | more) > found.worth:
                    found = max(found, self.covered(cut | more), key=_worth)
        return found

    def _left(self, cut: BoolArray) -> float:
        """What a cover can be worth at most."""
        return float(self.tie[~cut].sum())

    def _strips(self, step: int) -> Iterator[tuple[BoolArray, IntArray]]:
        """Pairs between strips of so many rows of a grid as fit, open at their ends, and the order of their
        columns; ``step``: by how much numbers of variables in one column differ."""
        number = np.arange(self.graph.n_variables)
        open_ends = np.abs(self.one % step - self.other % step) > step / 2
        for rows in range(int(self.budget), 1, -1):
            if rows * step < len(number):
                between = self._between(number, rows * step)
                yield (
                    between | open_ends,
                    np.lexsort((number // step, number % step, number // (rows * step))),
                )

    def _bands(self) -> Iterator[tuple[int, BoolArray]]:
        """Widths in levels, and the pairs between bands of levels, breadth first, or of the order in which
        variables were declared; the widest first, as these cut least."""
        number, most = np.arange(self.graph.n_variables), int(self.budget)
        for step in self._steps():
            for times in range(most + 1, 0, -1):
                if times * step < len(number):
                    yield times, self._between(number, times * step)
        level = self._levels(np.ones(len(self.one), dtype=bool))
        for width in range(min(most + 1, int(level.max(initial=0)) - 1), 1, -1):
            yield width, self._between(level, width)

    def _within(self, width: int, cut: BoolArray) -> Iterator[BoolArray]:
        """What to cut within bands: nothing; rings open at one place; and what is between halves, and between
        bands as wide as these: a ring is cut open, and a slab becomes columns."""
        yield np.zeros_like(cut)
        level = self._levels(~cut)
        yield self._once_around(~cut, level)
        half = -(-int(level.max(initial=0)) // 2)
        for part in {half, width}:
            if 1 < part < int(level.max(initial=0)):
                yield self._between(level, part)

    def _steps(self) -> list[int]:
        """By how much the numbers of variables that are tied often differ, as those of rows and layers do."""
        step, count = np.unique(self.other - self.one, return_counts=True)
        often = (step > 1) & (count > OFTEN * len(self.one))
        return [int(one) for one in step[often][:MOST_STEPS]]

    def _once_around(self, kept: BoolArray, level: IntArray) -> BoolArray:
        """Which pairs open rings at one place: where levels of a part meet at several, half way from its end,
        those at one of them."""
        n = self.graph.n_variables
        part = smallest_reachable(n, self.one[kept], self.other[kept])
        far = np.zeros(n, dtype=np.int64)
        np.maximum.at(far, part, level)
        half, lower = far[part[self.one]] // 2, np.minimum(level[self.one], level[self.other])
        meet = kept & (level[self.one] != level[self.other]) & (lower == half)
        place = smallest_reachable(n, self.one[meet], self.other[meet])[self.one]
        first, last = np.full(n, n), np.full(n, -1)
        np.minimum.at(first, part[self.one[meet]], place[meet])
        np.maximum.at(last, part[self.one[meet]], place[meet])
        of = part[self.one]
        found: BoolArray = meet & (place == first[of]) & (first[of] < last[of])
        return found

    def _between(self, level: IntArray, width: float) -> BoolArray:
        apart: BoolArray = level[self.one] // width != level[self.other] // width
        return apart

    def covered(self, cut: BoolArray, given: IntArray = _ANY) -> Cover:
        """What the bags cover that are found where some pairs are cut before; ``given`` [V]: the order in
        which variables join."""
        n = self.graph.n_variables
        one, other = self.one[~cut], self.other[~cut]
        of = np.concatenate([one, other])
        by = np.argsort(of, kind="stable")
        near = np.concatenate([other, one])[by]
        tie = np.concatenate([self.tie[~cut], self.tie[~cut]])[by]
        ties = Ties(starts(np.bincount(of, minlength=n)), near, tie, self.bits)
        order, size = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        bag = np.full((n, max(1, int(self.budget))), -1)
        worth = grow(ties, self.budget, given, order, bag, size)
        return Cover(order, bag, size, worth)

    def owners(self, cover: Cover) -> IntArray:
        """In whose bag each factor is [F]: that of the last of its variables, if in any; else -1."""
        graph, n = self.graph, self.graph.n_variables
        entries, factor = entries_of(graph.scope_start, np.flatnonzero(self.open))
        variable, factor = graph.scope[entries].astype(np.int64), np.flatnonzero(self.open)[factor]
        last = np.full(graph.n_factors, -1)
        np.maximum.at(last, factor, cover.place[variable])
        owner = np.where(last >= 0, cover.order[last], -1)
        inside = np.isin(owner[factor] * n + variable, _keys(cover.bag))
        owner[factor[~inside]] = -1
        return owner

    def _levels(self, kept: BoolArray) -> IntArray:
        """How far each variable is from one at an end of its part of the graph of these pairs."""
        n = self.graph.n_variables
        one, other = self.one[kept], self.other[kept]
        of, near = np.concatenate([one, other]), np.concatenate([other, one])
        near = near[np.argsort(of, kind="stable")]
        level = np.empty(n, dtype=np.int64)
        levels(starts(np.bincount(of, minlength=n)), near, level)
        return level


def _keys(bag: IntArray) -> IntArray:
    """Owner times V, plus member, of all bags."""
    owner, column = np.nonzero(bag >= 0)
    keys: IntArray = owner * len(bag) + bag[owner, column]
    return keys


@dataclass(frozen=True)
class _Axes:
    """The bags one after the other, in the order in which variables join."""

    cover: Cover
    card: IntArray  # of the variables

    @cached_property
    def start(self) -> IntArray:
        """Where each bag begins [N + 1]."""
        return starts(self.cover.size[self.cover.order])

    @cached_property
    def variable(self) -> IntArray:
        """The variable of each axis."""
        cover = self.cover
        bag = cover.bag[cover.order]
        found: IntArray = bag[np.arange(bag.shape[1]) < cover.size[cover.order][:, None]]
        return found

    @cached_property
    def stride(self) -> IntArray:
        """C order over the axes of each bag but its own variable's, which has 0."""
        out = np.zeros(len(self.variable), dtype=np.int64)
        now = np.ones(len(self.start) - 1, dtype=np.int64)
        last = self.start[1:] - 1
        for back in range(1, int(np.diff(self.start).max(initial=1))):
            at = last - back
            mine = at >= self.start[:-1]
            out[at[mine]] = now[mine]
            now[mine] *= self.card[self.variable[at[mine]]]
        return out

    @cached_property
    def configurations(self) -> IntArray:
        """Of all but the own variable of each bag [N]."""
        first = self.start[:-1]
        alone = np.diff(self.start) == 1
        return np.where(alone, 1, self.stride[first] * self.card[self.variable[first]])

    def locate(self, place: IntArray, variable: IntArray) -> IntArray:
        """Which axis of the bag at a place a variable is."""
        n = len(self.cover.order)
        keys = owners(self.start) * n + self.variable
        by = np.argsort(keys)
        return by[np.searchsorted(keys[by], place * n + variable)] - self.start[place]


def _summed(graph: FactorGraph, cover: Cover, owner: IntArray) -> tuple[float, Forward]:
    """The sum over the factors that are in an ``owner``'s bag, and what worlds are drawn by."""
    n = graph.n_variables
    card = graph.card[:n].astype(np.int64)
    axes = _Axes(cover, card)
    order, own = cover.order, axes.configurations
    message = starts(own)
    entry = starts(own * np.maximum(card[order] - 1, 0))
    place, base, stride = _items(graph, axes, owner, len(graph.table) + message)
    by = np.argsort(place, kind="stable")
    bags = Bags(
        axis_start=axes.start,
        axis_card=card[axes.variable],
        item_start=starts(np.bincount(place, minlength=n)),
        item_base=base[by],
        item_stride=stride[by],
        message=len(graph.table) + message[:-1],
        entry=entry[:-1],
    )
    data = np.concatenate([graph.table, np.zeros(message[-1])])
    threshold = np.zeros(entry[-1], dtype=np.int32)
    spread(lambda part: fill(bags, *part, data, threshold), _parts(axes))
    roots = np.flatnonzero(np.diff(axes.start) == 1)
    others = np.delete(np.arange(len(axes.variable)), axes.start[1:] - 1)
    forward = Forward(
        variable=order.astype(np.int32),
        card=card[order].astype(np.int32),
        entry=entry[:-1],
        plane=own,
        given_start=starts(np.diff(axes.start) - 1),
        given_row=axes.variable[others].astype(np.int32),
        given_stride=axes.stride[others].astype(np.int32),
        threshold=threshold,
    )
    return float(data[bags.message[roots]].sum()), forward


def _parts(axes: _Axes) -> list[tuple[int, int]]:
    """Ranges of bags that say nothing to each other, some of about as many configurations each."""
    least = np.minimum.reduceat(axes.cover.place[axes.variable], axes.start[:-1])
    after = np.minimum.accumulate(least[::-1])[::-1]  # of all bags from here on
    alone = np.flatnonzero(after >= np.arange(len(after)))
    done = starts(axes.configurations)[alone]
    wanted = np.linspace(0, axes.configurations.sum(), _PARTS, endpoint=False)
    begin = np.unique(alone[np.searchsorted(done, wanted).clip(max=len(alone) - 1)]).tolist()
    return list(pairwise([*begin, len(after)]))


def _items(
    graph: FactorGraph, axes: _Axes, owner: IntArray, message: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Of factors and messages: the place of the bag that reads each, where it begins, and strides."""
    cover = axes.cover
    width = cover.bag.shape[1]
    factors = np.flatnonzero(owner >= 0)
    entries, of = entries_of(graph.scope_start, factors)
    reader = cover.place[owner[factors]]
    stride = np.zeros((len(factors), width), dtype=np.int64)
    stride[of, axes.locate(reader[of], graph.scope[entries].astype(np.int64))] = scope_strides(graph)[entries]
    base = graph.table_start[graph.table_of[factors]]
    senders = np.flatnonzero(np.diff(axes.start) > 1)
    count = np.diff(axes.start)[senders] - 1
    sent, by = segments(axes.start[senders], count), np.repeat(np.arange(len(senders)), count)
    receiver = np.full(len(senders), -1)
    np.maximum.at(receiver, by, cover.place[axes.variable[sent]])
    passed = np.zeros((len(senders), width), dtype=np.int64)
    passed[by, axes.locate(receiver[by], axes.variable[sent])] = axes.stride[sent]
    return (
        np.concatenate([reader, receiver]),
        np.concatenate([base, message[senders]]),
        np.concatenate([stride, passed]),
    )
