"""Worlds with so many pairs: a histogram and a degree are chosen, then which pairs are counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plx.deadline import check
from plx.firstorder.cell_worlds import Chosen
from plx.firstorder.pair_total_sums import PairTotalSums, Slot
from plx.firstorder.pair_totals import added_by_states
from plx.firstorder.picks import Pick
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.units import Units
from plx.firstorder.worlds import MOST_PAIRS, Codes
from plx.values import FloatArray, IntArray

_LARGEST = 1 << 23
"""Histograms times degrees that are kept, 64 MB."""

Counts = list[tuple[Slot, int]]
"""How many elements are in each slot."""


@dataclass(frozen=True, eq=False)
class _Parts:
    """The numbers that are added up, of elements by slot and of pairs by two slots, as
    `plx.infer.kernels.sums_back` takes them."""

    single: FloatArray
    powers: FloatArray
    partial: FloatArray
    before: FloatArray
    number: IntArray


class PairTotalChooser:
    """As `plx.firstorder.cell_worlds.Chooser`, with how many times each pair is counted."""

    def __init__(self, sums: PairTotalSums, pick: Pick) -> None:
        self.sums, self.base, self._pick = sums, sums.base, pick
        self._kept: tuple[int, list[Counts], FloatArray] | None = None

    def total(self, g: int) -> float:
        """See `Chooser`."""
        logs = self._terms(g)[1]
        return self._pick.total(logs.ravel()) if logs.size else -np.inf

    def cells_of(self, g: int, count: int) -> Chosen:
        """See `Chooser`."""
        n = len(self.base.rules.universe.ids)
        if n * n * count > MOST_PAIRS:
            raise NotLiftableError(
                f"{count:,} worlds have {n * n * count:,} pairs that are counted (at most {MOST_PAIRS:,})"
            )
        histograms, logs = self._terms(g)
        flat = self._pick.many(logs.ravel(), count)
        which, degree = np.divmod(flat, self.sums.ring.size)
        cell, code = np.zeros((n, count), dtype=np.int64), np.zeros((n, n, count), dtype=np.int16)
        for one in np.unique(which).tolist():
            check()
            here = np.flatnonzero(which == one)
            found = self._apart(g, histograms[one], degree[here])
            cell[:, here], code[:, :, here] = found
        return Chosen(logs.ravel()[flat], cell, code)

    def shared(self, units: Units, x: int, y: int) -> IntArray:
        """How many times two elements are counted at each joint state [G, C, C', R] of what they share."""
        return added_by_states(units, self.sums.pairs, x, y)

    def _terms(self, g: int) -> tuple[list[Counts], FloatArray]:
        """All histograms, and the log weights [N, S] of each by degree."""
        if self._kept is None or self._kept[0] != g:
            sums, size = self.sums, self.sums.ring.size
            if sums.histograms * size > _LARGEST:
                raise NotLiftableError(
                    f"counts of pairs take {sums.histograms:,.0f} histograms of cells with {size:,} terms "
                    "each, which is too many to keep"
                )
            weight = sums.weight(g)
            found = [
                (counts, logs + weight[index])
                for counts, index, logs in sums.terms(g, self.base.count, (), sums.used)
            ]
            logs = np.array([logs for _, logs in found]).reshape(-1, size)
            self._kept = g, [counts for counts, _ in found], logs
        return self._kept[1:]

    def _apart(self, g: int, counts: Counts, degree: IntArray) -> tuple[IntArray, Codes]:
        """The joint states [n, W] of elements, and how often pairs [n, n, W] are counted, in worlds of a
        histogram by their degree."""
        from plx.infer.kernels.sums_back import sums_back

        ring, many, n = self.sums.ring, len(degree), len(self.base.rules.universe.ids)
        parts = self._parts(g, counts)
        out = np.zeros((many, int(parts.number.sum())), dtype=np.int64)
        sums_back(
            parts.single, parts.powers, parts.partial, parts.before, parts.number,
            -1 if ring.back is None else ring.back, ring.best, degree, self._pick.seeds(many), out,
        )  # fmt: skip
        cell, code = np.zeros((n, many), dtype=np.int64), np.zeros((n, n, many), dtype=np.int16)
        who = self._who(counts, many)
        worlds = np.arange(many)[:, None]
        end = 0
        for i, (slot, _) in enumerate(counts):
            mine = who[i]
            begin, end = end, end + mine.shape[1]
            cell[mine, worlds] = self._states(g, slot, out[:, begin:end])
            for j in range(i, len(counts)):
                first, second = np.indices((mine.shape[1], who[j].shape[1])).reshape(2, -1)
                if i == j:
                    first, second = first[first < second], second[first < second]
                begin, end = end, end + len(first)
                a, b = mine[:, first], who[j][:, second]
                code[a, b, worlds] = code[b, a, worlds] = out[:, begin:end]
        return cell, code

    def _parts(self, g: int, counts: Counts) -> _Parts:
        """Of each slot its elements, then their pairs, then those with elements of later slots."""
        ring, found = self.sums.ring, []
        for i, (slot, n) in enumerate(counts):
            found.append((self.sums.own(g, slot), n))
            found.append((self.sums.pair(g, slot, slot), n * (n - 1) // 2))
            found += [(self.sums.pair(g, slot, other), n * m) for other, m in counts[i + 1 :]]
        bits = max(n.bit_length() for _, n in found)
        width = max(len(logs) for logs, _ in found)
        single = np.full((len(found), width), -np.inf)
        powers = np.full((len(found), bits, ring.size), -np.inf)
        partial = np.full((len(found), bits + 1, ring.size), -np.inf)
        before, whole = [], ring.one()
        for p, (logs, n) in enumerate(found):
            check()
            single[p, : len(logs)] = logs
            squares = ring.squares(tuple(logs.tolist()), n.bit_length()) if n else []
            partial[p, 0] = ring.one()
            for bit, square in enumerate(squares[: n.bit_length()]):
                powers[p, bit] = square
                partial[p, bit + 1] = ring.times(square, partial[p, bit]) if n >> bit & 1 else partial[p, bit]
            before.append(whole)
            whole = ring.times(partial[p, n.bit_length()], whole)
        return _Parts(single, powers, partial, np.array(before), np.array([n for _, n in found]))

    def _who(self, counts: Counts, many: int) -> list[IntArray]:
        """The places [W, n] of the elements in each slot."""
        found: list[IntArray] = []
        for group in range(len(self.base.kind)):
            members = np.flatnonzero(self.base.group_of == group)
            mine = [n for (of, _), n in counts if of == group]
            order = self._pick.shuffled(np.tile(members, (many, 1)))
            found += np.split(order, np.cumsum(mine)[:-1], axis=1) if mine else []
        return found

    def _states(self, g: int, slot: Slot, degree: IntArray) -> IntArray:
        """Joint states of elements in a slot that add so much, of any shape."""
        group, cell = slot
        mine = self.sums.merged[self.base.kind[group]] == cell
        of, own = self.sums.total.of[group][g], self.base.own[group][g]
        rows = [np.where(mine & (of == d), own, -np.inf) for d in range(int(of.max()) + 1)]
        return self._pick.rows(np.array(rows), degree)
