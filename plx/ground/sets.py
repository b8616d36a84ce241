"""Sets that may differ from instance to instance, each distinct set stored once."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from plx.check.program import Expr, Program, SetConst, SetExpr, SetItems, SetRange, SetType, SetUnion
from plx.errors import Diagnostic, PlxError
from plx.graph.ragged import starts
from plx.graph.rows import unique_rows
from plx.ground.env import Env
from plx.ground.limits import MOST_MEMBERS
from plx.values import IntArray


@dataclass(frozen=True)
class Sets:
    """Instance i has the set ``members[start[which[i]] : start[which[i] + 1]]`` (value ids in order)."""

    which: IntArray  # [n]
    start: IntArray  # [S + 1]
    members: IntArray

    @property
    def counts(self) -> IntArray:
        """The size of the set of each instance."""
        return np.diff(self.start)[self.which]

    def distinct(self) -> list[IntArray]:
        """The sets, by number."""
        return np.split(self.members, self.start[1:-1])


Evaluate = Callable[[Expr, Env], IntArray]


def evaluate_set(program: Program, expr: SetExpr, env: Env, evaluate: Evaluate) -> Sets:
    """The set of every instance; ``evaluate`` gives the values of the expressions inside."""
    match expr:
        case SetConst():
            return _one(env.n, np.array(expr.ids, dtype=np.int64))
        case SetType():
            return _type(program, expr, env, evaluate)
        case SetItems():
            rows = np.stack([evaluate(item, env) for item in expr.items], axis=1)
            return _by_row(rows, expr, lambda row: list(dict.fromkeys(row)))
        case SetRange():
            rows = np.stack([evaluate(expr.low, env), evaluate(expr.high, env)], axis=1)
            return _by_row(rows, expr, lambda row: _run(program, expr, row))
        case SetUnion():
            parts = [evaluate_set(program, part, env, evaluate) for part in expr.parts]
            lists = [part.distinct() for part in parts]
            rows = np.stack([part.which for part in parts], axis=1)
            return _by_row(rows, expr, lambda row: _union(lists, row))


def _one(n: int, members: IntArray) -> Sets:
    return Sets(np.zeros(n, dtype=np.int64), np.array([0, len(members)]), members)


def _by_row(rows: IntArray, expr: SetExpr, members: Callable[[tuple[int, ...]], Collection[int]]) -> Sets:
    """One set per distinct row. Raises PlxError before they have too many members in all."""
    first, which = unique_rows(rows)
    found, total = [], 0
    for row in rows[first].tolist():
        chosen = members(tuple(row))
        total += len(chosen)
        if total > MOST_MEMBERS:
            raise PlxError(_too_large(len(first), expr))
        found.append(np.fromiter(chosen, dtype=np.int64, count=len(chosen)))
    joined = np.concatenate([*found, np.empty(0, dtype=np.int64)])
    return Sets(which, starts(np.array([len(s) for s in found], dtype=np.int64)), joined)


def _type(program: Program, expr: SetType, env: Env, evaluate: Evaluate) -> Sets:
    info = program.types[expr.name]
    if not expr.arguments or info.family is None:
        return _one(env.n, info.members)
    family = info.family
    rows = np.stack([evaluate(argument, env) for argument in expr.arguments], axis=1)
    return _by_row(rows, expr, lambda row: family.get(row, ()))


def _union(lists: list[list[IntArray]], row: tuple[int, ...]) -> Collection[int]:
    return dict.fromkeys(int(i) for part, which in zip(lists, row, strict=True) for i in part[which])


def _run(program: Program, expr: SetRange, row: tuple[int, ...]) -> Collection[int]:
    low, high = (program.values[i] for i in row)
    if type(low) is not int or type(high) is not int:
        raise PlxError(Diagnostic("the ends of a range must be whole numbers", expr.span))
    if high - low >= MOST_MEMBERS:
        raise PlxError(_too_large(1, expr))
    return program.values.ids(range(low, high + 1))


def _too_large(count: int, expr: SetExpr) -> Diagnostic:
    sets = "this set has" if count == 1 else f"the {count:,} sets have"
    return Diagnostic(
        f"{sets} more than {MOST_MEMBERS:,} members in all", expr.span, "bind over fewer, or smaller sets"
    )
