"""The texts and labels of the instances of a query."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property, partial

import numpy as np

from plx.check.program import Query
from plx.graph.queries import Names
from plx.ground.env import Env
from plx.ground.terms import variables
from plx.sequences import Lazy
from plx.syntax import ast
from plx.syntax.printer import print_expr, print_value
from plx.values import IntArray, Values, distinct

_ATOMIC = re.compile(r"[\w.]+'*|\".*\"", re.DOTALL)


class QueryNames:
    """Prints every instance of a query; the expression is printed once where that is enough."""

    def __init__(self, values: Values, query: Query, env: Env) -> None:
        self._query = query
        self._n = env.n
        named = {uid: column for uid, column in env.columns.items() if env.names[uid]}
        self._values = values
        self._texts = Lazy(partial(_texts, values), len(values))
        self._columns = {env.names[uid]: column for uid, column in named.items()}
        bound = [v.name for binding in query.scope.bindings for v in variables(binding) if v.name]
        self._bound = list(dict.fromkeys(bound))

    @cached_property
    def texts(self) -> Names:
        """Each instance as the program would write it without ``for``."""
        if all(_is_atomic(self._values, column) for column in self._columns.values()):
            return self._marked()
        columns = [Names(("", ""), (codes,), (self._texts,), self._n) for codes in self._columns.values()]
        rows = zip(*columns, strict=True)
        printed = tuple(self._print(dict(zip(self._columns, row, strict=True))) for row in rows)
        return Names(("", ""), (np.arange(self._n),), (printed,), self._n)

    def labels(self) -> Names:
        """The name given by ``as``, with the values of the bound variables; the texts without one."""
        label = self._query.label
        if label is None:
            return self.texts
        if not self._bound:
            return Names((label,), (), (), self._n)
        between = [", "] * (len(self._bound) - 1)
        return self._names([f"{label}(", *between, ")"], [self._columns[name] for name in self._bound])

    def _marked(self) -> Names:
        """The expression printed once with marks in place of the variables."""
        mark = "ǂ"
        while mark in self._query.span.text:
            mark += "ǂ"
        marks = {name: f"{mark}{i}{mark}" for i, name in enumerate(self._columns)}
        pieces = re.split(f"{mark}(\\d+){mark}", self._print(marks))
        columns = list(self._columns.values())
        return self._names(pieces[::2], [columns[int(number)] for number in pieces[1::2]])

    def _names(self, pieces: list[str], columns: list[IntArray]) -> Names:
        return Names(tuple(pieces), tuple(columns), (self._texts,) * len(columns), self._n)

    def _print(self, names: dict[str, str]) -> str:
        text = self._target(names)
        given = ", ".join(print_expr(fact, names) for fact in self._query.syntax.given)
        return f"{text} given {given}" if given else text

    def _target(self, names: dict[str, str]) -> str:
        match self._query.syntax.target:
            case ast.MapTarget(best=best):
                return "map" if best == 1 else f"map {best}"
            case ast.LogZTarget():
                return "logz"
            case target:
                return print_expr(target, names)


def _is_atomic(values: Values, column: IntArray) -> bool:
    """Whether all values print the same wherever they stand in an expression."""
    found = values.take(distinct(column).tolist())
    if {*map(type, found)} == {int}:
        return bool((values.floats(column) >= 0).all())
    return all(_ATOMIC.fullmatch(print_value(value)) for value in found)


def _texts(values: Values, ids: Iterable[int]) -> list[str]:
    return [print_value(value) for value in values.take(ids)]
