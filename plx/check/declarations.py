"""Params, relations, random functions and defines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from plx.check import fixed
from plx.check.arguments import need_fixed
from plx.check.context import Context
from plx.check.entries import constant, key_table, refuse_else, value_table
from plx.check.grids import laid_out
from plx.check.program import Const, ParamInfo, RandomInfo, RelationInfo
from plx.check.rows import check_index, repeats, report_duplicates, report_gaps, without
from plx.check.sets import introduced_symbol, resolve_set, run
from plx.check.slots import check_slots, indexes, infos, relevant
from plx.check.typed import (
    Abbreviation,
    BrokenEntry,
    CheckedSlot,
    Entry,
    ParamEntry,
    RandomEntry,
    Ranged,
    RelationEntry,
    Typed,
    broken,
    kind_of,
)
from plx.data.table import Table
from plx.errors import Note
from plx.syntax import ast
from plx.values import TRUE, IntArray, distinct
from plx.weights import WeightError

LARGEST_DOMAIN = 65_535
"""The most values of an unknown."""

_ENUMERATED = 200_000
"""Up to so many indexes a domain that depends on them is looked at one by one."""

_LARGEST_RELATION = 1_000_000
"""The most indexes over which a relation by formula is evaluated."""


# ---------------------------------------------------------------------------- params


def check_param(ctx: Context, node: ast.ParamDecl) -> Entry:
    """A table of fixed values, or an expression that is expanded in place."""
    name = node.name.text
    slots, env, wrong = check_slots(ctx, node.slots)
    if wrong or name in ctx.data.broken:
        return BrokenEntry(slots)
    if name in ctx.data.tables:
        return _from_outside(ctx, node, ctx.data.tables[name], slots)
    if node.value is None:
        hint = f'write `= …` or `from "file.csv"`, or give {name}=…'
        ctx.error(node.name.span, f"the param `{name}` has no value", hint)
    if node.value is None or isinstance(node.value, ast.File):
        return BrokenEntry(slots)
    if isinstance(node.value, ast.Braces):
        return _written(ctx, node, node.value, slots)
    return _by_expression(ctx, node, node.value, slots, env)


def _from_outside(ctx: Context, node: ast.ParamDecl, given: Table, slots: Sequence[CheckedSlot]) -> Entry:
    """A table of a file or of the caller. The program's ``else`` holds for both, if the caller gave none."""
    table = laid_out(ctx, given, slots, node.name.span)
    rest = node.value.otherwise if isinstance(node.value, ast.File) else None
    default = None if given.otherwise is None else Const(given.otherwise, span=node.name.span)
    if default is None and rest is not None:
        default = _value(ctx, rest)
        if default is None:
            return BrokenEntry(tuple(slots))
    return BrokenEntry(tuple(slots)) if table is None else _tabulated(ctx, node, table, slots, default)


def _written(ctx: Context, node: ast.ParamDecl, braces: ast.Braces, slots: Sequence[CheckedSlot]) -> Entry:
    name = node.name.text
    if not slots:
        ctx.error(braces.span, f"`{name}` has no slots, so it is one value and no table")
        return BrokenEntry(())
    written = value_table(ctx, name, braces, slots, lambda value: _value(ctx, value))
    if written is None:
        return BrokenEntry(tuple(slots))
    default = None
    if written.default is not None:
        default = _value(ctx, written.default.value)
        if default is None:
            return BrokenEntry(tuple(slots))
    return _tabulated(ctx, node, written.table, slots, default)


def _value(ctx: Context, node: ast.Expr) -> Const | None:
    return constant(ctx, need_fixed(ctx, ctx.resolve({}, node), "the values of a param"))


def _tabulated(
    ctx: Context, node: ast.ParamDecl, table: Table, slots: Sequence[CheckedSlot], default: Const | None
) -> Entry:
    name = node.name.text
    index = check_index(ctx, table, slots)
    if index is None or report_duplicates(ctx, table, index):
        return BrokenEntry(tuple(slots))
    span = node.name.span if table.name in ctx.data.tables else node.span
    if default is None and report_gaps(ctx, name, slots, index, span):
        return BrokenEntry(tuple(slots))
    assert table.value is not None
    used = table.value if default is None else np.append(table.value, default.id)
    possible = distinct(used)
    info = ParamInfo(name, infos(slots), index, table.value, default.id if default else None, node.name.span)
    return ParamEntry(info, tuple(slots), kind_of(ctx.values, possible), possible, _odd_one(ctx, table))


def _odd_one(ctx: Context, table: Table) -> Note | None:
    """Where a table of numbers holds something else first; None for a table without numbers."""
    assert table.value is not None
    other = np.isnan(ctx.values.floats(table.value))
    if other.all() or not other.any():
        return None
    row = int(np.argmax(other))
    where = table.origin.span(row, table.index.shape[1])
    return Note(f"`{ctx.text(int(table.value[row]))}` is no number{table.origin.words(row)}", where)


def _by_expression(
    ctx: Context, node: ast.ParamDecl, value: ast.Expr, slots: Sequence[CheckedSlot], env: Mapping[str, Typed]
) -> Entry:
    body = need_fixed(ctx, ctx.resolve(env, value), "params")
    if not slots and not body.broken:
        known = constant(ctx, body)
        if known is None:
            return BrokenEntry(())
        body = ctx.const_id(known.id, value.span)
    return Abbreviation(node.name.text, tuple(slots), body, node.name.span)


# ------------------------------------------------------------------------- relations


def check_relation(ctx: Context, node: ast.RelationDecl) -> Entry:
    """A list of facts; by formula, all indexes at which it holds."""
    name = node.name.text
    slots, env, wrong = check_slots(ctx, node.slots)
    refuse_else(ctx, node, "relation")
    if wrong or name in ctx.data.broken:
        return BrokenEntry(slots)
    table: Table | None
    if name in ctx.data.tables:
        table = laid_out(ctx, ctx.data.tables[name], slots, node.name.span, truth=True)
    else:
        if node.value is None:
            hint = f'write `= {{…}}` or `from "file.csv"`, or give {name}=[…]'
            ctx.error(node.name.span, f"the relation `{name}` has no facts", hint)
        if node.value is None or isinstance(node.value, ast.File):
            return BrokenEntry(slots)
        if not isinstance(node.value, ast.Braces):
            return _by_formula(ctx, node, node.value, slots, env)
        table = key_table(ctx, name, node.value, slots)
    index = None if table is None else check_index(ctx, table, slots)
    if index is None or table is None:
        return BrokenEntry(slots)
    return _relation(node, slots, index if table.grid is None else index[table.value == TRUE])


def _relation(node: ast.RelationDecl, slots: Sequence[CheckedSlot], index: IntArray) -> Entry:
    again = repeats(index)
    facts = without(index, again) if len(again) else index
    narrow = facts.astype(np.int32, order="K", copy=False)
    return RelationEntry(RelationInfo(node.name.text, infos(slots), narrow, node.name.span), tuple(slots))


def _by_formula(
    ctx: Context,
    node: ast.RelationDecl,
    value: ast.Expr,
    slots: Sequence[CheckedSlot],
    env: Mapping[str, Typed],
) -> Entry:
    body = need_fixed(ctx, ctx.formula(env, value), "relations")
    if body.broken:
        return BrokenEntry(tuple(slots))
    uids = [slot.variable.uid for slot in slots]
    try:
        every = indexes(ctx, slots, _LARGEST_RELATION)
        holds = [
            fixed.evaluate(ctx, body.expr, dict(zip(uids, key, strict=True))) == TRUE
            for key in every.tolist()
        ]
    except (fixed.NoValueError, WeightError) as mistake:
        ctx.error(value.span, str(mistake))
        return BrokenEntry(tuple(slots))
    return _relation(node, slots, every[np.array(holds, dtype=bool)])


# --------------------------------------------------------------------------- randoms


def check_random(ctx: Context, node: ast.RandomDecl) -> Entry:
    """A random function: its slots, its value domain and its guard."""
    slots, env, wrong = check_slots(ctx, node.slots)
    domain = None if node.domain is None else resolve_set(ctx, env, node.domain, introduce=True)
    guard = None if node.guard is None else need_fixed(ctx, ctx.formula(env, node.guard), "guards")
    if wrong or (domain and domain.broken) or (guard and guard.broken):
        return BrokenEntry(slots)
    if domain is not None and not _sized(ctx, node, slots, domain):
        return BrokenEntry(slots)
    if domain is not None and domain.possible is not None and domain.possible.tolist() == [0, 1]:
        domain = None
    info = RandomInfo(
        node.name.text,
        infos(slots),
        domain.set if domain else None,
        guard.expr if guard else None,
        node.name.span,
    )
    return RandomEntry(info, slots, domain)


def _sized(ctx: Context, node: ast.RandomDecl, slots: Sequence[CheckedSlot], domain: Ranged) -> bool:
    """Report a domain that is empty or too large, at any index where that can be told."""
    assert node.domain is not None
    name = node.name.text
    try:
        for key, size in _sizes(ctx, node, slots, domain):
            where = f" at {ctx.texts(key)}" if key else ""
            if size == 0:
                ctx.error(node.domain.span, f"`{name}` has no value{where}: its domain is empty")
                return False
            if size > LARGEST_DOMAIN:
                limit = f"at most {LARGEST_DOMAIN:,} are possible"
                ctx.error(node.domain.span, f"the domain of `{name}` has {size:,} values{where}; {limit}")
                return False
    except (fixed.NoValueError, WeightError) as mistake:
        ctx.error(node.domain.span, str(mistake))
        return False
    return True


def _sizes(
    ctx: Context, node: ast.RandomDecl, slots: Sequence[CheckedSlot], domain: Ranged
) -> Iterator[tuple[list[int], int]]:
    """The size of a domain at the indexes that decide it; none where a guard does, or there are too many."""
    deciding = relevant(slots, domain.set)
    if node.guard is not None and deciding:
        return
    try:
        every = indexes(ctx, deciding, _ENUMERATED).tolist()
    except fixed.NoValueError:
        return
    uids = [slot.variable.uid for slot in deciding]
    room = fixed.MOST_MEMBERS
    for key in every:
        size = fixed.size(ctx, domain.set, dict(zip(uids, key, strict=True)), LARGEST_DOMAIN)
        yield key, size
        room -= size
        if room < 0:
            return


def introduce_domains(ctx: Context) -> None:
    """Make the symbols that stand in the braces of value domains known before anything uses them."""
    for node in ctx.declarations.values():
        if isinstance(node, ast.RandomDecl) and node.domain is not None:
            env = {slot.name.text: broken(slot.span) for slot in node.slots if slot.name}
            _introduce(ctx, env, node.domain)


def _introduce(ctx: Context, env: Mapping[str, Typed], node: ast.Expr) -> None:
    while isinstance(node, ast.Binary) and node.op == "or":
        _introduce(ctx, env, node.right)
        node = node.left
    if isinstance(node, ast.Binary) and node.op == "..":
        _introduce_run(ctx, node)
    elif isinstance(node, ast.Braces):
        for entry in node.entries:
            if isinstance(entry.value, ast.Name | ast.Quoted):
                introduced_symbol(ctx, env, entry.value)
            else:
                _introduce(ctx, env, entry.value)


def _introduce_run(ctx: Context, node: ast.Binary) -> None:
    ends = (node.left, node.right)
    if all(isinstance(end, ast.Name | ast.Quoted) and end.text not in ctx.declarations for end in ends):
        try:
            texts = run(node.left.text, node.right.text)  # type: ignore[union-attr]
        except ValueError:
            return
        ctx.introduced.update(ctx.values.ids(texts).tolist())


# --------------------------------------------------------------------------- defines


def check_define(ctx: Context, node: ast.DefineDecl) -> Entry:
    """An abbreviation: its body is checked once, for all members of its slots."""
    slots, env, wrong = check_slots(ctx, node.slots)
    with ctx.learning(True):
        body = ctx.resolve(env, node.body)
    if wrong:
        return BrokenEntry(slots)
    return Abbreviation(node.name.text, slots, body, node.name.span)
