"""Fixed expressions (no random term) at all instances at once."""

from __future__ import annotations

import numpy as np

from plx.check.program import (
    Aggregate,
    Const,
    Expr,
    Membership,
    Operation,
    ParamTerm,
    Program,
    Rank,
    RelationTerm,
    Scope,
    SetExpr,
    Variable,
)
from plx.errors import Diagnostic, PlxError
from plx.graph.ragged import neighbours, owners
from plx.graph.rows import BoolArray, unique_rows
from plx.ground.affine import AffineSums
from plx.ground.arithmetic import Arithmetic
from plx.ground.bind import all_instances, count_candidates
from plx.ground.env import Env
from plx.ground.index import TupleIndex
from plx.ground.limits import MOST_FIXED
from plx.ground.plan import Plan, plan
from plx.ground.sets import Sets, evaluate_set
from plx.ground.terms import Terms
from plx.source import Span
from plx.values import FALSE, TRUE, ZERO, IntArray
from plx.weights import WeightError

OWNER = -1
"""The uid of the column that tells which outer instance an inner one belongs to."""


class Evaluator:
    """Evaluates fixed expressions of one program; look-up tables are built once, when first needed."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.values = program.values
        self.arithmetic = Arithmetic(program.values)
        self.terms = Terms()
        self._params: dict[str, TupleIndex] = {}
        self._facts: dict[tuple[str, tuple[int, ...]], TupleIndex] = {}
        self._plans: dict[tuple[int, frozenset[int]], tuple[Scope, Plan]] = {}
        self.counted: dict[Plan, int] = {}
        self._orders: dict[str, IntArray] = {}
        self._affine = AffineSums(self)

    def forget(self) -> None:
        """Let go of indexes and of the rows that were joined; they are built anew where they are needed."""
        for kept in (self._params, self._facts, self._plans, self.counted):
            kept.clear()

    def value(self, expr: Expr, env: Env) -> IntArray:
        """The value ids [n] of an expression."""
        found = self._affine.value(expr, env) if self._affine.mentions(expr) else None
        return self.plain(expr, env) if found is None else found

    def plain(self, expr: Expr, env: Env) -> IntArray:
        """The same, step by step."""
        match expr:
            case Const():
                return np.full(env.n, expr.id, dtype=np.int64)
            case Variable():
                return env.columns[expr.uid]
            case ParamTerm():
                return self.param(expr, self.stack(expr.arguments, env))
            case RelationTerm():
                return self.relation(expr.name, self.stack(expr.arguments, env))
            case Rank():
                return self.rank(expr.type, self.value(expr.argument, env))
            case Membership():
                sets = self.sets(expr.set, env)
                return self.member_of(self.value(expr.item, env), sets.which, sets)
            case Operation():
                return self._operation(expr, env)
            case Aggregate():
                return self._aggregate(expr, env)
        raise TypeError(f"{expr} is not fixed")

    def truth(self, expr: Expr, env: Env) -> BoolArray:
        """The truth of a formula."""
        holds: BoolArray = self.value(expr, env) == TRUE
        return holds

    def sets(self, expr: SetExpr, env: Env) -> Sets:
        """The set of every instance."""
        return evaluate_set(self.program, expr, env, self.value)

    def stack(self, exprs: tuple[Expr, ...], env: Env) -> IntArray:
        """Several expressions side by side, [n, k]."""
        columns = [self.value(expr, env) for expr in exprs]
        return np.stack(columns, axis=1) if columns else np.zeros((env.n, 0), dtype=np.int64)

    def param(self, term: ParamTerm, index: IntArray) -> IntArray:
        """The values of a param at indexes [n, k]."""
        info = self.program.params[term.name]
        if term.name not in self._params:
            self._params[term.name] = TupleIndex(info.index)
        row = self._params[term.name].find(index)
        known = np.append(info.value, -1 if info.default is None else info.default)
        found = known[row]
        if (found < 0).any():
            raise PlxError(self._no_value(term, index[int(np.argmin(found))]))
        return found

    def relation(self, name: str, index: IntArray) -> IntArray:
        """Whether tuples [n, k] are facts."""
        columns = tuple(range(index.shape[1]))
        return self.facts(name, columns).contains(index).astype(np.int64)

    def facts(self, relation: str, columns: tuple[int, ...]) -> TupleIndex:
        """An index of the facts of a relation by some of their columns."""
        key = (relation, columns)
        if key not in self._facts:
            self._facts[key] = TupleIndex(self.program.relations[relation].facts[:, list(columns)])
        return self._facts[key]

    def plan(self, scope: Scope, known: frozenset[int]) -> Plan:
        """How to find the instances of a scope; made once."""
        key = (id(scope), known)
        if key not in self._plans:
            self._plans[key] = scope, plan(self, scope, known)
        return self._plans[key][1]

    def rank(self, type_name: str, ids: IntArray) -> IntArray:
        """The positions of symbols in the order of a type, as number ids."""
        if type_name not in self._orders:
            members = self.program.types[type_name].members
            numbers = self.arithmetic.integers(np.arange(len(members)))
            order = np.full(int(members.max(initial=0)) + 1, -1, dtype=np.int64)
            order[members] = numbers
            self._orders[type_name] = order
        return self._orders[type_name][ids]

    def member_of(self, items: IntArray, which: IntArray, sets: Sets) -> IntArray:
        """Whether each item is in the set of that number."""
        if len(sets.start) == 2:
            return np.isin(items, sets.members).astype(np.int64)
        owner = owners(sets.start)
        index = TupleIndex(np.stack([owner, sets.members], axis=1))
        rows = np.stack([np.broadcast_to(which, items.shape).ravel(), items.ravel()], axis=1)
        return index.contains(rows).astype(np.int64).reshape(items.shape)

    def unary(self, op: str, ids: IntArray, span: Span) -> IntArray:
        """An operator of one argument; arithmetic mistakes point at the span."""
        try:
            return self.arithmetic.unary(op, ids)
        except WeightError as mistake:
            raise PlxError(Diagnostic(str(mistake), span)) from None

    def binary(self, op: str, a: IntArray, b: IntArray, span: Span) -> IntArray:
        """An operator of two arguments, broadcast; arithmetic mistakes point at the span."""
        try:
            return self.arithmetic.binary(op, a, b)
        except WeightError as mistake:
            raise PlxError(Diagnostic(str(mistake), span)) from None

    def name(self, function: str, index: IntArray) -> str:
        """``f(a, b)``, as the program would write it."""
        from plx.syntax.printer import print_value

        arguments = ", ".join(print_value(self.values[int(i)]) for i in index)
        return f"{function}({arguments})" if arguments else function

    def at(self, env: Env, row: int) -> str:
        """`` at x = anna, y = bob`` for one instance; empty without variables."""
        from plx.syntax.printer import print_value

        pairs = [
            f"{env.names[uid]} = {print_value(self.values[int(column[row])])}"
            for uid, column in env.columns.items()
            if env.names[uid]
        ]
        return " at " + ", ".join(pairs) if pairs else ""

    def inner(self, expr: Aggregate, env: Env) -> tuple[Env, IntArray]:
        """The instances of an aggregate's scope and the outer instance [N] of each, in order."""
        outer = env.bind(OWNER, "", np.arange(env.n))
        inner = all_instances(self, outer, expr.scope)
        owner = inner.columns[OWNER]
        return Env(inner.n, {u: c for u, c in inner.columns.items() if u != OWNER}, inner.names), owner

    def _operation(self, expr: Operation, env: Env) -> IntArray:
        if expr.op in ("and", "or"):
            return self._until(expr.arguments, env, TRUE if expr.op == "or" else FALSE)
        if expr.op == "=>":
            premise = self.value(expr.arguments[0], env)
            out = np.full(env.n, TRUE, dtype=np.int64)
            rows = np.flatnonzero(premise == TRUE)
            out[rows] = self.value(expr.arguments[1], env.take(rows))
            return out
        first, *others = expr.arguments
        result = self.value(first, env)
        if not others:
            return self.unary(expr.op, result, expr.span)
        for other in others:
            result = self.binary(expr.op, result, self.value(other, env), expr.span)
        return result

    def _until(self, arguments: tuple[Expr, ...], env: Env, stop: int) -> IntArray:
        """``and`` or ``or``: an argument is evaluated only where the earlier ones do not decide."""
        out = np.full(env.n, TRUE + FALSE - stop, dtype=np.int64)
        rows = np.arange(env.n)
        for argument in arguments:
            decided = self.value(argument, env) == stop
            if decided.any():
                out[rows[decided]] = stop
                rows, env = rows[~decided], env.take(~decided)
        return out

    def _aggregate(self, expr: Aggregate, env: Env) -> IntArray:
        inner, owner, inverse, n = self.elements(expr, env)
        body = self.value(expr.body, inner)
        if expr.kind == "sum":
            return self.sum_by(owner, body, n, expr.span)[inverse]
        if expr.kind == "alldifferent":
            distinct, _ = unique_rows(np.stack([owner, body], axis=1))
            once = np.bincount(owner[distinct], minlength=n) == np.bincount(owner, minlength=n)
            return np.where(once, TRUE, FALSE)[inverse]
        if expr.kind == "product":
            return self.fold_by("*", owner, body, n, expr.span)[inverse]
        true = np.bincount(owner[body == TRUE], minlength=n)
        if expr.kind == "count":
            return self.arithmetic.integers(true)[inverse]
        holds = true > 0 if expr.kind == "exists" else true == np.bincount(owner, minlength=n)
        return holds.astype(np.int64)[inverse]

    def elements(self, expr: Aggregate, env: Env) -> tuple[Env, IntArray, IntArray, int]:
        """The elements of an aggregate, once per distinct binding of the variables that it mentions.

        The binding, 0 … n-1, that each belongs to (increasing), that of each instance, and n.
        """
        used = sorted(self.terms.free(expr))
        first, inverse = unique_rows(env.stack(used))
        outer = env.only(used).take(first)
        if count_candidates(self, outer, expr.scope, MOST_FIXED) > MOST_FIXED:
            raise PlxError(_too_many(expr.span))
        return *self.inner(expr, outer), inverse, len(first)

    def sum_by(self, owner: IntArray, ids: IntArray, n: int, span: Span) -> IntArray:
        """The exact sums of numbers by owner 0 … n-1 (owners increasing)."""
        return self.fold_by("+", owner, ids, n, span)

    def fold_by(self, op: str, owner: IntArray, ids: IntArray, n: int, span: Span) -> IntArray:
        """The exact sums or products of numbers by owner 0 … n-1 (owners increasing), in log n rounds."""
        out = np.full(n, ZERO if op == "+" else self.values.id(1), dtype=np.int64)
        while (same := owner[1:] == owner[:-1]).any():
            left, kept = neighbours(same)
            ids = ids.copy()
            ids[left] = self.binary(op, ids[left], ids[left + 1], span)
            owner, ids = owner[kept], ids[kept]
        out[owner] = ids
        return out

    def _no_value(self, term: ParamTerm, index: IntArray) -> Diagnostic:
        return Diagnostic(
            f"there is no value for `{self.name(term.name, index)}`",
            term.span,
            hint=f"add it to the table of `{term.name}`, or give an `else`",
        )


def _too_many(span: Span) -> Diagnostic:
    return Diagnostic(
        f"this goes over more than {MOST_FIXED:,} fixed instances",
        span,
        hint="bind over a relation, or add a guard that leaves fewer",
    )
