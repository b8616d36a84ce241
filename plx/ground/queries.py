"""Queries → their instances, each with a name and the nodes that it asks about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from plx.check.program import BOOLEAN, Expr, Query, RandomTerm
from plx.errors import Diagnostic, PlxError
from plx.graph.model import GroundEvidence, GroundQuery, Target
from plx.ground.bind import all_instances
from plx.ground.columns import TableBlock
from plx.ground.env import ROOT, Env
from plx.ground.formulas import Formulas
from plx.ground.names import QueryNames
from plx.ground.query_slots import query_slots
from plx.ground.terms import flatten
from plx.numerals import shortened
from plx.syntax.printer import print_statement
from plx.values import FALSE, TRUE, IntArray, Values


def ground_query(formulas: Formulas, query: Query) -> Iterator[GroundQuery]:
    """The instances of a query, over the nodes that were made while grounding."""
    formulas.budget.spend(formulas.evaluator, ROOT, query.scope)
    env = all_instances(formulas.evaluator, ROOT, query.scope)
    if isinstance(query.part, RandomTerm):
        yield part_query(formulas, query, query.part, env)
        return
    targets = [_targets(formulas, target, env) for target in query.targets]
    facts = [fact for given in query.given for fact in flatten("and", given)]
    conditions = [_conditions(formulas, fact, env) for fact in facts]
    names = QueryNames(formulas.evaluator.values, query, env)
    term, slots = query_slots(formulas.evaluator, query, env)
    indexes = list(zip(*slots.values(), strict=True)) or [()] * env.n
    for row, (text, label) in enumerate(zip(names.texts(), names.labels(), strict=True)):
        given = [condition[row] for condition in conditions]
        instance = GroundQuery(
            kind=query.kind,
            name=label or text,
            text=text,
            targets=tuple(column[row] for column in targets),
            given=tuple(condition for condition in given if condition is not None),
            span=query.span,
            best=query.best,
            term=term,
            slots=tuple(zip(slots, indexes[row], strict=True)),
        )
        _check_range(formulas.evaluator.values, instance)
        yield instance


def part_query(formulas: Formulas, query: Query, part: RandomTerm, env: Env) -> GroundQuery:
    """A `map` of some unknowns, which is one query; what is given mentions no variable."""
    facts = [fact for given in query.given for fact in flatten("and", given)]
    given = [condition for fact in facts for condition in _conditions(formulas, fact, ROOT)]
    text = print_statement(replace(query.syntax, label=None)).removeprefix("query ")
    return GroundQuery(
        kind="map",
        name=query.label or text,
        text=text,
        targets=(),
        given=tuple(condition for condition in given if condition is not None),
        span=query.span,
        best=query.best,
        term=query.label or text,
        part=tuple(dict.fromkeys(formulas.atom(part, env).tolist())),
    )


def _check_range(values: Values, query: GroundQuery) -> None:
    """A number must have a mean that a double can hold."""
    if query.kind == "number" and not np.isfinite(values.floats(query.targets[0].labels)).all():
        raise PlxError(
            Diagnostic(
                f"`{shortened(query.text)}` may be a number past 1.8e308, which is too large for a mean",
                query.span,
                hint="ask for it in another unit, or for the probability of a formula over it",
            )
        )


def _targets(formulas: Formulas, expr: Expr, env: Env) -> list[Target]:
    column = formulas.algebra.one_state_per_value(formulas.column(expr, env))
    out: list[Target | None] = [
        Target(-1, np.array([value])) if value >= 0 else None for value in column.fixed
    ]
    for part in column.parts:
        assert isinstance(part, TableBlock)
        for row, node, table in zip(part.rows, part.scope[:, 0], part.table, strict=True):
            out[row] = Target(int(node), part.tables[table])
    targets = [target for target in out if target is not None]
    return [
        replace(target, domain=domain)
        for target, domain in zip(targets, _domains(formulas, expr, env, targets), strict=True)
    ]


def _domains(
    formulas: Formulas, expr: Expr, env: Env, targets: Sequence[Target]
) -> Iterator[IntArray | None]:
    """The declared values of a random term, both truth values of a formula, None for a number."""
    if isinstance(expr, RandomTerm):
        atoms = formulas.atoms
        yield from (atoms.domains[d] for d in atoms.domain[formulas.atom(expr, env)])
    else:
        yield from (BOOLEAN if np.isin(target.labels, BOOLEAN).all() else None for target in targets)


def _conditions(formulas: Formulas, expr: Expr, env: Env) -> list[GroundEvidence | None]:
    """The node and state that make a formula true; None where it always holds."""
    column = formulas.algebra.one_true_state(formulas.column(expr, env))
    impossible = GroundEvidence(-1, 0, expr.span)
    out = [impossible if value == FALSE else None for value in column.fixed]
    for part in column.parts:
        assert isinstance(part, TableBlock)
        state = np.argmax(part.tables == TRUE, axis=1)[part.table]
        for row, node, s in zip(part.rows, part.scope[:, 0], state, strict=True):
            out[row] = GroundEvidence(int(node), int(s), expr.span)
    return out
