"""Sums over worlds in which the order of members matters: they are added one by one, in this order.

What the next member shares with all before it depends on their histogram of cells alone, and so do all steps
that follow (Tóth & Kuželka 2023, *Lifted inference with linear order axiom*). The order is that of the type.
Where it matters which members are next to each other, the cell of the last one is kept too. Of the histogram
no more is kept than later members, and totals, tell apart: of a chain in which only neighbours meet, nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plx.deadline import check
from plx.firstorder import own_weights
from plx.firstorder.histograms import Plus
from plx.firstorder.limits import MOST_HISTOGRAMS
from plx.firstorder.logs import times
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.structure import Structure
from plx.firstorder.sums import Fixed
from plx.firstorder.totals import by_totals
from plx.numerals import counted
from plx.values import FloatArray, IntArray

_BITS = 62
_MOST_STATES = 1 << 22

MOST_KEPT = 1 << 25
"""Steps of all members that are kept together, to go back along them: 1 GB."""

_EACH_STEP = 3000
"""What a step takes for each cell, however few the states are, in additions."""


@dataclass(frozen=True, eq=False)
class _Keys:
    """What is kept of the members so far, as one number: the cell of the last one (below ``low``, 1 if it is
    not kept), and how many are in each *class* of cells (below ``radix``).

    ``classes`` [cells] is the class of each, -1 for those that nothing depends on. ``before``
    [classes, cells] are log weights with a later member, ``near`` [cells, cells] those with the next.
    """

    before: FloatArray
    near: FloatArray | None
    classes: IntArray
    radix: IntArray
    low: int

    def counts(self, key: IntArray) -> IntArray:
        """How many members are in each class [N, classes]."""
        found: IntArray = key[:, None] // self._unit % self.radix
        return found

    def after(self, key: IntArray, cell: int) -> IntArray:
        """The keys [N] with one member more."""
        mine = int(self.classes[cell])
        added = cell % self.low + (int(self._unit[mine]) if mine >= 0 else 0)
        return key - key % self.low + added

    @property
    def _unit(self) -> IntArray:
        """What a member of each class adds to a key."""
        found: IntArray = self.low * np.cumprod([1, *self.radix[:-1]])[: len(self.radix)]
        return found


@dataclass(frozen=True, eq=False)
class Step:
    """A member more: which ``group``, the states ``key`` and their ``logs`` thereafter [N]; and each way to
    one of these [T]: from a state before, by a cell, with a log weight."""

    group: int
    key: IntArray
    logs: FloatArray
    source: IntArray
    cell: IntArray
    target: IntArray
    weight: FloatArray


class OrderedSums:
    """The sums that answers are made of, as `plx.firstorder.sums.Sums`; each member is a group of its own."""

    by_polynomials = True

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        base = structure.base
        self._offset = np.cumsum([0, *structure.cells])
        self._order = base.order.tolist()
        self._marginals: dict[int, list[FloatArray]] = {}
        if not structure.totals.same_in_kinds:
            raise NotLiftableError("the order of members matters, and they are counted", base.rules.ordered)
        ruled = range(structure.totals.ruled)
        states = max(self._states(self._keys(g, [*ruled])) for g in range(base.states))
        self.steps = states * len(base.first) * int(self._offset[-1]) * base.states
        if states > _MOST_STATES or self.steps > MOST_HISTOGRAMS:
            raise NotLiftableError(
                f"the order of members matters, and there are {states:,.0f} histograms of cells",
                base.rules.ordered,
            )
        self.histograms = self.steps + _EACH_STEP * len(base.first) * int(self._offset[-1]) * base.states

    @property
    def words(self) -> str:
        """How the sum is done."""
        return f"added one by one in their order, with {counted(sum(self.structure.cells), 'cell')}"

    def log_sum(self, g: int) -> float:
        """The log of the sum over all worlds at a joint state of what is about no element."""
        return float(self.log_sums(g, (), ())[0])

    def log_sums(self, g: int, fixed: Fixed, numbers: Sequence[int]) -> FloatArray:
        """Log sums [T] by the joint values of some totals, in C order, with some elements in their cells."""
        totals = self.structure.totals
        used = list(dict.fromkeys([*range(totals.ruled), *numbers]))
        sizes = totals.sizes(used)
        keys = self._keys(g, used)
        last = None
        for last in self._forward(g, keys, dict(fixed), np.logaddexp):
            if not len(last.key):
                return np.full(math.prod(totals.sizes(numbers)), -np.inf)
        assert last is not None
        index = self._index(g, keys, last.key, used)
        logs = last.logs + np.repeat(totals.weight[g], math.prod(sizes) // totals.weight.shape[1])[index]
        return by_totals(own_weights.log_sums_by(index, logs, math.prod(sizes)), used, sizes, numbers)

    def marginals(self, g: int) -> list[FloatArray] | None:
        """For each group, log sums [m] by the cell of its element; None where that takes too much memory."""
        if self.steps > MOST_KEPT:
            return None
        if g not in self._marginals:
            steps, back = self.kept(g, np.logaddexp)
            found = [np.full(self.structure.cells[group.kind], -np.inf) for group in self.structure.groups]
            for before, step in zip([None, *steps[:-1]][::-1], steps[::-1], strict=True):
                check()
                logs = step.weight + back[step.target]
                size = 1 if before is None else len(before.key)
                start = np.zeros(1) if before is None else before.logs
                np.logaddexp.at(found[step.group], step.cell, logs + start[step.source])
                back = own_weights.log_sums_by(step.source, logs, size)
            self._marginals[g] = found
        return self._marginals[g]

    def kept(self, g: int, plus: Plus) -> tuple[list[Step], FloatArray]:
        """All steps, and the log weights [N] that rules give to the totals of the last states."""
        used = [*range(self.structure.totals.ruled)]
        keys = self._keys(g, used)
        steps = [*self._forward(g, keys, {}, plus)]
        return steps, self.structure.totals.weight[g][self._index(g, keys, steps[-1].key, used)]

    # ---------------------------------------------------------------------------- steps

    def _forward(self, g: int, keys: _Keys, pinned: Mapping[int, int], plus: Plus) -> Iterator[Step]:
        structure = self.structure
        near = structure.base.near.tolist()
        key, logs = np.zeros(1, dtype=np.int64), np.zeros(1)
        for place, number in enumerate(self._order):
            check()
            group = structure.groups[number]
            low = int(self._offset[group.kind])
            own = group.own[g]
            cells = [pinned[number]] if number in pinned else range(len(own))
            cells = [cell for cell in cells if own[cell] > -np.inf]
            shared = self._shared(keys, key, near[place])
            weight = np.concatenate([own[c] + shared(low + c) for c in cells]) if cells else np.zeros(0)
            after = [keys.after(key, low + c) for c in cells]
            cell = np.repeat(np.array(cells, dtype=np.int64), len(key))
            source = np.tile(np.arange(len(key)), len(cells))
            alive = np.flatnonzero(weight > -np.inf)
            weight, cell, source = weight[alive], cell[alive], source[alive]
            to = np.concatenate(after)[alive] if cells else np.zeros(0, dtype=np.int64)
            key, target = np.unique(to, return_inverse=True)
            logs = _sums(plus, target, logs[source] + weight, len(key))
            yield Step(number, key, logs, source, cell, target, weight)

    def _shared(self, keys: _Keys, key: IntArray, near: bool) -> Callable[[int], FloatArray]:
        """A function from a cell to the log weights [N] of what an element in it shares with all before."""
        counts = keys.counts(key)
        if keys.near is None or not near:
            return lambda at: times(counts, keys.before[:, at]).sum(axis=1)
        last = key % keys.low
        mine = keys.classes[last]
        counts[np.flatnonzero(mine >= 0), mine[mine >= 0]] -= 1
        beside = keys.near
        return lambda at: times(counts, keys.before[:, at]).sum(axis=1) + beside[last, at]

    def _keys(self, g: int, used: Sequence[int]) -> _Keys:
        structure, base = self.structure, self.structure.base
        before = self._blocks(g, structure.before)
        near = self._blocks(g, structure.next) if structure.next else None
        rows = np.concatenate([before, self._added(g, used)], axis=1) + 0.0
        seen: dict[bytes, int] = {}
        classes = np.array(
            [seen.setdefault(row.tobytes(), len(seen)) if row.any() else -1 for row in rows], dtype=np.int64
        )
        members = np.bincount(base.kind, minlength=base.kinds)
        radix = np.ones(len(seen), dtype=np.int64)
        for kind in range(base.kinds):
            inside = np.unique(classes[self._offset[kind] : self._offset[kind + 1]])
            radix[inside[inside >= 0]] += members[kind]
        low = int(self._offset[-1]) if near is not None else 1
        if np.log2(radix).sum() + math.log2(low) > _BITS:
            what = "the order of members matters, and they have too many cells"
            raise NotLiftableError(what, base.rules.ordered)
        first = [int(np.argmax(classes == one)) for one in range(len(seen))]
        return _Keys(before[first], near, classes, radix, low)

    def _states(self, keys: _Keys) -> float:
        """At most how many states there are at a time."""
        base = self.structure.base
        members = np.bincount(base.kind, minlength=base.kinds).tolist()
        found = float(keys.low)
        for kind, n in enumerate(members):
            classes = len(np.unique(keys.classes[self._offset[kind] : self._offset[kind + 1]]))
            found *= math.comb(n + classes - 1, classes - 1)
        return found

    def _index(self, g: int, keys: _Keys, key: IntArray, used: Sequence[int]) -> IntArray:
        """The joint values [N] of totals, in C order."""
        totals, counts = self.structure.totals, keys.counts(key)
        index = np.zeros(len(key), dtype=np.int64)
        added = self._added(g, used)
        first = [int(np.argmax(keys.classes == one)) for one in range(len(keys.radix))]
        for place, number in enumerate(used):
            index = index * (totals.all[number].most + 1) + counts @ added[first, place].astype(np.int64)
        return index

    def _added(self, g: int, used: Sequence[int]) -> FloatArray:
        """What each cell of all kinds adds to totals, [cells, totals]."""
        kind_of = self.structure.base.kind
        firsts = [kind_of.index(kind) for kind in range(self.structure.base.kinds)]
        return np.concatenate([self.structure.added(group, used)[g] for group in firsts]).astype(np.float64)

    def _blocks(self, g: int, tables: Mapping[tuple[int, int], FloatArray]) -> FloatArray:
        """Log weights [cells, cells] of two elements of all kinds of which the first comes first."""
        cells = self.structure.cells
        kinds = range(self.structure.base.kinds)
        rows = []
        for a in kinds:
            blocks = [tables.get((a, b)) for b in kinds]
            rows.append(np.concatenate([
                np.zeros((cells[a], cells[b])) if block is None else block[g]
                for b, block in enumerate(blocks)
            ], axis=1))  # fmt: skip
        return np.concatenate(rows)


def _sums(plus: Plus, index: IntArray, logs: FloatArray, size: int) -> FloatArray:
    """Logs [size] added by an index."""
    if plus is np.logaddexp:
        return own_weights.log_sums_by(index, logs, size)
    found = np.full(size, -np.inf)
    np.maximum.at(found, index, logs)
    return found
