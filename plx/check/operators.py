"""Logic and arithmetic: operators and built-in functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from plx.check import build, fixed
from plx.check.arguments import count
from plx.check.context import MAX_DEPTH, MAX_SIZE, Context, Env, Wanted
from plx.check.program import Const, Expr, Operation, Operator
from plx.check.typed import Typed, ValueKind, broken
from plx.source import Span
from plx.syntax import ast
from plx.values import ZERO
from plx.weights import WeightError

FUNCTIONS: Final[dict[str, Operator]] = {
    "log": "log",
    "exp": "exp",
    "sqrt": "sqrt",
    "abs": "abs",
    "floor": "floor",
    "min": "min",
    "max": "max",
    "logit": "logit",
}


def result(ctx: Context, op: Operator, operands: Sequence[Typed], kind: ValueKind, span: Span) -> Typed:
    """An operation on operands whose kinds have been checked."""
    if any(operand.broken for operand in operands):
        return broken(span)
    if op in ("/", "%") and operands[1].expr == Const(ZERO, span=span):
        return ctx.fail(operands[1].expr.span, "division by zero")
    exprs = [operand.expr for operand in operands]
    return combined(ctx, lambda: build.operation(ctx, op, exprs, span), operands, kind, span)


def combined(
    ctx: Context, make: Callable[[], Expr], operands: Sequence[Typed], kind: ValueKind, span: Span
) -> Typed:
    """What ``make`` builds from operands, typed; its mistakes and its size are reported."""
    size = 1 + sum(operand.size for operand in operands)
    try:
        expr = make()
    except (WeightError, fixed.NoValueError) as mistake:
        return ctx.fail(span, str(mistake))
    depth = max(operand.depth + (not _merged(operand.expr, expr)) for operand in operands)
    if depth > MAX_DEPTH or size > MAX_SIZE:
        hint = "give a part of it a `random` of its own, and say what it is with `require … <=> …`"
        return ctx.fail(span, "this expression is too large or nests too deeply once it is expanded", hint)
    is_fixed = all(operand.fixed for operand in operands)
    return Typed(expr, kind, fixed=is_fixed, depth=depth, size=size)


def amount(ctx: Context, typed: Typed) -> Typed:
    """What stands in arithmetic: a number, or a formula, which counts as 0 or 1."""
    if typed.broken or typed.kind != ValueKind.TRUTH:
        return ctx.need(typed, ValueKind.NUMBER)
    return result(ctx, "indicator", [typed], ValueKind.NUMBER, typed.expr.span)


def _merged(part: Expr, whole: Expr) -> bool:
    """Whether an operand became part of its operation, as ``a & b`` in ``a & b & c`` does."""
    both = isinstance(part, Operation) and isinstance(whole, Operation)
    return both and part.op == whole.op and part.op in ("and", "or")  # type: ignore[union-attr]


# ---------------------------------------------------------------------- expressions


def unary(ctx: Context, env: Env, node: ast.Expr, wanted: Wanted | None) -> Typed:
    """``not``, ``-`` and ``+``."""
    assert isinstance(node, ast.Unary)
    if node.op == "not":
        return result(ctx, "not", [ctx.formula(env, node.operand)], ValueKind.TRUTH, node.span)
    operand = amount(ctx, ctx.resolve(env, node.operand))
    return operand if node.op == "+" else result(ctx, "neg", [operand], ValueKind.NUMBER, node.span)


def binary(ctx: Context, env: Env, node: ast.Expr, wanted: Wanted | None) -> Typed:
    """Chains of one operator are taken whole, so that long ones do not nest."""
    assert isinstance(node, ast.Binary)
    if node.op == "..":
        hint = "`x in 0..4` asks for membership"
        return ctx.fail(node.span, "a range is a set; a value is expected here", hint)
    if node.op == "=>":
        return _implications(ctx, env, node)
    kind = ValueKind.NUMBER if node.op in _ARITHMETIC else ValueKind.TRUTH
    ops, nodes = _left_chain(node)
    if kind == ValueKind.TRUTH and _union_instead(ctx, nodes):
        hint = "put a union after `in` into parentheses: `x in (A | {b})`"
        return ctx.fail(node.span, "this is a union of sets; a formula is expected here", hint)
    found = [ctx.resolve(env, operand) for operand in nodes]
    operands = [amount(ctx, typed) if kind == ValueKind.NUMBER else ctx.need(typed, kind) for typed in found]
    if any(operand.broken for operand in operands):
        return broken(node.span)
    return _folded(ctx, node, ops, operands, kind)


_ARITHMETIC = ("+", "-", "*", "/", "%", "^")
_GROUPS: Final = {"+": "+-", "-": "+-", "*": "*/%", "/": "*/%", "%": "*/%"}


def _left_chain(node: ast.Binary) -> tuple[list[ast.BinaryOp], list[ast.Expr]]:
    """``a - b + c`` as its operators and operands."""
    group = _GROUPS.get(node.op)
    ops: list[ast.BinaryOp] = []
    nodes: list[ast.Expr] = []
    left: ast.Expr = node
    while isinstance(left, ast.Binary) and (left.op in group if group else left.op == node.op):
        ops.append(left.op)
        nodes.append(left.right)
        left = left.left
    return ops[::-1], [left, *reversed(nodes)]


def _union_instead(ctx: Context, nodes: Sequence[ast.Expr]) -> bool:
    return any(isinstance(node, ast.Braces) for node in nodes)


def _folded(
    ctx: Context, node: ast.Binary, ops: Sequence[ast.BinaryOp], operands: list[Typed], kind: ValueKind
) -> Typed:
    if node.op in ("and", "or"):
        return result(ctx, node.op, operands, kind, node.span)
    if node.op in ("+", "-"):
        signed = [
            result(ctx, "neg", [operand], kind, operand.expr.span) if op == "-" else operand
            for op, operand in zip(("+", *ops), operands, strict=True)
        ]
        if len(signed) == 2 and ops[0] == "-":
            return result(ctx, "-", operands, kind, node.span)
        return result(ctx, "+", signed, kind, node.span)
    if node.op in ("xor", "<=>"):
        return _balanced(ctx, node.op, operands, node.span)
    if set(ops) == {"*"}:
        return result(ctx, "*", operands, kind, node.span)
    total = operands[0]
    for op, operand in zip(ops, operands[1:], strict=True):
        assert op not in ("=>", "..")
        total = result(ctx, op, [total, operand], kind, node.span)  # type: ignore[arg-type]
    return total


def _balanced(ctx: Context, op: Operator, operands: Sequence[Typed], span: Span) -> Typed:
    """``xor`` and ``<=>`` are associative: a balanced tree keeps long chains shallow."""
    if len(operands) == 1:
        return operands[0]
    half = len(operands) // 2
    sides = [_balanced(ctx, op, part, span) for part in (operands[:half], operands[half:])]
    return result(ctx, op, sides, ValueKind.TRUTH, span)


def _implications(ctx: Context, env: Env, node: ast.Binary) -> Typed:
    """``a => (b => c)`` is ``a & b => c``."""
    premises: list[Typed] = []
    right: ast.Expr = node
    while isinstance(right, ast.Binary) and right.op == "=>":
        premises.append(ctx.formula(env, right.left))
        right = right.right
    conclusion = ctx.formula(env, right)
    premise = premises[0] if len(premises) == 1 else result(ctx, "and", premises, ValueKind.TRUTH, node.span)
    return result(ctx, "=>", [premise, conclusion], ValueKind.TRUTH, node.span)


# ------------------------------------------------------------------------- functions


def apply_function(ctx: Context, env: Env, node: ast.Apply) -> Typed:
    """``log exp sqrt abs floor logit`` of one number, ``min max`` of two or more."""
    op = FUNCTIONS[node.name.text]
    operands = [amount(ctx, ctx.resolve(env, argument)) for argument in node.arguments]
    several = op in ("min", "max")
    if len(operands) < 2 if several else len(operands) != 1:
        wanted = "two arguments or more" if several else count(1)
        return ctx.fail(node.span, f"`{op}` takes {wanted}, not {len(operands)}")
    return result(ctx, op, operands, ValueKind.NUMBER, node.span)
