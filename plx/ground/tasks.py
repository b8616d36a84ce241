"""Rules split into the smallest parts that are grounded on their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from plx.check.program import Aggregate, Const, Expr, Operation, RandomTerm, Rule, Scope
from plx.ground.terms import Terms
from plx.values import FALSE, TRUE


@dataclass(frozen=True)
class Task:
    """One part of a rule: number ``rule`` of the program."""

    rule: int
    source: Rule
    body: Expr
    scope: Scope


def split(number: int, rule: Rule, terms: Terms) -> Iterator[Task]:
    """The parts of a rule: conjuncts of hard rules, terms of a factor; a weight stays whole.

    ``require F & forall(G for y in T)`` is ``require F`` and ``require G for y in T``;
    ``factor sum(E for y in T) - F`` is ``factor E for y in T`` and ``factor -F``.
    """
    whole = Task(number, rule, rule.body, rule.scope)
    if rule.kind == "factor":
        yield from _addends(whole, terms)
    elif rule.kind in ("weight", "random"):
        yield whole
    else:
        yield from _conjuncts(whole)


def plain(expr: Expr, terms: Terms) -> tuple[RandomTerm, Expr] | None:
    """The random term and the fixed value of a plain fact: ``f(…)``, ``!f(…)``, ``f(…) = v``."""
    if isinstance(expr, RandomTerm):
        return expr, Const(TRUE, span=expr.span)
    if not isinstance(expr, Operation):
        return None
    if expr.op == "not" and isinstance(expr.arguments[0], RandomTerm):
        return expr.arguments[0], Const(FALSE, span=expr.span)
    if expr.op in ("=", "<=>"):
        for term, value in (expr.arguments, expr.arguments[::-1]):
            if isinstance(term, RandomTerm) and not terms.is_random(value):
                return term, value
    return None


def inside(outer: Scope, inner: Scope) -> Scope:
    """The scope that binds as the outer one and then as the inner one."""
    guards = [guard for guard in (outer.guard, inner.guard) if guard is not None]
    guard = (
        Operation("and", tuple(guards), span=guards[0].span) if len(guards) == 2 else next(iter(guards), None)
    )
    return Scope((*outer.bindings, *inner.bindings), guard)


def _conjuncts(task: Task) -> Iterator[Task]:
    """Every world satisfies the task iff it satisfies all of these."""
    match task.body:
        case Operation(op="and", arguments=arguments):
            for argument in arguments:
                yield from _conjuncts(replace(task, body=argument))
        case Operation(op="not", arguments=(inner,)):
            yield from _negated(task, inner)
        case Aggregate(kind="forall", body=body, scope=scope):
            yield from _conjuncts(replace(task, body=body, scope=inside(task.scope, scope)))
        case _:
            yield task


def _negated(task: Task, inner: Expr) -> Iterator[Task]:
    """The conjuncts of the negation of ``inner``."""
    match inner:
        case Operation(op="not", arguments=(body,)):
            yield from _conjuncts(replace(task, body=body))
        case Operation(op="or", arguments=arguments):
            for argument in arguments:
                yield from _conjuncts(replace(task, body=_not(argument)))
        case Operation(op="=>", arguments=(premise, conclusion)):
            yield from _conjuncts(replace(task, body=premise))
            yield from _conjuncts(replace(task, body=_not(conclusion)))
        case Aggregate(kind="exists", body=body, scope=scope):
            yield from _conjuncts(replace(task, body=_not(body), scope=inside(task.scope, scope)))
        case _:
            yield task


def _not(expr: Expr) -> Expr:
    return Operation("not", (expr,), span=expr.span)


def _addends(task: Task, terms: Terms) -> Iterator[Task]:
    """The number of the task is the sum of the numbers of these."""
    match task.body:
        case Operation(op="+", arguments=arguments):
            for argument in arguments:
                yield from _addends(replace(task, body=argument), terms)
        case Operation(op="-", arguments=(first, second)):
            yield from _addends(replace(task, body=first), terms)
            yield from _addends(replace(task, body=_negative(second)), terms)
        case Operation(op="neg", arguments=(inner,)):
            yield from _scaled(task, inner, _negative, terms)
        case Operation(op="*", arguments=arguments) if _one_random(arguments, terms):
            (inner,) = [a for a in arguments if terms.is_random(a)]
            rest = tuple(a for a in arguments if a is not inner)
            yield from _scaled(task, inner, lambda e: Operation("*", (*rest, e), span=task.body.span), terms)
        case Operation(op="/", arguments=(inner, divisor)) if not terms.is_random(divisor):
            yield from _scaled(
                task, inner, lambda e: Operation("/", (e, divisor), span=task.body.span), terms
            )
        case Aggregate(kind="sum", body=body, scope=scope):
            yield from _addends(replace(task, body=body, scope=inside(task.scope, scope)), terms)
        case Aggregate(kind="count", body=body, scope=scope) if scope.bindings or scope.guard:
            one = Operation("indicator", (body,), span=task.body.span)
            yield replace(task, body=one, scope=inside(task.scope, scope))
        case _:
            yield task


def _scaled(task: Task, inner: Expr, scale: Callable[[Expr], Expr], terms: Terms) -> Iterator[Task]:
    """The addends of a multiple of ``inner``, each scaled."""
    for addend in _addends(replace(task, body=inner), terms):
        yield replace(addend, body=scale(addend.body))


def _negative(expr: Expr) -> Expr:
    return Operation("neg", (expr,), span=expr.span)


def _one_random(arguments: tuple[Expr, ...], terms: Terms) -> bool:
    return sum(terms.is_random(a) for a in arguments) == 1
