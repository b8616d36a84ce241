"""A param or define that is fixed as a table, where its argument is random and cannot be put in place."""

from __future__ import annotations

import numpy as np

from plx.check import fixed
from plx.check.context import Context
from plx.check.program import ParamInfo
from plx.check.slots import indexes, infos
from plx.check.typed import Abbreviation, ParamEntry, kind_of
from plx.values import distinct
from plx.weights import WeightError

_LARGEST = 200_000
"""The most entries of such a table."""


def tabulated(ctx: Context, entry: Abbreviation) -> ParamEntry:
    """The param with its value at every index that has one; worked out once.

    Raises NoValue where there are far too many indexes.
    """
    if entry.name not in ctx.tabulated:
        ctx.tabulated[entry.name] = _table(ctx, entry)
    return ctx.tabulated[entry.name]


def _table(ctx: Context, entry: Abbreviation) -> ParamEntry:
    every = indexes(ctx, entry.slots, _LARGEST)
    found = np.array([_value(ctx, entry, key) for key in every.tolist()], dtype=np.int64)
    known = found >= 0
    info = ParamInfo(entry.name, infos(entry.slots), every[known], found[known], None, entry.span)
    possible = distinct(found[known])
    return ParamEntry(info, entry.slots, kind_of(ctx.values, possible), possible)


def _value(ctx: Context, entry: Abbreviation, key: list[int]) -> int:
    """The id of the value at an index; -1 for none, which matters only where the index is reached."""
    uids = [slot.variable.uid for slot in entry.slots]
    try:
        return fixed.evaluate(ctx, entry.body.expr, dict(zip(uids, key, strict=True)))
    except (fixed.NoValueError, WeightError):
        return -1
