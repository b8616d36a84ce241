"""Where learned numbers stand: what they stand in must be affine in all of them."""

from __future__ import annotations

from collections.abc import Iterable

from plx.check.context import Context
from plx.check.program import Aggregate, Const, Expr, Operation, ParamTerm
from plx.check.typed import ParamEntry, Typed
from plx.check.walk import parts, scope_exprs
from plx.weights import Affine


def mentions_learned(ctx: Context, expr: Expr) -> bool:
    """Whether a learned number stands in an expression."""
    return any(_is_learned(ctx, part) for part in parts(expr))


def _is_learned(ctx: Context, part: Expr) -> bool:
    if isinstance(part, ParamTerm):
        entry = ctx.entries.get(part.name)
        return isinstance(entry, ParamEntry) and entry.learned is not None
    return isinstance(part, Const) and isinstance(ctx.values[part.id], Affine)


def affine(ctx: Context, typed: Typed) -> Typed:
    """The expression if it is affine in the learned numbers, else a report of the part at fault."""
    if typed.broken or not ctx.learns:
        return typed
    fault = _not_affine(ctx, typed.expr)
    if fault is None:
        return typed
    hint = "learned numbers may be added, and multiplied by what holds none of them: `a * age(x) + b`"
    return ctx.fail(fault.span, f"`{fault.span.text}` is not affine in the numbers that are learned", hint)


def _not_affine(ctx: Context, expr: Expr) -> Expr | None:
    """The smallest part that is at fault; None if the expression is affine."""
    if not mentions_learned(ctx, expr):
        return None
    match expr:
        case Const():
            return None
        case ParamTerm():
            return next((a for a in expr.arguments if mentions_learned(ctx, a)), None)
        case Operation(op="+" | "-" | "neg"):
            return _first(_not_affine(ctx, part) for part in expr.arguments)
        case Operation(op="*") if sum(mentions_learned(ctx, part) for part in expr.arguments) == 1:
            return _first(_not_affine(ctx, part) for part in expr.arguments)
        case Operation(op="/") if not mentions_learned(ctx, expr.arguments[1]):
            return _not_affine(ctx, expr.arguments[0])
        case Aggregate(kind="sum") if not any(mentions_learned(ctx, e) for e in scope_exprs(expr.scope)):
            return _not_affine(ctx, expr.body)
    inner = getattr(expr, "arguments", ())
    return _first(_not_affine(ctx, part) for part in inner) or expr


def _first(faults: Iterable[Expr | None]) -> Expr | None:
    return next((fault for fault in faults if fault is not None), None)


def warn_unused(ctx: Context, used: Iterable[Expr]) -> None:
    """Report learned numbers that no rule uses."""
    if not ctx.learns:
        return
    names: set[str] = set()
    for expr in used:
        for part in parts(expr):
            if isinstance(part, ParamTerm):
                names.add(part.name)
            elif isinstance(part, Const) and isinstance(value := ctx.values[part.id], Affine):
                names |= {one.partition("(")[0] for one, _ in value.terms}
    for name, entry in ctx.entries.items():
        if isinstance(entry, ParamEntry) and entry.learned and name not in names:
            ctx.warn(
                "PLX110", entry.learned.node.name.span, f"no rule uses `{name}`: data cannot tell what it is"
            )
