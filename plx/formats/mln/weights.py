"""The weight of a rule: an expression of plx, or that the rule must hold or must not."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, Literal

from plx.errors import Diagnostic, PlxError
from plx.formats.mln import logic
from plx.formats.mln.names import Names
from plx.syntax import ast
from plx.syntax.build import exact_number
from plx.syntax.words import Word

_NUMBER: Final = re.compile(r"(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)

Extreme = Literal["must", "never"]

_INFINITIES: Final = {"inf": 1, "+inf": 1, "infinity": 1, "-inf": -1}


def meaning(weight: ast.Expr, names: Names) -> ast.Expr | Extreme:
    """A weight as plx writes it; ``must`` for +∞, ``never`` for −∞ (``logx(0)``, ``-float('inf')``).

    Raises PlxError for a weight that is no number.
    """
    sign = _infinite(weight)
    if sign:
        return "must" if sign > 0 else "never"
    return _finite(weight, names)


def is_zero_log(weight: ast.Expr) -> bool:
    """Whether this is ``logx(0)``, for which ProbCog and pracmln take −100."""
    return isinstance(weight, ast.Apply) and weight.name.text == "logx" and number(weight.arguments[0]) == 0


def number(expr: ast.Expr) -> Fraction | None:
    """The value of an expression of numbers alone; None for any other and for a division by 0."""
    match expr:
        case ast.Number(value):
            return value
        case ast.Apply(name, (argument,)) if name.text == "float":
            return number(argument)
        case ast.Unary(op, operand):
            inner = number(operand)
            return None if inner is None else -inner if op == "-" else inner
        case ast.Binary(op, left, right):
            a, b = number(left), number(right)
            if a is None or b is None or (op == "/" and b == 0):
                return None
            return {"+": a + b, "-": a - b, "*": a * b}.get(op) if op != "/" else a / b
        case _:
            return None


def exact(constant: logic.Constant) -> Fraction:
    """The number that a constant is. Raises PlxError if it is none, or too long."""
    size = constant.text.removeprefix("-")
    if constant.quoted or not _NUMBER.fullmatch(size):
        raise PlxError(Diagnostic(f"`{constant.text}` is no number", constant.span))
    value = exact_number(Word("NUMBER", size, constant.span.source, constant.span.start))
    return value if size == constant.text else -value


def _infinite(expr: ast.Expr) -> int:
    """The sign of an infinite weight, 0 for a finite one."""
    match expr:
        case ast.Unary(op, operand):
            return -_infinite(operand) if op == "-" else _infinite(operand)
        case ast.Apply(name, (ast.Quoted(text),)) if name.text == "float":
            return _INFINITIES.get(text.lower(), 0)
        case ast.Apply():
            return -1 if is_zero_log(expr) else 0
        case _:
            return 0


def _finite(expr: ast.Expr, names: Names) -> ast.Expr:
    match expr:
        case ast.Apply(name, (argument,)) if name.text == "domSize":
            return _size(argument, names)
        case ast.Apply(name, (argument,)) if name.text == "float":
            return _finite(argument, names)
        case ast.Apply(name, (argument,)):
            value = number(argument)
            if name.text in ("log", "logx") and value is not None and value <= 0:
                raise PlxError(Diagnostic(f"`{expr.span.text}` is no number", expr.span))
            word = ast.Name("log" if name.text == "logx" else name.text, span=name.span)
            return ast.Apply(word, (_finite(argument, names),), span=expr.span)
        case ast.Unary(op, operand):
            inner = _finite(operand, names)
            return ast.Unary(op, inner, span=expr.span) if op == "-" else inner
        case ast.Binary(op, left, right):
            return ast.Binary(op, _finite(left, names), _finite(right, names), span=expr.span)
        case ast.Number():
            return expr
        case _:
            raise PlxError(Diagnostic(f"`{expr.span.text}` is no number", expr.span))


def _size(argument: ast.Expr, names: Names) -> ast.Expr:
    """``domSize(t)`` as a count over the type."""
    if not isinstance(argument, ast.Name) or argument.text not in names.types:
        raise PlxError(Diagnostic(f"`{argument.span.text}` is no type", argument.span))
    span = argument.span
    binding = ast.Binding(
        (ast.Name("x", span=span),), ast.Name(names.types[argument.text], span=span), span=span
    )
    return ast.Aggregate("count", ast.Truth(True, span=span), ast.Scope((binding,), span=span), span=span)
