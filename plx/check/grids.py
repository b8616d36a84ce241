"""Dense arrays against the slots they fill: a row for every index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plx.check import fixed
from plx.check.context import Context
from plx.check.slots import indexes, is_independent
from plx.check.typed import Slot
from plx.data.table import Table
from plx.source import Span


def laid_out(ctx: Context, table: Table, slots: Sequence[Slot], span: Span) -> Table | None:
    """A table by rows. An array becomes one if it has the sizes of the slots; None after a report.

    What may be rows or an array is an array only if its sizes fit. It cannot be both: rows for every
    index of two slots are more than the first of them has members.
    """
    if table.grid is None:
        return table
    sizes = tuple(len(fixed.members(ctx, slot.ranged.set, {})) for slot in slots if is_independent(slot))
    if sizes == table.grid.shape:
        index = indexes(ctx, slots, table.grid.size)
        return replace(table, index=index, value=table.grid.reshape(-1))
    if len(table.index):
        return table
    given, wanted = (" × ".join(map(str, shape)) or "no" for shape in (table.grid.shape, sizes))
    message = f"the array given for `{table.name}` has {given} cells, its slots have {wanted} members"
    if len(sizes) < len(slots):
        message = f"an array is given for `{table.name}`, whose slots depend on each other: list rows instead"
    ctx.error(span, message)
    return None
