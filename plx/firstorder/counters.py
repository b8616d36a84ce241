"""Counts per element: how many others satisfy a formula together with it, as far as rules tell them apart.

A count goes up as an element meets others. What rules say of it is a function of its final value; values that
no further meetings tell apart are one *state*, so `exists` has two, `= k` has k + 1, and a parity two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plx.check.program import Aggregate, Variable
from plx.firstorder.base import Base
from plx.firstorder.limits import MOST_STATES, MOST_TOTALS
from plx.firstorder.local import Local, Table
from plx.firstorder.refusal import NotLiftableError, shown
from plx.firstorder.rules import Part, scope_variables
from plx.firstorder.totals import swapped
from plx.firstorder.units import Units
from plx.ground.bind import all_instances
from plx.ground.env import ROOT, Env
from plx.values import FALSE, TRUE, FloatArray, IntArray

DEAD = -1
"""The state of a count that can no longer satisfy a rule."""


@dataclass(frozen=True, eq=False)
class Counter:
    """One count per element: value v is state v up to ``states`` - 1, after which it goes back to ``back``,
    or is dead where that is None."""

    part: Part
    aggregate: Aggregate
    states: int
    back: int | None

    def after(self, state: int, more: int) -> int:
        """The state that follows when a count goes up."""
        if state == DEAD:
            return DEAD
        value = state + more
        if value < self.states:
            return value
        if self.back is None:
            return DEAD
        return self.back + (value - self.back) % (self.states - self.back)


class CountersOf:
    """The counters of a program. Raises NotLiftableError for counts that are not per element."""

    def __init__(self, base: Base) -> None:
        self.base = base
        self.parts = [part for part in base.rules.parts if part.counts and part.variables]
        self.counters: list[Counter] = []
        self._accepted: list[tuple[list[int], dict[int, FloatArray]]] = []
        for part in self.parts:
            self._read(part)
        self.sizes = [counter.states for counter in self.counters]
        if math.prod(self.sizes) > MOST_STATES:
            raise NotLiftableError(
                f"the counts of one member have {math.prod(self.sizes):,} joint states "
                f"(at most {MOST_STATES:,} are taken)"
            )

    @property
    def size(self) -> int:
        """Joint states of the counts of an element."""
        return math.prod(self.sizes)

    def accept(self, kind: int) -> FloatArray:
        """The log weight [C, S] that rules give to the cells and final states of an element of a kind."""
        cells = self.base.units.cells(self.base.samples[kind][0])[0]
        total = np.zeros((cells, *self.sizes))
        for numbers, logs in self._accepted:
            shape = [cells] + [n if i in numbers else 1 for i, n in enumerate(self.sizes)]
            total = total + logs[kind].reshape(shape)
        return total.reshape(cells, self.size)

    def first(self, kind: int) -> IntArray:
        """The state [C] of the counts of an element that has met itself alone; DEAD for none."""
        units, element = self.base.units, self.base.samples[kind][0]
        size, states = units.cells(element)
        where = units.axes([states])
        found = np.zeros(size, dtype=np.int64)
        for counter in self.counters:
            value = np.zeros((1, size), dtype=np.int64)
            for table in _instances(units.local, counter, element, element):
                value = value + _truth(counter, table.at(where))
            one = np.array([counter.after(0, v) for v in value[0].tolist()])
            found = np.where((found == DEAD) | (one == DEAD), DEAD, found * counter.states + one)
        return found

    def after(self, state: int, more: Sequence[int]) -> int:
        """The joint state that follows when counts go up."""
        if state == DEAD:
            return DEAD
        found = 0
        for counter, one, up in zip(self.counters, np.unravel_index(state, self.sizes), more, strict=True):
            next_one = counter.after(int(one), up)
            if next_one == DEAD:
                return DEAD
            found = found * counter.states + next_one
        return found

    def labels(self, units: Units, a: int, b: int) -> tuple[list[tuple[Table, int]], list[tuple[int, int]]]:
        """What two elements count for each other: tables of 0 and 1, each with the element, 0 or 1, whose
        count goes up, and the number of the count."""
        tables, sides = [], []
        for number, counter in enumerate(self.counters):
            for side, (x, y) in enumerate([(a, b), (b, a)]):
                for table in _instances(units.local, counter, x, y):
                    tables.append((Table(table.nodes, _truth(counter, table.entries)), 2))
                    sides.append((side, number))
        return tables, sides

    def ups(self, sides: Sequence[tuple[int, int]]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """By how much the counts of two elements go up, for each combination of labels in C order."""
        found = []
        for code in range(1 << len(sides)):
            ups = np.zeros((2, len(self.counters)), dtype=np.int64)
            for bit, (side, number) in enumerate(reversed(sides)):
                ups[side, number] += (code >> bit) & 1
            found.append((tuple(ups[0].tolist()), tuple(ups[1].tolist())))
        return found

    # ------------------------------------------------------------------------- reading

    def _read(self, part: Part) -> None:
        base, span = self.base, part.task.source.span
        terms = base.rules.evaluator.terms
        outer = part.variables[0].uid
        if len(part.variables) > 1 or part.task.source.kind == "random":
            raise NotLiftableError(f"{shown(span)} counts for pairs of members, or in a distribution", span)
        for expr in part.counts:
            alone = len(scope_variables(base.rules, expr.scope)) == 1 and outer in terms.free(expr)
            if not alone or expr.kind not in ("count", "exists", "forall"):
                raise NotLiftableError(f"{shown(span)} counts more than each member's own", span)
        most = len(base.rules.universe.ids) * self._most_each(part)
        if (most + 1) ** len(part.counts) > MOST_TOTALS:
            raise NotLiftableError(f"{shown(span)} has counts of too many joint values", span)
        logs = {kind: self._logs(part, kind, most) for kind in range(base.kinds)}
        numbers = []
        for axis, expr in enumerate(part.counts):
            flat = np.concatenate(
                [np.moveaxis(one, 1 + axis, -1).reshape(-1, one.shape[1 + axis]) for one in logs.values()]
            )
            states, back = compressed(flat)
            numbers.append(len(self.counters))
            self.counters.append(Counter(part, expr, states, back))
            logs = {k: np.take(one, np.arange(states), axis=1 + axis) for k, one in logs.items()}
        self._accepted.append((numbers, logs))

    def _most_each(self, part: Part) -> int:
        """The most instances of a count that two elements have."""
        local = self.base.units.local
        found = 1
        for samples in self.base.samples:
            for expr in part.counts:
                counter = Counter(part, expr, 1, None)
                found = max(found, len(_instances(local, counter, samples[0], samples[-1])))
        return found

    def _logs(self, part: Part, kind: int, most: int) -> FloatArray:
        """The log weight [C, most + 1, …] that a rule gives to the cells and counts of an element."""
        base, units = self.base, self.base.units
        element = base.samples[kind][0]
        size, states = units.cells(element)
        shape = [most + 1] * len(part.counts)
        local = units.local
        env = all_instances(local.evaluator, ROOT, local.placed(part, (element,)))
        if env.n == 0:
            return np.zeros((size, *shape))
        if env.n > 1:
            raise NotLiftableError(
                f"{shown(part.task.source.span)} has several instances for a member", part.task.source.span
            )
        grid = np.unravel_index(np.arange(math.prod(shape)), shape)
        rows = env.take(np.zeros(math.prod(shape), dtype=np.int64))
        swap = {}
        for k, (expr, value) in enumerate(zip(part.counts, grid, strict=True)):
            variable = Variable(-1000 - k, "", span=expr.span)
            swap[id(expr)] = variable
            rows = rows.bind(variable.uid, "", _values(base, expr, value))
        where = units.axes([states])
        logs: FloatArray = np.zeros((size, rows.n), dtype=base.rules.dtype)
        weight = None
        if part.task.source.weight is not None:
            weight = base.rules.logs(local.evaluator.value(part.task.source.weight, env))[0]
        for at, table in local.columns(swapped(part.task.body, swap), rows):  # type: ignore[arg-type]
            if any(node not in where or not local.nodes[node].elements for node in table.nodes):
                raise NotLiftableError(
                    f"{shown(part.task.source.span)} joins a count with other members", part.task.source.span
                )
            ids = np.broadcast_to(table.at(where), (1, size))[0] if table.nodes else table.entries
            logs[:, at] = self._weight(part, ids, weight)
        return logs.reshape(size, *shape)

    def _weight(self, part: Part, ids: IntArray, weight: float | None) -> FloatArray:
        if part.task.source.kind == "factor":
            return self.base.rules.logs(np.asarray(ids))
        if weight is not None:
            return np.where(ids == TRUE, weight, 0.0)
        return np.where(ids == TRUE, 0.0, -np.inf)


def _values(base: Base, expr: Aggregate, value: IntArray) -> IntArray:
    if expr.kind == "exists":
        return np.where(value > 0, TRUE, FALSE)
    if expr.kind == "forall":
        return np.where(value == 0, TRUE, FALSE)
    return base.rules.evaluator.arithmetic.integers(value)


def compressed(logs: FloatArray) -> tuple[int, int | None]:
    """How many states the values [n] of a count need, and where the last one goes on; None if it is dead."""
    n = logs.shape[1]
    best = n, None if n == 0 else n - 1
    for period in range(1, min(9, n)):
        differs = np.flatnonzero((logs[:, period:] != logs[:, :-period]).any(axis=0))
        start = int(differs[-1]) + 1 if len(differs) else 0
        if start + period < best[0]:
            best = start + period, start
    states, back = best
    if back == states - 1 and (logs[:, back] == -np.inf).all():
        return max(back, 1), None
    return states, back


def _instances(local: Local, counter: Counter, x: int, y: int) -> list[Table]:
    """The truth of what is counted, at one element for another: a table per instance."""
    from plx.firstorder.local import placed

    rules = local.rules
    env = all_instances(local.evaluator, ROOT, local.placed(counter.part, (x,)))
    (inner,) = scope_variables(rules, counter.aggregate.scope)
    if env.n == 0:
        return []
    rows: Env = all_instances(local.evaluator, env, placed(rules, counter.aggregate.scope, {inner.uid: y}))
    tables = [table for _, table in local.columns(counter.aggregate.body, rows)] if rows.n else []
    about = [local.nodes[node].elements for table in tables for node in table.nodes]
    if not all(found and found <= {x, y} for found in about):
        span = counter.part.task.source.span
        raise NotLiftableError(f"{shown(span)} counts by what is about neither of two members", span)
    return tables


def _truth(counter: Counter, ids: IntArray) -> IntArray:
    wanted = FALSE if counter.aggregate.kind == "forall" else TRUE
    found: IntArray = (np.asarray(ids) == wanted).astype(np.int64)
    return found
