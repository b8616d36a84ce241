"""Sums over histograms of cells where what members count of each other is summed out for each histogram."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from plx.firstorder import own_weights
from plx.firstorder.counted_cells import CountedCells
from plx.firstorder.counters import DEAD
from plx.firstorder.limits import MOST_TURNS
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.totals import by_totals
from plx.infer.counting import odds
from plx.values import FloatArray, IntArray

_LARGEST = 1 << 22
"""Histograms that are kept at once, 32 MB for each array over them."""


class CountedHistograms:
    """The sums over worlds of a program whose counts are summed out for each histogram, in a way that those
    who inherit know."""

    def __init__(self, cells: CountedCells) -> None:
        self.cells, self.base, self.totals = cells, cells.base, cells.totals

    @property
    def histograms(self) -> float:
        """How many histograms there are."""
        return math.prod(
            float(math.comb(n + c - 1, c - 1)) for n, c in zip(self.members, self.cells.sizes, strict=True)
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
        arrays = map(odds.size, self.members, self.cells.sizes)
        return math.prod(arrays) <= _LARGEST and self.totals.same_in_kinds

    def inner(self, g: int, counts: IntArray, kept: Sequence[int]) -> FloatArray:
        """Log sums [N, S …] over all that elements share, with ``counts`` [N, cells] of them in the cells and
        one more in each of ``kept``, by the states of these; what they share with each other is left out."""
        raise NotImplementedError

    def log_sums(self, g: int, groups: Sequence[int], numbers: Sequence[int] = ()) -> FloatArray:
        """Log sums [m, S, …, T], as `plx.firstorder.turns.Turns.log_sums`."""
        cells, size = self.cells, self.cells.counters.size
        kinds = [self.base.kind[group] for group in groups]
        used = list(dict.fromkeys([*range(self.totals.ruled), *numbers]))
        sizes = self.totals.sizes(used)
        counts, logs = self._histograms(g, groups)
        added = np.zeros(sum(cells.sizes), dtype=np.int64)  # of the index of the joint values of totals
        for number, stride in zip(used, _strides(sizes), strict=True):
            added += self._added(g, number) * stride
        index = counts @ added
        width = math.prod(sizes)
        ruled = np.repeat(self.totals.weight[g], width // self.totals.weight.shape[1])
        shape = [n for kind in kinds for n in (cells.sizes[kind], size)]
        out = np.full((*shape, width), -np.inf)
        places = itertools.product(*(range(cells.sizes[kind]) for kind in kinds))
        for at in places if len(counts) else ():
            kept = [cells.offset[kind] + m for kind, m in zip(kinds, at, strict=True)]
            if any(cells.first[cell] == DEAD for cell in kept):
                continue
            inner = self.inner(g, counts, kept).reshape(len(counts), -1)
            columns = [
                own_weights.log_sums_by(index + added[kept].sum(), logs + inner[:, s], width) + ruled
                for s in range(inner.shape[1])
            ]
            place = tuple(part for m in at for part in (m, slice(None)))
            out[place] = np.stack(columns).reshape(*[size] * len(kept), width)
        return by_totals(out, used, sizes, numbers)

    def refuse(self, kinds: Sequence[int], numbers: Sequence[int]) -> None:
        """Raises NotLiftableError for too large sums: with one element of each of some kinds kept."""
        self.totals.sizes(list(dict.fromkeys([*range(self.totals.ruled), *numbers])))
        steps = self.steps * math.prod(self.cells.sizes[kind] * self.cells.counters.size for kind in kinds)
        if steps > MOST_TURNS:
            raise NotLiftableError(
                f"sums over counts have {steps:,.0f} terms (at most {MOST_TURNS:,.0f} are added)"
            )

    @property
    def steps(self) -> float:
        """About how many terms one sum has."""
        return self.histograms * self.cells.counters.size

    def _histograms(self, g: int, groups: Sequence[int]) -> tuple[IntArray, FloatArray]:
        """The histograms [N, cells] of all elements that are not kept, and the log of the ways to have each,
        with the weights of their own."""
        cells, rest = self.cells, list(self.base.count)
        for group in groups:
            rest[group] -= 1
        counts, logs = np.zeros((1, 0), dtype=np.int64), np.zeros(1)
        for kind in range(self.base.kinds):
            possible = cells.first[cells.offset[kind] : cells.offset[kind + 1]] != DEAD
            members = [
                (rest[group], np.where(possible, cells.own(group)[g], -np.inf))
                for group, of in enumerate(self.base.kind)
                if of == kind and rest[group]
            ]
            one = own_weights.kind_sum(members, cells.sizes[kind])
            counts = np.concatenate(
                [np.repeat(counts, len(one.logs), axis=0), np.tile(one.counts, (len(logs), 1))], axis=1
            )
            logs = np.add.outer(logs, one.logs).ravel()
        return counts, logs

    def _added(self, g: int, number: int) -> IntArray:
        """What one element of each cell [cells] adds to a total."""
        total, kinds = self.totals.all[number], range(self.base.kinds)
        columns = [total.of[self.base.kind.index(k)][g, self.cells.sample[k]] for k in kinds]
        return np.concatenate(columns)


def _strides(sizes: Sequence[int]) -> list[int]:
    return [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
