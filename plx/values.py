"""Values and the interner that gives each one a small integer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from plx.weights import Number, to_float

Value = str | bool | Number
"""A symbol (str), a truth value (bool) or an exact number."""

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

FALSE: Final = 0
TRUE: Final = 1
ZERO: Final = 2
IMPOSSIBLE: Final = 3
"""Id of the log weight −inf, which only `require` and `observe` produce."""

FARTHEST: Final = 2.0**1000
"""The largest log weight that is worked with."""


class Values:
    """An append-only interner: value ↔ id.

    Two values have one id exactly when they are equal: symbols by their text,
    numbers by their exact value (1/2 and 0.5 are one). ``true`` and 1 differ.
    Weights are interned here too, so equal ids mean exactly equal weights.
    """

    def __init__(self) -> None:
        self._values: list[Value | float] = []
        self._ids: dict[str, dict[Any, int]] = {"symbol": {}, "truth": {}, "number": {}}
        self._floats = np.empty(0)
        for value in (False, True, 0):
            self.id(value)
        self._values.append(-np.inf)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: int) -> Value:
        return self._values[index]  # type: ignore[return-value]

    def take(self, ids: Iterable[int]) -> list[Value]:
        """The values with these ids."""
        return list(map(self._values.__getitem__, ids))  # type: ignore[arg-type]

    def id(self, value: Value) -> int:
        """The id of a value, new if it has not been seen."""
        known = self._ids[_kind(value)]
        found = known.get(value)
        if found is None:
            found = known[value] = len(self._values)
            self._values.append(value)
        return found

    def ids(self, values: Iterable[Value]) -> IntArray:
        """The ids of many values, shape (n,)."""
        values = values if isinstance(values, list | tuple) else list(values)
        kinds = set(map(type, values))
        if kinds == {str} or kinds == {int}:
            return self._of_one_kind(values, _kind(values[0]))
        return np.fromiter(map(self.id, values), dtype=np.int64, count=len(values))

    def _of_one_kind(self, values: Sequence[Value], kind: str) -> IntArray:
        """As `ids`, in a fraction of the time."""
        known, first, before = self._ids[kind], len(self._values), len(self._ids[kind])
        fresh = [value for value in values if value not in known]
        known.update(zip(fresh, range(first, first + len(fresh)), strict=True))
        if len(known) < before + len(fresh):  # some come twice
            fresh = list(dict.fromkeys(fresh))
            known.update(zip(fresh, range(first, first + len(fresh)), strict=True))
        self._values += fresh
        if len(fresh) == len(values):
            return np.arange(first, first + len(fresh))
        return np.fromiter(map(known.__getitem__, values), dtype=np.int64, count=len(values))

    def find(self, value: Value) -> int | None:
        """The id of a value if it has one."""
        return self._ids[_kind(value)].get(value)

    def floats(self, ids: IntArray) -> FloatArray:
        """The numbers with these ids as doubles; NaN where the id is no number."""
        known = len(self._floats)
        if known < len(self._values):
            self._floats = np.concatenate([self._floats, _as_floats(self._values[known:])])
        return self._floats[ids]

    def logs(self, ids: IntArray) -> FloatArray:
        """Log weights as doubles: -inf for IMPOSSIBLE alone, what is past ±FARTHEST at that, so that sums
        of millions stay finite."""
        return np.where(ids == IMPOSSIBLE, -np.inf, np.clip(self.floats(ids), -FARTHEST, FARTHEST))


def distinct(ids: IntArray) -> IntArray:
    """Ids without repetitions, sorted: as np.unique, which hashes a million of them in ten times the time."""
    ids = np.sort(ids)
    return ids[np.concatenate([[True], ids[1:] != ids[:-1]])] if len(ids) else ids


def _kind(value: Value) -> str:
    if isinstance(value, str):
        return "symbol"
    return "truth" if isinstance(value, bool) else "number"


def _as_floats(values: Sequence[Value | float]) -> FloatArray:
    whole = [type(value) is int for value in values]
    found = np.empty(len(values))
    try:
        found[whole] = np.array(list(compress(values, whole)), dtype=np.float64)
    except OverflowError:
        whole = [False] * len(values)
    other = np.flatnonzero(~np.array(whole, dtype=bool)).tolist()
    found[other] = [_as_float(values[i]) for i in other]
    return found


def _as_float(value: Value | float) -> float:
    if isinstance(value, float):
        return value
    return np.nan if isinstance(value, str | bool) else to_float(value)
