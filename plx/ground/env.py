"""Bindings of variables: one column of value ids per variable, one row per instance."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from plx.check.program import Expr
from plx.graph.rows import AnyInt, BoolArray
from plx.values import IntArray


@dataclass(frozen=True)
class Env:
    """n instances; ``columns[uid]`` [n] holds the value ids of a variable."""

    n: int
    columns: dict[int, IntArray]
    names: dict[int, str]

    def take(self, rows: AnyInt | BoolArray) -> Env:
        """The env of some rows: their numbers, or a mask."""
        n = int(rows.sum()) if rows.dtype == np.bool_ else len(rows)
        return Env(n, {uid: column[rows] for uid, column in self.columns.items()}, self.names)

    def filtered(self, truth: Callable[[Expr, Env], BoolArray], guards: Iterable[Expr]) -> Env:
        """The instances at which all guards hold."""
        env = self
        for guard in guards:
            holds = truth(guard, env)
            if not holds.all():
                env = env.take(holds)
        return env

    def bind(self, uid: int, name: str, column: IntArray) -> Env:
        """This env with one more variable."""
        return Env(self.n, {**self.columns, uid: column}, {**self.names, uid: name})

    def only(self, uids: list[int]) -> Env:
        """This env with some of its variables."""
        return Env(self.n, {uid: self.columns[uid] for uid in uids}, {uid: self.names[uid] for uid in uids})

    def stack(self, uids: list[int]) -> IntArray:
        """Some columns side by side, [n, k]."""
        if not uids:
            return np.zeros((self.n, 0), dtype=np.int64)
        return np.stack([self.columns[uid] for uid in uids], axis=1)


ROOT = Env(1, {}, {})
"""One instance that binds nothing."""
