"""Braces of a program → rows, in the form that files have, each cell with its span."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from plx.check import fixed
from plx.check.arguments import need_fixed
from plx.check.context import Context, Wanted
from plx.check.program import Const
from plx.check.typed import CheckedSlot, Typed
from plx.data.table import Table
from plx.source import Span
from plx.syntax import ast
from plx.weights import WeightError


@dataclass(frozen=True)
class TextOrigin:
    """Rows written in the program; one span per cell, the value's last."""

    spans: Sequence[Sequence[Span]]

    def span(self, row: int, column: int) -> Span | None:
        """The text of a cell."""
        cells = self.spans[row]
        return cells[min(column, len(cells) - 1)] if cells else None

    def words(self, row: int, column: int | None = None) -> str:
        """Empty: the span says it all."""
        return ""


@dataclass(frozen=True)
class Written:
    """A table as the program writes it; ``default`` is the expression after ``else``."""

    table: Table
    default: ast.Entry | None


def key_table(ctx: Context, name: str, braces: ast.Braces, slots: Sequence[CheckedSlot]) -> Table | None:
    """``{(a, b), (c, d)}``: the facts of a relation; None after reports."""
    rows: list[list[Const]] = []
    wrong = False
    for entry in braces.entries:
        if entry.key is not None or entry.otherwise:
            ctx.error(entry.span, f"`{name}` is a relation: list what is true, without values")
            wrong = True
            continue
        key = _key(ctx, name, entry.value, slots)
        wrong |= key is None
        rows.append(key or [])
    return None if wrong else _table(name, rows, None, len(slots))


def value_table(
    ctx: Context,
    name: str,
    braces: ast.Braces,
    slots: Sequence[CheckedSlot],
    value_of: Callable[[ast.Expr], Const | None],
    alone: int | None = None,
) -> Written | None:
    """``{key: value, else: value}``: a table of values; None after reports.

    ``alone``: the id of the value of a key that stands alone, where that is allowed.
    """
    rows: list[list[Const]] = []
    values: list[Const] = []
    default: ast.Entry | None = None
    wrong = False
    for entry in braces.entries:
        if entry.otherwise:
            if default is not None:
                ctx.error(entry.span, "a table has one `else`")
            default = entry
            continue
        if entry.key is None and alone is None:
            ctx.error(entry.span, f"`{name}` is a table: write `index: value`")
            wrong = True
            continue
        key = _key(ctx, name, entry.key or entry.value, slots)
        value = value_of(entry.value) if entry.key or alone is None else Const(alone, span=entry.span)
        if key is None or value is None:
            wrong = True
            continue
        rows.append(key)
        values.append(value)
    if wrong and default is not None:
        value_of(default.value)  # what is wrong with it is reported too
    return None if wrong else Written(_table(name, rows, values, len(slots)), default)


def refuse_else(ctx: Context, node: ast.TypeDecl | ast.RelationDecl, kind: str) -> None:
    """Report an ``else`` after the file of what is a list."""
    if isinstance(node.value, ast.File) and node.value.otherwise is not None:
        message = f"a {kind} takes no `else`: what its file does not list is not in it"
        ctx.error(node.value.otherwise.span, message, "leave the `else` out")


def _table(name: str, rows: list[list[Const]], values: list[Const] | None, width: int) -> Table:
    index = np.array([[cell.id for cell in row] for row in rows], dtype=np.int64).reshape(len(rows), width)
    value = None if values is None else np.array([cell.id for cell in values], dtype=np.int64)
    spans = [[cell.span for cell in row] for row in rows]
    for cells, cell in zip(spans, values or (), strict=False):
        cells.append(cell.span)
    return Table(name, index, value, TextOrigin(spans))


def _key(ctx: Context, name: str, node: ast.Expr, slots: Sequence[CheckedSlot]) -> list[Const] | None:
    items = node.items if isinstance(node, ast.Tuple) else (node,)
    if len(items) != len(slots):
        parts = "1 part" if len(slots) == 1 else f"{len(slots)} parts"
        ctx.error(node.span, f"an index of `{name}` has {parts}, this one has {len(items)}")
        return None
    found = [_cell(ctx, item, slot) for item, slot in zip(items, slots, strict=True)]
    return None if None in found else [cell for cell in found if cell is not None]


def _cell(ctx: Context, node: ast.Expr, slot: CheckedSlot) -> Const | None:
    """An index; a bare name is a symbol first, even where a param has the same name."""
    if isinstance(node, ast.Name | ast.Quoted):
        symbol = ctx.symbol(node.text)
        if symbol is not None:
            return Const(symbol, span=node.span)
    typed = ctx.resolve({}, node, Wanted(slot.ranged.possible, f"member of {slot.ranged.words}"))
    return constant(ctx, need_fixed(ctx, typed, "indexes of a table"))


def constant(ctx: Context, typed: Typed) -> Const | None:
    """The value of a fixed, closed expression; None after a report."""
    if typed.broken:
        return None
    if isinstance(typed.expr, Const):
        return typed.expr
    try:
        return Const(fixed.evaluate(ctx, typed.expr, {}), span=typed.expr.span)
    except (fixed.NoValueError, WeightError) as mistake:
        ctx.error(typed.expr.span, str(mistake))
        return None
