"""The texts and labels of the instances of a query."""

from __future__ import annotations

import re

import numpy as np

from plx.check.program import Query
from plx.graph.rows import unique_keys
from plx.ground.env import Env
from plx.ground.terms import variables
from plx.syntax import ast
from plx.syntax.printer import print_expr, print_value
from plx.values import IntArray, Values

_ATOMIC = re.compile(r"[\w.]+'*|\".*\"", re.DOTALL)
"""Values that print the same wherever they stand in an expression."""


class QueryNames:
    """Prints every instance of a query; the expression is printed once where that is enough."""

    def __init__(self, values: Values, query: Query, env: Env) -> None:
        self._query = query
        self._n = env.n
        named = {uid: column for uid, column in env.columns.items() if env.names[uid]}
        self._columns = {env.names[uid]: _texts(values, column) for uid, column in named.items()}
        bound = [v.name for binding in query.scope.bindings for v in variables(binding) if v.name]
        self._bound = list(dict.fromkeys(bound))

    def texts(self) -> list[str]:
        """Each instance as the program would write it without ``for``."""
        if all(_ATOMIC.fullmatch(text) for column in self._columns.values() for text in set(column)):
            return self._filled()
        rows = zip(*self._columns.values(), strict=True)
        return [self._print(dict(zip(self._columns, row, strict=True))) for row in rows]

    def labels(self) -> list[str | None]:
        """The name given by ``as``, with the values of the bound variables; None without one."""
        label = self._query.label
        if label is None or not self._bound:
            return [label] * self._n
        rows = zip(*(self._columns[name] for name in self._bound), strict=True)
        return [f"{label}({', '.join(row)})" for row in rows]

    def _filled(self) -> list[str]:
        """The expression printed once with marks in place of the variables, then filled in."""
        mark = "ǂ"
        while mark in self._query.span.text:
            mark += "ǂ"
        marks = {name: f"{mark}{i}{mark}" for i, name in enumerate(self._columns)}
        pieces = re.split(f"{mark}(\\d+){mark}", self._print(marks))
        columns = list(self._columns.values())
        places = [columns[int(number)] for number in pieces[1::2]]
        if not places:
            return pieces * self._n
        form = "%s".join(piece.replace("%", "%%") for piece in pieces[::2])
        return [form % row for row in zip(*places, strict=True)]

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


def _texts(values: Values, column: IntArray) -> list[str]:
    first, inverse = unique_keys(column)
    texts = np.array([print_value(values[int(i)]) for i in column[first]], dtype=object)
    printed: list[str] = texts[inverse].tolist()
    return printed
