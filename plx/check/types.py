"""Types and families of types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from plx.check import fixed
from plx.check.context import Context
from plx.check.entries import key_table, refuse_else
from plx.check.program import TypeInfo
from plx.check.rows import check_index, report_duplicates, report_gaps
from plx.check.sets import resolve_set
from plx.check.slots import check_slots, indexes, infos
from plx.check.typed import BrokenEntry, CheckedSlot, Entry, TypeEntry, kind_of
from plx.data.table import Table
from plx.errors import Note
from plx.syntax import ast
from plx.syntax.printer import print_value
from plx.values import IntArray, distinct
from plx.weights import WeightError

_LARGEST_FAMILY = 200_000
"""The most indexes of a family given by an expression."""

Family = dict[tuple[int, ...], IntArray]


def check_type(ctx: Context, node: ast.TypeDecl) -> Entry:
    """A type with its members, or a family with a set per index."""
    entry = _checked(ctx, node)
    if isinstance(entry, BrokenEntry) and not _lists_symbols(node.value):
        ctx.unknown_members = True
    return entry


def _lists_symbols(value: ast.Expr | ast.File | None) -> bool:
    """Whether all symbols of a type are known although it is wrong."""
    if not isinstance(value, ast.Braces) or not value.entries:
        return False
    return all(entry.key is None and not isinstance(entry.value, ast.Braces) for entry in value.entries)


def _checked(ctx: Context, node: ast.TypeDecl) -> Entry:
    slots, env, wrong = check_slots(ctx, node.slots)
    refuse_else(ctx, node, "type")
    if wrong or node.name.text in ctx.data.broken:
        return BrokenEntry(slots)
    table = ctx.data.tables.get(node.name.text)
    if not slots:
        members = _written(ctx, node) if table is None else _given(ctx, node, table)
        return BrokenEntry(slots) if members is None else _entry(ctx, node, members, slots, None)
    family = _given_family(ctx, table, slots) if table else _written_family(ctx, node, slots, env)
    return BrokenEntry(slots) if family is None else _entry(ctx, node, _union(family), slots, family)


def _entry(
    ctx: Context, node: ast.TypeDecl, members: IntArray, slots: Sequence[CheckedSlot], family: Family | None
) -> Entry:
    if not len(members):
        ctx.error(node.name.span, f"the type `{node.name.text}` is empty")
        return BrokenEntry(tuple(slots))
    info = TypeInfo(node.name.text, members, infos(slots), family, node.name.span)
    possible = distinct(members)
    return TypeEntry(info, tuple(slots), kind_of(ctx.values, possible), possible)


def _union(family: Mapping[tuple[int, ...], IntArray]) -> IntArray:
    sets = list({id(members): members for members in family.values()}.values())
    return fixed.first_occurrences(np.concatenate(sets)) if sets else np.zeros(0, dtype=np.int64)


# ----------------------------------------------------------------------------- plain


def _given(ctx: Context, node: ast.TypeDecl, table: Table) -> IntArray | None:
    assert table.value is not None
    _warn_of_heading(ctx, node, table, table.value)
    as_index = Table(table.name, table.value[:, None], None, table.origin)
    return None if _duplicates(ctx, as_index) else table.value


_HEADINGS = (
    "code",
    "id",
    "index",
    "item",
    "key",
    "label",
    "member",
    "name",
    "node",
    "symbol",
    "title",
    "value",
)
"""What columns are often called, and members hardly ever."""


def _warn_of_heading(ctx: Context, node: ast.TypeDecl, table: Table, members: IntArray) -> None:
    """Report a first row that was read as a member and may be the name of the column."""
    if table.named is None or len(members) < 2:
        return
    first = ctx.values[int(members[0])]
    if not isinstance(first, str):
        return
    others = (ctx.values[member] for member in members[1:].tolist())
    if first.casefold().removesuffix("s") in _HEADINGS or not any(isinstance(other, str) for other in others):
        message = f"the first row, `{first}`, is read as a member of `{table.name}`"
        hint = f"if it names the column, call it `{table.name}`"
        if isinstance(node.value, ast.File):
            hint += f", or write `columns ({print_value(first)})` after the file"
        where = node.value.span if isinstance(node.value, ast.File) else node.name.span
        ctx.warn("PLX111", where, message, hint)


def _duplicates(ctx: Context, table: Table) -> bool:
    return report_duplicates(ctx, table, table.index)


def _written(ctx: Context, node: ast.TypeDecl) -> IntArray | None:
    value = _value(ctx, node)
    return None if value is None else _closed(ctx, value)


def _value(ctx: Context, node: ast.TypeDecl) -> ast.Expr | None:
    if node.value is None:
        name = node.name.text
        hint = f'write `type {name} = {{…}}` or `type {name} from "file.csv"`, or give {name}=[…]'
        ctx.error(node.name.span, f"the type `{name}` has no members", hint)
    return node.value if not isinstance(node.value, ast.File) else None


def _repeated(ctx: Context, value: ast.Expr) -> bool:
    """Report a symbol that stands twice in the braces of a type."""
    if not isinstance(value, ast.Braces):
        return False
    seen: dict[ast.Expr, ast.Expr] = {}
    wrong = False
    for entry in value.entries:
        first = seen.setdefault(_plain(entry.value), entry.value)
        if first is not entry.value:
            note = Note("the first one is here", first.span)
            ctx.error(entry.span, f"`{entry.span.text}` is listed twice", None, [note])
            wrong = True
    return wrong


def _plain(node: ast.Expr) -> ast.Expr:
    """``a`` and ``"a"`` are one symbol."""
    return ast.Quoted(node.text, span=node.span) if isinstance(node, ast.Name) else node


# -------------------------------------------------------------------------- families


def _given_family(ctx: Context, table: Table, slots: Sequence[CheckedSlot]) -> Family | None:
    assert table.value is not None
    index = check_index(ctx, table, slots)
    pairs = Table(table.name, np.column_stack([table.index, table.value]), None, table.origin)
    if index is None or _duplicates(ctx, pairs):
        return None
    family: Family = {tuple(key): np.zeros(0, dtype=np.int64) for key in _indexes(ctx, slots)}
    members: dict[tuple[int, ...], list[int]] = {}
    for key, member in zip(map(tuple, index.tolist()), table.value.tolist(), strict=True):
        members.setdefault(key, []).append(member)
    family.update({key: np.array(ids, dtype=np.int64) for key, ids in members.items()})
    return family


def _indexes(ctx: Context, slots: Sequence[CheckedSlot]) -> list[list[int]]:
    found: list[list[int]] = indexes(ctx, slots, _LARGEST_FAMILY).tolist()
    return found


def _written_family(
    ctx: Context, node: ast.TypeDecl, slots: Sequence[CheckedSlot], env: Mapping[str, object]
) -> Family | None:
    value = _value(ctx, node)
    if value is None:
        return None
    if isinstance(value, ast.Braces) and any(e.key is not None or e.otherwise for e in value.entries):
        return _family_table(ctx, node, value, slots)
    return _family_expression(ctx, node, value, slots, env)


def _family_expression(
    ctx: Context, node: ast.TypeDecl, value: ast.Expr, slots: Sequence[CheckedSlot], env: Mapping[str, object]
) -> Family | None:
    """``type Below(n: Level) = 0..n``: one set per index."""
    ranged = resolve_set(ctx, env, value, introduce=True)  # type: ignore[arg-type]
    if ranged.broken:
        return None
    uids = [slot.variable.uid for slot in slots]
    try:
        keys = _indexes(ctx, slots)
        bindings = [dict(zip(uids, key, strict=True)) for key in keys]
        return dict(zip(map(tuple, keys), fixed.members_of_each(ctx, ranged.set, bindings), strict=True))
    except (fixed.NoValueError, WeightError) as mistake:
        ctx.error(value.span, str(mistake))
        return None


def _family_table(
    ctx: Context, node: ast.TypeDecl, braces: ast.Braces, slots: Sequence[CheckedSlot]
) -> Family | None:
    """``{theory: {logic, sets}, else: {}}``."""
    entries = [entry for entry in braces.entries if not entry.otherwise]
    if len(braces.entries) > len(entries) + 1:
        ctx.error(braces.span, "a table has one `else`")
        return None
    for entry in entries:
        if entry.key is None:
            ctx.error(entry.span, f"`{node.name.text}` is a family: write `index: {{…}}`")
            return None
    keys = ast.Braces(tuple(ast.Entry(e.key, span=e.span) for e in entries if e.key), span=braces.span)
    table = key_table(ctx, node.name.text, keys, slots)
    index = None if table is None else check_index(ctx, table, slots)
    sets = [_closed(ctx, entry.value) for entry in entries]
    others = [_closed(ctx, entry.value) for entry in braces.entries if entry.otherwise]
    whole = [found for found in (*sets, *others) if found is not None]
    if table is None or index is None or len(whole) < len(braces.entries):
        return None
    if report_duplicates(ctx, table, index):
        return None
    if not others and report_gaps(ctx, node.name.text, slots, index, braces.span):
        return None
    family: Family = {tuple(key): whole[-1] for key in _indexes(ctx, slots)} if others else {}
    family.update(zip(map(tuple, index.tolist()), whole, strict=False))
    return family


def _closed(ctx: Context, node: ast.Expr) -> IntArray | None:
    """The members of a set that is written in full; its symbols are known even after a mistake."""
    ranged = resolve_set(ctx, {}, node, introduce=True)
    wrong = _repeated(ctx, node)
    return None if wrong or ranged.broken else fixed.members(ctx, ranged.set, {})
