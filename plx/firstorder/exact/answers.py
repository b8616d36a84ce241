"""Probabilities as fractions: of two sums, one over the worlds in which a query has a value as well."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from plx.check.program import BOOLEAN, Const, Expr, Operation, Rule, Scope, SetBinding, SetConst, Variable
from plx.check.walk import parts
from plx.errors import Diagnostic, NoWorldError, PlxError
from plx.firstorder.exact.sums import exact_sum
from plx.firstorder.function_queries import together
from plx.firstorder.plan import FirstOrderPlan
from plx.firstorder.questions import Pattern
from plx.firstorder.refusal import NotLiftableError, shown
from plx.graph.model import GroundModel
from plx.infer.inference import Inference
from plx.values import FALSE, TRUE, IntArray

_MOST_VALUES = 1000
"""Joint values of a query, each with a sum of its own."""


@dataclass(frozen=True, eq=False)
class ExactPlan:
    """Exact answers by the sums of a plan. All methods raise NotLiftableError where they would take too
    much, and NotRationalError for a weight whose exponential is no ratio."""

    plan: FirstOrderPlan

    def run(self) -> tuple[GroundModel, Inference]:
        """The answers of the plan, with fractions. Raises NoWorldError if no world is possible."""
        z = self.sum()
        model, found = self.plan.run()
        done, at = [], 0
        for number, question in enumerate(self.plan.questions):
            known: dict[int, tuple[Fraction, ...]] = {}
            if (shares := self._of_members(number)) is not None:
                for ratios in shares:
                    done.append(replace(found.answers[at], ratios=ratios))
                    at += 1
                continue
            for which in question.which.tolist():
                query, answer = model.queries[at], found.answers[at]
                at += 1
                if query.kind == "logz":
                    answer = replace(answer, ratios=(z,))
                elif query.kind != "map":
                    if which not in known:
                        labels = [target.labels for target in query.targets]
                        known[which] = self._shares(question.patterns[which], labels)
                    answer = replace(answer, ratios=known[which])
                done.append(answer)
        return model, replace(found, answers=tuple(done), z=z)

    def _of_members(self, number: int) -> Iterator[tuple[Fraction, ...]] | None:
        """The probabilities of each instance of a question about values that are members; None for others."""
        related, question = self.plan.related, self.plan.questions[number]
        asked = related.asked[number] if related else None
        if related is None or asked is None:
            return None
        labels = [self.plan.answers.answer(pattern).labels for pattern in question.patterns]
        pairs = zip(question.patterns, labels, strict=True)
        shares = [np.array(self._shares(pattern, some), dtype=object) for pattern, some in pairs]
        every = together(asked, related.program, [*zip(labels, shares, strict=True)], question.which)
        return (tuple(found) for _, found in every)

    def sum(self, facts: Sequence[Rule] = ()) -> Fraction:
        """The sum over the worlds in which some facts hold as well."""
        rules = self.plan.answers.base.rules
        program = rules.evaluator.program
        told = replace(program, rules=(*program.rules, *facts), queries=())
        try:
            return exact_sum(told, rules.universe.types, rules.numbers)
        except NoWorldError:
            return Fraction(0)

    def _shares(self, pattern: Pattern, labels: Sequence[IntArray]) -> tuple[Fraction, ...]:
        """The probabilities of the joint values of a query, in C order."""
        span = pattern.query.span
        if math.prod(map(len, labels)) > _MOST_VALUES:
            raise NotLiftableError(f"{shown(span)} has more than {_MOST_VALUES:,} values", span)
        given = [_fact(pattern, fact, TRUE) for fact in pattern.given]
        whole = self.sum(given)
        if not whole:
            raise PlxError(Diagnostic(f"what is given in line {span.line} has probability 0", span))
        *first, _ = itertools.product(*(some.tolist() for some in labels))
        shares = []
        for values in first:
            pairs = zip(pattern.query.targets, values, strict=True)
            facts = [_fact(pattern, target, value) for target, value in pairs]
            shares.append(self.sum([*given, *facts]) / whole)
        return (*shares, 1 - sum(shares, Fraction(0)))


def _fact(pattern: Pattern, expr: Expr, value: int) -> Rule:
    """That an expression has a value, at the instance of a pattern."""
    env = pattern.env
    told = {part.uid for part in parts(expr) if isinstance(part, Variable)}
    bindings = tuple(
        SetBinding(
            Variable(uid, env.names[uid], span=expr.span),
            SetConst((int(column[0]),), span=expr.span),
            span=expr.span,
        )
        for uid, column in env.columns.items()
        if uid in told
    )
    body: Expr = Operation("=", (expr, Const(value, span=expr.span)), span=expr.span)
    if value == FALSE:
        body = Operation("not", (expr,), span=expr.span)
    elif value in BOOLEAN:
        body = expr
    return Rule("observe", body, Scope(bindings), expr.span)
