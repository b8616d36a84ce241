"""What the checker knows of an expression or a set besides its resolved form."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

import numpy as np

from plx.check.program import (
    Const,
    Expr,
    LearnInfo,
    ParamInfo,
    RandomInfo,
    RelationInfo,
    SetConst,
    SetExpr,
    TypeInfo,
    Variable,
)
from plx.errors import Note
from plx.source import Span
from plx.values import TRUE, ZERO, IntArray, Value, Values


class ValueKind(IntFlag):
    """The kinds of value an expression may take; none, for a variable over an empty set."""

    NONE = 0
    TRUTH = 1
    NUMBER = 2
    SYMBOL = 4
    ANY = 7

    @property
    def words(self) -> str:
        """The kind in words, with an article."""
        return _WORDS.get(self, "a value")


_WORDS = {
    ValueKind.TRUTH: "a formula (true or false)",
    ValueKind.NUMBER: "a number",
    ValueKind.SYMBOL: "a symbol",
    ValueKind.NUMBER | ValueKind.SYMBOL: "a symbol or a number",
}


def kind_of_value(value: Value) -> ValueKind:
    """The kind of one value."""
    if isinstance(value, str):
        return ValueKind.SYMBOL
    return ValueKind.TRUTH if isinstance(value, bool) else ValueKind.NUMBER


def kind_of(values: Values, ids: IntArray) -> ValueKind:
    """The kinds that occur among some values."""
    truth = ids <= TRUE
    number = ~np.isnan(values.floats(ids))
    kind = ValueKind.NONE
    if truth.any():
        kind |= ValueKind.TRUTH
    if number.any():
        kind |= ValueKind.NUMBER
    if not (truth | number).all():
        kind |= ValueKind.SYMBOL
    return kind


@dataclass(frozen=True, slots=True)
class Typed:
    """A resolved expression and its type.

    ``possible``: sorted ids of all values it may take, None if unknown. ``strict``: ``possible`` is what
    the program declares, not what the data happen to hold. ``fixed``: no random term inside. ``home``: the
    type whose members it ranges over. ``broken``: a mistake has been reported, say no more. ``note``:
    where its type comes from. ``depth`` and ``size`` measure the expression as a tree.
    """

    expr: Expr
    kind: ValueKind
    possible: IntArray | None = None
    strict: bool = True
    fixed: bool = True
    home: str | None = None
    broken: bool = False
    note: Note | None = None
    depth: int = 1
    size: int = 1


def broken(span: Span) -> Typed:
    """Stands for an expression in which a mistake has been reported."""
    return Typed(Const(ZERO, span=span), ValueKind.ANY, broken=True)


@dataclass(frozen=True, slots=True)
class Ranged:
    """A resolved set and the values it may hold: ``possible`` are sorted ids, None if unknown;
    ``words`` is the set as the program writes it."""

    set: SetExpr
    kind: ValueKind
    possible: IntArray | None
    words: str
    home: str | None = None
    broken: bool = False


def broken_set(span: Span) -> Ranged:
    """Stands for a set in which a mistake has been reported."""
    return Ranged(SetConst((), span=span), ValueKind.ANY, None, span.text, broken=True)


@dataclass(frozen=True, slots=True)
class CheckedSlot:
    """A checked slot; ``name`` is None where the program gives none."""

    variable: Variable
    ranged: Ranged
    name: str | None
    span: Span


# --------------------------------------------------------------- what names stand for


@dataclass(frozen=True)
class TypeEntry:
    """A checked type; ``possible`` are its members sorted by id."""

    info: TypeInfo
    slots: tuple[CheckedSlot, ...]
    kind: ValueKind
    possible: IntArray


@dataclass(frozen=True)
class ParamEntry:
    """A checked table of fixed values. ``note``: what keeps them from being numbers, where some are.
    ``learned``: they are names of numbers that data decide."""

    info: ParamInfo
    slots: tuple[CheckedSlot, ...]
    kind: ValueKind
    possible: IntArray
    note: Note | None = None
    learned: LearnInfo | None = None


@dataclass(frozen=True)
class RelationEntry:
    """A checked list of facts."""

    info: RelationInfo
    slots: tuple[CheckedSlot, ...]


@dataclass(frozen=True)
class RandomEntry:
    """A checked random function; a domain of None means Boolean."""

    info: RandomInfo
    slots: tuple[CheckedSlot, ...]
    domain: Ranged | None


@dataclass(frozen=True)
class Abbreviation:
    """A define, or a param by expression: its body is expanded in place."""

    name: str
    slots: tuple[CheckedSlot, ...]
    body: Typed
    span: Span


@dataclass(frozen=True)
class BrokenEntry:
    """A declaration in which a mistake has been reported."""

    slots: tuple[CheckedSlot, ...] | None = None


Entry = TypeEntry | ParamEntry | RelationEntry | RandomEntry | Abbreviation | BrokenEntry
