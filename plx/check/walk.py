"""All parts of a resolved expression."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plx.check.program import (
    Aggregate,
    Expr,
    Membership,
    Operation,
    ParamTerm,
    RandomTerm,
    Rank,
    RelationTerm,
    Scope,
    SetBinding,
    SetExpr,
    SetItems,
    SetRange,
    SetType,
    SetUnion,
)


def parts(expr: Expr) -> Iterator[Expr]:
    """The expression and every expression inside it, those of scopes and sets too, left to right."""
    waiting = [expr]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(_children(node))


def _children(node: Expr) -> Sequence[Expr]:
    match node:
        case Operation() | ParamTerm() | RelationTerm() | RandomTerm():
            return node.arguments
        case Rank():
            return (node.argument,)
        case Membership():
            return (node.item, *set_exprs(node.set))
        case Aggregate():
            return (node.body, *scope_exprs(node.scope))
    return ()


def scope_exprs(scope: Scope) -> list[Expr]:
    """The expressions in the sets and the guard of a scope."""
    sets = [binding.set for binding in scope.bindings if isinstance(binding, SetBinding)]
    found = [expr for set_ in sets for expr in set_exprs(set_)]
    return found if scope.guard is None else [*found, scope.guard]


def set_exprs(set_: SetExpr) -> Sequence[Expr]:
    """The expressions in a set."""
    match set_:
        case SetItems():
            return set_.items
        case SetRange():
            return (set_.low, set_.high)
        case SetType():
            return set_.arguments
        case SetUnion():
            return [expr for part in set_.parts for expr in set_exprs(part)]
    return ()


def random_inside(expr: Expr) -> RandomTerm | None:
    """The first random term of an expression, if there is one."""
    return next((part for part in parts(expr) if isinstance(part, RandomTerm)), None)
