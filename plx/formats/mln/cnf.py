"""Formulas as clauses, as Alchemy makes them before it shares a weight among them.

Universal quantifiers are dropped: their variables become free, so that each of their values is an
instance of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Final

from plx.errors import Diagnostic, PlxError
from plx.formats.mln import logic

_MOST: Final = 256
"""A formula of more clauses than this is not split."""

_ENOUGH: Final = 10**6

Clause = tuple[logic.Formula, ...]


def clauses(formula: logic.Formula) -> tuple[list[Clause], list[logic.Variable]]:
    """The clauses of a formula, and the variables of its universal quantifiers.

    Raises PlxError for an existential over a conjunction, which Alchemy would write out over all
    constants, and for too many clauses.
    """
    if _size(formula)[0] > _MOST:
        message = f"this formula has more than {_MOST:,} clauses"
        raise PlxError(Diagnostic(message, formula.span, "`--weights whole` keeps the formula as it is"))
    free: list[logic.Variable] = []
    return _clauses(_negation_normal(formula, True), free), free


def is_one_clause(formula: logic.Formula) -> bool:
    """Whether the clauses of a formula are one, without a universal quantifier."""
    return _size(formula)[0] == 1 and not _has_universal(formula, True)


def _size(formula: logic.Formula) -> tuple[int, int]:
    """How many clauses a formula and its negation have; as many as `_ENOUGH` where there are more."""
    match formula:
        case logic.Not(body):
            return _size(body)[::-1]
        case logic.Bound(_, _, body):
            return _size(body)
        case logic.Connected(operator, parts):
            return _joined_size(operator, [_size(part) for part in parts])
        case _:
            return 1, 1


def _joined_size(operator: str, sizes: Sequence[tuple[int, int]]) -> tuple[int, int]:
    if operator == "=>":
        operator, sizes = "or", [sizes[0][::-1], sizes[1]]
    holds, fails = sizes[0]
    for a, b in sizes[1:]:
        if operator == "and":
            holds, fails = holds + a, fails * b
        elif operator == "or":
            holds, fails = holds * a, fails + b
        else:
            holds, fails = fails * a + holds * b, holds * a + fails * b
        holds, fails = min(holds, _ENOUGH), min(fails, _ENOUGH)
    return holds, fails


def _has_universal(formula: logic.Formula, holds: bool) -> bool:
    """Whether a quantifier of the formula, or of its negation, goes over all values."""
    match formula:
        case logic.Not(body):
            return _has_universal(body, not holds)
        case logic.Bound(kind, _, body):
            return (kind == "forall") == holds or _has_universal(body, holds)
        case logic.Connected("=>", (given, then)):
            return _has_universal(given, not holds) or _has_universal(then, holds)
        case logic.Connected("<=>", parts):
            return any(_has_universal(part, sign) for part in parts for sign in (True, False))
        case logic.Connected(_, parts):
            return any(_has_universal(part, holds) for part in parts)
        case _:
            return False


def disjunction(clause: Sequence[logic.Formula]) -> logic.Formula:
    """A clause as a formula."""
    if len(clause) == 1:
        return clause[0]
    return logic.Connected("or", tuple(clause), span=clause[0].span.to(clause[-1].span))


def _negation_normal(formula: logic.Formula, holds: bool) -> logic.Formula:
    """The formula, or its negation, with ``!`` before atoms alone, ``and``, ``or`` and quantifiers."""
    match formula:
        case logic.Not(body):
            return _negation_normal(body, not holds)
        case logic.Bound(kind, _, body):
            kept: logic.Kind = kind if holds else ("forall" if kind == "exists" else "exists")
            return replace(formula, kind=kept, body=_negation_normal(body, holds))
        case logic.Connected("=>", (given, then)):
            parts = _negation_normal(given, not holds), _negation_normal(then, holds)
            return replace(formula, operator="or" if holds else "and", parts=parts)
        case logic.Connected("<=>", (first, *rest)):
            after = rest[0] if len(rest) == 1 else replace(formula, parts=tuple(rest))
            return _equivalence(formula, first, after, holds)
        case logic.Connected(operator, parts):
            turned = operator if holds else ("or" if operator == "and" else "and")
            return replace(formula, operator=turned, parts=tuple(_negation_normal(p, holds) for p in parts))
        case _:
            return formula if holds else logic.Not(formula, span=formula.span)


def _equivalence(
    formula: logic.Connected, one: logic.Formula, other: logic.Formula, holds: bool
) -> logic.Formula:
    """``(!a v b) ^ (a v !b)``, or ``(a v b) ^ (!a v !b)`` for its negation."""
    signs = [(False, True), (True, False)] if holds else [(True, True), (False, False)]
    parts = tuple(
        replace(formula, operator="or", parts=(_negation_normal(one, a), _negation_normal(other, b)))
        for a, b in signs
    )
    return replace(formula, operator="and", parts=parts)


def _clauses(formula: logic.Formula, free: list[logic.Variable]) -> list[Clause]:
    match formula:
        case logic.Bound("forall", variables, body):
            free += variables
            return _clauses(body, free)
        case logic.Bound(_, _, body):
            if not _is_clause(body):
                message = (
                    "this existential is over a conjunction: it has no clauses that could share a weight"
                )
                raise PlxError(
                    Diagnostic(message, formula.span, "`--weights whole` keeps the formula as it is")
                )
            return [(formula,)]
        case logic.Connected("and", parts):
            found = [clause for part in parts for clause in _clauses(part, free)]
        case logic.Connected("or", parts):
            below = [_clauses(part, free) for part in parts]
            found = [sum(chosen, ()) for chosen in product(*below)]
        case _:
            return [(formula,)]
    return found


def _is_clause(formula: logic.Formula) -> bool:
    match formula:
        case logic.Bound("exists", _, body):
            return _is_clause(body)
        case logic.Connected(operator, parts):
            return operator == "or" and all(map(_is_clause, parts))
        case logic.Bound():
            return False
        case _:
            return True
