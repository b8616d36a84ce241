"""Expressions with learned numbers at all instances at once: addends are collected, and added up at the end.

The checker has seen to it that they are affine. So nothing in between is made a number of its own, however
many instances differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from plx.check.program import Aggregate, Const, Expr, Operation, ParamTerm
from plx.graph.ragged import entries_of, starts
from plx.graph.rows import unique_keys, unique_rows
from plx.ground.env import Env
from plx.source import Span
from plx.values import IMPOSSIBLE, ZERO, IntArray
from plx.weights import Affine, Number, add, affine

if TYPE_CHECKING:
    from plx.ground.evaluate import Evaluator

_CONSTANT = -1


class Addends(NamedTuple):
    """What is added at each instance: ``times`` a learned number, or itself where ``name`` is -1."""

    row: IntArray  # [E] instance
    name: IntArray  # [E] number of the learned number's name
    times: IntArray  # [E] value id


class AffineSums:
    """Evaluates affine expressions of one program."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._learned = {info.name for info in evaluator.program.learned}
        self._names: dict[str, int] = {}
        self._mentions: dict[int, tuple[Expr, bool]] = {}

    def mentions(self, expr: Expr) -> bool:
        """Whether a learned number stands in an expression."""
        if not self._learned:
            return False
        found = self._mentions.get(id(expr))
        if found is None:
            found = self._mentions[id(expr)] = expr, self._looks(expr)
        return found[1]

    def _looks(self, expr: Expr) -> bool:
        match expr:
            case Const():
                return isinstance(self._evaluator.values[expr.id], Affine)
            case ParamTerm():
                return expr.name in self._learned
            case Operation():
                return any(map(self.mentions, expr.arguments))
            case Aggregate():
                return self.mentions(expr.body)
        return False

    def value(self, expr: Expr, env: Env) -> IntArray | None:
        """The value ids [n] of an expression that mentions learned numbers; None if a log of 0 is in it.

        Worked out once per distinct binding of the variables that it mentions.
        """
        used = sorted(self._evaluator.terms.free(expr))
        first, inverse = unique_rows(env.stack(used))
        found = self._addends(expr, env.only(used).take(first))
        if (found.times == IMPOSSIBLE).any():
            return None
        return self._added(found, len(first))[inverse]

    def _addends(self, expr: Expr, env: Env) -> Addends:
        if not self.mentions(expr):
            ids = self._evaluator.value(expr, env)
            row = np.flatnonzero(ids != ZERO)
            return Addends(row, np.full(len(row), _CONSTANT, dtype=np.int64), ids[row])
        match expr:
            case Operation(op="+"):
                return _joined([self._addends(part, env) for part in expr.arguments])
            case Operation(op="-"):
                first, *others = (self._addends(part, env) for part in expr.arguments)
                return _joined([first, *(self._negative(one, expr.span) for one in others)])
            case Operation(op="neg"):
                return self._negative(self._addends(expr.arguments[0], env), expr.span)
            case Operation(op="*" | "/"):
                return self._scaled(expr, env)
            case Aggregate(kind="sum"):
                return self._sum(expr, env)
        return self._read(self._evaluator.plain(expr, env))

    def _read(self, ids: IntArray) -> Addends:
        """Numbers that stand in the program as they are."""
        values, none = self._evaluator.values, np.empty(0, dtype=np.int64)
        first, inverse = unique_keys(ids)
        addends: list[tuple[int, int]] = []
        count = []
        for value in (values[i] for i in ids[first].tolist()):
            terms = value.terms if isinstance(value, Affine) else ()
            rest = value.constant if isinstance(value, Affine) else value
            mine = [(self._names.setdefault(name, len(self._names)), values.id(k)) for name, k in terms]
            addends += [*mine, (_CONSTANT, values.id(rest))]
            count.append(len(mine) + 1)
        flat = np.array(addends, dtype=np.int64).reshape(-1, 2)
        at, row = entries_of(starts(count), inverse) if len(ids) else (none, none)
        at, row = at[flat[at, 1] != ZERO], row[flat[at, 1] != ZERO]
        return Addends(row, flat[at, 0], flat[at, 1])

    def _negative(self, addends: Addends, span: Span) -> Addends:
        return addends._replace(times=self._evaluator.unary("neg", addends.times, span))

    def _scaled(self, expr: Operation, env: Env) -> Addends:
        """What holds learned numbers, by all that does not."""
        (which,) = (i for i, part in enumerate(expr.arguments) if self.mentions(part))
        found = self._addends(expr.arguments[which], env)
        for part in (*expr.arguments[:which], *expr.arguments[which + 1 :]):
            by = self._evaluator.value(part, env)[found.row]
            if expr.op == "*" and (found.times == self._evaluator.values.id(1)).all():
                found = found._replace(times=by)
            else:
                found = found._replace(times=self._evaluator.binary(expr.op, found.times, by, expr.span))
        return found

    def _sum(self, expr: Aggregate, env: Env) -> Addends:
        inner, owner, instance, n = self._evaluator.elements(expr, env)
        found = self._addends(expr.body, inner)
        mine = owner[found.row]
        order = np.argsort(mine, kind="stable")
        at, row = entries_of(starts(np.bincount(mine, minlength=n)), instance)
        return Addends(row, found.name[order][at], found.times[order][at])

    def _added(self, addends: Addends, n: int) -> IntArray:
        """One number for each row that differs."""
        row, name, times = (part[np.lexsort(addends[::-1])] for part in addends)
        count = np.bincount(row, minlength=n)
        width = int(count.max(initial=0))
        table = np.full((n, width, 2), -1, dtype=np.int64)
        place = np.arange(len(row)) - starts(count)[row]
        table[row, place, 0], table[row, place, 1] = name, times
        first, inverse = unique_rows(table.reshape(n, 2 * width))
        names = list(self._names)
        found = [
            self._number(names, line[:k].tolist())
            for line, k in zip(table[first], count[first].tolist(), strict=True)
        ]
        return np.array(found, dtype=np.int64)[inverse]

    def _number(self, names: Sequence[str], addends: list[tuple[int, int]]) -> int:
        values = self._evaluator.values
        constant: Number = 0
        coefficients: dict[str, Number] = {}
        for name, times in addends:
            value: Number = values[times]  # type: ignore[assignment]
            if name == _CONSTANT:
                constant = add(constant, value) if constant != 0 else value
            else:
                known = coefficients.get(names[name])
                coefficients[names[name]] = value if known is None else add(known, value)
        return values.id(affine(constant, coefficients))


def _joined(parts: Sequence[Addends]) -> Addends:
    return Addends(*(np.concatenate(column) for column in zip(*parts, strict=True)))
