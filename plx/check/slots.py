"""The slots of a declaration, and all indexes they allow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from plx.check import build, fixed
from plx.check.context import Context
from plx.check.program import SetConst, SetExpr, SetType, SlotInfo, Variable
from plx.check.sets import resolve_set
from plx.check.typed import CheckedSlot, Typed
from plx.check.walk import parts, set_exprs
from plx.errors import Note
from plx.syntax import ast
from plx.values import IntArray

Checked = tuple[tuple[CheckedSlot, ...], dict[str, Typed], bool]
"""Slots, the variables of those with names, and whether mistakes were found."""


def check_slots(ctx: Context, nodes: Sequence[ast.Slot]) -> Checked:
    """The slots of a declaration; the set of each may use the names of earlier ones."""
    env: dict[str, Typed] = {}
    slots: list[CheckedSlot] = []
    wrong = False
    for node in nodes:
        ranged = resolve_set(ctx, env, node.set)
        wrong |= ranged.broken
        name = node.name or ast.Name(f"#{len(slots) + 1}", span=node.span)
        typed = ctx.ranging(name, ranged)
        if node.name:
            if node.name.text in env:
                note = Note("the first one is here", env[node.name.text].expr.span)
                ctx.error(node.name.span, f"two slots are called `{node.name.text}`", None, [note])
                wrong = True
            env[node.name.text] = typed
        slots.append(CheckedSlot(typed.expr, ranged, node.name.text if node.name else None, node.span))  # type: ignore[arg-type]
    return tuple(slots), env, wrong


def slot_env(slots: Sequence[CheckedSlot]) -> tuple[dict[str, Typed], list[Typed]]:
    """The variables of checked slots: those with names by name, and all of them in order."""
    env: dict[str, Typed] = {}
    variables: list[Typed] = []
    for slot in slots:
        ranged = slot.ranged
        note = Note(f"`{slot.name}` ranges over {ranged.words}", slot.span) if slot.name else None
        typed = Typed(slot.variable, ranged.kind, ranged.possible, home=ranged.home, note=note)
        variables.append(typed)
        if slot.name:
            env[slot.name] = typed
    return env, variables


def infos(slots: Sequence[CheckedSlot]) -> tuple[SlotInfo, ...]:
    """The slots as the program keeps them."""
    return tuple(SlotInfo(slot.variable, slot.ranged.set) for slot in slots)


def is_independent(slot: CheckedSlot) -> bool:
    """Whether a slot's set is the same at every index."""
    set_ = slot.ranged.set
    return isinstance(set_, SetConst) or (isinstance(set_, SetType) and not set_.arguments)


def index_count(ctx: Context, slots: Sequence[CheckedSlot]) -> int | None:
    """How many indexes there are, or None if a slot depends on others."""
    total = 1
    for slot in slots:
        if not is_independent(slot):
            return None
        total *= len(fixed.members(ctx, slot.ranged.set, {}))
    return total


def indexes(ctx: Context, slots: Sequence[CheckedSlot], limit: int) -> IntArray:
    """All indexes in order, shape (n, slots). Raises NoValue past ``limit``."""
    rows = np.zeros((1, 0), dtype=np.int64)
    for at, slot in enumerate(slots):
        rows = _extended(rows, _within(ctx, slots[:at], slot.ranged.set, rows, limit))
    return rows


def _within(
    ctx: Context, slots: Sequence[CheckedSlot], set_: SetExpr, rows: IntArray, limit: int
) -> list[Block]:
    """As `sets_by_row`. Raises NoValue before there are more than ``limit`` pairs of a row and a member."""
    blocks: list[Block] = []
    total = 0
    for group, ids in sets_by_row(ctx, slots, set_, rows):
        total += len(group) * len(ids)
        if total > limit:
            raise fixed.NoValueError(f"there are more than {limit:,} indexes; give a table in a file instead")
        blocks.append((group, ids))
    return blocks


Block = tuple[IntArray, IntArray]
"""A group of rows, and the members of the set that they share."""


def sets_by_row(ctx: Context, slots: Sequence[CheckedSlot], set_: SetExpr, rows: IntArray) -> Iterator[Block]:
    """The members of a set that may depend on slots, at each of some indexes; ``rows`` has a column per slot.

    Raises NoValue where the sets have too many members in all.
    """
    if build.is_closed(set_):
        yield np.arange(len(rows)), fixed.members(ctx, set_, {})
        return
    places = depends_on(slots, set_)
    uids = [slots[place].variable.uid for place in places]
    groups = group_rows(rows[:, places])
    bindings = [dict(zip(uids, key, strict=True)) for key, _ in groups]
    for (_, group), ids in zip(groups, fixed.members_of_each(ctx, set_, bindings), strict=True):
        yield group, ids


def depends_on(slots: Sequence[CheckedSlot], set_: SetExpr) -> list[int]:
    """The places of the slots that a set mentions."""
    mentioned = {v.uid for expr in set_exprs(set_) for v in parts(expr) if isinstance(v, Variable)}
    return [place for place, slot in enumerate(slots) if slot.variable.uid in mentioned]


def relevant(slots: Sequence[CheckedSlot], set_: SetExpr) -> list[CheckedSlot]:
    """The slots that decide a set: those it mentions, those which their sets mention, and so on."""
    places = set(depends_on(slots, set_))
    for place in reversed(range(len(slots))):
        if place in places:
            places.update(depends_on(slots[:place], slots[place].ranged.set))
    return [slots[place] for place in sorted(places)]


def group_rows(rows: IntArray) -> list[tuple[list[int], IntArray]]:
    """Distinct rows, each with the places where it stands."""
    if not len(rows):
        return []
    if not rows.shape[1]:
        return [([], np.arange(len(rows)))]
    keys = row_keys(rows)
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order])) + 1
    return [(rows[group[0]].tolist(), group) for group in np.split(order, starts)]


def row_keys(rows: npt.NDArray[np.integer]) -> IntArray:
    """One integer per row, equal for equal rows only."""
    widths = row_widths(rows)
    if widths:
        return packed_keys([*rows.T], widths)
    key, top = np.zeros(len(rows), dtype=np.int64), 1  # each key is below `top`
    for column in rows.T:
        width = int(column.max(initial=0)) + 1
        if top * width >= 2**62:
            key = np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64)
            top = int(key.max(initial=0)) + 1
        key *= width
        key += column
        top *= width
    return key


def row_widths(rows: npt.NDArray[np.integer]) -> list[int] | None:
    """What is above all cells of each column, where a digit of each makes one number; None where it is too
    large."""
    widths = [int(column.max(initial=0)) + 1 for column in rows.T]
    return widths if math.prod(widths) < 2**62 else None


def packed_keys(columns: Sequence[npt.NDArray[np.integer]], widths: Sequence[int]) -> IntArray:
    """The numbers whose digits are the cells of columns, each below its width."""
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for column, width in zip(columns, widths, strict=True):
        key *= width
        key += column
    return key


def _extended(rows: IntArray, blocks: Sequence[Block]) -> IntArray:
    if not len(rows):
        return np.zeros((0, rows.shape[1] + 1), dtype=np.int64)
    extended = [
        np.column_stack([np.repeat(rows[group], len(ids), axis=0), np.tile(ids, len(group))])
        for group, ids in blocks
    ]
    origin = np.concatenate([np.repeat(group, len(ids)) for group, ids in blocks])
    return np.concatenate(extended)[np.argsort(origin, kind="stable")]
