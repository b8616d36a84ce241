"""What .mln and .db files say, statement by statement, before any name is known. Weights are expressions
of plx."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from plx.source import Span
from plx.syntax import ast


def _span() -> Span:
    return field(compare=False, repr=False, kw_only=True)  # type: ignore[no-any-return]


WordKind = Literal["name", "variable", "text", "number", "ellipsis"]


@dataclass(frozen=True, slots=True)
class Word:
    """A name, ``?x``, a quoted text (without its quotes), a number or ``...``.

    ``plus`` says that a ``+`` stands before it, ``mark`` is the ``!`` or ``?`` after it.
    """

    text: str
    kind: WordKind
    plus: bool = False
    mark: str = ""
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Call:
    """``P(x, A)``: an atom, or a function of terms."""

    name: Word
    arguments: tuple[Term, ...]
    span: Span = _span()


Term = Word | Call


@dataclass(frozen=True, slots=True)
class Chain:
    """Operands with the operators between them, as they are written: ``and or => <=>``."""

    parts: tuple[Part, ...]
    operators: tuple[str, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Negated:
    """``!F``."""

    body: Part
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Compared:
    """``x = y`` and the other comparisons, by the operators of plx."""

    left: Term
    operator: ast.CompareOp
    right: Term
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Group:
    """A chain in brackets."""

    body: Chain
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Quantified:
    """``EXIST x, y F``; the chain goes on as far as the text does."""

    kind: Literal["exists", "forall"]
    names: tuple[Word, ...]
    body: Chain
    span: Span = _span()


Part = Word | Call | Negated | Compared | Group | Quantified


@dataclass(frozen=True, slots=True)
class Rule:
    """A formula with a weight, a period, or neither; ``source`` names the argument that is the weight
    (rockIt)."""

    formula: Chain
    weight: ast.Expr | None = None
    utility: ast.Expr | None = None
    source: Word | None = None
    hard: bool = False
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Declaration:
    """``P(t, s!)``, ``*P(t)`` (``closed``) or ``t f(s)`` (a function that ``returns`` t)."""

    name: Word
    slots: tuple[Word, ...]
    closed: bool = False
    returns: Word | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Domain:
    """``person = {Anna, Bob}``; a run ``{1, ..., 20}`` is written out."""

    name: Word
    members: tuple[Word, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Include:
    """``#include "other.mln"``."""

    path: Word
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Fact:
    """``P(A)`` or ``!P(A)`` of a database."""

    atom: Call
    holds: bool
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Value:
    """``B = f(A)``: the value of a function."""

    call: Call
    value: Word
    span: Span = _span()


Statement = Rule | Declaration | Domain | Include | Fact | Value


def words(part: Part | Chain) -> Iterator[Word]:
    """Every word of a formula."""
    match part:
        case Word():
            yield part
        case Call(name, arguments):
            yield name
            for argument in arguments:
                yield from words(argument)
        case Chain(parts, _):
            for item in parts:
                yield from words(item)
        case Compared(left, _, right):
            yield from words(left)
            yield from words(right)
        case Quantified(_, names, body):
            yield from names
            yield from words(body)
        case Negated(body):
            yield from words(body)
        case Group(body):
            yield from words(body)
