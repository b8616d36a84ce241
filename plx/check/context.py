"""What all parts of the checker share: declarations, values, symbols and the report."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from plx import weights
from plx.check.program import Const, Expr, Operation, Variable
from plx.check.typed import (
    Entry,
    ParamEntry,
    Ranged,
    RelationEntry,
    Typed,
    TypeEntry,
    ValueKind,
    broken,
    kind_of_value,
)
from plx.data.table import Data
from plx.errors import Diagnostic, Note, nearest
from plx.source import Span
from plx.syntax import ast
from plx.syntax.printer import print_value
from plx.values import IntArray, Value, Values, distinct

Declaration = (
    ast.TypeDecl | ast.ParamDecl | ast.RelationDecl | ast.RandomDecl | ast.DefineDecl | ast.LearnDecl
)

Env = Mapping[str, Typed]
"""Bound variables by name."""

MAX_DEPTH = 200
"""The most levels of an expression after expansion."""

MAX_SIZE = 1_000_000
"""The most nodes of an expression after expansion."""

MAX_EXPANSION = 20_000
"""The most nodes of one expanded abbreviation."""

_CANDIDATES = 20_000
"""Among more names than this none is suggested."""


@dataclass(frozen=True)
class Wanted:
    """What a place expects, to make the most of a message: ``possible`` values, which are each a ``what``,
    for a variable over ``set``."""

    possible: IntArray | None
    what: str
    set: str | None = None


Resolver = Callable[["Context", Env, ast.Expr, "Wanted | None"], Typed]


@dataclass
class Context:
    """The state of one check. Only the report, the entries and the symbols grow.

    ``unknown_members``: the members of some type could not be read, so any name may be one of them.
    ``has_given``: some query of the program has a condition. ``learns``: some numbers are learned;
    ``may_learn``: they may stand in what is being resolved.
    """

    values: Values
    data: Data
    declarations: Mapping[str, Declaration]
    resolvers: Mapping[type, Resolver]
    entries: dict[str, Entry] = field(default_factory=dict)
    introduced: set[int] = field(default_factory=set)
    unknown_members: bool = False
    has_given: bool = False
    learns: bool = False
    may_learn: bool = False
    diagnostics: list[Diagnostic] = field(default_factory=list)
    uids: int = 0
    tabulated: dict[str, ParamEntry] = field(default_factory=dict)
    instances: int = 0  # of fixed aggregates, in the statement that is being checked
    fact_sets: dict[str, set[tuple[int, ...]]] = field(default_factory=dict)
    fact_rows: dict[tuple[str, tuple[int, ...]], dict[tuple[int, ...], list[list[int]]]] = field(
        default_factory=dict
    )
    tables: dict[str, dict[tuple[int, ...], int]] = field(default_factory=dict)
    ranks: dict[str, dict[int, int]] = field(default_factory=dict)

    @contextmanager
    def learning(self, allowed: bool) -> Iterator[None]:
        """Whether learned numbers may stand in what is resolved meanwhile."""
        before, self.may_learn = self.may_learn, allowed
        try:
            yield
        finally:
            self.may_learn = before

    # ------------------------------------------------------------------- report

    def error(
        self, span: Span | None, message: str, hint: str | None = None, notes: Iterable[Note | None] = ()
    ) -> None:
        """Report a mistake."""
        kept = tuple(note for note in notes if note)
        self.diagnostics.append(Diagnostic(message, span, hint, kept))

    def fail(
        self, span: Span, message: str, hint: str | None = None, notes: Iterable[Note | None] = ()
    ) -> Typed:
        """Report a mistake and go on with a value that causes no further ones."""
        self.error(span, message, hint, notes)
        return broken(span)

    def warn(self, code: str, span: Span, message: str, hint: str | None = None) -> None:
        """Report what is allowed but probably not meant, by a rule of the catalogue."""
        self.diagnostics.append(Diagnostic(message, span, hint, severity="warning", code=code))

    # ------------------------------------------------------------------ resolve

    def resolve(self, env: Env, node: ast.Expr, wanted: Wanted | None = None) -> Typed:
        """The resolved form and type of an expression."""
        return self.resolvers[type(node)](self, env, node, wanted)

    def formula(self, env: Env, node: ast.Expr) -> Typed:
        """An expression that must be true or false."""
        return self.need(self.resolve(env, node), ValueKind.TRUTH)

    def number(self, env: Env, node: ast.Expr) -> Typed:
        """An expression that must be a number."""
        return self.need(self.resolve(env, node), ValueKind.NUMBER)

    def need(self, typed: Typed, kind: ValueKind) -> Typed:
        """The expression if it is of a kind, else a report."""
        if typed.broken or typed.kind in (kind, ValueKind.NONE):
            return typed
        message = f"{kind.words} is expected here, this is {typed.kind.words}"
        hint = None
        if kind == ValueKind.TRUTH:
            hint = _formula_instead(typed.expr)
        elif typed.kind == ValueKind.SYMBOL:
            hint = "a comparison counts as 0 or 1: put it in parentheses, e.g. `2 * (… = v)`"
        return self.fail(typed.expr.span, message, hint, [typed.note])

    def visible(self, env: Env, node: ast.Expr) -> Entry | None:
        """What a bare name was declared as, unless a bound variable hides it."""
        return self.entries.get(node.text) if isinstance(node, ast.Name) and node.text not in env else None

    # ------------------------------------------------------------------- values

    def const(self, value: Value, span: Span) -> Typed:
        """A fixed value."""
        return self.const_id(self.values.id(value), span)

    def const_id(self, index: int, span: Span) -> Typed:
        """A fixed value by its id."""
        ids = np.array([index], dtype=np.int64)
        return Typed(Const(index, span=span), kind_of_value(self.values[index]), ids)

    def text(self, index: int) -> str:
        """A value for a message, as the program would write it."""
        value = self.values[index]
        return print_value(value) if isinstance(value, bool | str) else weights.shown(value)

    def listing(self, ids: IntArray) -> str:
        """Some values in words, numbers in their order."""
        numbers = self.values.floats(ids)
        known = bool(len(ids)) and not np.isnan(numbers).any()
        return self.texts(ids[np.argsort(numbers, kind="stable")] if known else ids)

    def texts(self, ids: Iterable[int], limit: int = 6) -> str:
        """Some values in words."""
        listed = [int(i) for i in ids]
        shown = ", ".join(self.text(i) for i in listed[:limit])
        return shown + (f", … ({len(listed):,} in all)" if len(listed) > limit else "")

    def variable(self, name: str, span: Span) -> Variable:
        """A new bound variable."""
        self.uids += 1
        return Variable(self.uids, name, span=span)

    def ranging(self, name: ast.Name, ranged: Ranged) -> Typed:
        """A new variable over a set."""
        note = Note(f"`{name.text}` ranges over {ranged.words}", name.span)
        return Typed(
            self.variable(name.text, name.span),
            ranged.kind,
            ranged.possible,
            home=ranged.home,
            broken=ranged.broken,
            note=note,
        )

    # ------------------------------------------------------------------ symbols

    def symbol(self, text: str) -> int | None:
        """The id of a symbol that some type or domain has."""
        index = self.values.find(text)
        if index is None:
            return None
        known = index in self.introduced or any(contains(entry.possible, index) for entry in self.types())
        return index if known else None

    def types(self) -> list[TypeEntry]:
        """The types checked so far."""
        return [entry for entry in self.entries.values() if isinstance(entry, TypeEntry)]

    def param(self, name: str) -> ParamEntry | None:
        """The table of a param, unless mistakes were found in it."""
        entry = self.entries[name]
        return entry if isinstance(entry, ParamEntry) else self.tabulated.get(name)

    def relations(self) -> list[RelationEntry]:
        """The relations checked so far."""
        return [entry for entry in self.entries.values() if isinstance(entry, RelationEntry)]

    def suggest(self, name: str, first: IntArray | None, others: Iterable[str]) -> str | None:
        """The nearest of some values, else of some names, else of all symbols, which must be nearer."""
        best = nearest(name, self.symbol_texts(first)) if first is not None else None
        if best is None or best == name:
            best = nearest(name, [*others, *(self._all_symbols() if first is None else ())])
            close = best is not None and (first is None or _similar(name, best))
            best = best if close and best != name else None
        return f"did you mean `{print_value(best)}`?" if best else None

    def symbol_texts(self, ids: IntArray) -> list[str]:
        """The symbols among some values, unless they are too many."""
        if len(ids) > _CANDIDATES:
            return []
        found = (self.values[int(i)] for i in ids)
        return [value for value in found if isinstance(value, str)]

    def _all_symbols(self) -> list[str]:
        ids = [entry.possible for entry in self.types()]
        everything = np.concatenate([*ids, np.array(sorted(self.introduced), dtype=np.int64)])
        return self.symbol_texts(everything)


def _formula_instead(expr: Expr) -> str:
    """How a formula is written that was meant by this number or symbol."""
    operands = expr.arguments if isinstance(expr, Operation) else ()
    counted = [isinstance(operand, Operation) and operand.op == "indicator" for operand in operands]
    if counted and all(counted):
        return "`!` negates a formula, `&` and `|` join two"
    return "compare it with something, e.g. `… = v`"


def _similar(a: str, b: str) -> bool:
    return a.casefold() == b.casefold() or difflib.SequenceMatcher(None, a, b).ratio() > 0.72


def contains(sorted_ids: IntArray, index: int) -> bool:
    """Whether a sorted array holds an id."""
    place = int(np.searchsorted(sorted_ids, index))
    return place < len(sorted_ids) and int(sorted_ids[place]) == index


def disjoint(a: IntArray | None, b: IntArray | None) -> bool:
    """Whether two known, non-empty sorted arrays have nothing in common."""
    if a is None or b is None or not len(a) or not len(b):
        return False
    if a is b:
        return False
    short, long = (a, b) if len(a) <= len(b) else (b, a)
    places = np.minimum(np.searchsorted(long, short), len(long) - 1)
    return not bool((long[places] == short).any())


def subset(a: IntArray, b: IntArray) -> bool:
    """Whether all of one sorted array are in another."""
    if a is b:
        return True
    if not len(b):
        return not len(a)
    places = np.minimum(np.searchsorted(b, a), len(b) - 1)
    return bool((b[places] == a).all())


def union(parts: Iterable[IntArray | None]) -> IntArray | None:
    """The sorted union, None if some part is unknown."""
    known = []
    for part in parts:
        if part is None:
            return None
        known.append(part)
    if len(known) == 1:
        return known[0]
    return distinct(np.concatenate(known)) if known else np.zeros(0, dtype=np.int64)
