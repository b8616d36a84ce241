"""The operators of the language on values, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from plx.weights import Number, add, compare, div, exp, floor, log, logit, mod, mul, neg, power, sqrt, sub


def _chain(step: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def run(first: Any, *others: Any) -> Any:
        for other in others:
            first = step(first, other)
        return first

    return run


def _absolute(a: Number) -> Number:
    return neg(a) if compare(a, 0) < 0 else a


def _less(a: Number, b: Number) -> Number:
    return a if compare(a, b) <= 0 else b


def _more(a: Number, b: Number) -> Number:
    return a if compare(a, b) >= 0 else b


def _equal(a: object, b: object) -> bool:
    return isinstance(a, bool) == isinstance(b, bool) and a == b


OPERATIONS: Final[dict[str, Callable[..., Any]]] = {
    "not": lambda a: not a,
    "and": lambda *all_: all(all_),
    "or": lambda *all_: any(all_),
    "xor": _chain(lambda a, b: a != b),
    "=>": lambda a, b: not a or b,
    "<=>": lambda a, b: a == b,
    "=": _equal,
    "!=": lambda a, b: not _equal(a, b),
    "<": lambda a, b: compare(a, b) < 0,
    "<=": lambda a, b: compare(a, b) <= 0,
    ">": lambda a, b: compare(a, b) > 0,
    ">=": lambda a, b: compare(a, b) >= 0,
    "+": _chain(add),
    "-": sub,
    "*": _chain(mul),
    "/": div,
    "%": mod,
    "^": power,
    "neg": neg,
    "indicator": int,
    "log": log,
    "exp": exp,
    "sqrt": sqrt,
    "abs": _absolute,
    "floor": floor,
    "min": _chain(_less),
    "max": _chain(_more),
    "logit": logit,
    "chance": lambda holds, p: p if holds else sub(1, p),
    "mix": _chain(add),
}


def apply(op: str, *arguments: Any) -> Any:
    """An operator of the language on values (symbols, truth values, exact numbers).

    Raises ArithmeticMistake where the result is no real number.
    """
    return OPERATIONS[op](*arguments)
