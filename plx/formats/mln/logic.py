"""Formulas whose names are known: what variables, constants, predicates and functions a rule is about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from plx.errors import Diagnostic
from plx.source import Span
from plx.syntax import ast


def _span() -> Span:
    return field(compare=False, repr=False, kw_only=True)  # type: ignore[no-any-return]


@dataclass(eq=False, slots=True)
class Variable:
    """A variable of one rule; its type is found from the places where it stands."""

    name: str
    span: Span
    plus: bool = False
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant as it is written, without quotes; ``quoted`` if it had some."""

    text: str
    quoted: bool = False
    type: str | None = field(default=None, compare=False)
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Value:
    """A function of terms."""

    function: str
    arguments: tuple[Term, ...]
    span: Span = _span()


Term = Variable | Constant | Value


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate of terms."""

    predicate: str
    arguments: tuple[Term, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two terms compared."""

    left: Term
    operator: ast.CompareOp
    right: Term
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Not:
    """A negation."""

    body: Formula
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Connected:
    """Formulas under one operator; ``=>`` has two."""

    operator: Literal["and", "or", "=>", "<=>"]
    parts: tuple[Formula, ...]
    span: Span = _span()


Kind = Literal["exists", "forall"]


@dataclass(frozen=True, slots=True)
class Bound:
    """A quantifier and its variables."""

    kind: Kind
    variables: tuple[Variable, ...]
    body: Formula
    span: Span = _span()


Formula = Atom | Comparison | Not | Connected | Bound


def atoms(formula: Formula) -> Iterator[Atom | Comparison]:
    """The atoms and comparisons of a formula, from left to right."""
    match formula:
        case Atom() | Comparison():
            yield formula
        case Not(body) | Bound(_, _, body):
            yield from atoms(body)
        case Connected(_, parts):
            for part in parts:
                yield from atoms(part)


@dataclass(frozen=True)
class Slot:
    """A place of a predicate: a type, and ``!`` or ``?`` for the argument that is a value."""

    type: str
    mark: str
    span: Span


@dataclass(frozen=True)
class Predicate:
    """``P(t, s!)``; ``value`` is the place of the argument with the ``!``. ``star`` says that it has a
    ``*``."""

    name: str
    slots: tuple[Slot, ...]
    star: bool
    span: Span

    @property
    def value(self) -> int | None:
        return next((i for i, slot in enumerate(self.slots) if slot.mark == "!"), None)

    @property
    def weighs(self) -> bool:
        """Whether its last argument is a number, by which rockIt weighs rules."""
        return bool(self.slots) and self.slots[-1].type in FLOATS


FLOATS = ("float_", "double_", "float")


@dataclass(frozen=True)
class Function:
    """``t f(s)``."""

    name: str
    slots: tuple[Slot, ...]
    returns: str
    span: Span


@dataclass(frozen=True)
class Rule:
    """A formula over ``variables``, those that no quantifier binds, in the order in which they occur.

    ``weight`` is None for a ``hard`` rule, and for one whose weight is to be learned. ``source`` is the
    variable that stands for the weight (rockIt).
    """

    formula: Formula
    variables: tuple[Variable, ...]
    weight: ast.Expr | None
    source: Variable | None
    span: Span
    hard: bool = False


@dataclass(frozen=True)
class Fact:
    """An atom of a database."""

    predicate: str
    arguments: tuple[Constant, ...]
    holds: bool
    span: Span


@dataclass(frozen=True)
class FunctionValue:
    """What a function is for some arguments."""

    function: str
    arguments: tuple[Constant, ...]
    value: Constant
    span: Span


@dataclass
class Domain:
    """A type's constants in the order in which they were met; ``listed`` are those of declarations in
    the .mln."""

    name: str
    span: Span
    members: dict[str, Constant] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Question:
    """A formula to ask for, over all values of its free variables; or a whole ``predicate``."""

    predicate: str | None
    rule: Rule | None
    span: Span


@dataclass(frozen=True)
class Network:
    """A Markov logic network with its evidence, all names known and of the right type."""

    predicates: dict[str, Predicate]
    functions: dict[str, Function]
    domains: dict[str, Domain]
    rules: tuple[Rule, ...]
    facts: tuple[Fact, ...]
    values: tuple[FunctionValue, ...]
    questions: tuple[Question, ...]
    warnings: tuple[Diagnostic, ...]
