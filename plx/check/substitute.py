"""Expansion of an abbreviation: its body with arguments for slots, and fresh inner variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plx.check import build
from plx.check.context import Context
from plx.check.program import (
    Aggregate,
    Const,
    Expr,
    Membership,
    Operation,
    ParamTerm,
    RandomTerm,
    Rank,
    RelationBinding,
    RelationTerm,
    Scope,
    SetBinding,
    SetConst,
    SetExpr,
    SetItems,
    SetRange,
    SetType,
    SetUnion,
    Variable,
)
from plx.check.walk import random_inside

Mapped = Mapping[int, Expr]
"""What stands for a variable, by its uid."""


class RandomArgumentError(ValueError):
    """A random term came to stand where a fixed value must; ``args[0]`` is the term."""


def substitute(ctx: Context, expr: Expr, mapped: Mapped) -> Expr:
    """The expression with its variables replaced; variables bound inside become new ones.

    Raises RandomArgument, NoValue and ArithmeticMistake.
    """
    match expr:
        case Const():
            return expr
        case Variable():
            return mapped.get(expr.uid, expr)
        case Operation():
            return build.operation(ctx, expr.op, _every(ctx, expr.arguments, mapped), expr.span)
        case ParamTerm():
            return build.param_term(ctx, expr.name, _every(ctx, expr.arguments, mapped), expr.span)
        case RelationTerm():
            return build.relation_term(ctx, expr.name, _every(ctx, expr.arguments, mapped), expr.span)
        case RandomTerm():
            return RandomTerm(expr.name, tuple(_fixed(ctx, expr.arguments, mapped)), span=expr.span)
        case Rank():
            return build.ranked(ctx, expr.type, substitute(ctx, expr.argument, mapped), expr.span)
        case Membership():
            item = substitute(ctx, expr.item, mapped)
            return build.membership(ctx, item, substitute_set(ctx, expr.set, mapped), expr.span)
        case Aggregate():
            scope, inner = _scope(ctx, expr.scope, mapped)
            return Aggregate(expr.kind, substitute(ctx, expr.body, inner), scope, span=expr.span)


def substitute_set(ctx: Context, set_: SetExpr, mapped: Mapped) -> SetExpr:
    """The set with its variables replaced, folded where it is closed now."""
    match set_:
        case SetConst():
            return set_
        case SetItems():
            new: SetExpr = SetItems(tuple(_fixed(ctx, set_.items, mapped)), span=set_.span)
        case SetRange():
            low, high = _fixed(ctx, (set_.low, set_.high), mapped)
            new = SetRange(low, high, span=set_.span)
        case SetType():
            new = SetType(set_.name, tuple(_fixed(ctx, set_.arguments, mapped)), span=set_.span)
        case SetUnion():
            new = SetUnion(tuple([substitute_set(ctx, p, mapped) for p in set_.parts]), span=set_.span)
    return build.closed_set(ctx, new)


def _every(ctx: Context, arguments: Sequence[Expr], mapped: Mapped) -> list[Expr]:
    return [substitute(ctx, argument, mapped) for argument in arguments]


def _fixed(ctx: Context, arguments: Sequence[Expr], mapped: Mapped) -> list[Expr]:
    found = []
    for argument in arguments:
        new = substitute(ctx, argument, mapped)
        if new is not argument:
            term = random_inside(new)
            if term is not None:
                raise RandomArgumentError(term)
        found.append(new)
    return found


def _scope(ctx: Context, scope: Scope, mapped: Mapped) -> tuple[Scope, Mapped]:
    inner = dict(mapped)
    bindings: list[SetBinding | RelationBinding] = []
    for binding in scope.bindings:
        if isinstance(binding, RelationBinding):
            variables = tuple(_fresh(ctx, variable, inner) for variable in binding.variables)
            bindings.append(RelationBinding(variables, binding.relation, span=binding.span))
        else:
            set_ = substitute_set(ctx, binding.set, inner)
            bindings.append(SetBinding(_fresh(ctx, binding.variable, inner), set_, span=binding.span))
    guard = None if scope.guard is None else _fixed(ctx, [scope.guard], inner)[0]
    return Scope(tuple(bindings), guard), inner


def _fresh(ctx: Context, variable: Variable, mapped: dict[int, Expr]) -> Variable:
    new = ctx.variable(variable.name, variable.span)
    mapped[variable.uid] = new
    return new
