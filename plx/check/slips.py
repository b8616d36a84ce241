"""What is right as it stands, but reads like something else: ``query a | b``, ``weight logit(p): a & b``."""

from __future__ import annotations

from plx.check.context import Context
from plx.check.program import Operation
from plx.check.typed import Typed
from plx.check.walk import random_inside
from plx.syntax import ast


def warn_condition(ctx: Context, node: ast.Query) -> None:
    """``query a | b`` in a program without `given` looks like P(a | b)."""
    target = node.target
    if ctx.has_given or not isinstance(target, ast.Binary) or target.op != "or":
        return
    left, right = target.left.span, target.right.span
    if target.span.start == left.start and left.source.text[left.end : right.start].strip() == "|":
        conditioned = f"`query {left.text} given {right.text}`"
        hint = f"write {conditioned} for one under the other, `or` for a disjunction"
        ctx.warn("PLX106", target.span, "`|` is or", hint)


def warn_odds(ctx: Context, node: ast.Weight, body: Typed) -> None:
    """``weight logit(p): a & b`` gives P(b | a) only where a is not random."""
    weight, formula = node.weight, body.expr
    if not isinstance(weight, ast.Apply) or weight.name.text != "logit" or "logit" in ctx.declarations:
        return
    if body.broken or not isinstance(formula, Operation) or formula.op != "and" or len(weight.arguments) != 1:
        return
    if sum(random_inside(part) is not None for part in formula.arguments) < 2:
        return
    chance, whole, fact = weight.arguments[0].span.text, node.formula.span.text, formula.arguments[-1]
    negated = f"!({fact.span.text})" if isinstance(fact, Operation) else f"!{fact.span.text}"
    otherwise = whole.removesuffix(fact.span.text) + negated
    message = "logit gives a probability to the whole formula, and so changes that of each of its parts"
    pair = f"`weight log({chance}): {whole}` and `weight log(1 - {chance}): {otherwise}`"
    ctx.warn("PLX107", node.span, message, f"for a conditional probability write {pair}")
