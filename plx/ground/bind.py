"""Scopes → instances, a portion at a time: each step of a plan joins one more binding."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from plx.check.program import Expr, Scope, SetBinding
from plx.errors import PlxError
from plx.graph.ragged import starts
from plx.graph.rows import unique_rows
from plx.ground.env import ROOT, Env
from plx.ground.limits import PORTION
from plx.ground.plan import Plan, Step
from plx.ground.pools import Fixed, every_row
from plx.ground.terms import rows_bound
from plx.values import FloatArray, IntArray


class Planned(Fixed, Protocol):
    """What binding needs of the evaluator of fixed expressions; ``counted`` are the sizes known so far."""

    counted: dict[Plan, int]

    def plan(self, scope: Scope, known: frozenset[int]) -> Plan:
        """How to find the instances of a scope."""
        ...


class Ways(NamedTuple):
    """Instance i continues with the rows ``begin[i] … begin[i] + size[i] - 1`` of the columns.

    ``place`` is the position of each row in the order of the binding, None where they stand in it.
    """

    begin: IntArray  # [n]
    size: IntArray  # [n]
    columns: dict[int, tuple[str, IntArray]]  # by uid: name and [P]
    place: IntArray | None = None


def instances(
    fixed: Planned, env: Env, scope: Scope, portion: int | None = None, rows: list[int] | None = None
) -> Iterator[Env]:
    """The instances of a scope inside each instance of ``env``, at most ``portion`` at a time.

    Those of one instance of ``env`` stand together. ``rows`` [steps] counts what each step leaves.
    """
    plan = fixed.plan(scope, frozenset(env.columns))
    yield from _run(fixed, env.filtered(fixed.truth, plan.first), plan.steps, portion, rows)


def all_instances(fixed: Planned, env: Env, scope: Scope) -> Env:
    """The instances of a scope at once, in the order of nested loops over its bindings."""
    plan = fixed.plan(scope, frozenset(env.columns))
    if not plan.in_order:
        env = env.bind(_OUTER, "", np.arange(env.n))
        found = list(_run(fixed, env.filtered(fixed.truth, plan.first), plan.steps, PORTION, places=True))
        return _in_order(_joined(found), len(plan.steps))
    return _joined(list(instances(fixed, env, scope, PORTION)))


def count_candidates(fixed: Planned, env: Env, scope: Scope, stop: int) -> int:
    """How many instances the last binding of a scope would try, before the guards that need it.

    Sizes are added up from the index of each join. A portion of the instances of the earlier bindings is
    built at a time; where later steps mention one variable of them, each of its values is followed once. A
    result up to ``stop`` is exact, one above it an upper bound.
    """
    plan = fixed.plan(scope, frozenset(env.columns))
    if env is ROOT and plan in fixed.counted:
        return fixed.counted[plan]
    inside = env.filtered(fixed.truth, plan.first)
    count = _count(fixed, inside, np.ones(inside.n), plan.steps, stop)
    if env is ROOT and count <= stop:
        fixed.counted[plan] = count
    return count


def _count(fixed: Fixed, env: Env, often: FloatArray, steps: Sequence[Step], stop: int) -> int:
    """How many instances the last step tries, where each of ``env`` stands for as many as ``often`` says."""
    if not steps:
        return int(often.sum())
    step, *later = steps
    ways, guards = _ways(fixed, env, step)
    total = int(ways.size @ often)
    bound = total * max(1, math.prod(_most(fixed, other) for other in later))
    if total > stop or not later:
        return bound
    portions = _followed(fixed, env, often, ways, guards, sorted(step.needed))
    if len(step.needed) < 2 and later[0].pool is not None:  # all sets at once may be too many
        portions = iter([_distinct(*_together(list(portions)))])
    found = 0
    for inner, counts in portions:
        found += _count(fixed, inner, counts, later, stop - found)
        if found > stop:
            return max(bound, found)
    return found


# --------------------------------------------------------------------------- one step


def _ways(fixed: Fixed, env: Env, step: Step) -> tuple[Ways, tuple[Expr, ...]]:
    """How every instance can continue with a step, and the guards that are to be checked then."""
    if step.pool is None and isinstance(step.binding, SetBinding):
        sets, variable = fixed.sets(step.binding.set, env), step.binding.variable
        columns = {variable.uid: (variable.name, sets.members)}
        return Ways(sets.start[sets.which], sets.counts, columns), step.guards
    rows = step.pool.rows if step.pool else every_row(fixed, step.binding)
    used = _used(fixed, step, rows)
    if not step.keys or step.pool is None:
        columns = {uid: (rows.names[uid], rows.columns[uid]) for uid in used}
        return Ways(np.zeros(env.n, np.int64), np.full(env.n, rows.n), columns), step.guards
    try:
        known = np.stack([fixed.value(key.known, env) for key in step.keys], axis=1)
    except PlxError:  # at an instance that other guards leave out
        assert step.plain is not None
        return _ways(fixed, env, step.plain)
    index = step.pool.index(step.own)
    columns = {uid: (rows.names[uid], step.pool.ordered(uid, step.own)) for uid in used}
    return Ways(*index.span(known), columns, index.order), step.guards


def _used(fixed: Fixed, step: Step, rows: Env) -> list[int]:
    """The columns that have a name or that something after the join mentions."""
    mentioned = step.needed.union(*(fixed.terms.free(guard) for guard in step.guards))
    return [uid for uid in rows.columns if rows.names[uid] or uid in mentioned]


def _most(fixed: Fixed, step: Step) -> int:
    """At most how many rows a step finds for one instance."""
    if step.pool is None:
        return rows_bound(fixed.program, step.binding)
    return step.pool.index(step.own).most if step.keys else step.pool.rows.n


def _run(
    fixed: Fixed,
    env: Env,
    steps: Sequence[Step],
    portion: int | None,
    rows: list[int] | None = None,
    places: bool = False,
) -> Iterator[Env]:
    """The instances after some steps. With ``places``, the place of every row in its binding is a column."""
    if not steps:
        yield env
        return
    ways, guards = _ways(fixed, env, steps[0])
    place = _PLACE - steps[0].place if places else None
    for inner in _extended(env, ways, portion, place):
        kept = inner.filtered(fixed.truth, guards)
        if rows is not None:
            rows[-len(steps)] += kept.n
        yield from _run(fixed, kept, steps[1:], portion, rows, places)


def _extended(env: Env, ways: Ways, portion: int | None, place: int | None = None) -> Iterator[Env]:
    """The continuations of all instances, in their order; one portion at least, which may be empty."""
    offset = starts(ways.size)
    total = int(offset[-1])
    width = portion or max(total, 1)
    for low in range(0, max(total, 1), width):
        high = min(low + width, total)
        first, last = (int(i) for i in np.searchsorted(offset, [low, high - 1], side="right") - 1)
        part = slice(first, max(last + 1, first)) if high > low else slice(0, 0)
        count = np.minimum(offset[1:][part], high) - np.maximum(offset[:-1][part], low)
        found = np.repeat(ways.begin[part] - offset[:-1][part], count) + np.arange(low, high)
        inner = Env(high - low, {u: np.repeat(c[part], count) for u, c in env.columns.items()}, env.names)
        for uid, (name, column) in ways.columns.items():
            inner = inner.bind(uid, name, column[found].astype(np.int64, copy=False))
        if place is not None:
            inner = inner.bind(place, "", found if ways.place is None else ways.place[found])
        yield inner


def _followed(
    fixed: Fixed, env: Env, often: FloatArray, ways: Ways, guards: tuple[Expr, ...], needed: list[int]
) -> Iterator[tuple[Env, FloatArray]]:
    """The instances after a step, by the variables that later ones need, and how often each occurs."""
    for inner in _extended(env.bind(_OFTEN, "", often.astype(np.int64)), ways, PORTION):
        kept = inner.filtered(fixed.truth, guards)
        found = kept.only(needed), kept.columns[_OFTEN].astype(np.float64)
        yield _distinct(*found) if len(needed) < 2 else found


def _together(portions: Sequence[tuple[Env, FloatArray]]) -> tuple[Env, FloatArray]:
    return _joined([env for env, _ in portions]), np.concatenate([often for _, often in portions])


def _distinct(env: Env, often: FloatArray) -> tuple[Env, FloatArray]:
    if not env.columns:
        return Env(1, {}, {}), np.array([often.sum()])
    first, inverse = unique_rows(env.stack(list(env.columns)))
    return env.take(first), np.bincount(inverse, weights=often, minlength=len(first)).astype(np.float64)


def _joined(envs: Sequence[Env]) -> Env:
    """Envs one after the other."""
    first = envs[0]
    if len(envs) == 1:
        return first
    columns = {uid: np.concatenate([env.columns[uid] for env in envs]) for uid in first.columns}
    return Env(sum(env.n for env in envs), columns, first.names)


def _in_order(env: Env, steps: int) -> Env:
    """The instances as nested loops would find them; the columns that tell are left out."""
    hidden = [_OUTER, *(_PLACE - at for at in range(steps))]
    order = np.lexsort([env.columns[uid] for uid in reversed(hidden)])
    return env.only([uid for uid in env.columns if uid not in hidden]).take(order)


_OUTER, _OFTEN, _PLACE = -2, -3, -1000
"""The uids of columns that are no variables: the outer instance, how often, and the place of the row of each
binding, which counts down from the last."""
