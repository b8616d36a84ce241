"""Totals: how many elements satisfy a formula of their own, as rules and queries ask for it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from plx.check.program import (
    Aggregate,
    Expr,
    Membership,
    Operation,
    ParamTerm,
    RandomTerm,
    Rank,
    RelationTerm,
    Variable,
)
from plx.firstorder.base import Base
from plx.firstorder.exact.ratio import odds
from plx.firstorder.limits import MOST_TOTALS
from plx.firstorder.local import Table, placed
from plx.firstorder.refusal import NotLiftableError, shown
from plx.firstorder.rules import Part, Rules, scope_variables
from plx.firstorder.units import LongArray, Units
from plx.ground.bind import all_instances
from plx.ground.env import ROOT, Env
from plx.values import FALSE, TRUE, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class PairCounts:
    """What an aggregate over two variables counts: log weights [G, C, C', J] of pairs of two kinds, by how
    much they add."""

    expr: Aggregate
    env: Env
    weights: Mapping[tuple[int, int], LongArray]


@dataclass(frozen=True, eq=False)
class Total:
    """A number that is a sum over elements: ``shift``, and from 0 to ``most`` more.

    ``of`` [groups] says what each cell adds, integers [G, C] from 0. ``pairs`` is what pairs of
    elements add, None if it is nothing.
    """

    of: tuple[IntArray, ...]
    shift: int
    most: int
    pairs: PairCounts | None = None

    @property
    def key(self) -> tuple[int, bytes]:
        """Equal for equal totals."""
        pairs = () if self.pairs is None else self.pairs.weights.values()
        return self.shift, b"".join([*(part.tobytes() for part in self.of), *map(_bytes, pairs)])


@dataclass(eq=False)
class Totals:
    """All totals that are asked for, each once. ``weight`` [G, T] is the log weight that rules give to the
    joint values, in C order, of the first ``ruled`` of them."""

    base: Base
    all: list[Total] = field(default_factory=list)
    ruled: int = 0
    weight: FloatArray = field(default_factory=lambda: np.zeros((1, 1)))

    def number(self, expr: Aggregate, env: Env) -> int:
        """The number of the total that an aggregate is, new if it has not been seen."""
        from plx.firstorder.pair_totals import pair_total

        wide = len(scope_variables(self.base.rules, expr.scope)) > 1
        found = pair_total(self.base, expr, env) if wide else _total(self.base, expr, env)
        for number, total in enumerate(self.all):
            if total.key == found.key:
                return number
        self.all.append(found)
        return len(self.all) - 1

    def values(self, expr: Aggregate, number: int) -> IntArray:
        """The value ids [most + 1] of an aggregate by its total."""
        total = self.all[number]
        count = np.arange(total.most + 1)
        if expr.kind == "exists":
            return np.where(count > 0, TRUE, FALSE)
        if expr.kind == "forall":
            return np.where(count == 0, TRUE, FALSE)
        return self.base.rules.evaluator.arithmetic.integers(count + total.shift)

    @property
    def of_pairs(self) -> bool:
        """Whether some of them count pairs."""
        return any(total.pairs is not None for total in self.all)

    @property
    def ruled_of_pairs(self) -> list[int]:
        """The numbers of those that rules ask for and that count pairs."""
        return [number for number in range(self.ruled) if self.all[number].pairs is not None]

    @property
    def same_in_kinds(self) -> bool:
        """Whether all elements of a kind add the same."""
        kinds = self.base.kind
        return all(
            np.array_equal(of, total.of[kinds.index(kind)])
            for total in self.all
            for of, kind in zip(total.of, kinds, strict=True)
        )

    def sizes(self, numbers: Sequence[int]) -> list[int]:
        """How many values some totals have. Raises NotLiftableError where these are too many together."""
        sizes = [self.all[number].most + 1 for number in numbers]
        if math.prod(sizes) > MOST_TOTALS:
            raise NotLiftableError(
                f"counts over large types have {math.prod(sizes):,} joint values "
                f"(at most {MOST_TOTALS:,} are taken)"
            )
        return sizes


def _bytes(weights: LongArray) -> bytes:
    """Equal for equal log weights."""
    exact = weights.dtype == object
    return repr(odds(weights).tolist()).encode() if exact else weights.astype(np.float64).tobytes()


def is_total(rules: Rules, expr: Aggregate) -> bool:
    """Whether an aggregate is about one element or two at a time, and about none outside."""
    free = any(uid in rules.elements for uid in rules.evaluator.terms.free(expr))
    return not free and len(scope_variables(rules, expr.scope)) in (1, 2) and expr.kind != "alldifferent"


def rule_totals(base: Base) -> Totals:
    """The totals of rules that are about no element outside of an aggregate."""
    totals = Totals(base)
    said: list[tuple[list[int], FloatArray]] = []
    for part in base.rules.parts:
        if part.counts and not part.variables:
            said += _said(totals, part)
    totals.ruled = len(totals.all)
    sizes = totals.sizes(range(totals.ruled))
    weight = np.zeros((base.states, *sizes))
    for numbers, logs in said:
        shape = [base.states] + [size if n in numbers else 1 for n, size in enumerate(sizes)]
        order = np.argsort(numbers)
        weight = weight + logs.transpose(0, *(1 + order)).reshape(shape)
    totals.weight = weight.reshape(base.states, -1)
    return totals


def _said(totals: Totals, part: Part) -> list[tuple[list[int], FloatArray]]:
    """What a rule says of totals: their numbers, and log weights [G, …] by them."""
    base, span = totals.base, part.task.source.span
    rules, local = base.rules, base.units.local
    if not all(is_total(rules, expr) for expr in part.counts):
        raise NotLiftableError(f"{shown(span)} counts more than members and pairs", span)
    if part.task.source.kind == "random":
        raise NotLiftableError(f"{shown(span)} is a distribution that depends on a count", span)
    found = []
    env = all_instances(rules.evaluator, ROOT, part.task.scope)
    for row in range(env.n):
        one = env.take(np.array([row]))
        numbers = [totals.number(expr, one) for expr in part.counts]
        distinct = list(dict.fromkeys(numbers))
        sizes = totals.sizes(distinct)
        body, rows = counted(totals, part.task.body, part.counts, numbers, distinct, one)
        weight = None
        if part.task.source.weight is not None:
            weight = rules.logs(rules.evaluator.value(part.task.source.weight, one))[0]
        logs: FloatArray = np.zeros((base.states, rows.n), dtype=rules.dtype)
        fixed, tables = local.column(body, rows)
        known = np.flatnonzero(fixed >= 0)
        logs[:, known] = _logs(rules, part, fixed[known], weight)
        for at, table in tables:
            logs[:, at] = _logs(rules, part, base.units.global_table(table), weight)
        found.append((distinct, logs.reshape(base.states, *sizes)))
    return found


def _logs(rules: Rules, part: Part, ids: IntArray, weight: float | None) -> FloatArray:
    """The log weights of values of the body of a rule."""
    if part.task.source.kind == "factor":
        return rules.logs(ids)
    if weight is not None:
        return np.where(ids == TRUE, weight, 0.0)
    return np.where(ids == TRUE, 0.0, -np.inf)


def counted(
    totals: Totals,
    expr: Expr,
    aggregates: Sequence[Aggregate],
    numbers: Sequence[int],
    distinct: Sequence[int],
    env: Env,
) -> tuple[Expr, Env]:
    """An expression with variables for its totals, and the one instance of ``env`` at all of their joint
    values, in C order of the ``distinct`` ones."""
    sizes = totals.sizes(distinct)
    grid = np.unravel_index(np.arange(math.prod(sizes)), sizes) if sizes else ()
    rows = env.take(np.zeros(math.prod(sizes), dtype=np.int64))
    swap: dict[int, Expr] = {}
    for k, (aggregate, number) in enumerate(zip(aggregates, numbers, strict=True)):
        variable = Variable(-1000 - k, "", span=aggregate.span)
        swap[id(aggregate)] = variable
        column = totals.values(aggregate, number)[grid[distinct.index(number)]]
        rows = rows.bind(variable.uid, "", column)
    return swapped(expr, swap), rows


def swapped(expr: Expr, swap: dict[int, Expr]) -> Expr:
    """An expression with others in the place of some of its parts, by identity."""
    if id(expr) in swap:
        return swap[id(expr)]
    match expr:
        case Operation() | ParamTerm() | RelationTerm() | RandomTerm():
            arguments = tuple(swapped(argument, swap) for argument in expr.arguments)
            same = all(a is b for a, b in zip(arguments, expr.arguments, strict=True))
            return expr if same else replace(expr, arguments=arguments)
        case Rank():
            return replace(expr, argument=swapped(expr.argument, swap))
        case Membership():
            return replace(expr, item=swapped(expr.item, swap))
    return expr


def _total(base: Base, expr: Aggregate, env: Env) -> Total:
    """What each cell of each group adds to an aggregate."""
    (variable,) = scope_variables(base.rules, expr.scope)
    of, shift, most = [], 0, 0
    for units, element, count in zip(base.units_of, base.first, base.count, strict=True):
        added = _added(units, expr, variable, element, env)
        low = min(0, int(added.min())) if expr.kind != "sum" else int(added.min())
        of.append(added - low)
        shift += count * low
        most += count * int(added.max() - low)
    return Total(tuple(of), shift, most)


def _added(units: Units, expr: Aggregate, variable: Variable, element: int, env: Env) -> IntArray:
    """What each cell of an element adds to an aggregate, integers [G, C]."""
    local = units.local
    scope = placed(units.local.rules, expr.scope, {variable.uid: element})
    inner = all_instances(local.evaluator, env, scope)
    size, states = units.cells(element)
    total = np.zeros((units.global_size, size))
    where = units.axes([states])
    if inner.n:
        for _, table in local.columns(expr.body, inner):
            _refuse_others(table, where, expr)
            total = total + _contribution(units, expr, table.at(where))
    if (total != np.round(total)).any() or np.abs(total).max(initial=0) > MOST_TOTALS:
        raise NotLiftableError(f"{shown(expr.span)} adds numbers that are not whole, or large", expr.span)
    return total.astype(np.int64)


def _refuse_others(table: Table, where: dict[int, IntArray], expr: Aggregate) -> None:
    if any(node not in where for node in table.nodes):
        raise NotLiftableError(f"{shown(expr.span)} counts what several members share", expr.span)


def _contribution(units: Units, expr: Aggregate, ids: IntArray) -> FloatArray:
    if expr.kind == "sum":
        numbers: FloatArray = units.local.evaluator.values.floats(ids)
        return numbers
    found: FloatArray = truth(expr, ids).astype(np.float64)
    return found


def truth(expr: Aggregate, ids: IntArray) -> IntArray:
    """Whether values are what an aggregate counts."""
    found: IntArray = np.asarray(ids) == (FALSE if expr.kind == "forall" else TRUE)
    return found


def by_totals(
    logs: FloatArray, used: Sequence[int], sizes: Sequence[int], numbers: Sequence[int]
) -> FloatArray:
    """Log sums [..., T] by the totals ``numbers``, in this order, from those by all that were ``used``."""
    lead = logs.ndim - 1
    grid = logs.reshape((*logs.shape[:-1], *sizes))
    others = tuple(lead + axis for axis, number in enumerate(used) if number not in numbers)
    reduced = np.logaddexp.reduce(grid, axis=others) if others else grid
    left = [number for number in used if number in numbers]
    order = [*range(lead), *(lead + left.index(number) for number in numbers)]
    return np.asarray(reduced).transpose(order).reshape(*logs.shape[:-1], -1)
