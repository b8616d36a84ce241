"""What a binding goes over where that is the same for all instances: rows, and indexes of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from plx.check.program import Expr, Program, RelationBinding, SetBinding, SetExpr, Variable
from plx.graph.rows import BoolArray, unique_keys
from plx.ground.env import ROOT, Env
from plx.ground.index import TupleIndex
from plx.ground.limits import PORTION
from plx.ground.sets import Sets
from plx.ground.terms import Terms
from plx.values import IntArray


class Fixed(Protocol):
    """What joins need of the evaluator of fixed expressions."""

    program: Program
    terms: Terms

    def value(self, expr: Expr, env: Env) -> IntArray:
        """The value ids of a fixed expression at every instance."""
        ...

    def truth(self, expr: Expr, env: Env) -> BoolArray:
        """The truth of a fixed formula at every instance."""
        ...

    def sets(self, expr: SetExpr, env: Env) -> Sets:
        """The set of every instance."""
        ...

    def facts(self, relation: str, columns: tuple[int, ...]) -> TupleIndex:
        """An index of the facts of a relation by some of their columns."""
        ...


class Pool:
    """The rows of a binding, in order, less those that guards over its variables alone leave out.

    Raises PlxError where such a guard has no value at some row.
    """

    def __init__(self, fixed: Fixed, binding: SetBinding | RelationBinding, guards: Sequence[Expr]) -> None:
        self._fixed = fixed
        self._relation = binding.relation if isinstance(binding, RelationBinding) else None
        every = every_row(fixed, binding)
        self.rows = _kept(fixed, every, guards)
        if self.rows.n < every.n:
            self._relation = None
        self._place = {uid: place for place, uid in enumerate(every.columns)}
        self._indexes: dict[tuple[int, ...], TupleIndex] = {}
        self._ordered: dict[tuple[int, ...], IntArray] = {}
        self._distinct: dict[int, int] = {}

    def index(self, keys: Sequence[Expr]) -> TupleIndex:
        """An index of the rows by the values of expressions over them. Raises PlxError as these do."""
        name = tuple(id(key) for key in keys)
        if name not in self._indexes:
            self._indexes[name] = self._index(keys)
        return self._indexes[name]

    def ordered(self, uid: int, keys: Sequence[Expr]) -> IntArray:
        """A column of the rows, in the order of an index."""
        column = self.rows.columns[uid]
        index = self.index(keys)
        if index.in_order:
            return column
        name = (uid, *(id(key) for key in keys))
        if name not in self._ordered:
            self._ordered[name] = column[index.order]
        return self._ordered[name]

    def distinct(self, key: Expr) -> int:
        """How many values an expression has over the rows, at least 1."""
        if id(key) not in self._distinct:
            found, _ = unique_keys(self._values(key))
            self._distinct[id(key)] = max(len(found), 1)
        return self._distinct[id(key)]

    def _index(self, keys: Sequence[Expr]) -> TupleIndex:
        """The index of whole relations by their columns is shared by all that ask for it."""
        places = [self._place[key.uid] for key in keys if isinstance(key, Variable)]
        if self._relation is not None and len(places) == len(keys):
            return self._fixed.facts(self._relation, tuple(places))
        return TupleIndex(np.stack([self._values(key) for key in keys], axis=1))

    def _values(self, key: Expr) -> IntArray:
        """The values of an expression over the rows, a portion at a time."""
        found = [self._fixed.value(key, part) for part in _portions(self.rows)]
        return found[0] if len(found) == 1 else np.concatenate(found)


def _portions(rows: Env) -> Iterator[Env]:
    """Rows some at a time, with ids as wide as arithmetic on them needs."""
    for low in range(0, max(rows.n, 1), PORTION):
        part = slice(low, min(low + PORTION, rows.n))
        columns = {uid: column[part].astype(np.int64) for uid, column in rows.columns.items()}
        yield Env(part.stop - low, columns, rows.names)


def _kept(fixed: Fixed, rows: Env, guards: Sequence[Expr]) -> Env:
    """The rows at which all guards hold, looked at a portion at a time."""
    if not guards:
        return rows
    kept, at = np.zeros(rows.n, dtype=bool), 0
    for part in _portions(rows):
        left = part.bind(_ROW, "", np.arange(at, at + part.n)).filtered(fixed.truth, guards)
        kept[left.columns[_ROW]] = True
        at += part.n
    return rows if kept.all() else rows.take(kept)


_ROW = -4
"""The uid of a column that is no variable: which row it is."""


def every_row(fixed: Fixed, binding: SetBinding | RelationBinding) -> Env:
    """The members of a set that is the same everywhere, or the facts of a relation in narrow columns."""
    if isinstance(binding, SetBinding):
        members = fixed.sets(binding.set, ROOT).members
        return Env(len(members), {}, {}).bind(binding.variable.uid, binding.variable.name, members)
    facts = fixed.program.relations[binding.relation].facts
    rows = Env(len(facts), {}, {})
    for variable, column in zip(binding.variables, facts.T, strict=True):
        rows = rows.bind(variable.uid, variable.name, column)
    return rows
