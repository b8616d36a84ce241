"""``for … if …``: bindings, guards and the aggregates they stand in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plx.check.arguments import count, need_fixed
from plx.check.context import Context, Env, Wanted
from plx.check.operators import amount, combined
from plx.check.program import Aggregate, RelationBinding, Scope, SetBinding, Variable
from plx.check.sets import not_a_value, resolve_set
from plx.check.typed import BrokenEntry, RandomEntry, RelationEntry, Typed, ValueKind, broken
from plx.errors import Note
from plx.syntax import ast

Bound = tuple[Scope, dict[str, Typed], bool]
"""A resolved scope, the variables inside it, and whether mistakes were found."""


def resolve_scope(ctx: Context, env: Env, node: ast.Scope | None) -> Bound:
    """The bindings from left to right, then the guard, which must be fixed."""
    inner = dict(env)
    if node is None:
        return Scope(), inner, False
    seen: dict[str, ast.Name] = {}
    bindings: list[SetBinding | RelationBinding] = []
    wrong = False
    for binding in node.bindings:
        wrong |= _repeated(ctx, binding, seen)
        found = list(_binding(ctx, inner, binding))
        wrong |= not found
        bindings += found
    guard = None
    if node.guard is not None:
        typed = need_fixed(ctx, ctx.formula(inner, node.guard), "guards")
        wrong |= typed.broken
        guard = typed.expr
    wrong |= any(typed.broken for name, typed in inner.items() if name in seen)
    return Scope(tuple(bindings), guard), inner, wrong


def _repeated(ctx: Context, binding: ast.Binding, seen: dict[str, ast.Name]) -> bool:
    wrong = False
    for name in binding.names:
        if name.text in seen:
            note = Note("it is first bound here", seen[name.text].span)
            hint = f"use another name and the guard `if {name.text} = …`" if binding.tuple else None
            ctx.error(name.span, f"`{name.text}` is bound twice", hint, [note])
            wrong = True
        seen.setdefault(name.text, name)
    return wrong


def _binding(
    ctx: Context, env: dict[str, Typed], node: ast.Binding
) -> Iterator[SetBinding | RelationBinding]:
    """The bindings of one ``names in set``; their variables are added to ``env``."""
    entry = ctx.visible(env, node.set)
    if node.tuple or (isinstance(entry, RelationEntry) and len(entry.slots) == 1):
        yield from _tuples(ctx, env, node, entry)
        return
    ranged = resolve_set(ctx, env, node.set)
    _hidden(ctx, node.names)
    for name in node.names:
        typed = ctx.ranging(name, ranged)
        env[name.text] = typed
        assert isinstance(typed.expr, Variable)
        if not ranged.broken:
            yield SetBinding(typed.expr, ranged.set, span=node.span)


def _tuples(
    ctx: Context, env: dict[str, Typed], node: ast.Binding, entry: object
) -> Iterator[SetBinding | RelationBinding]:
    if not isinstance(entry, RelationEntry) or not _fits(ctx, node, entry):
        if not isinstance(entry, RelationEntry | BrokenEntry):
            _no_relation(ctx, node, entry)
        env.update({name.text: broken(name.span) for name in node.names})
        return
    _hidden(ctx, node.names)
    groups = [node.names] if node.tuple else [(name,) for name in node.names]
    for names in groups:
        variables = []
        for name, slot in zip(names, entry.slots, strict=True):
            typed = ctx.ranging(name, slot.ranged)
            env[name.text] = typed
            assert isinstance(typed.expr, Variable)
            variables.append(typed.expr)
        yield RelationBinding(tuple(variables), entry.info.name, span=node.span)


def _hidden(ctx: Context, names: Sequence[ast.Name]) -> None:
    for name in names:
        if ctx.symbol(name.text) is not None:
            hint = f'use another name, or write "{name.text}" where the symbol is meant'
            ctx.warn(name.span, f"the variable `{name.text}` hides the symbol `{name.text}`", hint)


def _fits(ctx: Context, node: ast.Binding, entry: RelationEntry) -> bool:
    if not node.tuple or len(node.names) == len(entry.slots):
        return True
    message = f"`{entry.info.name}` takes {count(len(entry.slots))}, {len(node.names)} names are bound here"
    ctx.error(node.span, message)
    return False


def _no_relation(ctx: Context, node: ast.Binding, entry: object) -> None:
    names = ", ".join(name.text for name in node.names)
    text = node.set.span.text
    if isinstance(entry, RandomEntry):
        message = f"`{text}` is random; only the tuples of a relation can be bound"
        hint = f"bind each name to a set and put `{text}({names})` into the formula"
    else:
        message = f"a tuple is bound to the facts of a relation, and `{text}` is none"
        hint = f"bind each name to a set: `for {node.names[0].text} in …, {node.names[-1].text} in …`"
    ctx.error(node.set.span, message, hint)


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
