"""Sums over worlds in which the order of members matters: they are added one by one, in this order.

What the next member shares with all before it depends on their histogram of cells alone, and so do all steps
that follow (Tóth & Kuželka 2023, *Lifted inference with linear order axiom*). The order is that of the type.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from plx.deadline import check
from plx.firstorder import own_weights
from plx.firstorder.limits import MOST_HISTOGRAMS
from plx.firstorder.links import gathered
from plx.firstorder.logs import times
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.structure import Structure
from plx.firstorder.sums import Fixed
from plx.firstorder.totals import by_totals
from plx.numerals import counted
from plx.values import FloatArray

_BITS = 62
_MOST_STATES = 1 << 22


class OrderedSums:
    """The sums that answers are made of, as `plx.firstorder.sums.Sums`; each member is a group of its own."""

    by_polynomials = True

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        base = structure.base
        self._offset = np.cumsum([0, *structure.cells])
        self._radix = max(np.bincount(base.kind)) + 1
        self._order = base.order.tolist()
        members = np.bincount(base.kind, minlength=base.kinds).tolist()
        states = math.prod(
            float(math.comb(n + c - 1, c - 1)) for n, c in zip(members, structure.cells, strict=True)
        )
        self.histograms = states * len(base.first) * int(self._offset[-1]) * base.states
        wide = int(self._offset[-1]) * math.log2(self._radix) > _BITS
        if wide or states > _MOST_STATES or self.histograms > MOST_HISTOGRAMS:
            raise NotLiftableError(
                f"the order of members matters, and there are {states:,.0f} histograms of cells",
                base.rules.ordered,
            )
        if not structure.totals.same_in_kinds:
            raise NotLiftableError("the order of members matters, and they are counted", base.rules.ordered)

    @property
    def words(self) -> str:
        """How the sum is done."""
        return f"added one by one in their order, with {counted(sum(self.structure.cells), 'cell')}"

    def log_sum(self, g: int) -> float:
        """The log of the sum over all worlds at a joint state of what is about no element."""
        return float(self.log_sums(g, (), ())[0])

    def log_sums(self, g: int, fixed: Fixed, numbers: Sequence[int]) -> FloatArray:
        """Log sums [T] by the joint values of some totals, in C order, with some elements in their cells."""
        structure, pinned = self.structure, dict(fixed)
        strides = self._radix ** np.arange(self._offset[-1])
        before = self._before(g)
        key, logs = np.zeros(1, dtype=np.int64), np.zeros(1)
        for number in self._order:
            check()
            group = structure.groups[number]
            counts = key[:, None] // strides % self._radix
            keys, found = [], []
            for cell in [pinned[number]] if number in pinned else range(structure.cells[group.kind]):
                if group.own[g, cell] == -np.inf:
                    continue
                at = int(self._offset[group.kind]) + cell
                keys.append(key + strides[at])
                found.append(logs + group.own[g, cell] + times(counts, before[:, at]).sum(axis=1))
            if not keys:
                return np.full(math.prod(structure.totals.sizes(numbers)), -np.inf)
            terms = gathered(np.concatenate(keys), np.concatenate(found))
            possible = np.isfinite(terms.logs)
            key, logs = terms.key[possible], terms.logs[possible]
        totals = structure.totals
        used = list(dict.fromkeys([*range(totals.ruled), *numbers]))
        sizes = totals.sizes(used)
        counts = key[:, None] // strides % self._radix
        index = np.zeros(len(logs), dtype=np.int64)
        firsts = [structure.base.kind.index(kind) for kind in range(structure.base.kinds)]
        for one in used:
            added = np.concatenate([structure.added(group, [one])[g, :, 0] for group in firsts])
            index = index * (totals.all[one].most + 1) + counts @ added
        logs = logs + np.repeat(totals.weight[g], math.prod(sizes) // totals.weight.shape[1])[index]
        return by_totals(own_weights.log_sums_by(index, logs, math.prod(sizes)), used, sizes, numbers)

    def _before(self, g: int) -> FloatArray:
        """The log weights [cells, cells] of two elements of all kinds of which the first comes first."""
        structure, kinds = self.structure, range(self.structure.base.kinds)
        rows = []
        for a in kinds:
            blocks = [structure.before.get((a, b)) for b in kinds]
            rows.append(np.concatenate([
                np.zeros((structure.cells[a], structure.cells[b])) if block is None else block[g]
                for b, block in enumerate(blocks)
            ], axis=1))  # fmt: skip
        return np.concatenate(rows)
