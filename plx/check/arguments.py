"""Arguments of declared names: their number, their fixedness and their types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from plx.check.context import Context, Env, Wanted, disjoint
from plx.check.program import Const, Expr, SetConst, SetType
from plx.check.substitute import substitute_set
from plx.check.typed import CheckedSlot, Ranged, Typed
from plx.check.walk import random_inside
from plx.errors import Note
from plx.syntax import ast
from plx.values import IntArray, distinct
from plx.weights import WeightError


def checked_arguments(
    ctx: Context, env: Env, node: ast.Apply, slots: Sequence[CheckedSlot], random_ok: bool = False
) -> list[Typed] | None:
    """The arguments of a declared name, or None after a report. ``random_ok``: they need not be fixed."""
    name = node.name.text
    if len(node.arguments) != len(slots):
        message = f"`{name}` takes {count(len(slots))}" + (f", not {len(node.arguments)}" if slots else "")
        ctx.error(node.span, message, hint=f"it is declared as {signature(name, slots)}" if slots else None)
        for argument in node.arguments:
            ctx.resolve(env, argument)
        return None
    found: list[Typed] = []
    mapped: dict[int, Expr] = {}
    for argument, slot in zip(node.arguments, slots, strict=True):
        possible = possible_at(ctx, slot.ranged, mapped)
        typed = ctx.resolve(
            env, argument, Wanted(possible, f"member of {slot.ranged.words}", slot.ranged.words)
        )
        if not typed.broken and not random_ok:
            typed = _fixed_argument(ctx, typed, node)
        if not typed.broken:
            typed = fitting(ctx, typed, possible, slot, f"`{name}`")
        mapped[slot.variable.uid] = typed.expr
        found.append(typed)
    return None if any(typed.broken for typed in found) else found


def count(n: int) -> str:
    """``1 argument``, ``2 arguments``."""
    return "no arguments" if n == 0 else f"{n} argument" if n == 1 else f"{n} arguments"


def signature(name: str, slots: Sequence[CheckedSlot]) -> str:
    """A declared name with its slots, as the program writes them."""
    inside = ", ".join((f"{s.name}: " if s.name else "") + s.ranged.words for s in slots)
    return f"`{name}({inside})`" if slots else f"`{name}`"


def _fixed_argument(ctx: Context, typed: Typed, node: ast.Apply) -> Typed:
    if typed.fixed:
        return typed
    term = random_inside(typed.expr)
    inner = term.name if term else "it"
    name = node.name.text
    hint = f"bind a variable to its value instead: `exists({name}(…, y) & {inner}(…) = y for y in …)`"
    if term and len(node.arguments) == 1:
        hint = f"bind a variable to its value instead: `{inner}(…) = y & {name}(y) … for y in …`"
    message = f"an argument of `{name}` must be fixed, but `{inner}` is random"
    return ctx.fail(typed.expr.span, message, hint)


def need_fixed(ctx: Context, typed: Typed, what: str, hint: str | None = None) -> Typed:
    """The expression if nothing random is in it, else a report; ``what`` names the place, in the plural."""
    if typed.broken or typed.fixed:
        return typed
    term = random_inside(typed.expr)
    message = f"{what} must be fixed, but `{term.name if term else '…'}` is random"
    return ctx.fail(typed.expr.span, message, hint)


def fitting(ctx: Context, typed: Typed, possible: IntArray | None, slot: CheckedSlot, taker: str) -> Typed:
    """The argument if it can be in the slot, else a report that shows both places."""
    exact = typed.strict or isinstance(typed.expr, Const) or not typed.kind & slot.ranged.kind
    if not exact or slot.ranged.broken or not disjoint(typed.possible, possible):
        return typed
    words = slot.ranged.words
    span = typed.expr.span
    assert possible is not None
    if isinstance(typed.expr, Const):
        text = ctx.text(typed.expr.id)
        hint = ctx.suggest(text, possible, ()) or f"its members: {ctx.listing(possible)}"
        return ctx.fail(span, f"`{text}` is no member of {words}, which {taker} takes here", hint)
    message = f"{taker} takes a member of {words} here, `{span.text}` is never one"
    return ctx.fail(span, message, None, [typed.note, Note("the slot is declared here", slot.span)])


def possible_at(ctx: Context, ranged: Ranged, mapped: Mapping[int, Expr]) -> IntArray | None:
    """The values of a slot or domain at known indexes: exact where they decide the set, sorted by id."""
    whole = isinstance(ranged.set, SetType) and not ranged.set.arguments
    if ranged.broken or whole or isinstance(ranged.set, SetConst):
        return ranged.possible
    try:
        set_ = substitute_set(ctx, ranged.set, mapped)
    except (ValueError, WeightError):
        return ranged.possible
    return distinct(np.array(set_.ids, dtype=np.int64)) if isinstance(set_, SetConst) else ranged.possible
