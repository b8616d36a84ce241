"""``for … if …``: bindings, guards and the aggregates they stand in."""

from __future__ import annotations

from collections.abc import Iterator

from plx.check import build
from plx.check.arguments import need_fixed
from plx.check.context import Context, Env, Wanted
from plx.check.operators import amount, combined
from plx.check.patterns import bind_name, tuple_binding, warn_hidden
from plx.check.program import Aggregate, Expr, RelationBinding, Scope, SetBinding, Variable
from plx.check.sets import not_a_value, resolve_set
from plx.check.typed import RelationEntry, Typed, ValueKind, broken
from plx.errors import Note
from plx.syntax import ast

Bound = tuple[Scope, dict[str, Typed], bool]
"""A resolved scope, the variables inside it, and whether mistakes were found."""


def resolve_scope(ctx: Context, env: Env, node: ast.Scope | None) -> Bound:
    """The bindings from left to right, then the guard, which must be fixed.

    What tuples say of variables that are bound already comes first in the guard.
    """
    inner = dict(env)
    if node is None:
        return Scope(), inner, False
    seen: dict[str, ast.Name] = {}
    bindings: list[SetBinding | RelationBinding] = []
    guards: list[Expr] = []
    wrong = False
    for binding in node.bindings:
        if isinstance(binding, ast.TupleBinding):
            found = tuple_binding(ctx, inner, binding)
            wrong |= found is None
            bindings += [found[0]] if found else []
            guards += found[1] if found else []
        else:
            wrong |= _repeated(ctx, binding, seen)
            single = list(_binding(ctx, inner, binding))
            wrong |= not single
            bindings += single
        for name in binding.names:
            seen.setdefault(name.text, name)
    if node.guard is not None:
        typed = need_fixed(ctx, ctx.formula(inner, node.guard), "guards")
        wrong |= typed.broken
        guards.append(typed.expr)
    wrong |= any(typed.broken for name, typed in inner.items() if name in seen)
    guard = build.operation(ctx, "and", guards, guards[-1].span) if guards else None
    return Scope(tuple(bindings), guard), inner, wrong


def _repeated(ctx: Context, binding: ast.Binding, seen: dict[str, ast.Name]) -> bool:
    wrong = False
    for name in binding.names:
        if name.text in seen:
            note = Note("it is first bound here", seen[name.text].span)
            hint = "in a tuple, `(x, …) in r`, a variable that is bound already is a condition"
            ctx.error(name.span, f"`{name.text}` is bound twice", hint, [note])
            wrong = True
        seen.setdefault(name.text, name)
    return wrong


def _binding(
    ctx: Context, env: dict[str, Typed], node: ast.Binding
) -> Iterator[SetBinding | RelationBinding]:
    """The bindings of one ``names in set``; their variables are added to ``env``."""
    entry = ctx.visible(env, node.set)
    if isinstance(entry, RelationEntry) and len(entry.slots) == 1:
        for name in node.names:
            typed = bind_name(ctx, env, name, entry.slots[0])
            assert isinstance(typed.expr, Variable)
            yield RelationBinding((typed.expr,), entry.info.name, span=node.span)
        return
    ranged = resolve_set(ctx, env, node.set)
    for name in node.names:
        warn_hidden(ctx, name)
        typed = ctx.ranging(name, ranged)
        env[name.text] = typed
        assert isinstance(typed.expr, Variable)
        if not ranged.broken:
            yield SetBinding(typed.expr, ranged.set, span=node.span)


# ------------------------------------------------------------------------- aggregates


def aggregate(ctx: Context, env: Env, node: ast.Expr, wanted: Wanted | None) -> Typed:
    """``exists forall count`` of a formula and ``sum`` of a number."""
    assert isinstance(node, ast.Aggregate)
    scope, inner, wrong = resolve_scope(ctx, env, node.scope)
    summed = node.kind == "sum"
    body = amount(ctx, ctx.resolve(inner, node.body)) if summed else ctx.formula(inner, node.body)
    if wrong or body.broken:
        return broken(node.span)
    kind = ValueKind.NUMBER if node.kind in ("sum", "count") else ValueKind.TRUTH
    return combined(
        ctx, lambda: Aggregate(node.kind, body.expr, scope, span=node.span), [body], kind, node.span
    )


def misplaced(ctx: Context, env: Env, node: ast.Expr, wanted: Wanted | None) -> Typed:
    """A tuple or braces where a single value is expected."""
    if isinstance(node, ast.Tuple):
        hint = "a tuple can be an entry of a table, a query, or stand before `in` a relation"
        return ctx.fail(node.span, "a single value is expected here, this is a tuple", hint)
    assert isinstance(node, ast.Braces)
    return not_a_value(ctx, node)
