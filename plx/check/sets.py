"""Sets: types, families, ranges, runs, braces and unions."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from plx.check import build, fixed
from plx.check.arguments import checked_arguments, need_fixed
from plx.check.context import Context, Env, union
from plx.check.declaration_order import is_abbreviation
from plx.check.program import (
    Const,
    SetConst,
    SetExpr,
    SetItems,
    SetRange,
    SetType,
    SetUnion,
)
from plx.check.typed import (
    BrokenEntry,
    Ranged,
    RelationEntry,
    Typed,
    TypeEntry,
    ValueKind,
    broken_set,
    kind_of,
)
from plx.errors import did_you_mean
from plx.source import Span
from plx.syntax import ast
from plx.syntax.foreign import DISCRETE_ONLY, SETS, distribution
from plx.syntax.printer import print_value
from plx.values import FALSE, TRUE, IntArray, distinct
from plx.weights import WeightError


def resolve_set(ctx: Context, env: Env, node: ast.Expr, introduce: bool = False) -> Ranged:
    """A set. With ``introduce``, bare names in braces are new symbols: in types and value domains."""
    with ctx.learning(False):
        return _resolved(ctx, env, node, introduce)


def _resolved(ctx: Context, env: Env, node: ast.Expr, introduce: bool) -> Ranged:
    match node:
        case ast.Name():
            return _named(ctx, env, node)
        case ast.Apply():
            return _family(ctx, env, node)
        case ast.Braces():
            return _braces(ctx, env, node, introduce)
        case ast.Binary(op=".."):
            return _range(ctx, env, node, introduce)
        case ast.Binary(op="or"):
            return _union(ctx, env, node, introduce)
    return _no_set(ctx, node)


def _no_set(ctx: Context, node: ast.Expr) -> Ranged:
    ctx.error(
        node.span, "a set is expected here", hint="a type, a range `0..4`, `{a, b}`, or sets joined by `|`"
    )
    return broken_set(node.span)


def finish(ctx: Context, set_: SetExpr, kind: ValueKind, possible: IntArray | None, span: Span) -> Ranged:
    """A set, folded to its members where it is closed."""
    try:
        set_ = build.closed_set(ctx, set_)
    except (fixed.NoValueError, WeightError) as mistake:
        ctx.error(span, str(mistake))
        return broken_set(span)
    if isinstance(set_, SetConst):
        possible = distinct(np.array(set_.ids, dtype=np.int64))
        kind = kind_of(ctx.values, possible)
    home = set_.name if isinstance(set_, SetType) else None
    return Ranged(set_, kind, possible, span.text, home)


# -------------------------------------------------------------------- types by name


def _hidden(ctx: Context, env: Env, node: ast.Name) -> Ranged:
    """A bound variable hides whatever is declared by its name."""
    ctx.error(
        node.span, f"`{node.text}` is a bound variable here; a set is expected", None, [env[node.text].note]
    )
    return broken_set(node.span)


def _named(ctx: Context, env: Env, node: ast.Name) -> Ranged:
    if node.text in env:
        return _hidden(ctx, env, node)
    entry = ctx.entries.get(node.text)
    if isinstance(entry, TypeEntry):
        return Ranged(SetType(node.text, span=node.span), entry.kind, entry.possible, node.text, node.text)
    if isinstance(entry, BrokenEntry):
        return broken_set(node.span)
    if isinstance(entry, RelationEntry):
        names = ", ".join("uvwxyz"[: len(entry.slots)]) or "…"
        message = f"`{node.text}` is a relation; a set is expected here"
        ctx.error(node.span, message, hint=f"bind its tuples: `for ({names}) in {node.text}`")
    elif entry is not None:
        return _no_set(ctx, node)
    elif node.text == "Boolean":
        return finish(ctx, SetConst((FALSE, TRUE), span=node.span), ValueKind.TRUTH, None, node.span)
    elif ctx.symbol(node.text) is not None:
        ctx.error(node.span, f"`{node.text}` is a symbol; a set is expected here", f"write `{{{node.text}}}`")
    else:
        types = [name for name, d in ctx.declarations.items() if isinstance(d, ast.TypeDecl)]
        hint = SETS.get(node.text.lower()) or did_you_mean(node.text, types)
        ctx.error(node.span, f"there is no type `{node.text}`", hint)
    return broken_set(node.span)


def _family(ctx: Context, env: Env, node: ast.Apply) -> Ranged:
    name = node.name.text
    if name in env:
        return _hidden(ctx, env, node.name)
    entry = ctx.entries.get(name)
    if isinstance(entry, BrokenEntry):
        return broken_set(node.span)
    if not isinstance(entry, TypeEntry):
        types = [n for n, d in ctx.declarations.items() if isinstance(d, ast.TypeDecl) and d.slots]
        message = f"there is no family of types `{name}`" if entry is None else f"`{name}` is no type"
        hint = did_you_mean(name, types) or distribution(name)
        ctx.error(node.name.span, message, hint)
        return broken_set(node.span)
    arguments = checked_arguments(ctx, env, node, entry.slots)
    if arguments is None:
        return broken_set(node.span)
    set_ = SetType(name, tuple([argument.expr for argument in arguments]), span=node.span)
    found = finish(ctx, set_, entry.kind, entry.possible, node.span)
    return Ranged(found.set, found.kind, found.possible, found.words, name, found.broken)


# --------------------------------------------------------------------------- braces


def _braces(ctx: Context, env: Env, node: ast.Braces, introduce: bool) -> Ranged:
    parts: list[Typed | Ranged] = []
    for entry in node.entries:
        if entry.key is not None or entry.otherwise:
            ctx.error(entry.span, "a set has members only, this is an entry of a table")
            return broken_set(node.span)
        parts.append(_item(ctx, env, entry.value, introduce))
    if any(part.broken for part in parts):
        return broken_set(node.span)
    items = [part for part in parts if isinstance(part, Typed)]
    if len(items) == len(parts):
        return _items(ctx, items, node.span)
    sets = [part.set if isinstance(part, Ranged) else _items(ctx, [part], node.span).set for part in parts]
    return _joined(ctx, sets, parts, node.span)


def _items(ctx: Context, items: Sequence[Typed], span: Span) -> Ranged:
    """``{e1, e2}``: a constant where every item is one."""
    exprs = tuple([item.expr for item in items])
    if all(isinstance(expr, Const) for expr in exprs):
        ids = dict.fromkeys(expr.id for expr in exprs if isinstance(expr, Const))
        return finish(ctx, SetConst(tuple(ids), span=span), ValueKind.ANY, None, span)
    kind = ValueKind.NONE
    for item in items:
        kind |= item.kind
    return finish(ctx, SetItems(exprs, span=span), kind, union(item.possible for item in items), span)


def _item(ctx: Context, env: Env, node: ast.Expr, introduce: bool) -> Typed | Ranged:
    if isinstance(node, ast.Binary) and node.op == "..":
        return _range(ctx, env, node, introduce)
    if introduce and isinstance(node, ast.Name | ast.Quoted):
        new = introduced_symbol(ctx, env, node)
        if new is not None:
            _warn_truth(ctx, node)
            return ctx.const(new, node.span)
    typed = ctx.resolve(env, node)
    return typed if typed.broken else need_fixed(ctx, typed, "the members of a set")


def _warn_truth(ctx: Context, node: ast.Name | ast.Quoted) -> None:
    if isinstance(node, ast.Name) and node.text.lower() in ("true", "false"):
        hint = f'write `{node.text.lower()}`, or "{node.text}" in quotes if the symbol is meant'
        ctx.warn("PLX108", node.span, f"`{node.text}` is a symbol here, no truth value", hint)


def introduced_symbol(ctx: Context, env: Env, node: ast.Name | ast.Quoted) -> str | None:
    """The symbol that a name in braces stands for, unless it is a variable, a param or a define."""
    bare = isinstance(node, ast.Name)
    declaration = ctx.declarations.get(node.text)
    if bare and isinstance(declaration, ast.LearnDecl) and not declaration.slots:
        message = f"`{node.text}` is a member here, and declared as a number that is learned"
        ctx.error(node.span, message, "give one of them another name")
    elif bare and (node.text in env or is_abbreviation(declaration)):
        return None
    ctx.introduced.add(ctx.values.id(node.text))
    return node.text


# ----------------------------------------------------------------- ranges and unions


_RUN = re.compile(r"(.*?)(\d+)")


def _range(ctx: Context, env: Env, node: ast.Binary, introduce: bool) -> Ranged:
    if _is_symbol(ctx, env, node.left) and _is_symbol(ctx, env, node.right):
        return _run(ctx, node, introduce)
    decimal = next((end for end in (node.left, node.right) if _is_decimal(end)), None)
    if decimal is not None:
        hint = f"{DISCRETE_ONLY}; for steps of a tenth take `0..10` and divide by 10"
        ctx.error(node.span, f"a range goes over integers, and `{decimal.span.text}` is a decimal", hint)
        return broken_set(node.span)
    ends = [need_fixed(ctx, ctx.number(env, end), "the ends of a range") for end in (node.left, node.right)]
    if any(end.broken for end in ends):
        return broken_set(node.span)
    set_ = SetRange(ends[0].expr, ends[1].expr, span=node.span)
    return finish(ctx, set_, ValueKind.NUMBER, None, node.span)


def _is_decimal(node: ast.Expr) -> bool:
    """``0.0`` and ``-0.5``: who writes the point means all numbers in between."""
    while isinstance(node, ast.Unary):
        node = node.operand
    return isinstance(node, ast.Number) and "." in node.span.text


def _is_symbol(ctx: Context, env: Env, node: ast.Expr) -> bool:
    if isinstance(node, ast.Quoted):
        return True
    if not isinstance(node, ast.Name) or node.text in env:
        return False
    declaration = ctx.declarations.get(node.text)
    return declaration is None or bool(declaration.slots) or isinstance(declaration, ast.TypeDecl)


def _run(ctx: Context, node: ast.Binary, introduce: bool) -> Ranged:
    assert isinstance(node.left, ast.Name | ast.Quoted) and isinstance(node.right, ast.Name | ast.Quoted)
    try:
        texts = run(node.left.text, node.right.text)
    except ValueError as mistake:
        ctx.error(node.span, str(mistake), hint="write e.g. `s1..s30` or `s01..s30`")
        return broken_set(node.span)
    ids = ctx.values.ids(texts)
    if introduce:
        ctx.introduced.update(ids.tolist())
    else:
        unknown = [text for text in texts if ctx.symbol(text) is None]
        if unknown and not ctx.unknown_members:
            ctx.error(node.span, f"`{print_value(unknown[0])}` is a member of no type")
        if unknown:
            return broken_set(node.span)
    return finish(ctx, SetConst(tuple(ids.tolist()), span=node.span), ValueKind.SYMBOL, None, node.span)


def run(first: str, last: str) -> list[str]:
    """The symbols from ``s1`` to ``s30``, or from ``s01`` to ``s30``. Raises ValueError."""
    a, b = _RUN.fullmatch(first), _RUN.fullmatch(last)
    if not a or not b or a[1] != b[1]:
        raise ValueError(f"`{first}..{last}`: the ends of a run differ in their final number only")
    padded = a[2][0] == "0" and len(a[2]) > 1
    if padded and len(a[2]) != len(b[2]):
        raise ValueError(f"`{first}..{last}`: with leading zeros both ends need as many digits")
    low, high = int(a[2]), int(b[2])
    if high - low >= fixed.LARGEST_RANGE:
        raise ValueError(f"`{first}..{last}` has more than {fixed.LARGEST_RANGE:,} members; {fixed.AS_DATA}")
    width = len(a[2]) if padded else 0
    return [f"{a[1]}{number:0{width}d}" for number in range(low, high + 1)]


def _union(ctx: Context, env: Env, node: ast.Binary, introduce: bool) -> Ranged:
    parts: list[ast.Expr] = []
    left: ast.Expr = node
    while isinstance(left, ast.Binary) and left.op == "or":
        parts.append(left.right)
        left = left.left
    found = [resolve_set(ctx, env, part, introduce) for part in (left, *reversed(parts))]
    if any(part.broken for part in found):
        return broken_set(node.span)
    return _joined(ctx, [part.set for part in found], found, node.span)


def _joined(ctx: Context, sets: Sequence[SetExpr], parts: Sequence[Typed | Ranged], span: Span) -> Ranged:
    kind = ValueKind.NONE
    for part in parts:
        kind |= part.kind
    return finish(ctx, SetUnion(tuple(sets), span=span), kind, union(p.possible for p in parts), span)


def not_a_value(ctx: Context, node: ast.Braces, membership: str | None = None) -> Typed:
    """The mistake of braces where a single value is expected; ``membership`` is what asks for that."""
    values = [entry for entry in node.entries if entry.key is None and not entry.otherwise]
    if len(values) < len(node.entries):
        hint = "a table in braces belongs to a declaration, or to `observe f = {…}` by itself"
    elif len(values) == 1:
        hint = f"write `{values[0].value.span.text}` without the braces"
    elif membership is not None:
        hint = f"`{membership} {node.span.text}` asks whether it is one of them"
    else:
        hint = f"write one value; `for x in {node.span.text}` after the statement goes over all of them"
    return ctx.fail(node.span, "a single value is expected here, this is a set", hint)
