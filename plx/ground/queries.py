"""Queries → their instances, each with a name and the nodes that it asks about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from plx.check.program import BOOLEAN, Expr, Query, RandomTerm
from plx.errors import Diagnostic, PlxError
from plx.graph.model import GroundEvidence, GroundQuery, Target
from plx.graph.queries import QueryBlock
from plx.graph.rows import unique_keys
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

WIDE = 1 << 12
"""A query of at least so many instances is kept as arrays."""


def ground_query(formulas: Formulas, query: Query) -> Sequence[GroundQuery]:
    """The instances of a query, over the nodes that were made while grounding: a tuple, or a `QueryBlock`
    where there are many."""
    formulas.budget.spend(formulas.evaluator, ROOT, query.scope)
    env = all_instances(formulas.evaluator, ROOT, query.scope)
    if isinstance(query.part, RandomTerm):
        return (part_query(formulas, query, query.part, env),)
    targets = [_Targets.of(formulas, target, env) for target in query.targets]
    names = QueryNames(formulas.evaluator.values, query, env)
    term, slots = query_slots(formulas.evaluator, query, env)
    if query.kind == "number":
        _check_range(formulas.evaluator.values, query, names, targets[0])
    if len(targets) == 1 and not query.given and env.n >= WIDE:
        (target,) = targets
        return QueryBlock(
            query.kind,
            query.span,
            term,
            names.labels(),
            names.texts,
            tuple(slots),
            tuple(slots.values()),
            target.node,
            target.form,
            target.forms,
        )
    facts = [fact for given in query.given for fact in flatten("and", given)]
    conditions = [_conditions(formulas, fact, env) for fact in facts]
    indexes = list(zip(*(column.tolist() for column in slots.values()), strict=True)) or [()] * env.n
    pairs = zip(names.labels(), names.texts, indexes, strict=True)
    return tuple(
        GroundQuery(
            kind=query.kind,
            name=name,
            text=text,
            targets=tuple(column.target(row) for column in targets),
            given=tuple(fact for condition in conditions if (fact := condition[row]) is not None),
            span=query.span,
            best=query.best,
            term=term,
            slots=tuple(zip(slots, index, strict=True)),
        )
        for row, (name, text, index) in enumerate(pairs)
    )


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


class _Targets(NamedTuple):
    """One coordinate of n instances: the node of each, -1 where it is decided, and a form that it shares."""

    node: IntArray  # [n]
    form: IntArray  # [n]
    forms: tuple[Target, ...]

    @classmethod
    def of(cls, formulas: Formulas, expr: Expr, env: Env) -> _Targets:
        """The coordinate that an expression is."""
        column = formulas.algebra.one_state_per_value(formulas.column(expr, env))
        node, labels = np.full(env.n, -1, dtype=np.int64), np.zeros(env.n, dtype=np.int64)
        known = np.flatnonzero(column.fixed >= 0)
        values, labels[known] = np.unique(column.fixed[known], return_inverse=True)
        tables = [values[i : i + 1] for i in range(len(values))]
        for part in column.parts:
            assert isinstance(part, TableBlock)
            node[part.rows], labels[part.rows] = part.scope[:, 0], part.table + len(tables)
            tables += list(part.tables)
        domains = _domains(formulas, expr, env)
        declared = np.zeros(env.n, dtype=np.int64) if domains is None else domains[1]
        first, form = unique_keys(labels * (declared.max(initial=0) + 1) + declared)
        return cls(
            node,
            form,
            tuple(
                Target(
                    -1,
                    tables[label],
                    _truths(tables[label]) if domains is None else domains[0][domain],
                )
                for label, domain in zip(labels[first].tolist(), declared[first].tolist(), strict=True)
            ),
        )

    def target(self, row: int) -> Target:
        """The coordinate of one instance."""
        form = self.forms[self.form[row]]
        return Target(int(self.node[row]), form.labels, form.domain)


def _check_range(values: Values, query: Query, names: QueryNames, target: _Targets) -> None:
    """A number must have a mean that a double can hold."""
    far = [not np.isfinite(values.floats(form.labels)).all() for form in target.forms]
    if any(far):
        row = int(np.flatnonzero(np.array(far)[target.form])[0])
        raise PlxError(
            Diagnostic(
                f"`{shortened(names.texts[row])}` may be a number past 1.8e308,"
                " which is too large for a mean",
                query.span,
                hint="ask for it in another unit, or for the probability of a formula over it",
            )
        )


def _domains(formulas: Formulas, expr: Expr, env: Env) -> tuple[Sequence[IntArray], IntArray] | None:
    """Of a random term the domains that are declared, and which of them each instance has."""
    if not isinstance(expr, RandomTerm):
        return None
    atoms = formulas.atoms
    return atoms.domains, atoms.domain[formulas.atom(expr, env)].astype(np.int64)


def _truths(labels: IntArray) -> IntArray | None:
    """Both truth values for a formula, None for a number."""
    return BOOLEAN if np.isin(labels, BOOLEAN).all() else None


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
