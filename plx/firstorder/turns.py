"""Sums over worlds in which members count others: members are taken out one by one.

Cells are those of van Bremen & Kuželka 2021, *Faster lifting for two-variable logic using cell graphs*.
Counts are kept as states of members: not by negative weights, as Skolemisation has it, nor by polynomials
(Kuželka 2021, *Weighted first-order model counting in the two-variable fragment with counting quantifiers*),
so that all terms are positive.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plx.firstorder.base import Base
from plx.firstorder.counters import DEAD, CountersOf
from plx.firstorder.limits import MOST_TURNS, MOST_WORLDS_OF_CLASSES
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.totals import Totals, by_totals
from plx.firstorder.units import LongArray
from plx.infer.counting.compositions import compositions
from plx.values import FloatArray, IntArray

_BITS = 62
_LARGEST = 1 << 25

Ups = tuple[int, ...]
Options = dict[tuple[Ups, Ups], LongArray]
"""By how much the counts of two elements go up → log weights [G, C, C']."""


@dataclass(frozen=True, eq=False)
class _Classes:
    """Where elements may stand: the cell and state of each class, and how many elements it may hold."""

    cell: list[int]
    state: list[int]
    radix: list[int]
    number: dict[tuple[int, int, int], int]  # by owner (-1: no one in particular), cell and state


class Turns:
    """The sums over worlds of a program with counts per element."""

    def __init__(self, base: Base, counters: CountersOf, totals: Totals) -> None:
        self.base, self.counters, self.totals = base, counters, totals
        self.options = {pair: self._options(*pair) for pair in base.pairs}
        self.accepts = [counters.accept(kind) for kind in range(base.kinds)]
        self.firsts = [counters.first(kind) for kind in range(base.kinds)]
        self.merged = [self._merged(kind) for kind in range(base.kinds)]
        self.sizes = [int(merged.max()) + 1 for merged in self.merged]
        self._sample = [np.unique(merged, return_index=True)[1] for merged in self.merged]
        self._offset = [0, *np.cumsum(self.sizes).tolist()]
        n = len(base.rules.universe.ids)
        self._factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, n + 1)))])
        self._reachable = self._reach()
        self.classes = len(self.layout((), range(totals.ruled)).cell)

    def own(self, group: int) -> FloatArray:
        """The log weight [G, m] of the cells of a group."""
        merged, own = self.merged[self.base.kind[group]], self.base.own[group]
        columns = [np.logaddexp.reduce(own[:, merged == m], axis=1) for m in range(merged.max() + 1)]
        return np.stack(columns, axis=1)

    def log_sums(self, g: int, groups: Sequence[int], numbers: Sequence[int] = ()) -> FloatArray:
        """Log sums [m, S, …, T] by the cells and states of one element of each of some groups, once all
        others are gone, and by the joint values of some totals, in C order. These elements' own weights, and
        what they share, are left out."""
        from plx.infer.kernels.members_in_turn import members_in_turn

        kinds = [self.base.kind[group] for group in groups]
        used = list(dict.fromkeys([*range(self.totals.ruled), *numbers]))
        totals = self.totals.sizes(used)
        classes = self.layout(kinds, used)
        keys, logs = self._starts(g, groups, classes, used)
        members = len(self.base.rules.universe.ids) - len(groups)
        shape = [n for kind in kinds for n in (self.sizes[kind], self.counters.size)]
        out = np.full((*shape, math.prod(totals)), -np.inf)
        if not len(keys):
            return by_totals(out, used, totals, numbers)
        tables = self._tables(g, classes, members)
        order = [d for (owner, _, _), d in classes.number.items() if owner < 0]
        order.sort(key=lambda d: (-classes.state[d], classes.cell[d]))
        accept = np.concatenate([
            self.accepts[kind][self._sample[kind]] for kind in range(self.base.kinds)
        ])  # fmt: skip
        keys, logs = members_in_turn(
            np.array(classes.radix), np.array(classes.cell), np.array(classes.state), np.array(order),
            *tables, accept, self._factorial, members, keys, logs, MOST_WORLDS_OF_CLASSES, MOST_TURNS,
        )  # fmt: skip
        if len(keys) == 1 and keys[0] == -1:
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
                    at[2 * owner : 2 * owner + 2] = cell - self._offset[kinds[owner]], state
            out[tuple(at)] = np.logaddexp(out[tuple(at)], log + ruled[at[-1]])
        return by_totals(out, used, totals, numbers)

    # ------------------------------------------------------------------------- weights

    def _options(self, a: int, b: int) -> Options:
        """What two elements of two kinds may share, by what it counts for each."""
        base = self.base
        x, y = base.samples[a][0], base.samples[b][-1]
        labels, sides = self.counters.labels(base.units, x, y)
        if len(labels) > 10:
            raise NotLiftableError("two members have too many counts of each other")
        weights = base.units.pair(x, y, labels)
        found: Options = {}
        for code, ups in enumerate(self.counters.ups(sides)):
            one = weights[..., code] if labels else weights[..., 0]
            if np.isfinite(one).any():
                found[ups] = np.logaddexp(found[ups], one) if ups in found else one
        self._refuse_order(a, b, found)
        return found

    def _refuse_order(self, a: int, b: int, found: Options) -> None:
        ordered = self.base.rules.ordered
        if a != b and ordered is not None:
            raise NotLiftableError("rules with counts ask for the order of members", ordered)
        for (up, other), weights in found.items() if a == b else ():
            back = found.get((other, up))
            same = back is not None and np.allclose(
                np.exp(weights - weights.max()), np.exp(back.transpose(0, 2, 1) - weights.max()), atol=1e-13
            )
            if not same:
                raise NotLiftableError("rules depend on the order of members", ordered)

    def _merged(self, kind: int) -> IntArray:
        """Numbers of the joint states of an element, equal where nothing but weight tells them apart."""
        base = self.base
        size = base.units.cells(base.samples[kind][0])[0]
        groups = [number for number, of in enumerate(base.kind) if of == kind]
        possible = np.zeros(size, dtype=bool)
        for group in groups:
            possible |= np.isfinite(base.own[group]).any(axis=0)
        keys = [self.accepts[kind], self.firsts[kind][:, None].astype(np.float64)]
        keys += [total.of[group].T.astype(np.float64) for total in self.totals.all for group in groups]
        for (a, b), options in self.options.items():
            for weights in options.values():
                high = weights.astype(np.float64)
                for axis in [*([1] if a == kind else []), *([2] if b == kind else [])]:
                    keys.append(np.moveaxis(high, axis, 0).reshape(size, -1))
        rows = np.ascontiguousarray(np.concatenate(keys, axis=1) + 0.0)
        rows[~possible | (self.firsts[kind] == DEAD)] = np.nan
        seen: dict[bytes, int] = {}
        return np.array([seen.setdefault(row.tobytes(), len(seen)) for row in rows], dtype=np.int64)

    def _between(self, g: int, a: int, b: int) -> list[tuple[Ups, Ups, float]]:
        """What elements of two cells, numbered over all kinds, may share: what it counts, and its weight."""
        kind, other = self._kind_of(a), self._kind_of(b)
        cell = int(self._sample[kind][a - self._offset[kind]])
        second = int(self._sample[other][b - self._offset[other]])
        if (kind, other) in self.options:
            found = [(up, to, w[g, cell, second]) for (up, to), w in self.options[kind, other].items()]
        else:
            options = self.options.get((other, kind), {})
            found = [(up, to, w[g, second, cell]) for (to, up), w in options.items()]
        return [(up, to, float(w)) for up, to, w in found if w > -np.inf]

    def _kind_of(self, cell: int) -> int:
        return int(np.searchsorted(self._offset, cell, side="right")) - 1

    # ------------------------------------------------------------------------- classes

    def _reach(self) -> dict[int, list[int]]:
        """The states that an element of each cell may come to."""
        ups: dict[int, set[Ups]] = {kind: set() for kind in range(self.base.kinds)}
        for (a, b), options in self.options.items():
            for up, to in options:
                ups[a].add(up)
                ups[b].add(to)
        found = {}
        for kind in range(self.base.kinds):
            for m in range(self.sizes[kind]):
                first = int(self.firsts[kind][self._sample[kind][m]])
                seen, waiting = set(), [first] if first != DEAD else []
                while waiting:
                    state = waiting.pop()
                    if state not in seen:
                        seen.add(state)
                        after = (self.counters.after(state, up) for up in ups[kind])
                        waiting += [one for one in after if one != DEAD]
                found[self._offset[kind] + m] = sorted(seen)
        return found

    def layout(self, kept: Sequence[int], totals: Sequence[int]) -> _Classes:
        """The classes of all elements, and those of elements that are kept, one of each of some kinds.

        Raises NotLiftableError where these and some totals are too many for a number.
        """
        base = self.base
        count = [0] * base.kinds
        for kind, n in zip(base.kind, base.count, strict=True):
            count[kind] += n
        classes = _Classes([], [], [], {})
        owners = [(-1, kind) for kind in range(base.kinds)] + [*enumerate(kept)]
        for owner, kind in owners:
            for m in range(self.sizes[kind]):
                cell = self._offset[kind] + m
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

    def _tables(
        self, g: int, classes: _Classes, members: int
    ) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
        """Where those of a class go when they are met, for each cell that meets them, and what it says."""
        size, start, after, matrix = self.counters.size, [0], [], []
        seen: dict[bytes, int] = {}
        matrices: list[FloatArray] = []
        where = {d: owner for (owner, _, _), d in classes.number.items()}
        for cell in range(self._offset[-1]):
            for d in range(len(classes.cell)):
                groups: dict[int, FloatArray] = {}
                for up, to, weight in self._between(g, cell, classes.cell[d]):
                    state = self.counters.after(classes.state[d], to)
                    if state == DEAD:
                        continue
                    number = classes.number[where[d], classes.cell[d], state]
                    one = groups.setdefault(number, np.full((size, size), -np.inf))
                    for s in range(size):
                        t = self.counters.after(s, up)
                        if t != DEAD:
                            one[s, t] = np.logaddexp(one[s, t], weight)
                for number, one in groups.items():
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
                power = np.logaddexp.reduce(power[:, :, None] + one[None, :, :], axis=1)
        return np.array(start), np.array(after, dtype=np.int64), np.array(matrix, dtype=np.int64), powers

    def _starts(
        self, g: int, groups: Sequence[int], classes: _Classes, used: Sequence[int]
    ) -> tuple[IntArray, FloatArray]:
        """The states before anyone has met anyone else: keys and logs."""
        base = self.base
        strides = [int(s) for s in np.cumprod([1, *classes.radix[:-1]])]
        whole = math.prod(classes.radix)
        keys, logs = np.zeros(1, dtype=np.int64), np.zeros(1)
        for group, kind in enumerate(base.kind):
            count = base.count[group] - list(groups).count(group)
            cells = self._cells(g, kind, self.own(group))
            ways = math.comb(count + len(cells) - 1, len(cells) - 1) if cells else int(count == 0)
            if len(keys) * ways > _LARGEST:
                raise NotLiftableError("members have too many histograms of cells for counts of theirs")
            rows = compositions(count, len(cells)) if cells else np.zeros((ways, 0), dtype=np.int64)
            mine, weight = np.zeros(len(rows), dtype=np.int64), np.full(len(rows), self._factorial[count])
            for column, (m, first, own) in zip(rows.T, cells, strict=True):
                mine += column * strides[classes.number[-1, self._offset[kind] + m, first]]
                mine += column * self._tag(g, group, m, used) * whole
                weight += column * own - self._factorial[column]
            keys = (keys[:, None] + mine[None, :]).ravel()
            logs = (logs[:, None] + weight[None, :]).ravel()
        for owner, group in enumerate(groups):
            kind = base.kind[group]
            cells = self._cells(g, kind, self.own(group))
            mine = np.array(
                [
                    strides[classes.number[owner, self._offset[kind] + m, s]]
                    + self._tag(g, group, m, used) * whole
                    for m, s, _ in cells
                ],
                dtype=np.int64,
            )
            keys = (keys[:, None] + mine[None, :]).ravel()
            logs = np.repeat(logs, len(mine))
        return keys, logs

    def _tag(self, g: int, group: int, cell: int, used: Sequence[int]) -> int:
        """What an element of a group adds to the totals that are used, in one number."""
        at = int(self._sample[self.base.kind[group]][cell])
        found = 0
        for number in used:
            total = self.totals.all[number]
            found = found * (total.most + 1) + int(total.of[group][g, at])
        return found

    def _cells(self, g: int, kind: int, own: FloatArray) -> list[tuple[int, int, float]]:
        """The possible cells of a group: each with its first state and weight."""
        first = self.firsts[kind][self._sample[kind]].tolist()
        return [
            (m, state, float(own[g, m]))
            for m, state in enumerate(first)
            if state != DEAD and np.isfinite(own[g, m])
        ]

    @cached_property
    def log_z(self) -> float:
        """The log of the sum over all worlds."""
        logs = [self.base.alone[g] + float(self.log_sums(g, ())[0]) for g in range(self.base.states)]
        return float(np.logaddexp.reduce(logs))
