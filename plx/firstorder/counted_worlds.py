"""Worlds in which members count each other: chosen by putting back, one by one, those that were taken out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from plx.deadline import check
from plx.firstorder.cell_worlds import Chosen, joint_states
from plx.firstorder.counted_cells import CountedCells, Ups
from plx.firstorder.counters import DEAD
from plx.firstorder.limits import MOST_TURNS, MOST_WORLDS_OF_CLASSES
from plx.firstorder.picks import Pick
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.turns import Classes, Turns
from plx.firstorder.units import Units
from plx.firstorder.worlds import MOST_PAIRS, Codes
from plx.values import FloatArray, IntArray

if TYPE_CHECKING:
    from plx.infer.kernels.members_back import Options, Placed

_MOST_KEPT = 1 << 25
"""States of all turns that are kept, 512 MB."""


class CountedChooser:
    """As `plx.firstorder.cell_worlds.Chooser`, with what pairs count of each other."""

    def __init__(self, cells: CountedCells, pick: Pick) -> None:
        self.cells, self.base, self.turns = cells, cells.base, Turns(cells)
        self._pick = pick
        self._used = [*range(cells.totals.ruled)]
        self._classes = self.turns.layout((), self._used)
        self.codes: dict[tuple[Ups, Ups], int] = {}
        for up, to in [ups for options in cells.options.values() for ups in options]:
            self.codes.setdefault((up, to), len(self.codes))
            self.codes.setdefault((to, up), len(self.codes))
        self._kept: tuple[int, list[tuple[IntArray, FloatArray]]] | None = None

    def total(self, g: int) -> float:
        """See `Chooser`."""
        logs = self._last(g)
        return self._pick.total(logs) if len(logs) else -np.inf

    def cells_of(self, g: int, count: int) -> Chosen:
        """See `Chooser`."""
        n = len(self.base.rules.universe.ids)
        if n * n * count > MOST_PAIRS:
            raise NotLiftableError(
                f"{count:,} worlds have {n * n * count:,} pairs that are counted (at most {MOST_PAIRS:,})"
            )
        from plx.infer.kernels.members_back import Placed

        steps, logs = self._steps(g), self._last(g)
        last = self._pick.many(logs, count)
        worlds = Placed(
            np.zeros((count, n), dtype=np.int64), np.full((count, n, n), -1, dtype=np.int16),
            steps[-1][0][last], self._pick.seeds(count),
        )  # fmt: skip
        for placed in range(n):
            check()
            self._back(steps[n - placed - 1], steps[n - placed], placed, worlds)
        cell, place = self._who(g, worlds.key, worlds.stand)
        return Chosen(logs[last], cell, self._by_element(worlds.code, place))

    def shared(self, units: Units, x: int, y: int) -> IntArray:
        """The code of each joint state [G, C, C', R] of what two elements share, or [1, …]."""
        labels, sides = self.cells.counters.labels(units, x, y)
        ups = self.cells.counters.ups(sides) if labels else [((0,) * len(self.cells.counters.sizes),) * 2]
        numbers = np.array([self.codes.get(one, DEAD) for one in ups])
        found: IntArray = numbers[units.labelled(x, y, labels)]
        return found

    # ---------------------------------------------------------------------------- turns

    def _last(self, g: int) -> FloatArray:
        """The log weights of the states when no one is left, with those of totals."""
        keys, logs = self._steps(g)[-1]
        whole = math.prod(self._classes.radix)
        found: FloatArray = logs + self.cells.totals.weight[g][keys // whole]
        return found

    def _steps(self, g: int) -> list[tuple[IntArray, FloatArray]]:
        """The states before each turn, and after the last: sorted keys, and logs."""
        if self._kept is None or self._kept[0] != g:
            self._kept = g, self._forward(g)
        return self._kept[1]

    def _forward(self, g: int) -> list[tuple[IntArray, FloatArray]]:
        from plx.infer.kernels.members_in_turn import members_in_turn

        classes, n = self._classes, len(self.base.rules.universe.ids)
        self._turn = self.turns.turn(g, classes, n)
        self._options = self._laid_out(g, classes)
        keys, logs = self.turns.starts(g, (), classes, self._used)
        left = np.array([MOST_TURNS])
        first = members_in_turn(self._turn, 0, keys, logs, MOST_WORLDS_OF_CLASSES, left)
        found, kept = [_sorted(*first)], 0
        for _ in range(n):
            check()
            if not len(found[-1][0]):
                break
            after = members_in_turn(self._turn, 1, *found[-1], MOST_WORLDS_OF_CLASSES, left)
            found.append(_sorted(*after))
            kept += len(found[-1][0])
            if kept > _MOST_KEPT or (len(found[-1][0]) and found[-1][0][0] == -1):
                raise NotLiftableError("members and their counts have too many states to keep")
        return found

    def _laid_out(self, g: int, classes: Classes) -> Options:
        from plx.infer.kernels.members_back import Options

        counters = self.cells.counters
        start, after, log, code = [0], [], [], []
        for options in self.turns.options(g, classes):
            for up, to, weight in options:
                after.append([counters.after(s, up) for s in range(counters.size)])
                log.append(weight)
                code.append(self.codes[up, to])
            start.append(len(log))
        return Options(
            np.array(start), np.array(after, dtype=np.int64).reshape(-1, counters.size),
            np.array(log, dtype=np.float64), np.array(code, dtype=np.int64),
        )  # fmt: skip

    def _back(
        self, before: tuple[IntArray, FloatArray], after: tuple[IntArray, FloatArray], placed: int,
        worlds: Placed,
    ) -> None:  # fmt: skip
        """Put a member into every world, whose keys become those before the turn."""
        from plx.infer.kernels.members_back import members_back

        count = len(worlds.key)
        threshold = self._pick.shares(count)
        world = np.lexsort([threshold, worlds.key])
        keys, first = np.unique(worlds.key[world], return_index=True)
        logs = after[1][np.searchsorted(after[0], keys)]
        worlds.random[:] = self._pick.seeds(count)
        members_back(
            self._turn, self._options, *before, keys, logs, np.append(first, count), world,
            threshold[world], placed, worlds,
        )  # fmt: skip

    # -------------------------------------------------------------------------- members

    def _who(self, g: int, key: IntArray, stand: IntArray) -> tuple[IntArray, IntArray]:
        """The joint state [elements, W] of every element, and which of those that were put back [W, elements]
        it is."""
        base, classes, count = self.base, self._classes, len(key)
        starts = [
            self.turns.start(g, group, base.count[group], classes, self._used)
            for group in range(len(base.kind))
        ]
        keys, logs = np.zeros(1, dtype=np.int64), np.zeros(1)
        for start in starts:
            keys = np.add.outer(keys, start.key).ravel()
            logs = np.add.outer(logs, start.logs).ravel()
        order = np.argsort(keys, kind="stable")
        first = np.searchsorted(keys[order], key, side="left")
        last = np.searchsorted(keys[order], key, side="right")
        flat = np.zeros(count, dtype=np.int64)
        for one in np.unique(first).tolist():
            here = np.flatnonzero(first == one)
            ways = order[one : int(last[here[0]])]
            flat[here] = ways[self._pick.many(logs[ways], len(here))]
        which = np.unravel_index(flat, [len(start.key) for start in starts])
        n = stand.shape[1]
        cell, began = np.zeros((n, count), dtype=np.int64), np.zeros((count, n), dtype=np.int64)
        for group, (start, at) in enumerate(zip(starts, which, strict=True)):
            kind, members = base.kind[group], np.flatnonzero(base.group_of == group)
            ends = np.cumsum(start.counts[at], axis=1)
            place = (np.arange(len(members))[None, :, None] >= ends[:, None, :-1]).sum(axis=2)
            mine = np.array(start.cells)[self._pick.shuffled(place)]
            firsts = self.cells.firsts[kind][self.cells.sample[kind]]
            number = np.full(self.cells.sizes[kind], -1)
            for m in start.cells:
                number[m] = classes.number[-1, self.cells.offset[kind] + m, int(firsts[m])]
            began[:, members] = number[mine]
            cell[members] = joint_states(self.cells.merged[kind], base.own[group][g], mine, self._pick).T
        place = np.zeros((count, n), dtype=np.int64)
        tie = self._pick.shuffled(np.tile(np.arange(n), (count, 1)))
        rows = np.arange(count)[:, None]
        place[rows, np.lexsort([tie, began], axis=1)] = np.argsort(stand, axis=1, kind="stable")
        return cell, place

    def _by_element(self, code: Codes, place: IntArray) -> Codes:
        """The codes [elements, elements, W] of what the first element and the second count for each other."""
        swap = np.array([self.codes[to, up] for up, to in self.codes] + [-1], dtype=np.int16)
        whole = np.where(code >= 0, code, swap[code.transpose(0, 2, 1)])
        rows = np.arange(len(code))[:, None, None]
        return np.moveaxis(whole[rows, place[:, :, None], place[:, None, :]], 0, 2)


def _sorted(keys: IntArray, logs: FloatArray) -> tuple[IntArray, FloatArray]:
    """States in the order of their keys."""
    order = np.argsort(keys)
    return keys[order], logs[order]
