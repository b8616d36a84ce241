"""Expressions with random terms at all instances at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

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
)
from plx.deadline import check
from plx.graph.rows import BoolArray, unique_rows
from plx.ground.algebra import OWN, Algebra
from plx.ground.atoms import AtomTable, outside
from plx.ground.budget import GroundBudget
from plx.ground.columns import Column, Part, TableBlock, concatenate, possible_values
from plx.ground.env import ROOT, Env
from plx.ground.evaluate import Evaluator
from plx.ground.limits import TABLE_LIMIT
from plx.ground.lookups import Look, look_up
from plx.ground.quantify import Quantifier
from plx.ground.terms import flatten
from plx.source import Span
from plx.values import FALSE, TRUE, FloatArray, IntArray

_COMPARISONS = frozenset({"=", "!=", "<", "<=", ">", ">="})


class Formulas:
    """Turns expressions into columns over the variables of an AtomTable."""

    def __init__(self, evaluator: Evaluator, atoms: AtomTable, algebra: Algebra) -> None:
        self.evaluator = evaluator
        self.atoms = atoms
        self.algebra = algebra
        self.quantifier = Quantifier(algebra)
        self.budget = GroundBudget(None, 0)
        self._known: dict[int, tuple[Aggregate, Column]] = {}
        self._rewritten: dict[int, tuple[Expr, Expr]] = {}

    def column(self, expr: Expr, env: Env) -> Column:
        """The value of an expression at every instance. Raises OutOfTimeError."""
        check()
        if not self.evaluator.terms.is_random(expr):
            return Column(self.evaluator.value(expr, env))
        match expr:
            case RandomTerm():
                column = self.atoms.column(self.atom(expr, env))
                return Column(column.fixed, tuple(map(_as_own, column.parts))) if expr.own else column
            case Operation():
                return self._operation(expr, env)
            case Aggregate():
                return self._aggregate(expr, env)
            case ParamTerm():
                return self._look_up(lambda index: self.evaluator.param(expr, index), expr, env)
            case RelationTerm():
                return self._look_up(lambda index: self.evaluator.relation(expr.name, index), expr, env)
            case Rank():
                order = lambda ids: self.evaluator.rank(expr.type, ids)  # noqa: E731
                return self.algebra.unary(order, self.column(expr.argument, env))
            case Membership():
                return self._membership(expr, env)
        raise TypeError(f"{expr} is not random")

    def atom(self, term: RandomTerm, env: Env) -> IntArray:
        """The atom numbers of a random term at every instance."""
        index = self.evaluator.stack(term.arguments, env)
        atoms = self.atoms.find(term.name, index)
        if (atoms < 0).any():
            row = int(np.argmin(atoms))
            raise outside(self.evaluator, term, index[row], self.evaluator.at(env, row))
        return atoms

    # ---------------------------------------------------------------- operators

    def _operation(self, expr: Operation, env: Env) -> Column:
        if expr.op in ("and", "or"):
            return self._connective(expr, env)
        if expr.op == "=>":
            return self._connective(self._as_or(expr), env)
        columns = [self.column(argument, env) for argument in expr.arguments]
        if len(columns) == 1:
            return self.algebra.unary(lambda ids: self.evaluator.unary(expr.op, ids, expr.span), columns[0])
        if expr.op in ("+", "-"):
            return self._total(expr, columns)
        result = columns[0]
        for column in columns[1:]:
            result = self._binary(expr.op, result, column, expr.span)
        return result

    def _binary(self, op: str, a: Column, b: Column, span: Span) -> Column:
        comparison = op if op in _COMPARISONS else ""
        return self.algebra.binary(lambda x, y: self.evaluator.binary(op, x, y, span), a, b, span, comparison)

    def _as_or(self, expr: Operation) -> Operation:
        """``a => b`` as ``!a | b``."""
        found = self._rewritten.get(id(expr))
        if found is None:
            premise, conclusion = expr.arguments
            negated = Operation("not", (premise,), span=premise.span)
            found = expr, Operation("or", (negated, conclusion), span=expr.span)
            self._rewritten[id(expr)] = found
        rewritten = found[1]
        assert isinstance(rewritten, Operation)
        return rewritten

    def _connective(self, expr: Operation, env: Env) -> Column:
        """``and``, ``or``: fixed operands first; instances that are decided are left alone."""
        stop = TRUE if expr.op == "or" else FALSE
        operands = sorted(flatten(expr.op, expr), key=self.evaluator.terms.is_random)
        out = np.full(env.n, TRUE + FALSE - stop, dtype=np.int64)
        rows = np.arange(env.n)
        columns: list[Column] = []
        for operand in operands:
            column = self.column(operand, env)
            decided = column.fixed == stop
            if decided.any():
                out[rows[decided]] = stop
                live = np.flatnonzero(~decided)
                rows, env = rows[live], env.take(live)
                columns, column = [c.take(live) for c in columns], column.take(live)
            if self.evaluator.terms.is_random(operand):
                columns.append(column)
        joined = self._join(expr, columns)
        if len(rows) == len(out):
            return joined
        out[rows] = joined.fixed
        return Column(out, tuple(_moved(joined, rows)))

    def _join(self, expr: Operation, columns: list[Column]) -> Column:
        """A conjunction or disjunction of columns; long ones are counted."""
        if len(columns) <= 2:
            return self._fold(expr, columns)
        large = _joint_bits(columns) > math.log2(TABLE_LIMIT) + 1e-9
        kind = "exists" if expr.op == "or" else "forall"
        if not large.any():
            return self._fold(expr, columns)
        return self._split(
            columns,
            large,
            lambda some: self._fold(expr, some),
            lambda some: self._stack(kind, some, expr.span),
        )

    def _fold(self, expr: Operation, columns: list[Column]) -> Column:
        result = columns[0]
        for column in columns[1:]:
            result = self._binary(expr.op, result, column, expr.span)
        return result

    def _total(self, expr: Operation, columns: list[Column]) -> Column:
        """A sum or difference; large ones are counted."""
        large = _joint_bits(columns) > math.log2(TABLE_LIMIT) + 1e-9
        if not large.any():
            return self._fold(expr, columns)
        if expr.op == "-":
            minus = lambda ids: self.evaluator.unary("neg", ids, expr.span)  # noqa: E731
            columns = [columns[0], *(self.algebra.unary(minus, column) for column in columns[1:])]
            expr = Operation("+", expr.arguments, span=expr.span)
        return self._split(
            columns,
            large,
            lambda some: self._fold(expr, some),
            lambda some: self._stack("sum", some, expr.span),
        )

    def _split(
        self,
        columns: list[Column],
        large: BoolArray,
        small_way: Callable[[list[Column]], Column],
        large_way: Callable[[list[Column]], Column],
    ) -> Column:
        """Work on the large instances one way and on the others another way."""
        few, many = np.flatnonzero(~large), np.flatnonzero(large)
        results = [large_way([c.take(many) for c in columns])]
        if len(few):
            results.append(small_way([c.take(few) for c in columns]))
        order = np.argsort(np.concatenate([many, few]), kind="stable")
        return concatenate(results).take(order)

    def _stack(self, kind: str, columns: list[Column], span: Span) -> Column:
        """An aggregate whose elements are the columns."""
        n, k = columns[0].n, len(columns)
        order = (np.arange(k) * n + np.arange(n)[:, None]).ravel()
        return self.quantifier.reduce(
            kind, n, np.repeat(np.arange(n), k), concatenate(columns).take(order), span
        )

    # ------------------------------------------------------------------- others

    def _aggregate(self, expr: Aggregate, env: Env) -> Column:
        """Worked out once per distinct binding of the variables that it mentions."""
        used = sorted(self.evaluator.terms.free(expr))
        if not used:
            return self._closed(expr).take(np.zeros(env.n, dtype=np.int64))
        first, inverse = unique_rows(env.stack(used))
        reduced = self._reduced(expr, env.only(used).take(first))
        same = len(first) == env.n and bool((inverse == np.arange(env.n)).all())
        return reduced if same else reduced.take(inverse)

    def _closed(self, expr: Aggregate) -> Column:
        """An aggregate that mentions no bound variable, at one instance; remembered."""
        found = self._known.get(id(expr))
        if found is None:
            found = self._known[id(expr)] = (expr, self._reduced(expr, ROOT))
        return found[1]

    def _reduced(self, expr: Aggregate, env: Env) -> Column:
        owner, elements = self._elements(expr, env)
        return self.quantifier.reduce(expr.kind, env.n, owner, elements, expr.span)

    def at_most_once(self, expr: Aggregate, env: Env) -> tuple[Column, IntArray]:
        """What an ``alldifferent`` is the conjunction of: a formula per value, and the instance of each."""
        owner, elements = self._elements(expr, env)
        return self.quantifier.at_most_once(env.n, owner, elements, expr.span)

    def terms_and_values(self, expr: Aggregate, env: Env) -> tuple[int, int]:
        """How many terms an ``alldifferent`` has at one instance, and how many values these can take."""
        _, elements = self._elements(expr, env)
        return elements.n, len(np.unique(possible_values(elements)[1]))

    def _elements(self, expr: Aggregate, env: Env) -> tuple[IntArray, Column]:
        """The instance that each element of an aggregate belongs to, and the elements."""
        self.budget.spend(self.evaluator, env, expr.scope)
        inner, owner = self.evaluator.inner(expr, env)
        elements = self.column(expr.body, inner)
        if expr.kind == "alldifferent":
            self.budget.use(len(possible_values(elements)[0]))
        return owner, elements

    def _look_up(self, look: Look, expr: ParamTerm | RelationTerm, env: Env) -> Column:
        columns = [self.column(argument, env) for argument in expr.arguments]
        return look_up(self.algebra, look, columns, expr.span)

    def _membership(self, expr: Membership, env: Env) -> Column:
        sets = self.evaluator.sets(expr.set, env)
        within = lambda items, which: self.evaluator.member_of(items, which, sets)  # noqa: E731
        return self.algebra.binary(within, self.column(expr.item, env), Column(sets.which), expr.span)


def _as_own(part: Part) -> Part:
    """A column of unknowns as the ones that a `random` rule is about."""
    assert isinstance(part, TableBlock)
    return replace(part, scope=part.scope + OWN)


def _moved(column: Column, rows: IntArray) -> Iterator[Part]:
    """The parts of a column with other instance numbers."""
    for part in column.parts:
        yield replace(part, rows=rows[part.rows])


def _joint_bits(columns: list[Column]) -> FloatArray:
    """Log2 of the joint states of all columns' nodes as if they were distinct; inf for raw sums."""
    bits = np.zeros(columns[0].n)
    for column in columns:
        for part in column.parts:
            bits[part.rows] += math.log2(math.prod(part.cards)) if isinstance(part, TableBlock) else np.inf
    return bits
