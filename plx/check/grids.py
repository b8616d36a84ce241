"""Dense arrays against the slots they fill: a row for every index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from plx.check import fixed
from plx.check.context import Context
from plx.check.program import BOOLEAN
from plx.check.slots import indexes, is_independent
from plx.check.typed import CheckedSlot, RandomEntry
from plx.data.grid import GridOrigin
from plx.data.table import Table
from plx.source import Span
from plx.values import IntArray


def laid_out(
    ctx: Context, table: Table, slots: Sequence[CheckedSlot], span: Span, truth: bool = False
) -> Table | None:
    """A table by rows. An array becomes one if it has the sizes of the slots; None after a report.

    What may be rows or an array is an array only if its sizes fit. It cannot be both: rows for every
    index of two slots are more than the first of them has members. Where ``truth`` values are asked for,
    zeros and ones are none.
    """
    if table.grid is None:
        return table
    sizes = _sizes(ctx, slots)
    if sizes == table.grid.shape:
        if not truth or np.isin(table.grid, BOOLEAN).all():
            return _by_cell(ctx, table, table.grid, slots)
        if not _are_rows(ctx, table, slots):
            message = f"the array given for `{table.name}` has numbers: give truth values, not 1 and 0"
            ctx.error(span, message, f"for a numpy array, {table.name}=array.astype(bool)")
            return None
    unlikely = (truth or table.value is None) and not _are_rows(ctx, table, slots)
    if len(table.index) and not unlikely:
        return replace(table, grid=None)
    given, wanted = (" × ".join(f"{n:,}" for n in shape) or "no" for shape in (table.grid.shape, sizes))
    message = f"the array given for `{table.name}` has {given} cells, its slots have {wanted} members"
    if len(sizes) < len(slots):
        message = f"an array is given for `{table.name}`, whose slots depend on each other: list rows instead"
    ctx.error(span, message)
    return None


def observed(ctx: Context, table: Table, entry: RandomEntry, span: Span) -> Table | None:
    """What was observed of a random function, by rows; None after a report.

    Unlike a param's, its rows need not be complete, so what may be rows or an array can be both.
    """
    if table.grid is not None and not table.grid.size:
        return Table(table.name, np.zeros((0, len(entry.slots)), dtype=np.int64), None, table.origin)
    if table.grid is None or entry.domain is None:
        return laid_out(ctx, table, entry.slots, span, truth=True)
    rows = table.value is not None and _are_rows(ctx, table, entry.slots)
    if not rows or _sizes(ctx, entry.slots) != table.grid.shape:
        return laid_out(ctx, table, entry.slots, span)
    possible = entry.domain.possible
    if possible is not None and not np.isin(table.grid, possible).all():
        return replace(table, grid=None)
    message = f"what is given for `{table.name}` may be rows, or an array with an axis per slot"
    ctx.error(span, message, "give a list of tuples for rows, or {index: value}")
    return None


def _sizes(ctx: Context, slots: Sequence[CheckedSlot]) -> tuple[int, ...]:
    """How many members each slot has, without those that depend on others."""
    return tuple(len(fixed.members(ctx, slot.ranged.set, {})) for slot in slots if is_independent(slot))


def _are_rows(ctx: Context, table: Table, slots: Sequence[CheckedSlot]) -> bool:
    """Whether there are rows, and all of them name members of slots that do not depend on others."""
    return bool(len(table.index)) and all(
        np.isin(table.index[:, at], fixed.members(ctx, slot.ranged.set, {})).all()
        for at, slot in enumerate(slots)
        if is_independent(slot)
    )


def _by_cell(ctx: Context, table: Table, grid: IntArray, slots: Sequence[CheckedSlot]) -> Table:
    origin = GridOrigin(table.name, grid.shape)
    return Table(table.name, indexes(ctx, slots, grid.size), grid.reshape(-1), origin, grid)
