"""Cells: the joint states of the unknowns of an element, as far as pairs and totals tell them apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plx.firstorder.base import Base
from plx.firstorder.totals import Totals
from plx.firstorder.units import LongArray
from plx.values import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Group:
    """``count`` elements that differ in nothing: log weights ``own`` [G, m] of the cells of their kind."""

    kind: int
    count: int
    own: FloatArray


class Structure:
    """The cells of every kind of elements, and the log weights of these and of pairs of them.

    ``merged[kind]`` [C] is the cell of each joint state of the unknowns of an element.
    """

    def __init__(self, base: Base, totals: Totals) -> None:
        self.base, self.totals = base, totals
        self.merged = [self._merged(kind) for kind in range(base.kinds)]
        self.cells = [int(merged.max()) + 1 for merged in self.merged]
        self._first = [np.unique(merged, return_index=True)[1] for merged in self.merged]
        self._pairs = {
            (a, b): weights[:, self._first[a]][:, :, self._first[b]] for (a, b), weights in base.pairs.items()
        }
        self.links = {
            (a, b): ratio[:, self._first[base.kind[a]]][:, :, self._first[base.kind[b]]].astype(np.float64)
            for (a, b), ratio in base.links.items()
        }
        self.before = {
            (a, b): weights[:, self._first[a]][:, :, self._first[b]].astype(np.float64)
            for (a, b), weights in base.before.items()
        }
        self.next = {
            (a, b): weights[:, self._first[a]][:, :, self._first[b]].astype(np.float64)
            for (a, b), weights in base.next.items()
        }
        columns = zip(base.kind, base.count, base.own, strict=True)
        self.groups = [Group(kind, count, self.merge(kind, own)) for kind, count, own in columns]

    def pair(self, a: int, b: int) -> LongArray | None:
        """The log weights [G, m, m'] between the cells of two kinds; None where there is no such pair."""
        if (a, b) in self._pairs:
            return self._pairs[a, b]
        found = self._pairs.get((b, a))
        return None if found is None else found.transpose(0, 2, 1)

    def merge(self, kind: int, own: FloatArray) -> FloatArray:
        """Log weights [G, m] of cells from those [G, C] of joint states."""
        out = np.full((len(own), self.cells[kind]), -np.inf)
        for m in range(self.cells[kind]):
            out[:, m] = np.logaddexp.reduce(own[:, self.merged[kind] == m], axis=1)
        return out

    def added(self, group: int, numbers: Sequence[int]) -> IntArray:
        """What the cells of a group add to some totals, [G, m, totals]."""
        kind = self.base.kind[group]
        columns = [self.totals.all[number].of[group][:, self._first[kind]] for number in numbers]
        shape = self.base.states, self.cells[kind]
        return np.stack(columns, axis=2) if columns else np.zeros((*shape, 0), dtype=np.int64)

    def _merged(self, kind: int) -> IntArray:
        """Numbers of the joint states of an element: equal where no pair and no total tells them apart."""
        base = self.base
        groups, possible = base.groups_of(kind), base.possible(kind)
        size = len(possible)
        keys = [np.where(possible, 0.0, 1.0)[:, None]]
        for (a, b), weights in [*base.pairs.items(), *base.before.items(), *base.next.items()]:
            high = weights.astype(np.float64)
            with np.errstate(invalid="ignore"):
                low = np.where(np.isfinite(high), weights - high, 0.0).astype(np.float64)
            for axis in [*([1] if a == kind else []), *([2] if b == kind else [])]:
                keys += [np.moveaxis(part, axis, 0).reshape(size, -1) for part in (high, low)]
        keys += [total.of[group].T.astype(np.float64) for total in self.totals.all for group in groups]
        for (a, b), ratio in base.links.items():
            low = ratio.astype(np.float64)
            for axis in [*([1] if base.kind[a] == kind else []), *([2] if base.kind[b] == kind else [])]:
                keys.append(np.moveaxis(low, axis, 0).reshape(size, -1))
        rows = np.ascontiguousarray(np.concatenate(keys, axis=1) + 0.0)
        rows[~possible] = np.nan
        seen: dict[bytes, int] = {}
        return np.array([seen.setdefault(row.tobytes(), len(seen)) for row in rows], dtype=np.int64)
