"""What fixed arithmetic over elements that are integers says of them: of one its value, of two which comes
first, and whether they are next to each other.

A *successor* is a comparison such as ``y = x + 1``: whether it holds depends on the distance of y from x
alone, and is the same for all distances of two or more, in either direction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from plx.check.program import Const, Expr, Membership, Operation, Variable
from plx.errors import PlxError
from plx.firstorder.limits import MOST_NEXT
from plx.firstorder.refusal import NotLiftableError, shown
from plx.ground.env import Env
from plx.source import Span
from plx.values import Values

if TYPE_CHECKING:
    from plx.firstorder.rules import Rules

_LOGIC = frozenset({"and", "or", "xor", "not", "=>", "<=>", "indicator", "chance", "mix"})
"""Operators whose arguments are looked at one by one."""

_COMPARE: Mapping[str, np.ufunc] = {
    "=": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater,
    ">=": np.greater_equal,
}  # fmt: skip


@dataclass(eq=False)
class Arithmetic:
    """Looks at the fixed parts of one rule; ``inside`` is whether these are in an aggregate over elements."""

    rules: Rules
    span: Span
    own: bool
    asked: bool
    inside: bool = False

    def notes(self, expr: Expr) -> bool:
        """Whether an expression is arithmetic over elements, and all that it says of them is noted.

        Raises NotLiftableError for a comparison of two that says more than order and successors do.
        """
        terms = self.rules.evaluator.terms
        plain = isinstance(expr, Variable | Membership)
        if not plain and not (isinstance(expr, Operation) and expr.op not in _LOGIC):
            return False
        if terms.is_random(expr):
            return False
        free = sorted(terms.free(expr))
        mine = [uid for uid in free if self._is_numeric(uid)]
        if len(mine) == 1 and len(free) == 1:
            return self._by_value(expr, mine[0])
        if isinstance(expr, Operation) and expr.op in _COMPARE and len(mine) == 2 and not self.asked:
            return self._by_distance(expr, mine)
        return False

    def _is_numeric(self, uid: int) -> bool:
        ids = self.rules.elements.get(uid)
        return ids is not None and all(map(self.rules.universe.is_number, ids[:1].tolist()))

    def _by_value(self, expr: Expr, uid: int) -> bool:
        ids = self.rules.elements[uid]
        try:
            value = self.rules.evaluator.value(expr, Env(len(ids), {uid: ids}, {uid: ""}))
        except PlxError:  # where no instance is, perhaps
            if isinstance(expr, Variable):
                raise
            return False
        if self.asked or self.own or len(np.unique(value)) < len(ids) or len(ids) < 3:
            self.rules.marks.said(ids, value, self.own)
            return True
        raise NotLiftableError(f"{shown(self.span)} tells all members apart by {shown(expr.span)}", self.span)

    def _by_distance(self, expr: Operation, uids: list[int]) -> bool:
        if all(isinstance(argument, Variable) for argument in expr.arguments) and expr.op in ("=", "!="):
            return True
        numbers = self.rules.universe.numbers
        most = int(np.nanmax(numbers) - np.nanmin(numbers)) + 1
        far = list(range(2, most + 1)) if most <= _MOST_DISTANCE else []
        distance = np.array([-1, 0, 1, *far, *(-d for d in far)], dtype=object)
        work = _Distances(self.rules.evaluator.program.values, uids, distance)
        sides = [work.of(argument) for argument in expr.arguments]
        if len(sides) != 2 or any(side is None for side in sides) or not far:
            raise self._more(expr)
        (left, slope), (right, other) = sides  # type: ignore[misc]
        if slope != other:
            raise self._more(expr)
        holds = _COMPARE[expr.op](left, right).astype(bool)
        after, before = holds[3 : 3 + len(far)], holds[3 + len(far) :]
        if (after != after[:1]).any() or (before != before[:1]).any():
            raise self._more(expr)
        rules = self.rules
        if holds[2] != after[0] or holds[0] != before[0]:
            if self.inside:
                what = f"{shown(self.span)} counts members by whether they are next to others"
                raise NotLiftableError(what, self.span)
            if (many := len(rules.universe.ids)) > MOST_NEXT:
                what = f"{shown(self.span)} is about the next of {many:,} members (at most {MOST_NEXT:,})"
                raise NotLiftableError(what, self.span)
            rules.successor = rules.successor or expr.span
            rules.ordered = rules.ordered or expr.span
        if after[0] != before[0]:
            rules.ordered = rules.ordered or expr.span
        return True

    def _more(self, expr: Expr) -> NotLiftableError:
        what = "compares members by more than their order and whether they are next to each other"
        return NotLiftableError(f"{shown(self.span)} {what}: {shown(expr.span)}", self.span)


_MOST_DISTANCE = 1 << 20
"""The largest distance of two elements that a comparison is looked at for."""


@dataclass(frozen=True, eq=False)
class _Distances:
    """Values of arithmetic over two elements, at each ``distance`` of the second from the first; and by how
    much they go up where both go up by one."""

    values: Values
    uids: list[int]
    distance: npt.NDArray[Any]

    def of(self, expr: Expr) -> tuple[npt.NDArray[Any], Fraction] | None:
        """The values, the first element being 0; None for what is not linear but for absolute values."""
        match expr:
            case Variable():
                return self.distance * int(expr.uid == self.uids[1]), Fraction(1)
            case Const():
                value = self.values[expr.id]
                number = isinstance(value, int | Fraction) and not isinstance(value, bool)
                return (self.distance * 0 + value, Fraction(0)) if number else None
            case Operation():
                return self._operation(expr)
        return None

    def _operation(self, expr: Operation) -> tuple[npt.NDArray[Any], Fraction] | None:
        sides = [self.of(argument) for argument in expr.arguments]
        if any(side is None for side in sides):
            return None
        values, slopes = zip(*(side for side in sides if side is not None), strict=True)
        match expr.op:
            case "+":
                return sum(values[1:], values[0]), sum(slopes, Fraction(0))
            case "-":
                return values[0] - values[1], slopes[0] - slopes[1]
            case "neg":
                return -values[0], -slopes[0]
            case "abs" if slopes[0] == 0:
                return abs(values[0]), Fraction(0)
            case "*" if len(values) == 2:
                for factor, value, slope in ((0, values[1], slopes[1]), (1, values[0], slopes[0])):
                    if isinstance(expr.arguments[factor], Const):
                        return values[factor] * value, values[factor][0] * slope
        return None
