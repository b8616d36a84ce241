"""Sums over histograms of cells where what members count of each other is summed out for each histogram."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from plx.deadline import check
from plx.firstorder import own_weights
from plx.firstorder.counted_cells import CountedCells
from plx.firstorder.counters import DEAD
from plx.firstorder.crowd import Crowd
from plx.firstorder.limits import MOST_TURNS
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.totals import by_totals
from plx.infer.counting import odds
from plx.values import FloatArray, IntArray

_LARGEST = 1 << 22
"""Histograms that are kept at once, 32 MB for each array over them."""


_CHUNK = 1 << 17
"""Histograms that are worked on together."""

Inner = Callable[[Sequence[int]], FloatArray]
"""From the cells of the elements that are kept to log sums [N, S …] by the states of these."""


class CountedHistograms:
    """The sums over worlds of a program whose counts are summed out for each histogram, in a way that those
    who inherit know."""

    merges: ClassVar[bool] = False
    """Whether elements of a cell may begin in several states of their counts."""

    def __init__(self, cells: CountedCells) -> None:
        self.cells, self.base, self.totals = cells, cells.base, cells.totals
        self.crowd = Crowd(cells, self.merges)

    @property
    def histograms(self) -> float:
        """How many histograms there are."""
        return math.prod(
            float(math.comb(n + c - 1, c - 1)) for n, c in zip(self.members, self.crowd.sizes, strict=True)
        )

    @property
    def members(self) -> list[int]:
        """How many elements are of each kind."""
        found = [0] * self.base.kinds
        for kind, count in zip(self.base.kind, self.base.count, strict=True):
            found[kind] += count
        return found

    @property
    def fits(self) -> bool:
        """Whether the histograms fit in memory and say what totals are."""
        arrays = map(odds.size, self.members, self.crowd.sizes)
        return math.prod(arrays) <= _LARGEST and self.totals.same_in_kinds

    def over(self, g: int, counts: IntArray) -> Inner:
        """Given histograms [N, cells] of all elements but those that are kept: log sums over all that
        elements share. What kept ones share with each other is left out."""
        raise NotImplementedError

    def log_sums(self, g: int, groups: Sequence[int], numbers: Sequence[int] = ()) -> FloatArray:
        """Log sums [m, S, …, T], as `plx.firstorder.turns.Turns.log_sums`."""
        cells, size = self.cells, self.cells.counters.size
        kinds = [self.base.kind[group] for group in groups]
        used = list(dict.fromkeys([*range(self.totals.ruled), *numbers]))
        sizes = self.totals.sizes(used)
        counts, logs = self._histograms(g, groups)
        added = np.zeros(len(self.crowd.sample), dtype=np.int64)  # of the index of the joint values of totals
        for number, stride in zip(used, _strides(sizes), strict=True):
            added += self._added(g, number) * stride
        index = counts @ added
        width = math.prod(sizes)
        ruled = np.repeat(self.totals.weight[g], width // self.totals.weight.shape[1])
        shape = [n for kind in kinds for n in (cells.sizes[kind], size)]
        out = np.full((*shape, width), -np.inf)
        for low in range(0, len(counts), _CHUNK):
            part = slice(low, low + _CHUNK)
            over = self.over(g, counts[part])
            for at in itertools.product(*(range(cells.sizes[kind]) for kind in kinds)):
                check()
                kept = [cells.offset[kind] + m for kind, m in zip(kinds, at, strict=True)]
                if any(cells.first[cell] == DEAD or self.crowd.number[cell] < 0 for cell in kept):
                    continue
                inner = over(kept).reshape(len(counts[part]), -1)
                mine = index[part] + added[self.crowd.number[kept]].sum()
                columns = [
                    own_weights.log_sums_by(mine, logs[part] + inner[:, s], width) + ruled
                    for s in range(inner.shape[1])
                ]
                place = tuple(one for m in at for one in (m, slice(None)))
                found = np.stack(columns).reshape(*[size] * len(kept), width)
                out[place] = np.logaddexp(out[place], found)
        return by_totals(out, used, sizes, numbers)

    def refuse(self, kinds: Sequence[int], numbers: Sequence[int]) -> None:
        """Raises NotLiftableError for too large sums: with one element of each of some kinds kept."""
        self.totals.sizes(list(dict.fromkeys([*range(self.totals.ruled), *numbers])))
        steps = self.terms(kinds)
        if steps > MOST_TURNS:
            raise NotLiftableError(
                f"sums over counts have {steps:,.0f} terms (at most {MOST_TURNS:,.0f} are added)"
            )

    def terms(self, kinds: Sequence[int]) -> float:
        """About how many terms all sums have with one element of each of some kinds kept."""
        return self.steps * math.prod(self.cells.sizes[kind] * self.cells.counters.size for kind in kinds)

    @property
    def steps(self) -> float:
        """About how many terms one sum has."""
        return self.histograms * self.cells.counters.size

    def _histograms(self, g: int, groups: Sequence[int]) -> tuple[IntArray, FloatArray]:
        """The histograms [N, cells] of all elements that are not kept, and the log of the ways to have each,
        with the weights of their own."""
        crowd, rest = self.crowd, list(self.base.count)
        for group in groups:
            rest[group] -= 1
        counts, logs = np.zeros((1, 0), dtype=np.int64), np.zeros(1)
        for kind in range(self.base.kinds):
            members = [
                (rest[group], crowd.own(g, group))
                for group, of in enumerate(self.base.kind)
                if of == kind and rest[group]
            ]
            one = own_weights.kind_sum(members, crowd.sizes[kind])
            counts = np.concatenate(
                [np.repeat(counts, len(one.logs), axis=0), np.tile(one.counts, (len(logs), 1))], axis=1
            )
            logs = np.add.outer(logs, one.logs).ravel()
        return counts, logs

    def _added(self, g: int, number: int) -> IntArray:
        """What one element of each cell [cells] adds to a total."""
        total, kinds = self.totals.all[number], range(self.base.kinds)
        columns = [total.of[self.base.kind.index(k)][g, self.cells.sample[k]] for k in kinds]
        return np.concatenate(columns)[self.crowd.sample]


def _strides(sizes: Sequence[int]) -> list[int]:
    return [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
