"""PLX203: weights on implications whose left side is rarely true."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from plx.check.program import (
    Expr,
    Membership,
    Operation,
    Program,
    RandomTerm,
    SetConst,
    SetExpr,
    SetType,
    SetUnion,
)
from plx.check.walk import random_inside
from plx.errors import Diagnostic
from plx.lint.finding import finding

_RARE = 0.1
"""A left side that holds in less of all worlds than this is rare."""


def rare(program: Program) -> Iterator[Diagnostic]:
    """Implications with a weight whose left side would rarely hold if all worlds were equally likely."""
    for rule in program.rules:
        body = rule.body
        if rule.kind != "weight" or not isinstance(body, Operation) or body.op != "=>":
            continue
        left, right = body.arguments
        share = _share(program, left)
        if share is None or share >= _RARE:
            continue
        often = f"in one of {round(1 / share):,} worlds" if share else "in no world"
        message = f"`{left.span.text}` holds {often}, and where it does not, the implication is true"
        hint = f"to reward both together write `{left.span.text} & {right.span.text}`"
        yield finding("PLX203", rule.span, message, hint)


def _share(program: Program, expr: Expr) -> float | None:
    """Of all worlds the share in which a formula holds, as if its parts were independent; None if unknown.

    What is fixed counts as true: where it is false, the rule is a constant.
    """
    if random_inside(expr) is None:
        return 1.0
    match expr:
        case RandomTerm():
            return 0.5 if program.randoms[expr.name].domain is None else None
        case Operation("not", (inner,)):
            share = _share(program, inner)
            return None if share is None else 1 - share
        case Operation("and", arguments):
            return _product([_share(program, argument) for argument in arguments])
        case Operation("or", arguments):
            failing = _product([_share(program, argument) for argument in arguments], negated=True)
            return None if failing is None else 1 - failing
        case Operation("=" | "!=", (left, right)):
            size = _size(program, left) or _size(program, right)
            return None if size is None else 1 / size if expr.op == "=" else 1 - 1 / size
        case Membership(RandomTerm() as term, SetConst(ids)):
            size = _size(program, term)
            return None if size is None else min(1.0, len(ids) / size)
    return None


def _product(shares: list[float | None], negated: bool = False) -> float | None:
    known = [share for share in shares if share is not None]
    if len(known) < len(shares):
        return None
    return prod(1 - share if negated else share for share in known)


def _size(program: Program, term: Expr) -> float | None:
    """How many values an unknown has; the mean where that depends on its index."""
    if not isinstance(term, RandomTerm):
        return None
    domain = program.randoms[term.name].domain
    return 2 if domain is None else _members(program, domain)


def _members(program: Program, domain: SetExpr) -> float | None:
    match domain:
        case SetConst(ids):
            return len(ids)
        case SetType(name, arguments):
            info = program.types[name]
            if arguments and info.family:
                return sum(map(len, info.family.values())) / len(info.family)
            return len(info.members)
        case SetUnion(parts):
            sizes = [_members(program, part) for part in parts]
            known = [size for size in sizes if size is not None]
            return sum(known) if len(known) == len(sizes) else None
    return None
