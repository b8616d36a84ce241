"""Terms of random functions whose values are elements, as terms of relations: ``f(x) = y`` is ``f(x, y)``.

Exactly one y is the value of f(x). So what is said of f(x) is said of each y for which ``f(x, y)`` holds, and
an expression over f(x) is one over y, where y is one variable more.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from plx.check.program import (
    Aggregate,
    Const,
    Expr,
    Membership,
    Operation,
    ParamTerm,
    RandomInfo,
    RandomTerm,
    Rank,
    RelationTerm,
    Scope,
    SetBinding,
    Variable,
)
from plx.check.walk import parts
from plx.firstorder.refusal import NotLiftableError, shown
from plx.ground.terms import bound

_FIRST_UID = -1_000_000

_BY_CASES = {
    "weight": "and", "count": "and", "exists": "and", "probability": "and",
    "require": "=>", "observe": "=>", "forall": "=>",
    "factor": "*", "sum": "*",
}  # fmt: skip
"""What joins ``f(x, y)`` and what is said of y, so that all y together say it of f(x)."""

_AGGREGATES = frozenset({"count", "exists", "forall", "sum", "alldifferent", "product"})
"""Of which only the terms that mention their variables are theirs."""


def remade(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """An expression with its parts changed; sets and guards, which are fixed, are kept."""
    match expr:
        case Operation() | ParamTerm() | RelationTerm() | RandomTerm():
            return replace(expr, arguments=tuple(map(change, expr.arguments)))
        case Rank():
            return replace(expr, argument=change(expr.argument))
        case Membership():
            return replace(expr, item=change(expr.item))
        case Aggregate():
            return replace(expr, body=change(expr.body))
    return expr


@dataclass(eq=False)
class FunctionTerms:
    """Rewrites expressions over ``functions``, by name as they are declared. The relations that they become
    are told from them by one slot more."""

    functions: Mapping[str, RandomInfo]
    _uids: itertools.count[int] = field(default_factory=lambda: itertools.count(_FIRST_UID, -1))

    def is_term(self, expr: Expr) -> bool:
        """Whether it is a term of one of the functions."""
        if not isinstance(expr, RandomTerm) or expr.name not in self.functions:
            return False
        return len(expr.arguments) == len(self.functions[expr.name].slots)

    def value(self, term: RandomTerm) -> SetBinding:
        """A new variable that ranges over the values of a term."""
        domain = self.functions[term.name].domain
        assert domain is not None
        name = " ".join(term.span.text.split())
        return SetBinding(Variable(next(self._uids), name, span=term.span), domain, span=term.span)

    def at(self, term: RandomTerm, value: Expr) -> RandomTerm:
        """That a term has a value."""
        return RandomTerm(term.name, (*term.arguments, value), span=term.span)

    def rewritten(self, expr: Expr) -> Expr:
        """An expression in which terms stand in comparisons with fixed values no more, and none in an
        aggregate that is about its variables. Raises NotLiftableError."""
        match expr:
            case Operation(op="=" | "!=" as op, arguments=(a, b)):
                for term, value in ((a, b), (b, a)):
                    if isinstance(term, RandomTerm) and self.is_term(term) and _is_place(value):
                        found = self.at(term, value)
                        return found if op == "=" else Operation("not", (found,), span=expr.span)
            case Aggregate():
                return self._aggregate(replace(expr, body=self.rewritten(expr.body)))
        return remade(expr, self.rewritten)

    def by_cases(self, kind: str, expr: Expr, scope: Scope) -> tuple[Expr, Scope]:
        """What a rule or an aggregate of a kind says, with a variable for each term that is left.

        Raises NotLiftableError where the kind does not go by cases.
        """
        while (term := self.first(expr, bound(scope) if kind in _AGGREGATES else None)) is not None:
            if kind not in _BY_CASES:
                raise NotLiftableError(
                    f"{shown(expr.span)} is not about single values of `{term.name}`", expr.span
                )
            binding = self.value(term)
            scope = replace(scope, bindings=(*scope.bindings, binding))
            expr = self._case(_BY_CASES[kind], term, binding.variable, expr)
        return expr, scope

    def first(self, expr: Expr, uids: frozenset[int] | None = None) -> RandomTerm | None:
        """The first term in an expression, of those that mention some of the variables."""
        for part in parts(expr):
            if isinstance(part, RandomTerm) and self.is_term(part):
                mine = {
                    v.uid for argument in part.arguments for v in parts(argument) if isinstance(v, Variable)
                }
                if uids is None or mine & uids:
                    return part
        return None

    def _aggregate(self, expr: Aggregate) -> Aggregate:
        body, scope = self.by_cases(expr.kind, expr.body, expr.scope)
        return replace(expr, body=body, scope=scope)

    def _case(self, op: str, term: RandomTerm, value: Variable, expr: Expr) -> Expr:
        said: Expr = self.at(term, value)
        if op == "*":
            said = Operation("indicator", (said,), span=expr.span)
        told = self.rewritten(put(expr, term, value))
        return Operation(op, (said, told), span=expr.span)  # type: ignore[arg-type]


def _is_place(expr: Expr) -> bool:
    return isinstance(expr, Variable | Const)


def put(expr: Expr, term: Expr, value: Expr) -> Expr:
    """An expression with another in the place of some part."""
    return value if expr == term else remade(expr, lambda part: put(part, term, value))
