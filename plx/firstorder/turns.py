"""Sums over worlds in which members count others: members are taken out one by one.

Cells are those of van Bremen & Kuželka 2021, *Faster lifting for two-variable logic using cell graphs*.
Counts are kept as states of members: not by negative weights, as Skolemisation has it, nor by polynomials
(Kuželka 2021, *Weighted first-order model counting in the two-variable fragment with counting quantifiers*),
so that all terms are positive.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from plx.deadline import check, seconds_left
from plx.firstorder.counted_cells import CountedCells, Ups
from plx.firstorder.counters import DEAD
from plx.firstorder.limits import MOST_TURNS, MOST_WORLDS_OF_CLASSES, SECONDS_EACH_TURN
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.totals import by_totals
from plx.infer.counting.compositions import compositions
from plx.values import FloatArray, IntArray

if TYPE_CHECKING:
    from plx.infer.kernels.turns import Turn

_BITS = 62
_LARGEST = 1 << 25

_FEW = 15
"""Members that are tried out to see how the work grows, and twice as many."""

_LEAST_TRIED = 1e6
"""Numbers that are added below which a guess is good enough."""

_EACH_STEP = 5
"""Numbers that could be added in the time of a step."""

_MOST_TRIED = 8
"""Groups of members, so that few of them are a fair share."""

_MOST_TRIED_STEPS = 1e7
"""Steps after which that is given up."""


@dataclass(frozen=True, eq=False)
class Classes:
    """Where elements may stand: the cell and state of each class, and how many elements it may hold."""

    cell: list[int]
    state: list[int]
    radix: list[int]
    number: dict[tuple[int, int, int], int]  # by owner (-1: no one in particular), cell and state


@dataclass(frozen=True, eq=False)
class Start:
    """The histograms ``counts`` [N, cells] of elements of a group over some ``cells`` of its kind, the keys
    of the classes in which they begin [N], and log weights [N]."""

    cells: list[int]
    counts: IntArray
    key: IntArray
    logs: FloatArray


class Turns:
    """The sums over worlds of a program with counts per element."""

    def __init__(self, cells: CountedCells) -> None:
        self.cells, self.base, self.totals = cells, cells.base, cells.totals
        self.counters = cells.counters
        self._reachable = self._reach()
        self.classes = len(self.layout((), range(self.totals.ruled)).cell)

    def log_sums(self, g: int, groups: Sequence[int], numbers: Sequence[int] = ()) -> FloatArray:
        """Log sums [m, S, …, T] by the cells and states of one element of each of some groups, once all
        others are gone, and by the joint values of some totals, in C order. These elements' own weights, and
        what they share, are left out."""
        kinds = [self.base.kind[group] for group in groups]
        used = list(dict.fromkeys([*range(self.totals.ruled), *numbers]))
        totals = self.totals.sizes(used)
        shape = [n for kind in kinds for n in (self.cells.sizes[kind], self.counters.size)]
        out = np.full((*shape, math.prod(totals)), -np.inf)
        for classes in self._layouts(kinds, used):
            self._add(out, g, groups, classes, used)
        return by_totals(out, used, totals, numbers)

    def _add(
        self, out: FloatArray, g: int, groups: Sequence[int], classes: Classes, used: Sequence[int]
    ) -> None:
        """Add the sums in which the kept elements are in the cells that have classes."""
        from plx.infer.kernels.members_in_turn import members_in_turn

        kinds = [self.base.kind[group] for group in groups]
        keys, logs = self.starts(g, groups, classes, used)
        members = len(self.base.rules.universe.ids) - len(groups)
        if not len(keys):
            return
        turn = self.turn(g, classes, members)
        left = np.array([min(MOST_TURNS, 1e6 + seconds_left() / SECONDS_EACH_TURN)])
        for _ in range(members):  # one at a time, so that the time is kept
            check()
            keys, logs = members_in_turn(turn, 1, keys, logs, MOST_WORLDS_OF_CLASSES, left)
            if len(keys) == 1 and keys[0] == -1:
                check()
                raise NotLiftableError(
                    f"members and their counts have more than {MOST_WORLDS_OF_CLASSES:,} states, "
                    f"or take more than {MOST_TURNS:,.0f} steps"
                )
        strides = np.cumprod([1, *classes.radix[:-1]])
        whole = math.prod(classes.radix)
        ruled = np.repeat(self.totals.weight[g], out.shape[-1] // self.totals.weight.shape[1])
        for key, log in zip(keys.tolist(), logs.tolist(), strict=True):
            at: list[int] = [0] * (2 * len(groups)) + [key // whole]
            for (owner, cell, state), d in classes.number.items():
                if owner >= 0 and (key // int(strides[d])) % classes.radix[d]:
                    at[2 * owner : 2 * owner + 2] = cell - self.cells.offset[kinds[owner]], state
            out[tuple(at)] = np.logaddexp(out[tuple(at)], log + ruled[at[-1]])

    @cached_property
    def steps(self) -> float:
        """About how many numbers are added: what a few members take, times what two sizes of these say of how
        that grows."""
        members = len(self.base.rules.universe.ids)
        guess = float(members) ** (1 + min(self.classes, 3))
        if guess < _LEAST_TRIED or len(self.base.count) > _MOST_TRIED:
            return guess
        low, high = (self._steps_of(share) for share in (_FEW / members, 2 * _FEW / members))
        if not 0 < low[1] < high[1]:
            return guess
        grows = math.log(high[1] / low[1]) / math.log(high[0] / low[0])
        return float(min(guess, _EACH_STEP * high[1] * (members / high[0]) ** grows))

    def _steps_of(self, share: float) -> tuple[int, float]:
        """How many members are a share of all, and the steps that they take."""
        from plx.infer.kernels.members_in_turn import members_in_turn

        used = [*range(self.totals.ruled)]
        classes, count = self.layout((), used), [max(1, round(n * share)) for n in self.base.count]
        keys, logs = np.zeros(1, dtype=np.int64), np.zeros(1)
        for group, n in enumerate(count):
            start = self.start(0, group, n, classes, used)
            keys, logs = (np.add.outer(a, b).ravel() for a, b in ((keys, start.key), (logs, start.logs)))
        left = np.array([_MOST_TRIED_STEPS])
        if len(keys):
            turn = self.turn(0, classes, sum(count))
            members_in_turn(turn, sum(count), keys, logs, MOST_WORLDS_OF_CLASSES, left)
        return sum(count), _MOST_TRIED_STEPS - float(left[0])

    def refuse(self, kinds: Sequence[int], numbers: Sequence[int]) -> None:
        """Raises NotLiftableError for too many classes and totals, with one element of some kinds kept."""
        next(self._layouts(kinds, [*range(self.totals.ruled), *numbers]))

    # ------------------------------------------------------------------------- classes

    def _reach(self) -> dict[int, list[int]]:
        """The states that an element of each cell may come to."""
        ups: dict[int, set[Ups]] = {kind: set() for kind in range(self.base.kinds)}
        for (a, b), options in self.cells.options.items():
            for up, to in options:
                ups[a].add(up)
                ups[b].add(to)
        found = {}
        for kind in range(self.base.kinds):
            for m in range(self.cells.sizes[kind]):
                first = int(self.cells.firsts[kind][self.cells.sample[kind][m]])
                seen, waiting = set(), [first] if first != DEAD else []
                while waiting:
                    state = waiting.pop()
                    if state not in seen:
                        seen.add(state)
                        after = (self.counters.after(state, up) for up in ups[kind])
                        waiting += [one for one in after if one != DEAD]
                found[self.cells.offset[kind] + m] = sorted(seen)
        return found

    def _layouts(self, kinds: Sequence[int], totals: Sequence[int]) -> Iterator[Classes]:
        """The classes of all elements and of one that is kept of each of some kinds: in all cells together,
        or in each of them if these are too many."""
        every = [range(self.cells.sizes[kind]) for kind in kinds]
        try:
            yield self.layout([*zip(kinds, every, strict=True)], totals)
        except NotLiftableError:
            for cells in itertools.product(*every):
                yield self.layout([(kind, [m]) for kind, m in zip(kinds, cells, strict=True)], totals)

    def layout(self, kept: Sequence[tuple[int, Sequence[int]]], totals: Sequence[int]) -> Classes:
        """The classes of all elements, and those of elements that are kept: of a kind, in some of its cells.

        Raises NotLiftableError where these and some totals are too many for a number.
        """
        base = self.base
        count = [0] * base.kinds
        for kind, n in zip(base.kind, base.count, strict=True):
            count[kind] += n
        classes = Classes([], [], [], {})
        owners: list[tuple[int, int, Sequence[int]]]
        owners = [(-1, kind, range(self.cells.sizes[kind])) for kind in range(base.kinds)]
        owners += [(owner, kind, cells) for owner, (kind, cells) in enumerate(kept)]
        for owner, kind, cells in owners:
            for m in cells:
                cell = self.cells.offset[kind] + m
                for state in self._reachable[cell]:
                    classes.number[owner, cell, state] = len(classes.cell)
                    classes.cell.append(cell)
                    classes.state.append(state)
                    classes.radix.append(2 if owner >= 0 else count[kind] + 1)
        sizes = self.totals.sizes(list(dict.fromkeys(totals)))
        if sum(map(math.log2, [*classes.radix, *sizes])) > _BITS:
            raise NotLiftableError(
                f"members stand in {len(classes.cell):,} classes by their cells and counts, which is too many"
            )
        return classes

    def turn(self, g: int, classes: Classes, members: int) -> Turn:
        """What the kernels go by: those who are nearest to their final counts go first, no kept ones do."""
        from plx.infer.kernels.turns import Turn

        order = [d for (owner, _, _), d in classes.number.items() if owner < 0]
        order.sort(key=lambda d: (-classes.state[d], classes.cell[d]))
        start, after, matrix, powers = self._tables(g, classes, members)
        return Turn(
            np.array(classes.radix), np.array(classes.cell), np.array(classes.state), np.array(order),
            start, after, matrix, powers, self.cells.accept, self.cells.factorial, self.cells.best,
        )  # fmt: skip

    def _tables(
        self, g: int, classes: Classes, members: int
    ) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
        """Where those of a class go when they are met, for each cell that meets them, and what it says."""
        size, start, after, matrix = self.counters.size, [0], [], []
        seen: dict[bytes, int] = {}
        matrices: list[FloatArray] = []
        for groups in self._meetings(g, classes):
            for number, options in groups.items():
                one = np.full((size, size), -np.inf)
                for up, _, weight in options:
                    for s in range(size):
                        t = self.counters.after(s, up)
                        if t != DEAD:
                            one[s, t] = self.cells.plus(one[s, t], weight)
                key = seen.setdefault(one.tobytes(), len(matrices))
                if key == len(matrices):
                    matrices.append(one)
                after.append(number)
                matrix.append(key)
            start.append(len(after))
        if len(matrices) * (members + 2) * size * size > _LARGEST:
            raise NotLiftableError("members and their counts have too many states")
        powers = np.full((max(len(matrices), 1), members + 2, size * size), -np.inf)
        for i, one in enumerate(matrices):
            power = np.where(np.eye(size, dtype=bool), 0.0, -np.inf)
            for k in range(members + 2):
                powers[i, k] = power.ravel()
                power = self.cells.plus.reduce(power[:, :, None] + one[None, :, :], axis=1)
        return np.array(start), np.array(after, dtype=np.int64), np.array(matrix, dtype=np.int64), powers

    def options(self, g: int, classes: Classes) -> list[list[tuple[Ups, Ups, float]]]:
        """What one of a cell may share with one of a class, for each of the groups of a turn."""
        return [options for groups in self._meetings(g, classes) for options in groups.values()]

    def _meetings(self, g: int, classes: Classes) -> Iterator[dict[int, list[tuple[Ups, Ups, float]]]]:
        """For each cell, and each class that one of it meets: by the class that this becomes, the options."""
        where = {d: owner for (owner, _, _), d in classes.number.items()}
        for cell in range(self.cells.offset[-1]):
            for d in range(len(classes.cell)):
                groups: dict[int, list[tuple[Ups, Ups, float]]] = {}
                for up, to, weight in self.cells.between(g, cell, classes.cell[d]):
                    state = self.counters.after(classes.state[d], to)
                    if state != DEAD:
                        number = classes.number[where[d], classes.cell[d], state]
                        groups.setdefault(number, []).append((up, to, weight))
                yield groups

    def start(self, g: int, group: int, count: int, classes: Classes, used: Sequence[int]) -> Start:
        """The histograms of so many elements of a group before they have met anyone else."""
        kind = self.base.kind[group]
        strides = [int(s) for s in np.cumprod([1, *classes.radix[:-1]])]
        cells = self.cells.possible(g, kind, self.cells.own(group))
        ways = math.comb(count + len(cells) - 1, len(cells) - 1) if cells else int(count == 0)
        if ways > _LARGEST:
            raise NotLiftableError("members have too many histograms of cells for counts of theirs")
        rows = compositions(count, len(cells)) if cells else np.zeros((ways, 0), dtype=np.int64)
        key, logs = np.zeros(len(rows), dtype=np.int64), np.full(len(rows), self.cells.factorial[count])
        for column, (m, first, own) in zip(rows.T, cells, strict=True):
            key += column * strides[classes.number[-1, self.cells.offset[kind] + m, first]]
            key += column * self.cells.tag(g, group, m, used) * math.prod(classes.radix)
            logs += column * own - self.cells.factorial[column]
        return Start([m for m, _, _ in cells], rows, key, logs)

    def starts(
        self, g: int, groups: Sequence[int], classes: Classes, used: Sequence[int]
    ) -> tuple[IntArray, FloatArray]:
        """The states before anyone has met anyone else: keys and logs."""
        base = self.base
        strides = [int(s) for s in np.cumprod([1, *classes.radix[:-1]])]
        whole = math.prod(classes.radix)
        keys, logs = np.zeros(1, dtype=np.int64), np.zeros(1)
        for group in range(len(base.kind)):
            start = self.start(g, group, base.count[group] - list(groups).count(group), classes, used)
            if len(keys) * len(start.key) > _LARGEST:
                raise NotLiftableError("members have too many histograms of cells for counts of theirs")
            keys = (keys[:, None] + start.key[None, :]).ravel()
            logs = (logs[:, None] + start.logs[None, :]).ravel()
        for owner, group in enumerate(groups):
            kind = base.kind[group]
            cells = self.cells.possible(g, kind, self.cells.own(group))
            mine = np.array(
                [
                    strides[classes.number[owner, self.cells.offset[kind] + m, s]]
                    + self.cells.tag(g, group, m, used) * whole
                    for m, s, _ in cells
                    if (owner, self.cells.offset[kind] + m, s) in classes.number
                ],
                dtype=np.int64,
            )
            keys = (keys[:, None] + mine[None, :]).ravel()
            logs = np.repeat(logs, len(mine))
        return keys, logs
