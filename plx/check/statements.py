"""Rules and queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from plx import weights
from plx.check.affine import affine
from plx.check.arguments import need_fixed
from plx.check.context import Context, Env
from plx.check.program import Const, Expr, Query, RandomTerm, Rule, Scope
from plx.check.scopes import resolve_scope
from plx.check.slips import warn_condition, warn_odds
from plx.check.typed import Typed, ValueKind
from plx.syntax import ast


def check_rule(ctx: Context, node: ast.Weight | ast.Factor | ast.Require | ast.Observe) -> Rule | None:
    """A rule with its scope, or None after reports."""
    scope, env, wrong = resolve_scope(ctx, {}, node.scope)
    weight: Typed | None = None
    if isinstance(node, ast.Weight):
        weight = _learning(ctx, lambda: _weight(ctx, env, node.weight))
        body = ctx.formula(env, node.formula)
        warn_odds(ctx, node, body)
    elif isinstance(node, ast.Factor):
        body = _learning(ctx, lambda: _factor(ctx, env, node.value))
    else:
        body = ctx.formula(env, node.formula)
    if wrong or body.broken or (weight and weight.broken):
        return None
    kind = _KINDS[type(node)]
    return Rule(kind, body.expr, scope, node.span, weight.expr if weight else None)  # type: ignore[arg-type]


def _learning(ctx: Context, resolve: Callable[[], Typed]) -> Typed:
    """What ``resolve`` gives where learned numbers may stand; it is affine in them."""
    with ctx.learning(True):
        return affine(ctx, resolve())


_KINDS = {ast.Weight: "weight", ast.Factor: "factor", ast.Require: "require", ast.Observe: "observe"}


def _weight(ctx: Context, env: Env, node: ast.Expr) -> Typed:
    typed = ctx.resolve(env, node)
    if not typed.broken and not typed.fixed:
        return need_fixed(ctx, typed, "weights")
    if not typed.broken and typed.kind != ValueKind.NUMBER:
        message = f"a weight is a number, this is {typed.kind.words}"
        return ctx.fail(typed.expr.span, message, None, [typed.note])
    return _finite(ctx, typed)


def _factor(ctx: Context, env: Env, node: ast.Expr) -> Typed:
    typed = ctx.resolve(env, node)
    if typed.broken or typed.kind != ValueKind.TRUTH:
        return _finite(ctx, ctx.need(typed, ValueKind.NUMBER))
    message = f"a factor is a number, this is {typed.kind.words}"
    hint = f"`weight w: {node.span.text}` adds w where it holds"
    if isinstance(node, ast.Compare):
        hint += ", `w * (x = v)` is a number: its parentheses are needed"
    return ctx.fail(node.span, message, hint, [typed.note])


def _finite(ctx: Context, typed: Typed) -> Typed:
    """The number unless it is beyond what a double can hold."""
    if isinstance(typed.expr, Const) and not typed.broken:
        number = ctx.values[typed.expr.id]
        if isinstance(number, bool | str) or math.isinf(weights.to_float(number)):
            hint = "use `require` for what must hold"
            return ctx.fail(typed.expr.span, "this weight is too large for a double", hint)
    return typed


# --------------------------------------------------------------------------- queries


def check_query(ctx: Context, node: ast.Query) -> Query | None:
    """A query with its kind, or None after reports."""
    scope, env, wrong = resolve_scope(ctx, {}, node.scope)
    whole = isinstance(node.target, ast.MapTarget) and node.target.part is not None
    given = [ctx.formula({} if whole else env, condition) for condition in node.given]
    wrong |= any(condition.broken for condition in given)
    label = node.label.text if node.label else None
    conditions = tuple(condition.expr for condition in given)
    if isinstance(node.target, ast.MapTarget | ast.LogZTarget):
        part, broken = _part(ctx, env, node)
        return None if wrong or broken else _whole(ctx, node, node.target, scope, conditions, label, part)
    joint = isinstance(node.target, ast.Tuple)
    items = node.target.items if isinstance(node.target, ast.Tuple) else (node.target,)
    targets = [ctx.resolve(env, item) for item in items]
    if wrong or any(target.broken for target in targets):
        return None
    kind = "joint" if joint else target_kind(targets[0])
    warn_condition(ctx, node)
    exprs = tuple(target.expr for target in targets)
    return Query(kind, exprs, scope, conditions, label, node.span, node)  # type: ignore[arg-type]


def _whole(
    ctx: Context,
    node: ast.Query,
    target: ast.MapTarget | ast.LogZTarget,
    scope: Scope,
    given: tuple[Expr, ...],
    label: str | None,
    part: Expr | None,
) -> Query | None:
    if isinstance(target, ast.LogZTarget):
        return Query("logz", (), scope, given, label, node.span, node)
    if target.best < 1:
        ctx.error(target.span, "`map` takes a positive number of worlds")
        return None
    return Query("map", (), scope, given, label, node.span, node, target.best, part)


def _part(ctx: Context, env: Env, node: ast.Query) -> tuple[Expr | None, bool]:
    """The random term that a `map` is asked of, and whether it is wrong."""
    if not isinstance(node.target, ast.MapTarget) or node.target.part is None:
        return None, False
    found = ctx.resolve(env, node.target.part)
    if not found.broken and not isinstance(found.expr, RandomTerm):
        hint = "name a random function: `query map smokes(x) for x in Person`"
        ctx.error(node.target.part.span, "`map` is asked of unknowns alone", hint)
        return None, True
    return found.expr, found.broken


def target_kind(target: Typed) -> str:
    """What a query asks of an expression."""
    if target.kind == ValueKind.TRUTH:
        return "probability"
    if isinstance(target.expr, RandomTerm) or target.kind != ValueKind.NUMBER:
        return "distribution"
    return "number"


def report_labels(ctx: Context, queries: Sequence[ast.Query]) -> None:
    """Report names that two queries share."""
    seen: dict[str, ast.Name] = {}
    for query in queries:
        if query.label is not None:
            first = seen.setdefault(query.label.text, query.label)
            if first is not query.label:
                ctx.error(query.label.span, f"two queries are called `{query.label.text}`")
