"""``alldifferent(E for …)``, ``exactly(k, F for …)`` and their like."""

from __future__ import annotations

import math
from typing import Final

from plx.check.context import Context, Env, Wanted
from plx.check.operators import combined, result
from plx.check.program import Aggregate, Const, Operator, Scope, SetBinding, SetConst, SetType
from plx.check.scopes import resolve_scope
from plx.check.typed import Typed, TypeEntry, ValueKind, broken
from plx.errors import Note
from plx.syntax import ast

_COUNTED: Final[dict[str, Operator]] = {"exactly": "=", "at_least": ">=", "at_most": "<="}
"""How the number of instances that hold is compared with the first argument."""

EXAMPLES: Final = {
    "alldifferent": "alldifferent(E for x in T)",
    **{word: f"{word}(k, F for x in T)" for word in _COUNTED},
}
"""How each constraint is written."""


def constraint(ctx: Context, env: Env, node: ast.Expr, wanted: Wanted | None) -> Typed:
    """One of the words that take a scope and are not reserved; a declaration or a variable hides it."""
    assert isinstance(node, ast.Constraint)
    word = node.name.text
    if word in env or word in ctx.declarations:
        return _hidden(ctx, env, node)
    arguments = 1 if word == "alldifferent" else 2
    if len(node.arguments) != arguments:
        what = "a value" if arguments == 1 else "a number and a formula"
        return ctx.fail(node.span, f"`{word}` takes {what} before its `for`", f"write `{EXAMPLES[word]}`")
    return _all_different(ctx, env, node) if arguments == 1 else _compared(ctx, env, node, _COUNTED[word])


def _hidden(ctx: Context, env: Env, node: ast.Constraint) -> Typed:
    word = node.name.text
    if word in env:
        message, note = f"`{word}` is a bound variable here, it takes no `for`", env[word].note
    else:
        message = f"`{word}` is declared in this program, so it takes no `for` in its parentheses"
        note = Note("it is declared here", ctx.declarations[word].name.span)
    hint = f"give it another name where `{EXAMPLES[word]}` is meant"
    return ctx.fail(node.name.span, message, hint, [note])


def _all_different(ctx: Context, env: Env, node: ast.Constraint) -> Typed:
    scope, inner, wrong = resolve_scope(ctx, env, node.scope)
    body = ctx.resolve(inner, node.arguments[0])
    if wrong or body.broken:
        return broken(node.span)
    _warn_crowded(ctx, node, scope, body)
    return combined(
        ctx,
        lambda: Aggregate("alldifferent", body.expr, scope, span=node.span),
        [body],
        ValueKind.TRUTH,
        node.span,
    )


def _compared(ctx: Context, env: Env, node: ast.Constraint, op: Operator) -> Typed:
    """``exactly(k, F for …)`` is ``count(F for …) = k``."""
    number = _whole(ctx, node, ctx.number(env, node.arguments[0]))
    scope, inner, wrong = resolve_scope(ctx, env, node.scope)
    body = ctx.formula(inner, node.arguments[1])
    if wrong or body.broken or number.broken:
        return broken(node.span)
    count = combined(
        ctx,
        lambda: Aggregate("count", body.expr, scope, span=node.span),
        [body],
        ValueKind.NUMBER,
        node.span,
    )
    return result(ctx, op, [count, number], ValueKind.TRUTH, node.span)


def _whole(ctx: Context, node: ast.Constraint, number: Typed) -> Typed:
    """The number unless it is fixed and no instances can be so many."""
    if number.broken or not isinstance(number.expr, Const):
        return number
    value = ctx.values[number.expr.id]
    if isinstance(value, int) and value >= 0:
        return number
    message = f"`{node.name.text}` takes a whole number from 0 on, not {ctx.text(number.expr.id)}"
    return ctx.fail(number.expr.span, message, f"it is how often F holds in `{EXAMPLES[node.name.text]}`")


def _warn_crowded(ctx: Context, node: ast.Constraint, scope: Scope, body: Typed) -> None:
    terms, possible = _instances(ctx, scope), body.possible
    if terms is None or possible is None or terms <= len(possible):
        return
    message = f"this never holds: it has {terms:,} terms, which take {len(possible):,} values at most"
    hint = f"the values of `{node.arguments[0].span.text}`: {ctx.listing(possible)}"
    ctx.warn("PLX109", node.span, message, hint)


def _instances(ctx: Context, scope: Scope) -> int | None:
    """How many instances a scope has, where that is plain to see."""
    if scope.guard is not None:
        return None
    sizes = [_size(ctx, b.set) if isinstance(b, SetBinding) else None for b in scope.bindings]
    known = [size for size in sizes if size is not None]
    return math.prod(known) if len(known) == len(sizes) else None


def _size(ctx: Context, set_: object) -> int | None:
    if isinstance(set_, SetConst):
        return len(set_.ids)
    if not isinstance(set_, SetType) or set_.arguments:
        return None
    entry = ctx.entries[set_.name]
    return len(entry.possible) if isinstance(entry, TypeEntry) else None
