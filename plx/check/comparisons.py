"""Comparisons and membership."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from plx.check import build
from plx.check.context import Context, Env, Wanted, contains, disjoint, subset
from plx.check.operators import combined, result
from plx.check.program import Const, Operator
from plx.check.sets import not_a_value, resolve_set
from plx.check.typed import RelationEntry, Typed, ValueKind, broken
from plx.source import Span
from plx.syntax import ast
from plx.values import IntArray


def compare(ctx: Context, env: Env, node: ast.Expr, wanted: Wanted | None) -> Typed:
    """A comparison, or a chain of them, which is their conjunction."""
    assert isinstance(node, ast.Compare)
    operands = _operands(ctx, env, node)
    links = [
        _link(ctx, op, left, right, left.expr.span.to(right.expr.span) if len(node.ops) > 1 else node.span)
        for op, left, right in zip(node.ops, operands, operands[1:], strict=False)
    ]
    return links[0] if len(links) == 1 else result(ctx, "and", links, ValueKind.TRUTH, node.span)


def _operands(ctx: Context, env: Env, node: ast.Compare) -> list[Typed]:
    """Bare names come last, so that an unknown one is told by the values of its neighbour."""
    nodes = node.operands
    found: dict[int, Typed] = {}
    for late in (False, True):
        for at, operand in enumerate(nodes):
            if isinstance(operand, ast.Name | ast.Quoted) == late:
                if isinstance(operand, ast.Braces):
                    found[at] = not_a_value(ctx, operand, _membership(node, at))
                    continue
                found[at] = ctx.resolve(env, operand, _neighbour(found, nodes, at) if late else None)
    return [found[at] for at in range(len(nodes))]


def _membership(node: ast.Compare, at: int) -> str | None:
    """``level(x) in`` where the operand would be a set that ``level(x)`` may be in."""
    op, other = (node.ops[at - 1], at - 1) if at else (node.ops[0], 1)
    word = {"=": "in", "!=": "not in"}.get(op)
    return word and f"{node.operands[other].span.text} {word}"


def _neighbour(found: dict[int, Typed], nodes: Sequence[ast.Expr], at: int) -> Wanted | None:
    for other in (at - 1, at + 1):
        typed = found.get(other)
        if typed is not None and typed.possible is not None and typed.strict and len(typed.possible) > 1:
            return Wanted(typed.possible, f"value of `{_head(nodes[other])}`")
    return None


def _head(node: ast.Expr) -> str:
    return node.name.text if isinstance(node, ast.Apply) else node.span.text


def _link(ctx: Context, op: ast.CompareOp, left: Typed, right: Typed, span: Span) -> Typed:
    if left.broken or right.broken:
        return broken(span)
    if op in ("=", "!="):
        return equal(ctx, op, left, right, span)
    return _ordering(ctx, op, left, right, span)


# --------------------------------------------------------------------------- equality


def equal(ctx: Context, op: ast.CompareOp, left: Typed, right: Typed, span: Span) -> Typed:
    """``left = right``, or ``!=``, of operands that have been resolved; what is never equal is reported."""
    if left.kind and right.kind and not left.kind & right.kind:
        message = f"{left.kind.words} and {right.kind.words} are never equal"
        hint = _hidden_symbol(ctx, left, right) or _plain_formula(left, right)
        return ctx.fail(span, message, hint, [left.note, right.note])
    if left.kind == right.kind == ValueKind.TRUTH:
        return result(ctx, "<=>" if op == "=" else "xor", [left, right], ValueKind.TRUTH, span)
    if left.strict and right.strict and disjoint(left.possible, right.possible):
        return _never_equal(ctx, left, right, span)
    return result(ctx, op, [left, right], ValueKind.TRUTH, span)


def _hidden_symbol(ctx: Context, *sides: Typed) -> str | None:
    """A bare word means a declared name before it means a symbol."""
    for side in sides:
        text = side.expr.span.text
        if side.kind != ValueKind.SYMBOL and text in ctx.declarations and ctx.symbol(text) is not None:
            return f'`{text}` is declared; write "{text}" for the symbol'
    return None


def _plain_formula(left: Typed, right: Typed) -> str | None:
    """``f(x) = 1`` asks for ``f(x)``."""
    for side, other in ((left, right), (right, left)):
        if side.kind == ValueKind.TRUTH and isinstance(other.expr, Const):
            text = side.expr.span.text
            return f"write `{text}` where it is true, `!{text}` where it is not"
    return None


def _never_equal(ctx: Context, left: Typed, right: Typed, span: Span) -> Typed:
    for value, other in ((left, right), (right, left)):
        if isinstance(value.expr, Const) and not isinstance(other.expr, Const):
            assert other.possible is not None
            text = ctx.text(value.expr.id)
            hint = ctx.suggest(text, other.possible, ())
            listed = f"its values: {ctx.listing(other.possible)}"
            message = f"`{text}` is no value of `{other.expr.span.text}`"
            return ctx.fail(value.expr.span, message, f"{hint} ({listed})" if hint else listed, [other.note])
    message = f"`{left.expr.span.text}` and `{right.expr.span.text}` are never equal"
    return ctx.fail(span, message, "their sets have no value in common", [left.note, right.note])


# --------------------------------------------------------------------------- ordering


def _ordering(ctx: Context, op: Operator, left: Typed, right: Typed, span: Span) -> Typed:
    for side in (left, right):
        if side.kind & ValueKind.TRUTH:
            hint = "`A => B` says that B holds where A does" if left.kind == right.kind else None
            return ctx.fail(side.expr.span, "truth values have no order", hint, [side.note])
    if left.kind in (ValueKind.NUMBER, ValueKind.NONE) and right.kind in (ValueKind.NUMBER, ValueKind.NONE):
        return result(ctx, op, [left, right], ValueKind.TRUTH, span)
    type_ = _common_type(ctx, left, right)
    if type_ is None:
        message = f"no type holds all values of `{left.expr.span.text}` and `{right.expr.span.text}`"
        return ctx.fail(span, message, _missing(ctx, left, right), [left.note, right.note])
    rank = partial(build.ranked, ctx, type_)
    sides = [
        combined(ctx, partial(rank, side.expr, side.expr.span), [side], ValueKind.NUMBER, span)
        for side in (left, right)
    ]
    return result(ctx, op, sides, ValueKind.TRUTH, span)


_ORDER = "symbols are ordered by the type that has both"


def _missing(ctx: Context, left: Typed, right: Typed) -> str:
    """Why no type orders both sides: it holds one of them, but not all values of the other."""
    for entry in ctx.types():
        for side, other in ((left, right), (right, left)):
            if _within(other, entry.info.name, entry.possible) and side.possible is not None:
                absent = np.setdiff1d(side.possible, entry.possible)[:3]
                return f"{_ORDER}; {entry.info.name} lacks {ctx.texts(absent)}"
    return _ORDER


def _common_type(ctx: Context, left: Typed, right: Typed) -> str | None:
    if left.home and left.home == right.home:
        return left.home
    if left.possible is None or right.possible is None:
        return None
    types = ctx.types()
    types.sort(key=lambda entry: entry.info.name not in (left.home, right.home))
    for entry in types:
        if all(_within(side, entry.info.name, entry.possible) for side in (left, right)):
            return entry.info.name
    return None


def _within(side: Typed, name: str, members: IntArray) -> bool:
    if side.home == name:
        return True
    if isinstance(side.expr, Const):
        return contains(members, side.expr.id)
    return side.possible is not None and subset(side.possible, members)


# ------------------------------------------------------------------------- membership


def member(ctx: Context, env: Env, node: ast.Expr, wanted: Wanted | None) -> Typed:
    """``item in set`` and ``item not in set``; a tuple may be in a relation."""
    assert isinstance(node, ast.Member)
    relation = _relation(ctx, env, node)
    found = _in_set(ctx, env, node) if relation is None else ctx.resolve(env, relation)
    return result(ctx, "not", [found], ValueKind.TRUTH, node.span) if node.negated else found


def _relation(ctx: Context, env: Env, node: ast.Member) -> ast.Apply | None:
    """``(x, y) in friends`` is ``friends(x, y)``."""
    if not isinstance(node.set, ast.Name) or not isinstance(ctx.visible(env, node.set), RelationEntry):
        return None
    items = node.item.items if isinstance(node.item, ast.Tuple) else (node.item,)
    return ast.Apply(node.set, items, span=node.span)


def _in_set(ctx: Context, env: Env, node: ast.Member) -> Typed:
    ranged = resolve_set(ctx, env, node.set)
    if ranged.broken and isinstance(node.item, ast.Tuple):
        return broken(node.span)
    item = ctx.resolve(env, node.item, Wanted(ranged.possible, f"member of {ranged.words}"))
    if ranged.broken or item.broken:
        return broken(node.span)
    if item.strict and disjoint(item.possible, ranged.possible) and not isinstance(item.expr, Const):
        message = f"`{node.item.span.text}` is never in {ranged.words}"
        return ctx.fail(node.span, message, None, [item.note])
    return combined(
        ctx,
        lambda: build.membership(ctx, item.expr, ranged.set, node.span),
        [item],
        ValueKind.TRUTH,
        node.span,
    )
