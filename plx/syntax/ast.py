"""The syntax tree. Spans are carried along but are no part of a node's identity."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from plx.source import Source, Span


def _span() -> Span:
    return field(compare=False, repr=False, kw_only=True)  # type: ignore[no-any-return]


# ---------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Name:
    """A bare word: a bound variable, a declared name or a symbol; the checker decides."""

    text: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Quoted:
    """``"New York"``: always a symbol, never a variable. ``text`` is unescaped."""

    text: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Number:
    """An exact decimal literal."""

    value: Fraction
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Truth:
    """``true`` or ``false``."""

    value: bool
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Apply:
    """``f(a, b)``: a declared name or a built-in function applied to arguments."""

    name: Name
    arguments: tuple[Expr, ...]
    span: Span = _span()


UnaryOp = Literal["not", "-", "+"]
BinaryOp = Literal["<=>", "=>", "or", "xor", "and", "+", "-", "*", "/", "%", "^", ".."]
CompareOp = Literal["=", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Unary:
    """``not F``, ``-E`` or ``+E``."""

    op: UnaryOp
    operand: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Binary:
    """``left op right``; ``or`` is also set union where a set is expected (``{fail} | Course(a)``)."""

    op: BinaryOp
    left: Expr
    right: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison, possibly chained as in mathematics: ``0 <= x < n``.

    ``len(operands) == len(ops) + 1 >= 2``.
    """

    operands: tuple[Expr, ...]
    ops: tuple[CompareOp, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Member:
    """``item in set`` or ``item not in set``."""

    item: Expr
    set: Expr
    negated: bool
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Tuple:
    """``(a, b)``, two items or more."""

    items: tuple[Expr, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of braces: ``value``, ``key: value`` or ``else: value`` (``otherwise``)."""

    value: Expr
    key: Expr | None = None
    otherwise: bool = False
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Braces:
    """``{...}``: a set, a table or a list of facts; the declaration it stands in decides."""

    entries: tuple[Entry, ...]
    span: Span = _span()


AggregateKind = Literal["exists", "forall", "count", "sum"]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """``exists(F for …)``, ``forall(F for …)``, ``count(F for …)``, ``sum(E for …)``."""

    kind: AggregateKind
    body: Expr
    scope: Scope
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Constraint:
    """``alldifferent(E for …)``, ``exactly(k, F for …)``: a word that is not reserved, with a scope.

    The last argument stands under the scope, those before it outside.
    """

    name: Name
    arguments: tuple[Expr, ...]
    scope: Scope
    span: Span = _span()


Expr = (
    Name
    | Quoted
    | Number
    | Truth
    | Apply
    | Unary
    | Binary
    | Compare
    | Member
    | Tuple
    | Braces
    | Aggregate
    | Constraint
)


# --------------------------------------------------------------------- scopes

ANYTHING = "_"
"""In a tuple that is bound: what does not matter here."""


@dataclass(frozen=True, slots=True)
class Binding:
    """``x, y in Person``: each name ranges over the set."""

    names: tuple[Name, ...]
    set: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class TupleBinding:
    """``(u, v) in friends``, two items or more: new names, and what is known already, a condition."""

    items: tuple[Expr, ...]
    set: Expr
    span: Span = _span()

    @property
    def names(self) -> tuple[Name, ...]:
        """The items that are bare words, apart from ``_``."""
        return tuple(item for item in self.items if isinstance(item, Name) and item.text != ANYTHING)


@dataclass(frozen=True, slots=True)
class Scope:
    """``for bindings if guard``."""

    bindings: tuple[Binding | TupleBinding, ...]
    guard: Expr | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Slot:
    """A place of a signature: a set, with a name (``s: Student``) or without one."""

    set: Expr
    name: Name | None = None
    span: Span = _span()


# ----------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class DatabaseRows:
    """``table "people"`` or ``sql "select name from people"``: what is read of a database."""

    kind: Literal["table", "sql"]
    text: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class File:
    """``from "sim.csv" columns (a, b, score) else 0``; ``path`` is relative to the program.

    ``columns``: the columns that are read, in the order of the slots; none for all. ``otherwise``: the
    value of what the file does not list. ``rows``: those of a database.
    """

    path: str
    columns: tuple[Name | Quoted, ...] = ()
    otherwise: Expr | None = None
    rows: DatabaseRows | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class TypeDecl:
    """``type Name(slots) = set``; a value of None comes from the caller."""

    name: Name
    slots: tuple[Slot, ...]
    value: Expr | File | None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class ParamDecl:
    """``param name(slots) = value``; a value of None comes from the caller."""

    name: Name
    slots: tuple[Slot, ...]
    value: Expr | File | None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class RelationDecl:
    """``relation name(slots) = {facts}``; a value of None comes from the caller."""

    name: Name
    slots: tuple[Slot, ...]
    value: Expr | File | None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Causes:
    """``noisy_or(leak, p: F, …)``: the keys of the entries are chances, their values formulas.

    A scope belongs to the last cause alone.
    """

    name: Name
    leak: Expr
    causes: tuple[Entry, ...]
    scope: Scope | None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Case:
    """A conditional distribution, and where it is meant: ``chances if condition else``; the last of
    several has no condition."""

    chances: Expr | Causes
    condition: Expr | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class RandomDecl:
    """``random f(slots): domain ~ cases if guard``; a domain of None means Boolean."""

    name: Name
    slots: tuple[Slot, ...]
    domain: Expr | None
    guard: Expr | None
    cases: tuple[Case, ...] = ()
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class DefineDecl:
    """``define name(slots) = body``."""

    name: Name
    slots: tuple[Slot, ...]
    body: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class LearnDecl:
    """``learn name(slots) = start ~ prior``; numbers that data decide."""

    name: Name
    slots: tuple[Slot, ...]
    value: Expr | File | None
    prior: Expr | None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Weight:
    """``weight E: F for … if …``."""

    weight: Expr
    formula: Expr
    scope: Scope | None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Factor:
    """``factor E for … if …``."""

    value: Expr
    scope: Scope | None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Require:
    """``require F for … if …``."""

    formula: Expr
    scope: Scope | None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Observe:
    """``observe F for … if …``."""

    formula: Expr
    scope: Scope | None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class ObserveFrom:
    """``observe smokes from "seen.csv" else false``."""

    name: Name
    file: File
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class MapTarget:
    """``query map`` or ``query map 5``: the ``best`` most probable worlds; ``map f(x)``: a part of them."""

    best: int = 1
    part: Expr | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class LogZTarget:
    """``query logz``: the log of the sum over worlds."""

    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Query:
    """``query target as label for … given …``."""

    target: Expr | MapTarget | LogZTarget
    label: Name | None
    scope: Scope | None
    given: tuple[Expr, ...]
    span: Span = _span()


Statement = (
    TypeDecl
    | ParamDecl
    | RelationDecl
    | RandomDecl
    | DefineDecl
    | LearnDecl
    | Weight
    | Factor
    | Require
    | Observe
    | ObserveFrom
    | Query
)


@dataclass(frozen=True, slots=True)
class Ignore:
    """``# plx: ignore CODE``: hides the warnings of a rule on one line of the program."""

    code: str
    line: int
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Module:
    """A parsed program; ``unread`` is the text that is no statement, ``ignores`` hide warnings."""

    statements: tuple[Statement, ...]
    source: Source = field(compare=False, repr=False)
    unread: tuple[Span, ...] = field(default=(), compare=False, repr=False)
    ignores: tuple[Ignore, ...] = field(default=(), compare=False, repr=False)
