"""One part of a rule → factors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

import numpy as np

from plx.check.program import Aggregate, Expr
from plx.errors import Diagnostic, NoWorldError, PlxError
from plx.graph.assemble import FactorBatch
from plx.graph.room import kept
from plx.graph.rows import unique_keys
from plx.graph.tables import total_weight
from plx.ground.columns import Column, TableBlock
from plx.ground.env import ROOT, Env
from plx.ground.formulas import Formulas
from plx.ground.limits import PORTION
from plx.ground.tasks import Task
from plx.ground.terms import elements_bound, set_sizes
from plx.numerals import counted
from plx.values import FALSE, IMPOSSIBLE, TRUE, ZERO, IntArray


def ground_task(formulas: Formulas, task: Task) -> Iterator[FactorBatch]:
    """The factors of all instances of a task; constant ones come as a batch over no nodes."""
    evaluator = formulas.evaluator
    count = formulas.budget.spend(evaluator, ROOT, task.scope)
    for env in formulas.budget.instances(evaluator, task.scope, _portion(formulas, task, count)):
        if env.n:
            yield from _ground_portion(formulas, task, env)


def _portion(formulas: Formulas, task: Task, count: int) -> int:
    """How many instances to work on at a time, so that the aggregates inside fit too."""
    program, terms = formulas.evaluator.program, formulas.evaluator.terms
    inner = elements_bound(program, terms, task.body, count, set_sizes(program, task.scope))
    return max(1, min(PORTION, count * PORTION // max(inner, 1)))


def _ground_portion(formulas: Formulas, task: Task, env: Env) -> Iterator[FactorBatch]:
    logs_of_zero, kind = formulas.evaluator.arithmetic.logs_of_zero, task.source.kind
    with logs_of_zero(kind == "weight"):
        weight = _weights(formulas, task, env)
    with logs_of_zero(kind == "factor"):
        column, env = _body(formulas, task, env)
    known = column.fixed >= 0
    if known.any():
        yield _constant(formulas, task, env, column, weight)
    for part in column.parts:
        assert isinstance(part, TableBlock)
        table, tables = _potentials(task.source.kind, part, weight)
        if task.source.kind == "factor":
            _check_numbers(formulas, task, tables.ravel())
        scope, one = kept(part.scope.astype(np.int32)), len(tables) == 1
        number = np.broadcast_to(np.int32(0), len(table)) if one else kept(table.astype(np.int32))
        yield FactorBatch(scope, number, tables, task.rule)


def _body(formulas: Formulas, task: Task, env: Env) -> tuple[Column, Env]:
    """The body, and the instance of each of its rows: several where an ``alldifferent`` must hold."""
    if task.source.kind in ("require", "observe") and _is_alldifferent(task.body):
        column, instance = formulas.at_most_once(task.body, env)
        env = env.take(instance)
    else:
        column = formulas.column(task.body, env)
    return formulas.algebra.settle(column, raws_only=True), env


def _is_alldifferent(expr: Expr) -> TypeGuard[Aggregate]:
    return isinstance(expr, Aggregate) and expr.kind == "alldifferent"


def _weights(formulas: Formulas, task: Task, env: Env) -> IntArray:
    """The weight ids [n] of a ``weight``; of anything else, none [0]."""
    if task.source.weight is None:
        return np.empty(0, dtype=np.int64)
    ids = formulas.evaluator.value(task.source.weight, env)
    _check_finite(formulas, task.source.weight, ids, env)
    return ids


def _potentials(kind: str, block: TableBlock, weight: IntArray) -> tuple[IntArray, IntArray]:
    """The tables of weight ids that go with a block, and which one each instance has."""
    if kind == "factor":
        return block.table, block.tables
    if kind != "weight":
        return block.table, np.where(block.tables == TRUE, ZERO, IMPOSSIBLE)
    mine = weight[block.rows]
    m = len(block.tables)
    first, table = unique_keys(mine * m + block.table)
    true = block.tables[block.table[first]] == TRUE
    return table, np.where(true, mine[first][:, None], ZERO)


def _constant(formulas: Formulas, task: Task, env: Env, column: Column, weight: IntArray) -> FactorBatch:
    """What the fixed instances add to every world."""
    ids = column.fixed
    if task.source.kind == "weight":
        _check_possible(formulas, task, env, np.where(ids == TRUE, weight, ZERO))
        ids = weight[ids == TRUE]
    elif task.source.kind == "factor":
        _check_possible(formulas, task, env, ids)
        ids = ids[ids >= 0]
        _check_numbers(formulas, task, ids)
    elif (ids == FALSE).any():
        raise NoWorldError(_never(formulas, task, env, int(np.flatnonzero(ids == FALSE)[0])))
    else:
        ids = np.empty(0, dtype=np.int64)
    first, inverse = unique_keys(ids)
    total = total_weight(formulas.evaluator.values, ids[first], np.bincount(inverse, minlength=len(first)))
    nothing = np.empty((1, 0), dtype=np.int32)
    return FactorBatch(nothing, np.zeros(1, dtype=np.int32), np.array([[total]]), task.rule)


def _check_finite(formulas: Formulas, weight: Expr, ids: IntArray, env: Env) -> None:
    finite = np.isfinite(formulas.evaluator.values.floats(ids)) | (ids == IMPOSSIBLE)
    if not finite.all():
        at = formulas.evaluator.at(env, int(np.argmin(finite)))
        raise PlxError(
            Diagnostic(
                f"a weight must be a finite number{at}", weight.span, hint="use `require` for what must hold"
            )
        )


def _check_numbers(formulas: Formulas, task: Task, ids: IntArray) -> None:
    if not np.isfinite(formulas.evaluator.values.floats(ids[ids != IMPOSSIBLE])).all():
        raise PlxError(Diagnostic("a factor must be a finite number", task.body.span))


def _check_possible(formulas: Formulas, task: Task, env: Env, ids: IntArray) -> None:
    """Raises NoWorldError where the log of 0 is in every world."""
    if (ids == IMPOSSIBLE).any():
        at = formulas.evaluator.at(env, int(np.argmax(ids == IMPOSSIBLE)))
        message = f"no world is possible: this is the logarithm of 0 in all of them{at}"
        hint = "what is declared and observed leaves it no other value"
        raise NoWorldError(Diagnostic(message, (task.source.weight or task.body).span, hint))


def _never(formulas: Formulas, task: Task, env: Env, row: int) -> Diagnostic:
    what = "requirement" if task.source.kind == "require" else "observation"
    at = formulas.evaluator.at(env, row)
    return Diagnostic(
        f"no world satisfies this {what}{at}",
        task.body.span,
        hint=_crowded(formulas, task, env.take(np.array([row])))
        or "what is declared, required and observed before already makes it false",
    )


def _crowded(formulas: Formulas, task: Task, env: Env) -> str | None:
    """Why an ``alldifferent`` never holds at one instance, where it has more terms than values."""
    if not _is_alldifferent(task.body):
        return None
    terms, values = formulas.terms_and_values(task.body, env)
    if terms <= values:
        return None
    return f"it has {terms:,} terms, which take {counted(values, 'value')} at most"
