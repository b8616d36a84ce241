"""Totals over pairs: how many pairs of elements satisfy a formula, as rules and queries ask for it."""

from __future__ import annotations

import numpy as np

from plx.check.program import Aggregate
from plx.firstorder.base import Base
from plx.firstorder.exact.ratio import log_sum, odds
from plx.firstorder.limits import MOST_TOTALS
from plx.firstorder.local import Table, placed
from plx.firstorder.refusal import NotLiftableError, shown
from plx.firstorder.rules import scope_variables
from plx.firstorder.totals import PairCounts, Total, truth
from plx.firstorder.units import LongArray, Units
from plx.ground.bind import all_instances
from plx.ground.env import Env
from plx.values import IntArray

_MOST_EACH = 8
"""Instances that two elements have, in both orders."""


def pair_total(base: Base, expr: Aggregate, env: Env) -> Total:
    """The total that an aggregate over two variables is: what elements add to it by themselves, and pairs."""
    if expr.kind not in ("count", "exists", "forall"):
        raise NotLiftableError(f"{shown(expr.span)} adds up numbers of pairs of members", expr.span)
    of = []
    for units, element in zip(base.units_of, base.first, strict=True):
        size, states = units.cells(element)
        where = units.axes([states])
        added = np.zeros((units.global_size, size), dtype=np.int64)
        for table in instances(units, expr, env, element, element):
            if any(node not in where for node in table.nodes):
                raise NotLiftableError(f"{shown(expr.span)} counts what others share", expr.span)
            added = added + table.at(where)
        of.append(added)
    pairs = {pair: _between(base, expr, env, *pair) for pair in base.pairs}
    most = sum(count * int(added.max()) for count, added in zip(base.count, of, strict=True))
    members = np.bincount(base.kind, base.count, base.kinds).astype(int).tolist()
    for (a, b), weights in pairs.items():
        often = members[a] * (members[a] - 1) // 2 if a == b else members[a] * members[b]
        most += often * (weights.shape[-1] - 1)
    if most > MOST_TOTALS:
        raise NotLiftableError(
            f"{shown(expr.span)} counts up to {most:,} pairs (at most {MOST_TOTALS:,} are taken)", expr.span
        )
    return Total(tuple(of), 0, most, PairCounts(expr, env, pairs))


def _between(base: Base, expr: Aggregate, env: Env, a: int, b: int) -> LongArray:
    """The log weights [G, C, C', J] of two elements of two kinds, by how much they add together."""
    found = _by_count(base.units, expr, env, base.samples[a][0], base.samples[b][-1])
    if base.rules.ordered is not None or a == b:
        if a == b:
            back = found.transpose(0, 2, 1, 3)
        else:
            back = _by_count(base.units, expr, env, base.samples[a][-1], base.samples[b][0])
        if not _alike(found, back):
            raise NotLiftableError(f"{shown(expr.span)} counts by the order of members", expr.span)
    return found


def _alike(weights: LongArray, other: LongArray) -> bool:
    if weights.dtype == object:
        return np.array_equal(odds(weights), odds(other))
    high = weights.max()
    return np.allclose(np.exp(weights - high), np.exp(other - high), atol=1e-13)


def _by_count(units: Units, expr: Aggregate, env: Env, x: int, y: int) -> LongArray:
    tables = counted_of(units, expr, env, x, y)
    if len(tables) > _MOST_EACH:
        raise NotLiftableError(f"{shown(expr.span)} counts {len(tables):,} times for two members", expr.span)
    by_label = units.pair(x, y, [(table, 2) for table in tables])
    ones = _ones(by_label.shape[-1])
    return np.stack([log_sum(by_label[..., ones == j], axis=-1) for j in range(len(tables) + 1)], axis=-1)


def _ones(count: int) -> IntArray:
    """How many bits are set in the first numbers."""
    return np.array([code.bit_count() for code in range(count)])


def added_by_states(units: Units, pairs: PairCounts, x: int, y: int) -> IntArray:
    """What two elements add [G, C, C', R] at each joint state of what they share; axes may be 1."""
    tables = counted_of(units, pairs.expr, pairs.env, x, y)
    found: IntArray = _ones(1 << len(tables))[units.labelled(x, y, [(table, 2) for table in tables])]
    return found


def best_by_count(units: Units, pairs: PairCounts, x: int, y: int) -> LongArray:
    """The best log weights [G, C, C', J] of two elements, by how much they add together."""
    joint, added = units.joint(x, y)[0], added_by_states(units, pairs, x, y)
    most = len(counted_of(units, pairs.expr, pairs.env, x, y))
    best = [np.where(added == j, joint, -np.inf).max(axis=3) for j in range(most + 1)]
    return np.stack(best, axis=3).astype(np.longdouble)


def counted_of(units: Units, expr: Aggregate, env: Env, x: int, y: int) -> list[Table]:
    """What two elements add to an aggregate: tables of 0 and 1, one per instance."""
    tables = [*instances(units, expr, env, x, y), *instances(units, expr, env, y, x)]
    for table in tables:
        about = [units.local.nodes[node].elements for node in table.nodes]
        if any(not found <= {x, y} for found in about):
            raise NotLiftableError(f"{shown(expr.span)} counts what others share", expr.span)
    return tables


def instances(units: Units, expr: Aggregate, env: Env, x: int, y: int) -> list[Table]:
    """What is counted where the two variables are two elements: tables of 0 and 1."""
    local = units.local
    first, second = scope_variables(local.rules, expr.scope)
    rows = all_instances(local.evaluator, env, placed(local.rules, expr.scope, {first.uid: x, second.uid: y}))
    if not rows.n:
        return []
    return [
        Table(t.nodes, truth(expr, t.entries).astype(np.int64)) for _, t in local.columns(expr.body, rows)
    ]


def added_by(tables: list[Table], where: dict[int, IntArray]) -> IntArray:
    """How much tables of 0 and 1 add at states of nodes."""
    total = np.zeros((), dtype=np.int64)
    for table in tables:
        total = total + (table.at(where) if table.nodes else table.entries)
    return np.asarray(total)
