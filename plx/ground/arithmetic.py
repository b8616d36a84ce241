"""Operators of the language on arrays of value ids, exact, once per distinct combination."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cmp_to_key
from itertools import compress

import numpy as np

from plx.graph.rows import BoolArray, unique_keys, unique_rows
from plx.operators import apply
from plx.values import FALSE, IMPOSSIBLE, TRUE, ZERO, IntArray, Value, Values
from plx.weights import Number, WeightError, compare

_SMALL = 2**31
"""Integers below this add, subtract and multiply in 64 bits without overflow."""

_LOG_OF_ZERO = "log(0): the logarithm of a number that is not positive"

_COMPARISONS: dict[str, Callable[[IntArray, IntArray], BoolArray]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
_EQUALITIES: dict[str, Callable[[IntArray, IntArray], BoolArray]] = {
    "=": np.equal,
    "<=>": np.equal,
    "!=": np.not_equal,
    "xor": np.not_equal,
}
_TRUTH: dict[str, Callable[[IntArray, IntArray], BoolArray]] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "=>": np.less_equal,
}
_WHOLE: dict[str, Callable[[IntArray, IntArray], IntArray]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}


class Arithmetic:
    """Applies operators to ids of one interner; arguments broadcast like numpy arrays.

    Raises ArithmeticMistake where a result is no real number. While ``log_of_zero`` is set, the log of 0 is
    IMPOSSIBLE, which may be added to and scaled: what rules do whose value is a log weight.
    """

    def __init__(self, values: Values) -> None:
        self.values = values
        self.log_of_zero = False
        self._whole = np.empty(0, dtype=np.int64)
        self._is_whole = np.empty(0, dtype=bool)
        self._naturals = np.empty(0, dtype=np.int64)

    @contextmanager
    def logs_of_zero(self, allowed: bool) -> Iterator[None]:
        """Set ``log_of_zero`` for what is done inside."""
        self.log_of_zero = allowed
        try:
            yield
        finally:
            self.log_of_zero = False

    def unary(self, op: str, ids: IntArray) -> IntArray:
        """An operator of one argument."""
        if op == "not":
            return TRUE - ids + FALSE
        first, inverse = unique_keys(ids.ravel())
        found = [self._unary(op, int(i)) for i in ids.ravel()[first]]
        return np.array(found, dtype=np.int64)[inverse].reshape(ids.shape)

    def binary(self, op: str, a: IntArray, b: IntArray) -> IntArray:
        """An operator of two arguments."""
        if op in _EQUALITIES:
            return _EQUALITIES[op](a, b).astype(np.int64)
        if op in _TRUTH:
            return _TRUTH[op](a, b).astype(np.int64)
        if op in _COMPARISONS:
            return _COMPARISONS[op](*self._ranks(a, b)).astype(np.int64)
        if op == "%" and self._small(a) and self._small(b) and self._whole[b].all():
            return self.integers(self._whole[a] % self._whole[b])
        if op in _WHOLE and self._small(a) and self._small(b):
            return self.integers(_WHOLE[op](self._whole[a], self._whole[b]))
        return self._exactly(op, a, b)

    def _unary(self, op: str, index: int) -> int:
        if self.log_of_zero and op == "log" and index == ZERO:
            return IMPOSSIBLE
        if index == IMPOSSIBLE:
            if op == "exp":
                return ZERO
            raise WeightError(_LOG_OF_ZERO)
        return self.values.id(apply(op, self.values[index]))

    def _binary(self, op: str, a: int, b: int) -> int:
        if IMPOSSIBLE not in (a, b):
            return self.values.id(apply(op, self.values[a], self.values[b]))
        other = self.values[b if a == IMPOSSIBLE else a] if a != b else None
        sign = 1 if other is None else compare(other, 0)  # type: ignore[arg-type]
        if op == "+" or (op == "-" and b != IMPOSSIBLE):
            return IMPOSSIBLE
        if (op == "*" and a != b) or (op == "/" and b != IMPOSSIBLE):
            if sign > 0:
                return IMPOSSIBLE
            if sign == 0 and op == "*":
                return ZERO
        raise WeightError(_LOG_OF_ZERO)

    def integers(self, numbers: IntArray) -> IntArray:
        """The ids of integers."""
        if numbers.size and numbers.min() >= 0 and numbers.max() < 4096 + 4 * numbers.size:
            return self._naturals_up_to(int(numbers.max()))[numbers]
        first, inverse = unique_keys(numbers.ravel())
        found = self.values.ids(int(n) for n in numbers.ravel()[first])
        return found[inverse].reshape(numbers.shape)

    def whole(self, ids: IntArray) -> tuple[IntArray, BoolArray]:
        """The integers with these ids, and whether each id is an integer below 2^31."""
        self._learn()
        return self._whole[ids], self._is_whole[ids]

    def dense_ranks(self, op: str, ids: IntArray) -> IntArray:
        """Integers 0, 1, … that relate under a comparison as the ids do."""
        keys = ids if op in _EQUALITIES else self._ranks(ids, ids[:0])[0]
        return unique_keys(keys)[1]

    def _naturals_up_to(self, n: int) -> IntArray:
        known = len(self._naturals)
        if n >= known:
            more = self.values.ids(range(known, max(n + 1, known + known // 8)))
            self._naturals = np.concatenate([self._naturals, more])
        return self._naturals

    def _learn(self) -> None:
        known = len(self._whole)
        fresh = self.values.take(range(known, len(self.values)))
        whole, is_whole = _small_integers(fresh)
        self._whole = np.concatenate([self._whole, whole])
        self._is_whole = np.concatenate([self._is_whole, is_whole])

    def _small(self, ids: IntArray) -> bool:
        self._learn()
        return bool(self._is_whole[ids].all())

    def _ranks(self, a: IntArray, b: IntArray) -> tuple[IntArray, IntArray]:
        """Integers that compare as the numbers with these ids do."""
        if self._small(a) and self._small(b):
            return self._whole[a], self._whole[b]
        both = np.concatenate([a.ravel(), b.ravel()])
        if (both == IMPOSSIBLE).any():
            raise WeightError(_LOG_OF_ZERO)
        first, inverse = unique_keys(both)
        numbers: list[Number] = [self.values[int(i)] for i in both[first]]  # type: ignore[misc]
        key = cmp_to_key(compare)
        order = sorted(range(len(numbers)), key=lambda i: key(numbers[i]))
        rank = np.empty(len(numbers), dtype=np.int64)
        rank[order] = np.arange(len(numbers))
        return rank[inverse[: a.size]].reshape(a.shape), rank[inverse[a.size :]].reshape(b.shape)

    def _exactly(self, op: str, a: IntArray, b: IntArray) -> IntArray:
        left, right = np.broadcast_arrays(a, b)
        pairs = np.stack([left.ravel(), right.ravel()], axis=1)
        first, inverse = unique_rows(pairs)
        found = [self._binary(op, int(x), int(y)) for x, y in pairs[first]]
        return np.array(found, dtype=np.int64)[inverse].reshape(left.shape)


def _small_integers(values: Sequence[Value]) -> tuple[IntArray, BoolArray]:
    """Values as integers where they are small ones, else 0, and where they are."""
    whole = [type(value) is int and -_SMALL < value < _SMALL for value in values]
    found = np.zeros(len(values), dtype=np.int64)
    found[whole] = np.array(list(compress(values, whole)), dtype=np.int64)
    return found, np.array(whole, dtype=bool)
