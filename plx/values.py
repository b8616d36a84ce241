"""Values and the interner that gives each one a small integer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
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


_MANY = 1 << 14
"""Integers that are worth a table of their ids."""


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
        self._window = (0, np.empty(0, dtype=np.int32))  # a first integer; ids from there on, −1: look it up
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

    def ids_of_integers(self, numbers: IntArray) -> IntArray:
        """As `ids`, without a Python object for each: a table has the ids of many that lie close together."""
        low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
        if len(numbers) < _MANY or high - low >= 4 * len(numbers):
            return self.ids(numbers.tolist())
        first, known = self._widened(low, high)
        found = known[numbers - first]
        fresh = numbers[found < 0]
        if len(fresh):
            known[fresh - first] = self.ids(fresh.tolist())
            found = known[numbers - first]
        return found.astype(np.int64)

    def _widened(self, low: int, high: int) -> tuple[int, npt.NDArray[np.int32]]:
        """The table with room for low..high; it forgets what lies far from there."""
        first, known = self._window
        if first <= low and high < first + len(known):
            return self._window
        begin, end = min(low, first), max(high + 1, first + len(known))
        if not len(known) or end - begin > 2 * (high + 1 - low + len(known)):
            begin, end, first, known = low, high + 1, low, known[:0]
        wide = np.full(end - begin, -1, dtype=np.int32)
        wide[first - begin : first - begin + len(known)] = known
        self._window = (begin, wide)
        return self._window

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
    portions = [values[begin : begin + _MANY] for begin in range(0, len(values), _MANY)]
    return np.concatenate([*map(_some_as_floats, portions), np.empty(0)])


def _some_as_floats(values: Sequence[Value | float]) -> FloatArray:
    if set(map(type, values)) == {int}:
        with suppress(OverflowError):
            return np.array(values, dtype=np.float64)
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
