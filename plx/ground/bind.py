"""Scopes → instances, a portion at a time, with guards applied as early as they can be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from plx.check.program import (
    Expr,
    Membership,
    RelationBinding,
    RelationTerm,
    Scope,
    SetBinding,
    SetExpr,
    Variable,
)
from plx.graph.ragged import starts
from plx.graph.rows import BoolArray
from plx.ground.env import Env
from plx.ground.index import TupleIndex
from plx.ground.limits import PORTION
from plx.ground.sets import Sets
from plx.ground.terms import Terms, conjuncts, variables
from plx.values import IntArray


class Fixed(Protocol):
    """What binding needs of the evaluator of fixed expressions."""

    terms: Terms

    def truth(self, expr: Expr, env: Env) -> BoolArray:
        """The truth of a fixed formula at every instance."""
        ...

    def sets(self, expr: SetExpr, env: Env) -> Sets:
        """The set of every instance."""
        ...

    def facts(self, relation: str, columns: tuple[int, ...]) -> tuple[IntArray, TupleIndex]:
        """The facts of a relation, sorted by some of their columns, and an index of those."""
        ...


class Choices(NamedTuple):
    """Instance i continues with the rows ``pool[begin[i] … begin[i] + size[i] - 1]``."""

    begin: IntArray  # [n]
    size: IntArray  # [n]
    pool: IntArray  # [P, variables]
    variables: tuple[Variable, ...]


class Step(NamedTuple):
    """A binding, and the parts of the guard that can be decided after it."""

    binding: SetBinding | RelationBinding
    guards: list[Expr]


def instances(fixed: Fixed, env: Env, scope: Scope, portion: int | None = None) -> Iterator[Env]:
    """The instances of a scope inside each instance of ``env``, at most ``portion`` at a time."""
    first, steps = _plan(fixed.terms, scope, frozenset(env.columns))
    yield from _run(fixed, _filter(fixed, env, first), steps, portion)


def all_instances(fixed: Fixed, env: Env, scope: Scope) -> Env:
    """The instances of a scope at once."""
    (out,) = instances(fixed, env, scope)
    return out


def count_candidates(fixed: Fixed, env: Env, scope: Scope, stop: int) -> int:
    """How many instances the last binding of a scope would try, before the guards that need it.

    Nothing larger than the instances of the earlier bindings is built. A result above ``stop`` may
    be too small: counting ends there.
    """
    first, steps = _plan(fixed.terms, scope, frozenset(env.columns))
    return _count(fixed, _filter(fixed, env, first), steps, stop)


def _count(fixed: Fixed, env: Env, steps: list[Step], stop: int) -> int:
    if not steps:
        return env.n
    *earlier, last = steps
    if earlier and _count(fixed, env, earlier, stop) > stop:
        return stop + 1
    total = 0
    for prefix in _run(fixed, env, earlier, PORTION):
        total += int(choices(fixed, prefix, last.binding).size.sum())
        if total > stop:
            break
    return total


def choices(fixed: Fixed, env: Env, binding: SetBinding | RelationBinding) -> Choices:
    """How every instance can continue with a binding."""
    if isinstance(binding, SetBinding):
        sets = fixed.sets(binding.set, env)
        return Choices(sets.start[sets.which], sets.counts, sets.members[:, None], (binding.variable,))
    return _facts(fixed, env, binding)


def _facts(fixed: Fixed, env: Env, binding: RelationBinding) -> Choices:
    """The facts that agree with the variables of the tuple that are bound already."""
    known = tuple(i for i, v in enumerate(binding.variables) if v.uid in env.columns)
    facts, index = fixed.facts(binding.relation, known)
    begin, size = index.span(env.stack([binding.variables[i].uid for i in known]))
    return Choices(begin, size, facts, binding.variables)


def _plan(terms: Terms, scope: Scope, known: frozenset[int]) -> tuple[list[Expr], list[Step]]:
    """Which parts of the guard to apply before the first binding and after each one."""
    waiting = conjuncts(scope.guard)
    steps = []
    first, waiting = _decidable(terms, waiting, known)
    for binding in scope.bindings:
        before, known = known, known | {v.uid for v in variables(binding)}
        guards, waiting = _decidable(terms, waiting, known)
        steps.append(_as_join(binding, guards, before))
    return first, steps


def _decidable(terms: Terms, guards: list[Expr], known: frozenset[int]) -> tuple[list[Expr], list[Expr]]:
    now = [g for g in guards if terms.free(g) <= known]
    return now, [g for g in guards if not terms.free(g) <= known]


def _as_join(binding: SetBinding | RelationBinding, guards: list[Expr], before: frozenset[int]) -> Step:
    """``y in T if r(x, y)`` as ``(x, y) in r if y in T``, so that it costs time in the facts."""
    if not isinstance(binding, SetBinding):
        return Step(binding, guards)
    for guard in guards:
        if isinstance(guard, RelationTerm) and before and _is_tuple(guard, before | {binding.variable.uid}):
            columns = tuple(a for a in guard.arguments if isinstance(a, Variable))
            member = Membership(binding.variable, binding.set, span=binding.span)
            others = [other for other in guards if other is not guard]
            return Step(RelationBinding(columns, guard.name, span=guard.span), [member, *others])
    return Step(binding, guards)


def _is_tuple(term: RelationTerm, known: frozenset[int]) -> bool:
    """Whether all arguments are variables, all of them known by then."""
    return all(isinstance(a, Variable) and a.uid in known for a in term.arguments)


def _run(fixed: Fixed, env: Env, steps: list[Step], portion: int | None) -> Iterator[Env]:
    if not steps:
        yield env
        return
    step, *rest = steps
    ways = choices(fixed, env, step.binding)
    offset = starts(ways.size)
    total = int(offset[-1])
    width = portion or max(total, 1)
    for low in range(0, max(total, 1), width):
        flat = np.arange(low, min(low + width, total))
        inner = _extend(env, ways, offset, flat)
        yield from _run(fixed, _filter(fixed, inner, step.guards), rest, portion)


def _extend(env: Env, ways: Choices, offset: IntArray, flat: IntArray) -> Env:
    """The continuations numbered ``flat``, in the order of the instances of ``env``."""
    count = np.clip(offset[1:], *_ends(flat)) - np.clip(offset[:-1], *_ends(flat))
    rows = np.repeat(np.arange(env.n), count)
    chosen = ways.pool.take(ways.begin[rows] + flat - offset[rows], axis=0)
    inner = env.take(rows)
    agree = np.ones(len(rows), dtype=bool)
    for variable, column in zip(ways.variables, chosen.T, strict=True):
        if variable.uid in inner.columns:
            agree &= inner.columns[variable.uid] == column
        else:
            inner = inner.bind(variable.uid, variable.name, column)
    return inner if agree.all() else inner.take(agree)


def _ends(flat: IntArray) -> tuple[int, int]:
    return (int(flat[0]), int(flat[-1]) + 1) if len(flat) else (0, 0)


def _filter(fixed: Fixed, env: Env, guards: list[Expr]) -> Env:
    for guard in guards:
        holds = fixed.truth(guard, env)
        if not holds.all():
            env = env.take(holds)
    return env
