"""Names, symbols and sets as a program that is written calls them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final

from plx.source import Source, Span
from plx.syntax import ast
from plx.syntax.printer import print_expr, quoted
from plx.syntax.words import is_name
from plx.values import Value

_LONGEST_NAME: Final = 24
"""A type is called by its values where their names together are no longer."""

_NOWHERE: Final = Span(Source("", ""), 0, 0)


class PlxNames:
    """The names of one program; each stands for one thing."""

    def __init__(self, avoided: Iterable[str] = ()) -> None:
        self._taken: set[str] = {"Boolean", "uniform", "softmax", "noisy_or"}
        self._avoided = set(avoided)
        self.types: dict[str, str] = {}
        """Sets as they are written → the names of their types. (As tuples, (0, 1) equals (false, true).)"""

    def new(self, wanted: str, avoid: bool = False) -> str:
        """A name that nothing else has, as close to the wanted one as can be; one that is to be avoided too
        if told."""
        base = re.sub(r"\W+", "_", wanted).rstrip("_") or "v"
        base = base if is_name(base) else f"v_{base}"
        name, number = base, 2
        while name in self._taken or (avoid and name in self._avoided):
            name, number = f"{base}_{number}", number + 1
        self._taken.add(name)
        return name

    def symbol(self, text: str) -> str:
        """A symbol: in quotes where it is no name, or would be read as something else."""
        plain = is_name(text) and text not in self._taken and text.lower() not in ("true", "false")
        return text if plain else quoted(text)

    def value(self, value: Value) -> str:
        """A value where an expression stands."""
        if isinstance(value, bool):
            return "true" if value else "false"
        return self.symbol(value) if isinstance(value, str) else str(value)

    def declare(self, values: tuple[Value, ...], wanted: str) -> None:
        """Give a set of values a type, unless it has one or needs none."""
        members = self.braces(values)
        if members not in self.types and _plain_set(values) is None:
            self.types[members] = self.new(type_name([str(value) for value in values]) or wanted, avoid=True)

    def set(self, values: tuple[Value, ...]) -> str:
        """A set where a type stands."""
        members = self.braces(values)
        return _plain_set(values) or self.types.get(members, members)

    def braces(self, values: Sequence[Value]) -> str:
        """A set, member by member."""
        return f"{{{', '.join(map(self.value, values))}}}"


def type_name(states: Sequence[str]) -> str | None:
    """``YesNo``, if that is short and a name."""
    name = "".join(state[:1].upper() + state[1:] for state in states)
    return name if len(name) <= _LONGEST_NAME and is_name(name) else None


def number(value: Fraction) -> str:
    """An exact number: a decimal where that is as exact, else a fraction."""
    return print_expr(ast.Number(value, span=_NOWHERE))


def key(parts: Sequence[str]) -> str:
    """The key of an entry: ``a`` or ``(a, b)``."""
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _plain_set(values: tuple[Value, ...]) -> str | None:
    if values == (False, True) and isinstance(values[0], bool):
        return "Boolean"
    whole = all(isinstance(value, int) and not isinstance(value, bool) for value in values)
    if whole and len(values) > 1 and list(values) == list(range(values[0], values[0] + len(values))):  # type: ignore[operator,arg-type]
        return f"{values[0]}..{values[-1]}"
    return None
