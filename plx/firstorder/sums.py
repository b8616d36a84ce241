"""Sums over histograms: how many elements of each group are in each cell.

The weight of a histogram is a product of multinomial coefficients, of the cells' own weights and of the
weights of pairs (Beame, Van den Broeck, Gribkoff & Suciu 2015, *Symmetric weighted first-order model
counting*, section 4), all of them positive.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plx.firstorder.limits import ADDITIONS_PER_JOINT_CELL, MOST_HISTOGRAMS
from plx.firstorder.links import Linked, Terms, eliminated, joint_cells
from plx.firstorder.logs import Pairs
from plx.firstorder.own_weights import kind_sum, log_sums_by
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.structure import Structure
from plx.firstorder.totals import by_totals
from plx.firstorder.units import LongArray
from plx.infer.counting import odds
from plx.numerals import counted
from plx.values import FloatArray, IntArray

_LARGEST = 1 << 22
"""Histograms of all kinds together that are kept at once, 32 MB for each array over them."""

_BITS = 62

Fixed = Sequence[tuple[int, int]]
"""Elements that are in a cell: the group and the cell of each."""


@dataclass(frozen=True, eq=False)
class Means:
    """The log of the sum, and of each cell of each group the mean of its count, and of products of two."""

    log_sum: float
    place: dict[tuple[int, int], int]
    first: FloatArray
    second: FloatArray

    def mean(self, group: int, cell: int) -> float:
        """The mean number of elements of a group in a cell."""
        at = self.place.get((group, cell))
        return 0.0 if at is None else float(self.first[at])

    def product(self, a: tuple[int, int], b: tuple[int, int]) -> float:
        """The mean number of pairs of different elements, one of a group in a cell, the other of another."""
        i, j = self.place.get(a), self.place.get(b)
        if i is None or j is None:
            return 0.0
        return float(self.second[i, j]) - (float(self.first[i]) if a == b else 0.0)


@dataclass(frozen=True, eq=False)
class _Slots:
    """Groups laid out for the kernel: cells of no weight are left out, the largest group is last."""

    group: list[int]  # of every slot
    cell: list[int]
    start: list[int]
    size: list[int]
    own: FloatArray


class Sums:
    """The sums that answers are made of; ``histograms`` is how many are summed over at a time."""

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self._factorial = np.concatenate(
            [[0.0], np.cumsum(np.log(np.arange(1.0, max(structure.base.count, default=0) + 1)))]
        )
        self.histograms = sum(self._count(g) for g in range(structure.base.states))
        polynomial = sum(self._polynomial_steps(g) for g in range(structure.base.states))
        self.by_polynomials = polynomial < self.histograms or bool(structure.links)
        if self.by_polynomials:
            self.histograms = polynomial
        if self.histograms > MOST_HISTOGRAMS:
            raise NotLiftableError(
                f"there are {self.histograms:,.0f} histograms of cells (at most {MOST_HISTOGRAMS:,.0f} are "
                "summed over)"
            )

    @cached_property
    def elimination(self) -> float:
        """What the elimination of elements that evidence joins takes, in additions."""
        structure = self.structure
        cells = {e: structure.cells[structure.groups[e].kind] for pair in structure.links for e in pair}
        return ADDITIONS_PER_JOINT_CELL * structure.base.states * joint_cells(cells, structure.links)

    @property
    def words(self) -> str:
        """How the sum is done."""
        cells = counted(sum(self.structure.cells), "cell")
        if self.structure.links:
            pairs = counted(len(self.structure.links), "pair")
            return f"summed over by the evidence on {pairs} and the counts of the rest, with {cells}"
        if self.by_polynomials:
            return f"summed over by symmetric polynomials in their weights, with {cells}"
        return f"summed over {self.histograms:,.0f} histograms of {cells}"

    def means(self, g: int) -> Means:
        """The sum and means of counts at a joint state of what is about no element."""
        slots = self._slots(g, ())
        first, second = np.zeros(len(slots.group)), np.zeros((len(slots.group),) * 2)
        log_sum = self._run(g, slots, (), first, second)[0]
        place = {key: i for i, key in enumerate(zip(slots.group, slots.cell, strict=True))}
        return Means(log_sum, place, first, second)

    def log_sum(self, g: int) -> float:
        """The log of the sum over all histograms at a joint state of what is about no element."""
        if self.by_polynomials:
            return float(self.log_sums(g, (), ())[0])
        return self.means(g).log_sum

    def log_sums(self, g: int, fixed: Fixed, numbers: Sequence[int]) -> FloatArray:
        """Log sums [T] by the joint values of some totals, in C order, with some elements in their cells."""
        if self.by_polynomials:
            return self._by_polynomials(g, fixed, numbers)
        slots = self._slots(g, fixed)
        return self._run(g, slots, numbers, np.zeros(0), np.zeros((0, 0)))[1]

    # -------------------------------------------------------------------- polynomials

    def _polynomial_steps(self, g: int) -> float:
        """About how many numbers are added by polynomials; infinite where these would be too large."""
        structure = self.structure
        kinds = range(structure.base.kinds)
        members = [self._members(g, kind, ()) for kind in kinds]
        whole = math.prod(
            odds.size(sum(count for count, _ in some), structure.cells[kind])
            for kind, some in zip(kinds, members, strict=True)
        )
        if whole > _LARGEST or not self.structure.totals.same_in_kinds:
            return math.inf
        return whole + sum(
            odds.steps(some, structure.cells[kind]) for kind, some in zip(kinds, members, strict=True)
        )

    def _members(self, g: int, kind: int, fixed: Fixed) -> list[odds.Members]:
        """The members of a kind; those that are fixed can be in one cell only."""
        rest = [group.count for group in self.structure.groups]
        found = []
        linked = {group for pair in self.structure.links for group in pair}
        for number in linked:
            rest[number] = 0
        for number, cell in fixed:
            if number in linked:
                continue
            rest[number] -= 1
            if self.structure.groups[number].kind == kind:
                own = np.full(self.structure.cells[kind], -np.inf)
                own[cell] = self.structure.groups[number].own[g, cell]
                found.append((1, own))
        for number, group in enumerate(self.structure.groups):
            if group.kind == kind and rest[number]:
                found.append((rest[number], group.own[g]))
        return found

    def _by_polynomials(self, g: int, fixed: Fixed, numbers: Sequence[int]) -> FloatArray:
        structure = self.structure
        kinds = range(structure.base.kinds)
        counts, logs = np.zeros((1, 0), dtype=np.int64), np.zeros(1)
        for kind in kinds:
            one = kind_sum(self._members(g, kind, fixed), structure.cells[kind])
            counts = np.concatenate(
                [np.repeat(counts, len(one.logs), axis=0), np.tile(one.counts, (len(logs), 1))], axis=1
            )
            logs = np.add.outer(logs, one.logs).ravel()
        if structure.links:
            counts, logs = self._with_linked(g, fixed, counts, logs)
        logs = logs + Pairs(self._all_pairs(g)).within(counts)
        totals = structure.totals
        used = list(dict.fromkeys([*range(totals.ruled), *numbers]))
        sizes = totals.sizes(used)
        index = np.zeros(len(logs), dtype=np.int64)
        groups = [structure.base.kind.index(kind) for kind in kinds]
        for number in used:
            added = np.concatenate([structure.added(group, [number])[g, :, 0] for group in groups])
            index = index * (totals.all[number].most + 1) + counts @ added
        logs = logs + np.repeat(totals.weight[g], math.prod(sizes) // totals.weight.shape[1])[index]
        return by_totals(log_sums_by(index, logs, math.prod(sizes)), used, sizes, numbers)

    def _all_pairs(self, g: int) -> FloatArray:
        """The log weights [cells, cells] between all cells of all kinds; 0 where there is no pair."""
        kinds, cells = range(self.structure.base.kinds), self.structure.cells
        rows = []
        for a in kinds:
            found = [self.structure.pair(a, b) for b in kinds]
            rows.append(np.concatenate([
                np.zeros((cells[a], cells[b])) if weights is None else weights[g].astype(np.float64)
                for b, weights in enumerate(found)
            ], axis=1))  # fmt: skip
        return np.concatenate(rows)

    def _with_linked(
        self, g: int, fixed: Fixed, counts: IntArray, logs: FloatArray
    ) -> tuple[IntArray, FloatArray]:
        """Histograms with the elements that evidence joins, eliminated."""
        structure = self.structure
        offset = np.cumsum([0, *structure.cells])
        radix = sum(structure.base.count) + 1
        width = counts.shape[1]
        if width * math.log2(radix) > _BITS:
            raise NotLiftableError("members have too many cells for evidence on pairs")
        strides = radix ** np.arange(width)
        elements, pinned = {}, dict(fixed)
        for number in {group for pair in structure.links for group in pair}:
            group = structure.groups[number]
            cells = [pinned[number]] if number in pinned else range(structure.cells[group.kind])
            own = {c: float(group.own[g, c]) for c in cells if group.own[g, c] > -np.inf}
            keys = {c: int(strides[offset[group.kind] + c]) for c in own}
            elements[number] = Linked(own, keys)
        found = eliminated(elements, {pair: ratio[g] for pair, ratio in structure.links.items()})
        terms = Terms(counts @ strides, logs).times(found)
        return terms.key[:, None] // strides % radix, terms.logs

    # ------------------------------------------------------------------------ the kernel

    def _count(self, g: int) -> float:
        slots = self._slots(g, ())
        widths = np.diff(slots.start)
        return math.prod(
            float(math.comb(n + int(c) - 1, int(c) - 1)) if c else 1.0
            for n, c in zip(slots.size, widths, strict=True)
        )

    def _slots(self, g: int, fixed: Fixed) -> _Slots:
        structure = self.structure
        rest = [group.count for group in structure.groups]
        groups = []
        for number, cell in fixed:
            rest[number] -= 1
            groups.append((1, number, [cell]))
        for number, group in enumerate(structure.groups):
            if rest[number]:
                groups.append((rest[number], number, np.flatnonzero(np.isfinite(group.own[g])).tolist()))
        groups.sort(key=lambda item: (len(item[2]) > 1, item[0] * max(len(item[2]) - 1, 0)))
        flat = [(number, cell) for _, number, cells in groups for cell in cells]
        own = [structure.groups[number].own[g, cell] for number, cell in flat]
        return _Slots(
            [number for number, _ in flat],
            [cell for _, cell in flat],
            np.cumsum([0, *(len(cells) for _, _, cells in groups)]).tolist(),
            [count for count, _, _ in groups],
            np.array(own, dtype=np.float64),
        )

    def _run(
        self, g: int, slots: _Slots, numbers: Sequence[int], first: FloatArray, second: FloatArray
    ) -> tuple[float, FloatArray]:
        from plx.infer.kernels.histogram_sums import histogram_sums

        totals = self.structure.totals
        used = list(dict.fromkeys([*range(totals.ruled), *numbers]))
        sizes = totals.sizes(used)
        out = np.full(math.prod(sizes), -np.inf)
        log_sum = -np.inf
        if (np.diff(slots.start) > 0).all() and np.isfinite(slots.own).all():
            own, pair, constant = _centred(slots, self._pair(g, slots))
            repeats = out.size // totals.weight.shape[1]
            by_total = np.repeat(totals.weight[g], repeats)
            steps = float(self.histograms) + len(out)
            log_sum = constant + histogram_sums.sized(steps * len(slots.own))(
                np.array(slots.start), np.array(slots.size), own, pair, self._factorial,
                self._steps(g, slots, used, sizes), by_total, out, first, second,
            )  # fmt: skip
            out = out + constant if out.size > 1 else np.array([log_sum])
        return log_sum, by_totals(out, used, sizes, numbers)

    def _steps(self, g: int, slots: _Slots, used: Sequence[int], sizes: Sequence[int]) -> IntArray:
        strides = np.append(np.cumprod(sizes[:0:-1])[::-1], 1)[: len(used)].astype(np.int64)
        step = np.zeros(len(slots.group), dtype=np.int64)
        for i, (group, cell) in enumerate(zip(slots.group, slots.cell, strict=True)):
            step[i] = int((self.structure.added(group, used)[g, cell] * strides).sum()) if used else 0
        return step

    def _pair(self, g: int, slots: _Slots) -> LongArray:
        """The log weights between slots; 0 where there is no pair."""
        kinds = [self.structure.groups[group].kind for group in slots.group]
        out = np.zeros((len(kinds), len(kinds)), dtype=np.longdouble)
        for i, (a, cell) in enumerate(zip(kinds, slots.cell, strict=True)):
            for j, (b, other) in enumerate(zip(kinds, slots.cell, strict=True)):
                weights = self.structure.pair(a, b)
                if weights is not None:
                    out[i, j] = weights[g, cell, other]
        return out


def _centred(slots: _Slots, pair: LongArray) -> tuple[FloatArray, FloatArray, float]:
    """Weights less what all histograms have in common, which is returned: what is summed stays small."""
    own, pair, constant = slots.own.copy(), pair.copy(), np.longdouble(0.0)
    blocks = [slice(*ends) for ends in zip(slots.start, slots.start[1:], strict=False)]
    for i, (mine, n) in enumerate(zip(blocks, slots.size, strict=True)):
        level = float(np.median(own[mine]))
        own[mine] -= level
        constant += n * level
        for j, (other, m) in enumerate(zip(blocks, slots.size, strict=True)):
            part = pair[mine, other]
            finite = part[np.isfinite(part)]
            if j < i or not len(finite):
                continue
            middle = np.sort(finite)[len(finite) // 2]
            pair[mine, other] -= middle
            if j > i:
                pair[other, mine] -= middle
            constant += middle * (n * m if j > i else n * (n - 1) / 2)
    return own, pair.astype(np.float64), float(constant)
