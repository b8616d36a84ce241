"""``(x, anna, _) in r``: what each item of a tuple that is bound stands for."""

from __future__ import annotations

from plx.check import build
from plx.check.arguments import count, fitting, need_fixed
from plx.check.context import Context, Wanted, contains, disjoint
from plx.check.declaration_order import is_abbreviation
from plx.check.program import Expr, RelationBinding, Variable
from plx.check.typed import (
    Abbreviation,
    BrokenEntry,
    CheckedSlot,
    RandomEntry,
    RelationEntry,
    Typed,
    broken,
)
from plx.syntax import ast

Found = tuple[RelationBinding, list[Expr]]
"""A binding of new variables, and the conditions that its tuple puts on them."""


def tuple_binding(ctx: Context, env: dict[str, Typed], node: ast.TupleBinding) -> Found | None:
    """The binding of a tuple, or None after reports; new variables are added to ``env``.

    A new name is bound. What is known already (a bound variable, a value, a fixed expression) is compared
    with a variable that has no name, and so is what does not matter, ``_``, without the comparison.
    """
    entry = ctx.visible(env, node.set)
    if not isinstance(entry, RelationEntry) or not _fits(ctx, node, entry):
        if not isinstance(entry, RelationEntry | BrokenEntry):
            _no_relation(ctx, node, entry)
        env.update({name.text: broken(name.span) for name in node.names if name.text not in env})
        return None
    variables: list[Variable] = []
    conditions: list[Expr] = []
    wrong = False
    for item, slot in zip(node.items, entry.slots, strict=True):
        if isinstance(item, ast.Name) and _is_new(ctx, env, item, slot):
            _warn_value(ctx, item, slot)
            typed = bind_name(ctx, env, item, slot)
            wrong |= typed.broken
            assert isinstance(typed.expr, Variable)
            variables.append(typed.expr)
            continue
        variables.append(ctx.variable("", item.span))
        if not _is_anything(item):
            known = _known(ctx, env, item, slot, entry)
            wrong |= known.broken
            conditions.append(build.operation(ctx, "=", [variables[-1], known.expr], item.span))
    return None if wrong else (RelationBinding(tuple(variables), entry.info.name, span=node.span), conditions)


def bind_name(ctx: Context, env: dict[str, Typed], name: ast.Name, slot: CheckedSlot) -> Typed:
    """A new variable for a slot, added to ``env``."""
    typed = ctx.ranging(name, slot.ranged)
    env[name.text] = typed
    warn_hidden(ctx, name)
    return typed


def warn_hidden(ctx: Context, name: ast.Name) -> None:
    """Report a variable that is spelt as a symbol."""
    if ctx.symbol(name.text) is not None:
        hint = f'use another name, or write "{name.text}" where the symbol is meant'
        ctx.warn("PLX105", name.span, f"the variable `{name.text}` hides the symbol `{name.text}`", hint)


def _is_anything(item: ast.Expr) -> bool:
    return isinstance(item, ast.Name) and item.text == ast.ANYTHING


def _is_new(ctx: Context, env: dict[str, Typed], name: ast.Name, slot: CheckedSlot) -> bool:
    """Whether a bare word binds a variable: it is not bound, nor does the program list it for the slot.

    Members that come from files or from the caller are left out, so that data decide nothing of this.
    """
    if _is_anything(name) or name.text in env or _was_listed(ctx, name, slot):
        return False
    symbol = ctx.values.find(name.text)
    if symbol is None or symbol not in ctx.introduced or slot.ranged.possible is None:
        return True
    if is_abbreviation(ctx.declarations.get(name.text)):
        return True
    return not contains(slot.ranged.possible, symbol)


def _was_listed(ctx: Context, name: ast.Name, slot: CheckedSlot) -> bool:
    """Whether the program lists a name in a type that the caller has replaced."""
    declaration = ctx.declarations.get(slot.ranged.home or "")
    if not isinstance(declaration, ast.TypeDecl) or slot.ranged.home not in ctx.data.tables:
        return False
    value = declaration.value
    return isinstance(value, ast.Braces) and any(entry.value == name for entry in value.entries)


def _warn_value(ctx: Context, name: ast.Name, slot: CheckedSlot) -> None:
    """Report a variable that hides a fixed value which the slot could have."""
    if is_abbreviation(ctx.declarations.get(name.text)):
        value = ctx.resolve({}, name)
        if value.fixed and not value.broken and not disjoint(value.possible, slot.ranged.possible):
            hint = f"for the value, bind another name and add `if … = {name.text}`"
            message = f"the variable `{name.text}` hides what is declared as `{name.text}`"
            ctx.warn("PLX105", name.span, message, hint)


def _known(
    ctx: Context, env: dict[str, Typed], item: ast.Expr, slot: CheckedSlot, entry: RelationEntry
) -> Typed:
    """A fixed value that can be in the slot."""
    words = slot.ranged.words
    typed = ctx.resolve(env, item, Wanted(slot.ranged.possible, f"member of {words}", words))
    typed = need_fixed(ctx, typed, "the items of a tuple that is bound")
    return typed if typed.broken else fitting(ctx, typed, slot.ranged.possible, slot, f"`{entry.info.name}`")


def _fits(ctx: Context, node: ast.TupleBinding, entry: RelationEntry) -> bool:
    if len(node.items) == len(entry.slots):
        return True
    message = f"`{entry.info.name}` takes {count(len(entry.slots))}, the tuple has {len(node.items)} items"
    hint = None if len(node.items) > len(entry.slots) else "write `_` for what does not matter"
    ctx.error(node.span, message, hint)
    return False


def _no_relation(ctx: Context, node: ast.TupleBinding, entry: object) -> None:
    items = [item.span.text for item in node.items]
    text = node.set.span.text
    if isinstance(entry, RandomEntry):
        message = f"`{text}` is random; only the tuples of a relation can be bound"
        hint = f"bind each name to a set and put `{text}({', '.join(items)})` into the formula"
    else:
        message = f"a tuple is bound to the facts of a relation, and `{text}` is none"
        hint = f"bind each name to a set: `for {items[0]} in …, {items[-1]} in …`"
        if isinstance(entry, Abbreviation):
            hint = f"what is fixed can be declared as `relation {text}(…) = …`, and then be bound"
    ctx.error(node.set.span, message, hint)
