"""The queries of a program: each pattern of elements is answered once, for all instances that have it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from plx.check.program import Aggregate, Expr, Query
from plx.firstorder.base import Base
from plx.firstorder.limits import MOST_PATTERNS
from plx.firstorder.refusal import NotLiftableError, shown
from plx.firstorder.rules import named_elements, scope_variables
from plx.firstorder.totals import Totals, is_total
from plx.graph.model import GroundQuery
from plx.graph.rows import unique_rows
from plx.ground.bind import all_instances, count_candidates
from plx.ground.env import ROOT, Env
from plx.ground.evaluate import Evaluator
from plx.ground.names import QueryNames
from plx.ground.query_slots import query_slots
from plx.ground.terms import flatten
from plx.infer.answer_size import MOST_TOGETHER
from plx.values import IntArray


@dataclass(frozen=True, eq=False)
class Pattern:
    """What instances of a query have in common: one of them, the elements that it is about, and its totals.

    ``aggregates`` are those over elements in targets and given facts, ``numbers`` the total that each is.
    """

    query: Query
    env: Env
    elements: tuple[int, ...]
    aggregates: tuple[Aggregate, ...]
    numbers: tuple[int, ...]

    @property
    def given(self) -> list[Expr]:
        """The facts that are given, each by itself."""
        return [fact for given in self.query.given for fact in flatten("and", given)]


@dataclass(frozen=True, eq=False)
class Question:
    """All instances of a query, and the number of the pattern of each."""

    query: Query
    env: Env
    patterns: tuple[Pattern, ...]
    which: IntArray


def read_questions(base: Base, totals: Totals, queries: Sequence[Query]) -> list[Question]:
    """The queries with their patterns. Raises NotLiftableError for those that need more than is summed."""
    return [_question(base, totals, query) for query in queries]


def instances(evaluator: Evaluator, query: Query, env: Env) -> Iterator[GroundQuery]:
    """The instances of a query by name, without targets."""
    names = QueryNames(evaluator.values, query, env)
    term, slots = query_slots(evaluator, query, env)
    indexes = list(zip(*(column.tolist() for column in slots.values()), strict=True)) or [()] * env.n
    for row, (text, name) in enumerate(zip(names.texts, names.labels(), strict=True)):
        yield GroundQuery(
            query.kind, name, text, (), (), query.span, query.best, term,
            tuple(zip(slots, indexes[row], strict=True)),
        )  # fmt: skip


def _question(base: Base, totals: Totals, query: Query) -> Question:
    rules = base.rules
    scope_variables(rules, query.scope)
    count = count_candidates(rules.evaluator, ROOT, query.scope, MOST_TOGETHER)
    if count > MOST_TOGETHER:
        raise NotLiftableError(f"{shown(query.span)} has up to {count:,} instances", query.span)
    env = all_instances(rules.evaluator, ROOT, query.scope)
    exprs = [*query.targets, *query.given]
    aggregates = [expr for whole in exprs for expr in _outermost(base, whole)]
    for expr in aggregates:
        if not is_total(rules, expr):
            raise NotLiftableError(f"{shown(expr.span)} counts more than members one by one", expr.span)
    named = sorted({e for whole in exprs for e in named_elements(rules, whole)})
    uids = [uid for uid in env.columns if uid in rules.elements]
    first, which = unique_rows(_keys(base, env, uids, named))
    if len(first) > MOST_PATTERNS:
        raise NotLiftableError(
            f"{shown(query.span)} has {len(first):,} instances that differ in more than names "
            f"(at most {MOST_PATTERNS:,} are taken)",
            query.span,
        )
    found = []
    for row in first.tolist():
        one = env.take(np.array([row]))
        elements = dict.fromkeys([*(int(one.columns[uid][0]) for uid in uids), *named])
        numbers = tuple(totals.number(expr, one) for expr in aggregates)
        found.append(Pattern(query, one, tuple(elements), tuple(aggregates), numbers))
    return Question(query, env, tuple(found), which)


def _keys(base: Base, env: Env, uids: Sequence[int], named: Sequence[int]) -> IntArray:
    """Rows [n, k], equal where instances differ in nothing but which elements of a group they name."""
    universe = base.rules.universe
    columns = [column for uid, column in env.columns.items() if uid not in uids]
    about = [env.columns[uid] for uid in uids] + [np.full(env.n, element) for element in named]
    columns += [base.group_of[universe.position(column)] for column in about]
    for i, column in enumerate(about):
        columns += [(column == other).astype(np.int64) for other in about[:i]]
        if base.rules.ordered is not None:
            rank = universe.rank
            columns += [(rank(column) < rank(other)).astype(np.int64) for other in about[:i]]
        if base.rules.successor is not None:
            number = universe.numbers[universe.position(column)]
            near = [number - universe.numbers[universe.position(other)] for other in about[:i]]
            columns += [np.where(np.abs(one) == 1, one, 0).astype(np.int64) for one in near]
    return np.column_stack(columns) if columns else np.zeros((env.n, 0), dtype=np.int64)


def _outermost(base: Base, expr: Expr) -> Iterator[Aggregate]:
    """The aggregates over elements in an expression that are in no other."""
    from plx.ground.terms import parts as children

    if isinstance(expr, Aggregate) and scope_variables(base.rules, expr.scope):
        yield expr
        return
    for part in children(expr):
        yield from _outermost(base, part)  # type: ignore[arg-type]
