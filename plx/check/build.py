"""Constructors of resolved expressions that fold what is fixed and closed."""

from __future__ import annotations

from collections.abc import Sequence

from plx.check import fixed
from plx.check.context import Context, contains
from plx.check.program import (
    Const,
    Expr,
    Membership,
    Operation,
    Operator,
    ParamTerm,
    Rank,
    RelationTerm,
    SetConst,
    SetExpr,
    SetItems,
    SetRange,
    SetType,
    SetUnion,
)
from plx.check.typed import RelationEntry, TypeEntry
from plx.operators import apply
from plx.source import Span
from plx.values import FALSE, TRUE
from plx.weights import Affine

_FOLDED_ROWS = 10_000
"""Entries of larger tables are left to the grounder, which looks them up in bulk."""


def operation(ctx: Context, op: Operator, arguments: Sequence[Expr], span: Span) -> Expr:
    """An operation, or its value. Raises ArithmeticMistake."""
    if op in ("and", "or"):
        return _junction(op, arguments, span)
    if op == "not":
        return _negation(arguments[0], span)
    if op in ("<=>", "xor"):
        return _parity(op, arguments, span)
    if op == "=>":
        return _implication(arguments, span)
    if all(isinstance(a, Const) for a in arguments):
        known = [ctx.values[a.id] for a in arguments if isinstance(a, Const)]
        if any(isinstance(value, Affine) for value in known):
            return Operation(op, tuple(arguments), span=span)
        return Const(ctx.values.id(apply(op, *known)), span=span)
    return Operation(op, tuple(arguments), span=span)


def _junction(op: Operator, arguments: Sequence[Expr], span: Span) -> Expr:
    """``and`` and ``or``: flat, without neutral parts."""
    stop = FALSE if op == "and" else TRUE
    parts: list[Expr] = []
    for argument in arguments:
        if isinstance(argument, Const):
            if argument.id == stop:
                return Const(stop, span=span)
        elif isinstance(argument, Operation) and argument.op == op:
            parts += argument.arguments
        else:
            parts.append(argument)
    if not parts:
        return Const(1 - stop, span=span)
    return parts[0] if len(parts) == 1 else Operation(op, tuple(parts), span=span)


def _negation(argument: Expr, span: Span) -> Expr:
    if isinstance(argument, Const):
        return Const(1 - argument.id, span=span)
    if isinstance(argument, Operation) and argument.op == "not":
        return argument.arguments[0]
    return Operation("not", (argument,), span=span)


def _parity(op: Operator, arguments: Sequence[Expr], span: Span) -> Expr:
    left, right = arguments
    if isinstance(left, Const):
        left, right = right, left
    if not isinstance(right, Const):
        return Operation(op, (left, right), span=span)
    kept = (right.id == TRUE) == (op == "<=>")
    return left if kept else _negation(left, span)


def _implication(arguments: Sequence[Expr], span: Span) -> Expr:
    left, right = arguments
    if isinstance(left, Const):
        return right if left.id == TRUE else Const(TRUE, span=span)
    if isinstance(right, Const):
        return Const(TRUE, span=span) if right.id == TRUE else _negation(left, span)
    return Operation("=>", (left, right), span=span)


def param_term(ctx: Context, name: str, arguments: Sequence[Expr], span: Span) -> Expr:
    """An entry of a param, or its value where the index is known."""
    entry = ctx.param(name)
    assert entry is not None
    key = _constants(arguments)
    if key is not None and len(entry.info.index) <= _FOLDED_ROWS:
        return Const(fixed.param_value(ctx, name, key), span=span)
    return ParamTerm(name, tuple(arguments), span=span)


def relation_term(ctx: Context, name: str, arguments: Sequence[Expr], span: Span) -> Expr:
    """Whether a tuple is a fact, decided where the tuple is known."""
    entry = ctx.entries[name]
    assert isinstance(entry, RelationEntry)
    key = _constants(arguments)
    if key is not None and len(entry.info.facts) <= _FOLDED_ROWS:
        return Const(int(key in fixed.facts(ctx, name)), span=span)
    return RelationTerm(name, tuple(arguments), span=span)


def ranked(ctx: Context, type_: str, argument: Expr, span: Span) -> Expr:
    """The position of a value in a type."""
    if isinstance(argument, Const):
        return Const(ctx.values.id(fixed.rank(ctx, type_, argument.id)), span=span)
    return Rank(type_, argument, span=span)


def membership(ctx: Context, item: Expr, set_: SetExpr, span: Span) -> Expr:
    """Whether a value is in a set, decided where both are known."""
    if isinstance(item, Const) and isinstance(set_, SetConst):
        return Const(int(item.id in set_.ids), span=span)
    if isinstance(item, Const) and isinstance(set_, SetType) and not set_.arguments:
        entry = ctx.entries[set_.name]
        assert isinstance(entry, TypeEntry)
        return Const(int(contains(entry.possible, item.id)), span=span)
    return Membership(item, set_, span=span)


def closed_set(ctx: Context, set_: SetExpr) -> SetExpr:
    """A set as its members where nothing in it depends on variables; a whole type stays a type.

    Raises NoValue and ArithmeticMistake as its evaluation does.
    """
    whole_type = isinstance(set_, SetType) and not set_.arguments
    if isinstance(set_, SetConst) or whole_type or not is_closed(set_):
        return set_
    return SetConst(tuple(fixed.members(ctx, set_, {}).tolist()), span=set_.span)


def is_closed(set_: SetExpr) -> bool:
    """Whether nothing in a set depends on variables."""
    match set_:
        case SetConst():
            return True
        case SetItems():
            return _constants(set_.items) is not None
        case SetRange():
            return _constants((set_.low, set_.high)) is not None
        case SetType():
            return _constants(set_.arguments) is not None
        case SetUnion():
            return all(is_closed(part) for part in set_.parts)


def _constants(arguments: Sequence[Expr]) -> tuple[int, ...] | None:
    """The ids of arguments that are all fixed values."""
    found = [a.id for a in arguments if isinstance(a, Const)]
    return tuple(found) if len(found) == len(arguments) else None
