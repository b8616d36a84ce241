"""Evidence: tables of what was observed, in a file, in the program, or given by the caller."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from plx.check.arguments import count, need_fixed
from plx.check.context import Context, Wanted, contains
from plx.check.entries import constant, value_table
from plx.check.grids import observed
from plx.check.program import BOOLEAN, Const, Evidence, Rule, SetConst, SetExpr
from plx.check.rows import check_index, check_values, other_reading
from plx.check.statements import check_rule
from plx.check.typed import BrokenEntry, RandomEntry
from plx.data.table import Table
from plx.errors import did_you_mean
from plx.source import Span
from plx.syntax import ast
from plx.values import FALSE, TRUE, IntArray


def check_observe(ctx: Context, node: ast.Observe) -> Rule | Evidence | None:
    """``observe F``, or a table of what was observed: ``observe f = {…}`` where ``f`` has slots."""
    match node.formula:
        case ast.Compare((ast.Name() as name, ast.Braces() as braces), ("=",)):
            entry = ctx.entries.get(name.text)
            if isinstance(entry, RandomEntry) and entry.slots:
                return _written(ctx, entry, braces, node)
            if not isinstance(entry, RandomEntry):
                _not_observable(ctx, name)
                return None
        case ast.Compare((ast.Name() as name, value), ("=",)):
            entry = ctx.entries.get(name.text)
            if isinstance(entry, RandomEntry) and entry.slots:
                hint = f"`observe {name.text} = {{else: {value.span.text}}}` says it at every index"
                ctx.error(name.span, f"`{name.text}` takes {count(len(entry.slots))}", hint)
                return None
    return check_rule(ctx, node)


def _not_observable(ctx: Context, name: ast.Name) -> None:
    """Report a table of what is no random function."""
    if isinstance(ctx.entries.get(name.text), BrokenEntry):
        return
    randoms = [n for n, d in ctx.declarations.items() if isinstance(d, ast.RandomDecl)]
    message = f"`{name.text}` is no random function, so it cannot be observed"
    ctx.error(name.span, message, did_you_mean(name.text, randoms))


def _written(ctx: Context, entry: RandomEntry, braces: ast.Braces, node: ast.Observe) -> Evidence | None:
    if node.scope is not None:
        ctx.error(node.scope.span, "a table of observations has an entry for each index, and no `for`")
        return None
    alone = TRUE if entry.domain is None else None
    written = value_table(
        ctx, entry.info.name, braces, entry.slots, lambda value: _cell(ctx, entry, value), alone
    )
    if written is None:
        return None
    rest = written.default.value if written.default else None
    return _evidence(ctx, entry, written.table, node.span, rest)


def check_observation(ctx: Context, node: ast.ObserveFrom) -> Evidence | None:
    """``observe f from "file"``: the rows of the file, or None where the caller gave others."""
    name = node.name.text
    entry = ctx.entries.get(name)
    if not isinstance(entry, RandomEntry):
        _not_observable(ctx, node.name)
        return None
    table = ctx.data.evidence.get(name, {}).get(node.file)
    return None if table is None else _evidence(ctx, entry, table, node.span, node.file.otherwise)


def given_evidence(ctx: Context, module: ast.Module) -> Iterator[Evidence]:
    """What the caller gave for random functions, in place of what files say.

    The ``else`` of the program stays, unless the caller gave one.
    """
    rest: dict[str, ast.Expr] = {}
    for statement in module.statements:
        if isinstance(statement, ast.ObserveFrom) and statement.file.otherwise is not None:
            rest.setdefault(statement.name.text, statement.file.otherwise)
    for name, tables in ctx.data.evidence.items():
        entry = ctx.entries.get(name)
        table = tables.get(None)
        if table is not None and isinstance(entry, RandomEntry):
            found = _evidence(ctx, entry, table, entry.info.span, rest.get(name))
            if found is not None:
                yield found


def _evidence(
    ctx: Context, entry: RandomEntry, given: Table, span: Span, rest: ast.Expr | None
) -> Evidence | None:
    """The rows of a table and what ``rest`` says of all others, checked; None after reports."""
    name = entry.info.name
    table = observed(ctx, given, entry, span)
    asked = rest is not None or given.otherwise is not None
    otherwise = _otherwise(ctx, entry, given, rest) if asked else None
    if table is None or (asked and otherwise is None):
        return None
    index = check_index(ctx, table, entry.slots)
    value = None if index is None else _values(ctx, entry, table, index, span)
    if index is None or value is None:
        return None
    return Evidence(name, index, value, span, table.origin, otherwise)


def _values(ctx: Context, entry: RandomEntry, table: Table, index: IntArray, span: Span) -> IntArray | None:
    if table.value is not None:
        domain, words = _domain(entry, span)
        return check_values(ctx, table, index, entry.slots, domain, words)
    if entry.domain is not None and len(table.index):
        message = f"`{entry.info.name}` takes values in {entry.domain.words}: a column `value` is needed"
        ctx.error(table.origin.span(0, 0) or span, message)
        return None
    return np.full(len(table.index), TRUE, dtype=np.int64)


def _domain(entry: RandomEntry, span: Span) -> tuple[SetExpr, str]:
    if entry.domain is None:
        return SetConst((FALSE, TRUE), span=span), "true and false"
    return entry.domain.set, entry.domain.words


def _possible(entry: RandomEntry) -> IntArray | None:
    """The values that a random function has at some index, sorted; None if they are unknown."""
    return BOOLEAN if entry.domain is None else entry.domain.possible


def _value(ctx: Context, entry: RandomEntry, node: ast.Expr) -> Const | None:
    wanted = Wanted(_possible(entry), f"value of `{entry.info.name}`")
    return constant(ctx, need_fixed(ctx, ctx.resolve({}, node, wanted), "observed values"))


def _otherwise(ctx: Context, entry: RandomEntry, given: Table, rest: ast.Expr | None) -> Const | None:
    """The value of what a table does not list; None after a report."""
    value = None if rest is None else _value(ctx, entry, rest)
    possible = _possible(entry)
    if given.otherwise is not None:
        known = [] if possible is None else possible.tolist()
        read = given.otherwise if given.otherwise in known else other_reading(ctx, given.otherwise, known)
        value = Const(read, span=entry.info.span)
    return None if value is None else _possible_value(ctx, entry, value, ", the value of all others,")


def _cell(ctx: Context, entry: RandomEntry, node: ast.Expr) -> Const | None:
    """A value of a table in the text; None after a report."""
    value = _value(ctx, entry, node)
    return None if value is None else _possible_value(ctx, entry, value)


def _possible_value(ctx: Context, entry: RandomEntry, value: Const, what: str = "") -> Const | None:
    """The value if the random function has it at some index, else None after a report."""
    possible = _possible(entry)
    if possible is None or contains(possible, value.id):
        return value
    text = ctx.text(value.id)
    hint = ctx.suggest(text, possible, ()) or f"its values: {ctx.listing(possible)}"
    ctx.error(value.span, f"`{text}`{what} is no value of `{entry.info.name}`", hint)
    return None
