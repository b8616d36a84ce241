"""The checked program: every name resolved, every type evaluated, nothing grounded yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from plx.data.table import RowOrigin
from plx.errors import Diagnostic
from plx.numerals import counted
from plx.source import Span
from plx.syntax import ast
from plx.values import IntArray, Values
from plx.weights import Number


def _span() -> Span:
    return field(compare=False, repr=False, kw_only=True)  # type: ignore[no-any-return]


# ---------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Const:
    """A fixed value, by its id in ``Program.values``."""

    id: int
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Variable:
    """A bound variable. ``uid`` is unique in the program, so expansion never captures."""

    uid: int
    name: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class ParamTerm:
    """A tabulated param at an index; params by expression are expanded in place."""

    name: str
    arguments: tuple[Expr, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class RelationTerm:
    """True iff the tuple is among the facts."""

    name: str
    arguments: tuple[Expr, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class RandomTerm:
    """An unknown; its arguments are fixed expressions. ``own``: the one that a `random` rule is about, which
    is none of those that it depends on."""

    name: str
    arguments: tuple[Expr, ...]
    own: bool = False
    span: Span = _span()


Operator = Literal[
    "not", "and", "or", "xor", "=>", "<=>",
    "=", "!=", "<", "<=", ">", ">=",
    "+", "-", "*", "/", "%", "^", "neg", "indicator",
    "log", "exp", "sqrt", "abs", "floor", "min", "max", "logit", "chance", "mix",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator on values. ``and or + * min max`` take two arguments or more; chains of
    comparisons have been split into an ``and``. ``< <= > >=`` are on numbers only: on symbols
    the checker compares their ``Rank``. ``indicator`` is 1 where a formula holds, else 0. ``chance`` of a
    formula and p is p where it holds, else 1 - p; ``mix`` adds numbers of which one is not 0."""

    op: Operator
    arguments: tuple[Expr, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Rank:
    """The position (from 0) of a symbol in the order of a type."""

    type: str
    argument: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Membership:
    """True iff the item is in the set."""

    item: Expr
    set: SetExpr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Aggregate:
    """``exists forall count`` of a formula, ``sum`` of a number, ``alldifferent`` of values, over a scope;
    ``product`` stands in the rules of noisy ors alone."""

    kind: ast.AggregateKind | Literal["alldifferent", "product"]
    body: Expr
    scope: Scope
    span: Span = _span()


Expr = Const | Variable | ParamTerm | RelationTerm | RandomTerm | Operation | Rank | Membership | Aggregate


# ----------------------------------------------------------------------- sets


@dataclass(frozen=True, slots=True)
class SetConst:
    """A set known at check time: value ids in order, without duplicates."""

    ids: tuple[int, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class SetItems:
    """``{e1, e2}`` where some item depends on bound variables."""

    items: tuple[Expr, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class SetRange:
    """``low..high`` over integers, both included; empty if low > high."""

    low: Expr
    high: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class SetType:
    """A type, or a family at an index (``Course(a)``); a family without index is the union."""

    name: str
    arguments: tuple[Expr, ...] = ()
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class SetUnion:
    """The union in order of first occurrence."""

    parts: tuple[SetExpr, ...]
    span: Span = _span()


SetExpr = SetConst | SetItems | SetRange | SetType | SetUnion


# --------------------------------------------------------------------- scopes


@dataclass(frozen=True, slots=True)
class SetBinding:
    """One variable ranging over a set that may mention earlier variables."""

    variable: Variable
    set: SetExpr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class RelationBinding:
    """Variables ranging together over the facts of a relation."""

    variables: tuple[Variable, ...]
    relation: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Scope:
    """Bindings from left to right and a fixed guard. Without bindings: one instance."""

    bindings: tuple[SetBinding | RelationBinding, ...] = ()
    guard: Expr | None = None


# --------------------------------------------------------------- declarations


@dataclass(frozen=True, eq=False)
class TypeInfo:
    """``members``: value ids in order (the union, for a family). ``family``: per index its set."""

    name: str
    members: IntArray
    slots: tuple[SlotInfo, ...] = ()
    family: Mapping[tuple[int, ...], IntArray] | None = None
    span: Span | None = None


@dataclass(frozen=True)
class SlotInfo:
    """A slot's set may mention the variables of earlier slots."""

    variable: Variable
    set: SetExpr


@dataclass(frozen=True, eq=False)
class ParamInfo:
    """A tabulated param: ``index`` (n, slots) and ``value`` (n,) are value ids.

    ``default`` is the id given by ``else``, or None. No index occurs twice.
    """

    name: str
    slots: tuple[SlotInfo, ...]
    index: IntArray
    value: IntArray
    default: int | None = None
    span: Span | None = None


@dataclass(frozen=True)
class Prior:
    """What is believed of a learned number before there are data; ``flat`` says nothing of it."""

    kind: Literal["normal", "laplace", "flat"]
    mean: Number = 0
    scale: Number = 1


@dataclass(frozen=True, eq=False)
class LearnInfo:
    """Numbers to be learned: ``names`` of the n numbers with ``index`` (n, slots); the value of each is
    `plx.weights.Affine`. ``start`` (n,) are value ids, None where neither program nor caller gave any."""

    name: str
    labels: tuple[str, ...]
    index: IntArray
    names: tuple[str, ...]
    start: IntArray | None
    prior: Prior
    node: ast.LearnDecl


@dataclass(frozen=True, eq=False)
class RelationInfo:
    """``facts``: value ids, shape (n, slots), without duplicates; narrow, as there may be many."""

    name: str
    slots: tuple[SlotInfo, ...]
    facts: npt.NDArray[np.int32]
    span: Span | None = None


@dataclass(frozen=True)
class RandomInfo:
    """A random function; a domain of None means Boolean (values false, true)."""

    name: str
    slots: tuple[SlotInfo, ...]
    domain: SetExpr | None
    guard: Expr | None
    span: Span


# ----------------------------------------------------------------- statements


@dataclass(frozen=True)
class Rule:
    """``weight`` (weight and a formula), ``factor`` (a number), ``require``, ``observe`` (a formula), and
    ``random``: the probability of the value that ``unknown`` has, or with ``scores`` a log weight of it that
    is yet to be normalised."""

    kind: Literal["weight", "factor", "require", "observe", "random"]
    body: Expr
    scope: Scope
    span: Span
    weight: Expr | None = None
    unknown: RandomTerm | None = None
    scores: bool = False


@dataclass(frozen=True, eq=False)
class Evidence:
    """Plain facts from a table, a file or the caller: ``index`` (n, slots) and ``value`` (n,) are value ids.

    ``span`` is where the program asks for them, ``origin`` where each of them stands. ``otherwise``: the
    value of all indexes that are not listed.
    """

    random: str
    index: IntArray
    value: IntArray
    span: Span | None
    origin: RowOrigin
    otherwise: Const | None = None

    def place(self, row: int) -> Span | None:
        """Where a fact stands, as closely as that is known."""
        return self.origin.span(row, 0) or self.span


@dataclass(frozen=True)
class Query:
    """``targets`` has several entries for a joint query, none for ``map`` and ``logz``. ``part`` is the
    random term that a ``map`` is asked of, whose instances are those of the scope.

    ``syntax`` is kept to print the name of each instance.
    """

    kind: Literal["probability", "distribution", "number", "joint", "map", "logz"]
    targets: tuple[Expr, ...]
    scope: Scope
    given: tuple[Expr, ...]
    label: str | None
    span: Span
    syntax: ast.Query
    best: int = 1
    part: Expr | None = None


@dataclass(frozen=True, eq=False)
class Program:
    """What the grounder needs, all of it.

    ``rules``, ``evidence`` and ``queries`` stand in the order of the program.
    """

    values: Values
    types: Mapping[str, TypeInfo]
    params: Mapping[str, ParamInfo]
    relations: Mapping[str, RelationInfo]
    randoms: Mapping[str, RandomInfo]
    rules: tuple[Rule, ...]
    evidence: tuple[Evidence, ...]
    queries: tuple[Query, ...]
    warnings: tuple[Diagnostic, ...] = ()
    learned: tuple[LearnInfo, ...] = ()

    @property
    def contents(self) -> str:
        """What it declares and says, counted: ``2 types, 1 random, 3 rules, 1 query``."""
        learned = [name for info in self.learned for name in info.names]
        params = self.params.keys() - {info.name for info in self.learned}
        parts = {
            "type": self.types, "param": params, "learned number": learned, "relation": self.relations,
            "random": self.randoms, "rule": self.rules, "observation": self.evidence, "query": self.queries,
        }  # fmt: skip
        return ", ".join(counted(len(part), word) for word, part in parts.items() if part) or "empty"


BOOLEAN = np.array([0, 1], dtype=np.int64)
"""The domain of a Boolean unknown: the ids of false and true."""
