"""Numbers that are learned from data: their declaration, and where they may stand.

A learned number is a param whose value is a name (`plx.weights.Affine`), so that all that is said of params
holds for it, and grounding adds names exactly as it adds numbers. What it stands in must be affine in all
such names; that is decided on the resolved expression, before anything is computed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

import numpy as np

from plx.check import fixed
from plx.check.context import Context
from plx.check.declarations import check_param
from plx.check.program import Const, LearnInfo, ParamInfo, Prior
from plx.check.slots import check_slots, indexes, infos
from plx.check.tabulate import tabulated
from plx.check.typed import Abbreviation, BrokenEntry, CheckedSlot, Entry, ParamEntry, ValueKind
from plx.syntax import ast
from plx.values import IntArray, distinct
from plx.weights import Affine, Number, to_float

MOST_LEARNED = 20_000
"""The most numbers that one ``learn`` may declare."""

USUAL = Prior("normal", Fraction(0), Fraction(10))
"""The prior of a number for which the program gives none."""


def check_learn(ctx: Context, node: ast.LearnDecl) -> Entry:
    """Numbers to be learned: a name for each index, with what they start from."""
    name, prior = node.name.text, _prior(ctx, node.prior)
    given = node.value is not None or name in ctx.data.tables
    entry = _start(ctx, node) if given else None
    slots: Sequence[CheckedSlot]
    if entry is None:
        slots, _, wrong = check_slots(ctx, node.slots)
        broken = wrong or name in ctx.data.broken
    else:
        slots, broken = entry.slots or (), isinstance(entry, BrokenEntry)
    if broken or prior is None:
        return BrokenEntry(tuple(slots))
    try:
        index = indexes(ctx, slots, MOST_LEARNED)
    except fixed.NoValueError:
        ctx.error(node.name.span, f"`{name}` stands for more than {MOST_LEARNED:,} numbers")
        return BrokenEntry(tuple(slots))
    start = None if entry is None else _starts(ctx, node, entry, index)
    if entry is not None and start is None:
        return BrokenEntry(tuple(slots))
    return _named(ctx, node, tuple(slots), index, start, prior)


def _named(
    ctx: Context,
    node: ast.LearnDecl,
    slots: tuple[CheckedSlot, ...],
    index: IntArray,
    start: IntArray | None,
    prior: Prior,
) -> Entry:
    name = node.name.text
    names = tuple(_name(name, [ctx.text(i) for i in key]) for key in index.tolist())
    value = np.array([ctx.values.id(Affine(0, ((one, 1),))) for one in names], dtype=np.int64)
    info = ParamInfo(name, infos(slots), index, value, None, node.name.span)
    labels = tuple(slot.name or slot.ranged.words for slot in slots)
    learned = LearnInfo(name, labels, index, names, start, prior, node)
    return ParamEntry(info, slots, ValueKind.NUMBER, distinct(value), learned=learned)


def _name(name: str, key: Sequence[str]) -> str:
    """``peer(anna)``."""
    return f"{name}({', '.join(key)})" if key else name


def _start(ctx: Context, node: ast.LearnDecl) -> Entry | None:
    """The starts as a param of the same table, file or expression would be read."""
    return check_param(ctx, ast.ParamDecl(node.name, node.slots, node.value, span=node.span))


def _starts(ctx: Context, node: ast.LearnDecl, entry: Entry, index: IntArray) -> IntArray | None:
    """The ids of the numbers to start from, in the order of ``index``; None after a report."""
    if isinstance(entry, Abbreviation):
        entry = tabulated(ctx, entry)
    assert isinstance(entry, ParamEntry)
    known = dict(zip(map(tuple, entry.info.index.tolist()), entry.info.value.tolist(), strict=True))
    found = np.array([known.get(tuple(key), entry.info.default) for key in index.tolist()])
    if entry.kind not in (ValueKind.NUMBER, ValueKind.NONE):
        ctx.error(node.name.span, f"`{node.name.text}` starts from {entry.kind.words}: it must be a number")
        return None
    return found.astype(np.int64)


# ---------------------------------------------------------------------------- priors

_HINT = "write `~ normal(mean, sd)`, `~ laplace(mean, scale)` or `~ flat`"


def _prior(ctx: Context, node: ast.Expr | None) -> Prior | None:
    """A prior; None after a report."""
    match node:
        case None:
            return USUAL
        case ast.Name(text="flat"):
            return Prior("flat")
        case ast.Apply(name=ast.Name(text="normal" | "laplace" as kind), arguments=(mean, scale)):
            return _with_numbers(ctx, kind, mean, scale)
    ctx.error(node.span, f"`{node.span.text}` is no prior", _HINT)
    return None


def _with_numbers(
    ctx: Context, kind: Literal["normal", "laplace"], mean: ast.Expr, scale: ast.Expr
) -> Prior | None:
    numbers: list[Number] = []
    for part in (mean, scale):
        typed = ctx.number({}, part)
        if typed.broken:
            return None
        value = ctx.values[typed.expr.id] if isinstance(typed.expr, Const) else ""
        if isinstance(value, str | bool) or not math.isfinite(to_float(value)):
            ctx.error(part.span, "the numbers of a prior are fixed and finite", _HINT)
            return None
        numbers.append(value)
    if to_float(numbers[1]) <= 0:
        ctx.error(scale.span, f"the scale of a prior is positive, this is {scale.span.text}", _HINT)
        return None
    return Prior(kind, *numbers)
