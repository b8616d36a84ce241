"""The values of fixed, closed expressions and sets, one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from plx import weights
from plx.check.context import Context
from plx.check.program import (
    Aggregate,
    Const,
    Expr,
    Membership,
    Operation,
    ParamTerm,
    RandomTerm,
    Rank,
    RelationBinding,
    RelationTerm,
    Scope,
    SetBinding,
    SetConst,
    SetExpr,
    SetItems,
    SetRange,
    SetType,
    SetUnion,
    Variable,
)
from plx.check.typed import RelationEntry, TypeEntry
from plx.operators import apply
from plx.values import FALSE, TRUE, IntArray, Value

Binding = Mapping[int, int]
"""The value id of each bound variable, by its uid."""

LARGEST_RANGE = 5_000_000
"""The most members of a range."""

AS_DATA = "give larger types as data, a column of a file or an array"
"""What to do where a range has more."""


MOST_MEMBERS = 10_000_000
"""The most members that the sets of one family, or of one slot, have in all."""

MOST_INSTANCES = 1_000_000
"""The most instances of fixed aggregates that are worked out one by one for one declaration or rule."""


_Key = dict[int, Expr]
"""What each of some columns of a relation must be equal to."""


class NoValueError(ValueError):
    """An expression without a value: it is not fixed, or a table lacks an entry. The message is plain."""


def evaluate(ctx: Context, expr: Expr, env: Binding) -> int:
    """The value id of a fixed expression whose free variables are all in ``env``.

    Raises NoValue, and ArithmeticMistake where arithmetic has no result.
    """
    match expr:
        case Const():
            return expr.id
        case Variable():
            return env[expr.uid]
        case Operation():
            return _operation(ctx, expr, env)
        case ParamTerm():
            return param_value(ctx, expr.name, tuple([evaluate(ctx, a, env) for a in expr.arguments]))
        case RelationTerm():
            key = tuple([evaluate(ctx, a, env) for a in expr.arguments])
            return TRUE if key in facts(ctx, expr.name) else FALSE
        case Rank():
            return ctx.values.id(rank(ctx, expr.type, evaluate(ctx, expr.argument, env)))
        case Membership():
            return int(evaluate(ctx, expr.item, env) in set(members(ctx, expr.set, env)))
        case Aggregate():
            return _aggregate(ctx, expr, env)
        case RandomTerm():
            raise NoValueError(f"`{expr.name}` is random")


def _operation(ctx: Context, expr: Operation, env: Binding) -> int:
    if expr.op in ("and", "or"):
        stop = FALSE if expr.op == "and" else TRUE
        return stop if any(evaluate(ctx, a, env) == stop for a in expr.arguments) else 1 - stop
    arguments: list[Value] = [ctx.values[evaluate(ctx, a, env)] for a in expr.arguments]
    return ctx.values.id(apply(expr.op, *arguments))


def _aggregate(ctx: Context, expr: Aggregate, env: Binding) -> int:
    found = (evaluate(ctx, expr.body, inner) for inner in instances(ctx, expr.scope, env))
    if expr.kind == "alldifferent":
        values = list(found)
        return int(len(set(values)) == len(values))
    if expr.kind == "exists":
        return int(any(value == TRUE for value in found))
    if expr.kind == "forall":
        return int(all(value == TRUE for value in found))
    if expr.kind == "count":
        return ctx.values.id(sum(value == TRUE for value in found))
    return ctx.values.id(weights.total([ctx.values[value] for value in found]))  # type: ignore[misc]


def instances(ctx: Context, scope: Scope, env: Binding) -> Iterator[Binding]:
    """Every binding of a scope that satisfies its guard. Raises NoValue where there are too many."""
    for inner in _bindings(ctx, scope, _keys(scope, env), 0, dict(env)):
        ctx.instances += 1
        if ctx.instances > MOST_INSTANCES:
            raise NoValueError(f"this goes over more than {MOST_INSTANCES:,} fixed instances")
        if scope.guard is None or evaluate(ctx, scope.guard, inner) == TRUE:
            yield inner


def _bindings(
    ctx: Context, scope: Scope, keys: Sequence[_Key], at: int, env: dict[int, int]
) -> Iterator[Binding]:
    if at == len(scope.bindings):
        yield env
        return
    binding = scope.bindings[at]
    if isinstance(binding, RelationBinding):
        uids = [variable.uid for variable in binding.variables]
        known = {column: evaluate(ctx, value, env) for column, value in keys[at].items()}
        for row in _rows(ctx, binding.relation, known):
            env.update(zip(uids, row, strict=True))
            yield from _bindings(ctx, scope, keys, at + 1, env)
        return
    for member in members(ctx, binding.set, env):
        env[binding.variable.uid] = int(member)
        yield from _bindings(ctx, scope, keys, at + 1, env)


def _keys(scope: Scope, env: Binding) -> list[_Key]:
    """For every binding the columns of its facts that the guard equates with what is known by then."""
    pairs = [pair for part in _conjuncts(scope.guard) for pair in _equal(part)]
    known = set(env)
    found: list[_Key] = []
    for binding in scope.bindings:
        mine = (binding.variable,) if isinstance(binding, SetBinding) else binding.variables
        places = {variable.uid: place for place, variable in enumerate(mine)}
        decided = [(v, e) for v, e in pairs if v.uid in places and (isinstance(e, Const) or _uid(e) in known)]
        found.append({places[v.uid]: e for v, e in decided})
        known |= set(places)
    return found


def _equal(part: Expr) -> Iterator[tuple[Variable, Expr]]:
    """The variables of ``x = value`` and ``x = y``, each with the other side."""
    if isinstance(part, Operation) and part.op == "=":
        left, right = part.arguments
        yield from ((a, b) for a, b in ((left, right), (right, left)) if isinstance(a, Variable))


def _uid(expr: Expr) -> int | None:
    return expr.uid if isinstance(expr, Variable) else None


def _conjuncts(guard: Expr | None) -> Sequence[Expr]:
    if guard is None:
        return ()
    return guard.arguments if isinstance(guard, Operation) and guard.op == "and" else (guard,)


def _rows(ctx: Context, name: str, known: Binding) -> list[list[int]]:
    """The facts of a relation with these values in some columns."""
    columns = tuple(sorted(known))
    if (name, columns) not in ctx.fact_rows:
        found = ctx.fact_rows.setdefault((name, columns), {})
        for row in relation(ctx, name).info.facts.tolist():
            found.setdefault(tuple([row[column] for column in columns]), []).append(row)
    return ctx.fact_rows[name, columns].get(tuple([known[column] for column in columns]), [])


def members(ctx: Context, set_: SetExpr, env: Binding) -> IntArray:
    """The members of a set, in order, without duplicates. Raises as ``evaluate`` does."""
    match set_:
        case SetConst():
            return np.array(set_.ids, dtype=np.int64)
        case SetItems():
            return np.array(list(dict.fromkeys(evaluate(ctx, i, env) for i in set_.items)), dtype=np.int64)
        case SetRange():
            low, high = (integer(ctx, evaluate(ctx, end, env)) for end in (set_.low, set_.high))
            return integers(ctx, low, high)
        case SetType():
            return _type_members(ctx, set_, env)
    parts = [members(ctx, part, env) for part in set_.parts]
    return first_occurrences(np.concatenate(parts))


def size(ctx: Context, set_: SetExpr, env: Binding, limit: int) -> int:
    """The number of members, or a smaller one that is 0, or past ``limit``, exactly where the number is.

    A union is listed only where its parts leave that open.
    """
    match set_:
        case SetConst():
            return len(set_.ids)
        case SetRange():
            low, high = (integer(ctx, evaluate(ctx, end, env)) for end in (set_.low, set_.high))
            return max(0, high - low + 1)
        case SetUnion():
            sizes = [size(ctx, part, env, limit) for part in set_.parts]
            if max(sizes) > limit or sum(sizes) <= limit:
                return max(sizes)
    return len(members(ctx, set_, env))


def members_of_each(ctx: Context, set_: SetExpr, bindings: Sequence[Binding]) -> Iterator[IntArray]:
    """The members of a set at each binding. Raises NoValue if they would be too many in all."""
    room = MOST_MEMBERS
    for env in bindings:
        room -= size(ctx, set_, env, room)
        if room < 0:
            total = f"the {len(bindings):,} sets have more than {MOST_MEMBERS:,} members in all"
            raise NoValueError(f"{total}; bind over fewer indexes, or give smaller sets")
    return (members(ctx, set_, env) for env in bindings)


def first_occurrences(ids: IntArray) -> IntArray:
    """The array without later duplicates, order kept."""
    _, first = np.unique(ids, return_index=True)
    return ids if len(first) == len(ids) else ids[np.sort(first)]


def integers(ctx: Context, low: int, high: int) -> IntArray:
    """The ids of low..high. Raises NoValue where they are far too many."""
    if high - low >= LARGEST_RANGE:
        ends = f"{weights.shown(low)}..{weights.shown(high)}"
        raise NoValueError(f"the range {ends} has more than {LARGEST_RANGE:,} members; {AS_DATA}")
    if abs(low) >= 2**62:
        return ctx.values.ids(range(low, high + 1))
    return ctx.values.ids_of_integers(np.arange(low, high + 1))


def integer(ctx: Context, index: int) -> int:
    """The integer with an id. Raises NoValue for anything else."""
    value = ctx.values[index]
    if isinstance(value, bool) or not isinstance(value, int):
        raise NoValueError(f"the ends of a range are integers, not {ctx.text(index)}")
    return value


def _type_members(ctx: Context, set_: SetType, env: Binding) -> IntArray:
    entry = ctx.entries[set_.name]
    if not isinstance(entry, TypeEntry):
        raise NoValueError(f"`{set_.name}` is not defined")
    if not set_.arguments:
        return entry.info.members
    key = tuple([evaluate(ctx, a, env) for a in set_.arguments])
    assert entry.info.family is not None
    if key not in entry.info.family:
        raise NoValueError(f"`{set_.name}` has no set at {ctx.texts(key)}")
    return entry.info.family[key]


def relation(ctx: Context, name: str) -> RelationEntry:
    """A relation that has been checked. Raises NoValue if mistakes were found in it."""
    entry = ctx.entries[name]
    if not isinstance(entry, RelationEntry):
        raise NoValueError(f"`{name}` is not defined")
    return entry


def facts(ctx: Context, name: str) -> set[tuple[int, ...]]:
    """The facts of a relation as a set; built once."""
    if name not in ctx.fact_sets:
        rows = relation(ctx, name).info.facts
        ctx.fact_sets[name] = set(map(tuple, rows.tolist()))
    return ctx.fact_sets[name]


def param_value(ctx: Context, name: str, key: tuple[int, ...]) -> int:
    """An entry of a param. Raises NoValue if there is none."""
    entry = ctx.param(name)
    if entry is None:
        raise NoValueError(f"`{name}` is not defined")
    if name not in ctx.tables:
        keys = map(tuple, entry.info.index.tolist())
        ctx.tables[name] = dict(zip(keys, entry.info.value.tolist(), strict=True))
    found = ctx.tables[name].get(key, entry.info.default)
    if found is None:
        raise NoValueError(f"`{name}` has no entry for {ctx.texts(key)}")
    return found


def rank(ctx: Context, type_: str, index: int) -> int:
    """The position of a value in a type, from 0. Raises NoValue if it is no member."""
    if type_ not in ctx.ranks:
        entry = ctx.entries[type_]
        assert isinstance(entry, TypeEntry)
        ctx.ranks[type_] = {member: place for place, member in enumerate(entry.info.members.tolist())}
    found = ctx.ranks[type_].get(index)
    if found is None:
        raise NoValueError(f"`{ctx.text(index)}` is no member of {type_}")
    return found
