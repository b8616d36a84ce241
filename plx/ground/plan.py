"""Scopes → the order in which their bindings are joined, and what joins each to those before.

An equality of the guard with one side over a binding and the other over what is bound before is a key: rows
are found by an index (a hash or merge join). ``r(x, y)`` in the guard of ``y in T`` joins the facts of r. The
order is the written one, unless another makes far fewer rows on the way by the usual estimate, the product
of sizes over the larger number of distinct keys (Selinger et al. 1979, *Access path selection*).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from plx.check.program import (
    Expr,
    Membership,
    Operation,
    RelationBinding,
    RelationTerm,
    Scope,
    SetBinding,
    Variable,
)
from plx.errors import PlxError
from plx.ground.pools import Fixed, Pool
from plx.ground.terms import Terms, conjuncts, may_fail, rows_bound, variables

Binding = SetBinding | RelationBinding

_REORDER = 10_000
"""Scopes with fewer combinations of rows than this keep their order."""

_GAIN = 2.0
"""Another order must make so many times fewer rows than the written one."""


class Key(NamedTuple):
    """Joined rows agree on both sides: one over what is bound before, one over the binding."""

    known: Expr
    own: Expr


@dataclass(frozen=True, eq=False)
class Step:
    """A binding, what joins it to the instances so far, and the guards that can be decided after it.

    ``place``: where it is written. ``pool`` is None where its set depends on the instance. ``plain`` joins
    without keys, for keys that have no value somewhere. ``needed``: the variables that later steps mention.
    """

    binding: Binding
    place: int
    guards: tuple[Expr, ...]
    keys: tuple[Key, ...] = ()
    pool: Pool | None = None
    plain: Step | None = None
    needed: frozenset[int] = frozenset()
    on: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The binding as it is written."""
        if isinstance(self.binding, SetBinding):
            return f"{self.binding.variable.name} in {self.binding.set.span.text}"
        if len(self.binding.variables) == 1:
            return f"{self.binding.variables[0].name} in {self.binding.relation}"
        return self.binding.span.text

    @cached_property
    def own(self) -> tuple[Expr, ...]:
        """The sides of the keys that are over the binding."""
        return tuple(key.own for key in self.keys)


@dataclass(frozen=True, eq=False)
class Plan:
    """``first`` are the guards to apply before the first step."""

    first: tuple[Expr, ...]
    steps: tuple[Step, ...]

    @cached_property
    def in_order(self) -> bool:
        """Whether the steps stand as the bindings are written."""
        return all(step.place == at for at, step in enumerate(self.steps))


def plan(fixed: Fixed, scope: Scope, known: frozenset[int]) -> Plan:
    """How to find the instances of a scope where some variables are known."""
    return _Planner(fixed, scope).best(known)


class _Planner:
    def __init__(self, fixed: Fixed, scope: Scope) -> None:
        self.fixed = fixed
        self.terms = fixed.terms
        self.bindings = scope.bindings
        self.guards = conjuncts(scope.guard)
        self._known_steps: dict[tuple[int, frozenset[int]], Step] = {}

    def best(self, known: frozenset[int]) -> Plan:
        first = tuple(guard for guard in self.guards if self.terms.free(guard) <= known)
        written = range(len(self.bindings))
        steps = self._steps(written, known)
        if len(steps) > 1 and self._combinations(steps) > _REORDER:
            cost, order = min((self._greedy(start, known) for start in written), key=lambda found: found[0])
            if cost * _GAIN < self._cost(steps):
                others = self._steps(order, known)
                steps = others if self._is_safe(others) else steps
        return Plan(first, steps)

    def _is_safe(self, steps: Sequence[Step]) -> bool:
        """Whether no guard or set can lack a value in rows that the written order would leave out before."""
        sets = [
            step.binding.set for step in steps if step.pool is None and isinstance(step.binding, SetBinding)
        ]
        guards = [guard for step in steps for guard in step.guards]
        return not any(may_fail(part) for part in (*sets, *guards))

    def _combinations(self, steps: Sequence[Step]) -> float:
        return math.prod(float(max(1, self._rows(step))) for step in steps)

    def _rows(self, step: Step) -> int:
        return step.pool.rows.n if step.pool else rows_bound(self.fixed.program, step.binding)

    # -------------------------------------------------------------------- steps

    def _steps(self, order: Sequence[int], known: frozenset[int]) -> tuple[Step, ...]:
        steps = []
        for at, place in enumerate(order):
            step = self._step(place, known)
            known |= _bound(self.bindings[place])
            needed = self._needed(order[at + 1 :], known)
            plain = None if step.plain is None else replace(step.plain, needed=needed)
            steps.append(replace(step, plain=plain, needed=needed))
        return tuple(steps)

    def _needed(self, later: Sequence[int], known: frozenset[int]) -> frozenset[int]:
        waiting = [self.terms.free(guard) for guard in self.guards if not self.terms.free(guard) <= known]
        sets = [self._needs(self.bindings[place]) for place in later]
        return frozenset[int]().union(*waiting, *sets) & known

    def _needs(self, binding: Binding) -> frozenset[int]:
        return self.terms.free(binding.set) if isinstance(binding, SetBinding) else frozenset()

    def _step(self, place: int, before: frozenset[int]) -> Step:
        """The step that joins a binding to instances that bind some variables."""
        if (place, before) not in self._known_steps:
            self._known_steps[place, before] = self._new_step(place, before)
        return self._known_steps[place, before]

    def _new_step(self, place: int, before: frozenset[int]) -> Step:
        binding = self.bindings[place]
        after = before | _bound(binding)
        now = [g for g in self.guards if self.terms.free(g) <= after and not self.terms.free(g) <= before]
        plain = Step(binding, place, tuple(now))
        try:
            return self._joined(plain, binding, now, before)
        except PlxError:  # a guard without a value at a row that others leave out
            return plain

    def _joined(self, plain: Step, binding: Binding, now: list[Expr], before: frozenset[int]) -> Step:
        if isinstance(binding, SetBinding):
            binding, now = _over_facts(self.terms, binding, now, before)
        if self._needs(binding):
            return plain
        own = _bound(binding)
        alone = [guard for guard in now if self.terms.free(guard) <= own]
        others = [guard for guard in now if not self.terms.free(guard) <= own]
        found = [self._key(guard, own, before) for guard in others]
        keys = tuple(key for key in found if key is not None)
        rest = tuple(guard for guard, key in zip(others, found, strict=True) if key is None)
        pool = Pool(self.fixed, binding, alone)
        for key in keys:
            if not isinstance(key.own, Variable):
                pool.distinct(key.own)  # raises where it has no value
        by_facts = isinstance(plain.binding, SetBinding) and isinstance(binding, RelationBinding)
        on = (binding.span.text,) if by_facts else tuple(key.known.span.text for key in keys)
        return replace(plain, guards=rest, keys=keys, pool=pool, plain=plain, on=on)

    def _key(self, guard: Expr, own: frozenset[int], before: frozenset[int]) -> Key | None:
        """The key that an equality is, if it is one."""
        if isinstance(guard, Operation) and guard.op in ("=", "<=>"):
            for known, mine in (guard.arguments, guard.arguments[::-1]):
                if self.terms.free(known) <= before and self.terms.free(mine) <= own:
                    return Key(known, mine)
        return None

    # -------------------------------------------------------------------- order

    def _greedy(self, start: int, known: frozenset[int]) -> tuple[float, list[int]]:
        """The estimated cost of an order that takes the binding with the fewest rows next, and this order."""
        order: list[int] = []
        left, rows, cost = list(range(len(self.bindings))), 1.0, 0.0
        values: dict[int, float] = {}
        while left:
            ready = [
                place for place in left if self._needs(self.bindings[place]) <= known | frozenset(values)
            ]
            if not order:
                ready = [start] if start in ready else []
            if not ready:
                return math.inf, []
            steps = [self._step(place, known | frozenset(values)) for place in ready]
            sizes = [self._joined_rows(step, rows, values) for step in steps]
            chosen = min(range(len(steps)), key=lambda at: sizes[at])
            rows, cost = sizes[chosen], cost + sizes[chosen]
            self._learn(steps[chosen], values)
            order.append(ready[chosen])
            left.remove(ready[chosen])
        return cost, order

    def _cost(self, steps: Sequence[Step]) -> float:
        rows, cost = 1.0, 0.0
        values: dict[int, float] = {}
        for step in steps:
            rows = self._joined_rows(step, rows, values)
            cost += rows
            self._learn(step, values)
        return cost

    def _joined_rows(self, step: Step, rows: float, values: dict[int, float]) -> float:
        """About how many rows a step makes out of some."""
        rows *= self._rows(step)
        for key in step.keys if step.pool else ():
            assert step.pool is not None
            known = values.get(key.known.uid, 1.0) if isinstance(key.known, Variable) else 1.0
            rows /= max(known, step.pool.distinct(key.own))
        return rows

    def _learn(self, step: Step, values: dict[int, float]) -> None:
        """Note how many values the variables of a step take."""
        for variable in variables(self.bindings[step.place]):
            inside = step.pool is not None and variable.uid in step.pool.rows.columns
            values[variable.uid] = step.pool.distinct(variable) if inside and step.pool else self._rows(step)


def _bound(binding: Binding) -> frozenset[int]:
    return frozenset(variable.uid for variable in variables(binding))


def _over_facts(
    terms: Terms, binding: SetBinding, guards: list[Expr], before: frozenset[int]
) -> tuple[Binding, list[Expr]]:
    """``y in T if r(x, y)`` as ``(x', y) in r if x' = x & y in T``, so that it costs time in the facts."""
    mine = binding.variable
    for guard in guards:
        if not isinstance(guard, RelationTerm):
            continue
        places = [at for at, a in enumerate(guard.arguments) if _is(mine, a)]
        known = [at for at, a in enumerate(guard.arguments) if terms.free(a) <= before]
        if not places or not known or len(places) + len(known) < len(guard.arguments):
            continue
        place = places[0]
        columns = tuple(
            mine if at == place else Variable(_UNNAMED - at, "", span=a.span)
            for at, a in enumerate(guard.arguments)
        )
        equal: list[Expr] = [
            Operation("=", (column, a), span=a.span)
            for column, a in zip(columns, guard.arguments, strict=True)
            if column is not mine
        ]
        member = Membership(mine, binding.set, span=binding.span)
        others = [other for other in guards if other is not guard]
        return RelationBinding(columns, guard.name, span=guard.span), [*equal, member, *others]
    return binding, guards


_UNNAMED = -100
"""The uids of columns that have no variable; they are seen by one step alone."""


def _is(variable: Variable, expr: Expr) -> bool:
    return isinstance(expr, Variable) and expr.uid == variable.uid
