"""Answers as exact rational numbers: by sums over a program that is not grounded, or over few worlds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction

from plx.answer.collect import collect
from plx.answer.named import Subject
from plx.answer.result import Result
from plx.check.program import Const, Program
from plx.clash import explained
from plx.errors import Diagnostic, Note, PlxError
from plx.firstorder.exact.answers import ExactPlan
from plx.firstorder.plan import FirstOrderPlan, first_order
from plx.firstorder.refusal import NotLiftableError
from plx.graph.model import GroundModel
from plx.ground.condition import condition
from plx.ground.given import QueryGroup, by_given
from plx.infer.exact.rationals import TooManyError, rationals
from plx.infer.infer import infer
from plx.infer.inference import Inference
from plx.infer.options import Options
from plx.infer.prepared import Prepared
from plx.origin import CheckedProgram, Origin
from plx.source import Span
from plx.weights import NotRationalError, shown


def rational_result(name: str, origin: Origin, ground: Callable[[], GroundModel], options: Options) -> Result:
    """The answers with their fractions. Raises PlxError where they are not to be had, and says why."""
    program = origin.program if isinstance(origin, CheckedProgram) else None
    refused = ""
    with _only_rational(program):
        if isinstance(origin, CheckedProgram) and origin.program.queries:
            plan = first_order(origin.program, numbers=origin.numbers())
            try:
                if isinstance(plan, FirstOrderPlan):
                    model, found = ExactPlan(plan).run()
                    group = QueryGroup(tuple(range(len(model.queries))), model)
                    subject = Subject(origin.text, "not grounded", ())
                    return collect(name, [(group, found)], model.queries, False, subject)
                refused = plan.words
            except NotLiftableError as refusal:
                refused = refusal.words
        try:
            groups = [*_grounded(origin, ground(), options)]
        except TooManyError as large:
            notes = (Note(f"first-order counting: {refused}"),) if refused else ()
            message = f"exact rationals are out of reach: {large}"
            raise PlxError(
                Diagnostic(message, hint="run it without --exact-rationals", notes=notes)
            ) from None
    return collect(name, groups, ground().queries)


def _grounded(
    origin: Origin, ground: GroundModel, options: Options
) -> Iterator[tuple[QueryGroup, Inference]]:
    """The answers on the factor graph, for each ``given``."""
    for group in by_given(ground):
        with explained(origin, group):
            model = condition(group.model, group.given)
            prepared = Prepared(model, options.progress)
            z, ratios = rationals(prepared.problem)
            found = infer(prepared, "exact", options)
        answers = [replace(a, ratios=r) for a, r in zip(found.answers, ratios, strict=True)]
        whole: Fraction | None = None if group.given else z
        yield replace(group, model=model), replace(found, answers=tuple(answers), z=whole)


@contextmanager
def _only_rational(program: Program | None) -> Iterator[None]:
    """Says of a weight whose exponential is no rational number where it stands."""
    try:
        yield
    except NotRationalError as weight:
        message = f"exact rationals need weights that are logs of rational numbers, and {weight} is none"
        hint = "write weight log(3) for odds of 3 to 1"
        span = None if program is None else _place(program, str(weight))
        raise PlxError(Diagnostic(message, span, hint=hint)) from None


def _place(program: Program, weight: str) -> Span | None:
    """The rule whose weight is written so."""
    for rule in program.rules:
        number = program.values[rule.weight.id] if isinstance(rule.weight, Const) else None
        if number is not None and not isinstance(number, str | bool) and shown(number) == weight:
            return rule.span
    return None
