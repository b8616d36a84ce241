"""Parts of a graph that are the same but for the numbers of their nodes.

A part is spelt out as runs of integers, in which its nodes are numbered from 0 in order. Parts with equal
runs are isomorphic, by the map that keeps the order of nodes. Others may be so by another map: not to see
that costs time, and changes no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from plx.graph.ragged import segments, starts
from plx.graph.rows import AnyInt, equal_rows
from plx.values import IntArray


class Runs(NamedTuple):
    """Integers of every part, those of part i ``values[start[i] : start[i + 1]]``."""

    values: AnyInt
    start: IntArray  # [parts + 1]

    @classmethod
    def by_owner(cls, values: AnyInt, owner: AnyInt, n_parts: int) -> Runs:
        """Values in any order, and the part that each belongs to."""
        return cls(values[np.argsort(owner, kind="stable")], starts(np.bincount(owner, minlength=n_parts)))

    def rows(self, parts: IntArray) -> IntArray:
        """The integers of parts that have equally many, shape (parts, integers)."""
        size = self.start[parts + 1] - self.start[parts]
        at = segments(self.start[parts], size).reshape(len(parts), size[0])
        return self.values[at].astype(np.int64)


def lengths(runs: Sequence[Runs], parts: IntArray) -> IntArray:
    """The length of every run of some parts, shape (parts, runs)."""
    return np.stack([run.start[parts + 1] - run.start[parts] for run in runs], axis=1)


def spelt(runs: Sequence[Runs], parts: IntArray) -> IntArray:
    """All runs of each part, one after the other: a row for each of some parts with runs of equal lengths."""
    return np.concatenate([run.rows(parts) for run in runs], axis=1)


def equal_parts(runs: Sequence[Runs], parts: IntArray) -> list[IntArray]:
    """The parts with equal runs, class by class; those of a class in the order given."""
    return [
        parts[same[alike]]
        for same in equal_rows(lengths(runs, parts))
        for alike in equal_rows(spelt(runs, parts[same]))
    ]
