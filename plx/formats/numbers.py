"""Decimal text → ids of exact log weights, without a detour over floats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from plx import weights
from plx.values import IMPOSSIBLE, IntArray, Values

BAD: Final = -1


def log_id(values: Values, number: int | Fraction) -> int:
    """The id of the exact log of a number ≥ 0; IMPOSSIBLE for 0."""
    return values.id(weights.log(number)) if number else IMPOSSIBLE


class LogNumbers:
    """Turns entries of tables into ids of their exact logs; 0 becomes IMPOSSIBLE.

    The work is per distinct text: ``0.95`` is the exact log(19/20) wherever it stands, and
    ``3.3348e-4165`` does not underflow.
    """

    def __init__(self, values: Values) -> None:
        self._values = values
        self._seen: dict[str, int] = {}

    def ids(self, words: Sequence[str], fail: Callable[[str, int], object]) -> IntArray:
        """The ids of many entries, shape (n,). ``fail(message, index)`` is called for a bad one, to raise."""
        for word in set(words):
            if word not in self._seen:
                self._seen[word] = self._id(word)
        ids = np.fromiter(map(self._seen.__getitem__, words), dtype=np.int64, count=len(words))
        if (ids == BAD).any():
            index = int(np.argmax(ids == BAD))
            fail(_mistake(words[index]), index)
        return ids

    def _id(self, word: str) -> int:
        try:
            number = weights.parse(word)
        except weights.WeightError:
            return BAD
        if number < 0:
            return BAD
        return log_id(self._values, number)


def _mistake(word: str) -> str:
    try:
        weights.parse(word)
    except weights.WeightError as mistake:
        return f"{mistake}; an entry of a table must be a number ≥ 0"
    return f"the entry `{word}` is negative; tables hold weights ≥ 0 (their logs are taken on reading)"
