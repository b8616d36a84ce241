"""Rules that say that no two elements have the same value, however they are written.

``f(x) = f(y) => x = y`` is about three elements, x, y and their value. That each value is that of one element
at most, ``count(f(x) = z for x in V) <= 1``, is about two at a time.
"""

from __future__ import annotations

from dataclasses import replace

from plx.check.program import Aggregate, Const, Expr, Operation, RandomTerm, Rank, Scope, SetBinding, Variable
from plx.check.walk import parts
from plx.firstorder.elements import members
from plx.firstorder.function_terms import FunctionTerms, put
from plx.ground.env import ROOT
from plx.ground.evaluate import Evaluator
from plx.ground.tasks import Task
from plx.values import FALSE, TRUE


def injective(terms: FunctionTerms, evaluator: Evaluator, task: Task) -> Task | None:
    """The same said of each value; None for a rule that says something else."""
    if task.source.kind not in ("require", "observe"):
        return None
    match task.body:
        case Aggregate(kind="alldifferent", body=RandomTerm() as term, scope=scope) if terms.is_term(term):
            return _once(terms, evaluator, task, term, scope, task.scope)
    found = dict.fromkeys(part for part in parts(task.body) if terms.is_term(part))
    if len(found) != 2:
        return None
    first, second = found
    assert isinstance(first, RandomTerm) and isinstance(second, RandomTerm)
    bindings = _two(task.scope, first, second)
    if bindings is None or not _differ(evaluator, task, (first, second), bindings):
        return None
    kept, gone = bindings
    outer = tuple(b for b in task.scope.bindings if b not in (kept, gone))
    return _once(terms, evaluator, task, first, Scope((kept,)), Scope(outer))


def _once(
    terms: FunctionTerms, evaluator: Evaluator, task: Task, term: RandomTerm, inner: Scope, outer: Scope
) -> Task:
    """That every value is that of at most one term, of those in a scope."""
    binding, span = terms.value(term), task.source.span
    count = Aggregate("count", terms.at(term, binding.variable), inner, span=span)
    one = Const(evaluator.values.id(1), span=span)
    scope = replace(outer, bindings=(*outer.bindings, binding))
    return replace(task, body=Operation("<=", (count, one), span=span), scope=scope)


def _two(scope: Scope, first: RandomTerm, second: RandomTerm) -> tuple[SetBinding, SetBinding] | None:
    """The bindings of the variables in which two terms differ, where these range over the same set."""
    if first.name != second.name:
        return None
    pairs = [(a, b) for a, b in zip(first.arguments, second.arguments, strict=True) if a != b]
    sets = [binding for binding in scope.bindings if isinstance(binding, SetBinding)]
    bindings = [[b for b in sets if b.variable == side] for pair in pairs for side in pair]
    if len(bindings) != 2 or not all(bindings):
        return None
    (kept,), (gone,) = bindings
    return (kept, gone) if kept.set == gone.set else None


def _differ(
    evaluator: Evaluator,
    task: Task,
    terms: tuple[RandomTerm, RandomTerm],
    bindings: tuple[SetBinding, SetBinding],
) -> bool:
    """Whether a rule holds exactly where the two values differ or the two elements are one."""
    x, y = (binding.variable for binding in bindings)
    sample = members(evaluator.program, bindings[0].set)
    if sample is None or len(sample) < 2 or not all(_is_plain(expr, (x, y)) for expr in _said(task, terms)):
        return False

    def holds(a: int, b: int, alike: int) -> bool:
        """Whether it does where the two elements, and whether their values are alike, are known."""
        found = []
        for expr in _said(task, terms, alike):
            for variable, element in ((x, a), (y, b)):
                expr = put(expr, variable, Const(element, span=expr.span))
            found.append(int(evaluator.value(expr, ROOT)[0]))
        body, *guard = found
        return FALSE in guard or body == TRUE

    first, last = int(sample[0]), int(sample[-1])
    if not holds(first, first, TRUE):
        return False
    orders = [(first, last), (last, first)]
    return all(holds(a, b, FALSE) for a, b in orders) and not all(holds(a, b, TRUE) for a, b in orders)


def _said(task: Task, terms: tuple[RandomTerm, RandomTerm], alike: int = TRUE) -> list[Expr]:
    """The body and the guard of a rule, with a truth value for whether two terms are alike."""
    span = task.source.span
    body = task.body
    for a, b in (terms, terms[::-1]):
        body = put(body, Operation("=", (a, b), span=span), Const(alike, span=span))
        unlike = FALSE if alike == TRUE else TRUE
        body = put(body, Operation("!=", (a, b), span=span), Const(unlike, span=span))
    return [body, *([] if task.scope.guard is None else [task.scope.guard])]


def _is_plain(expr: Expr, variables: tuple[Variable, Variable]) -> bool:
    """Whether an expression tells no two elements apart but by their order."""
    return all(
        isinstance(part, Operation | Rank)
        or (isinstance(part, Variable) and part in variables)
        or (isinstance(part, Const) and part.id in (FALSE, TRUE))
        for part in parts(expr)
    )
