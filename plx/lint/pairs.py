"""PLX202: symmetric rules that count each pair twice, and x = y as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from plx.check.program import Operation, Program, Rule, SetBinding, Variable
from plx.check.walk import parts, scope_exprs
from plx.errors import Diagnostic
from plx.lint.finding import finding
from plx.source import Span


def pairs(program: Program) -> Iterator[Diagnostic]:
    """Weights and factors without a guard that say the same of (x, y) and (y, x)."""
    for rule in program.rules:
        found = _exchangeable(rule) if rule.kind in ("weight", "factor") else None
        if found:
            x, y = (variable.name for variable in found)
            message = f"each pair of {x} and {y} is counted twice here, and {x} = {y} too"
            hint = f"add `if {x} < {y}` to count each pair of different ones once"
            yield finding("PLX202", rule.span, message, hint)


def _exchangeable(rule: Rule) -> tuple[Variable, Variable] | None:
    """Two variables over one set that the rule mentions, does not compare and may be exchanged."""
    if rule.scope.guard is not None:
        return None
    bindings = [binding for binding in rule.scope.bindings if isinstance(binding, SetBinding)]
    for at, second in enumerate(bindings):
        for first in bindings[:at]:
            x, y = first.variable, second.variable
            if first.set == second.set and _mentions_both(rule, x, y) and _same_exchanged(rule, x, y):
                return x, y
    return None


def _mentions_both(rule: Rule, x: Variable, y: Variable) -> bool:
    """Whether both stand in the formula, and are not compared with one another."""
    pair = {x.uid, y.uid}
    compared = any(
        isinstance(part, Operation)
        and pair == {argument.uid for argument in part.arguments if isinstance(argument, Variable)}
        for part in parts(rule.body)
    )
    return not compared and pair <= {part.uid for part in parts(rule.body) if isinstance(part, Variable)}


def _same_exchanged(rule: Rule, x: Variable, y: Variable) -> bool:
    exchanged = {x.uid: y.uid, y.uid: x.uid}
    sets = scope_exprs(rule.scope)
    if any(isinstance(part, Variable) and part.uid in exchanged for root in sets for part in parts(root)):
        return False
    return all(_key(part, {}) == _key(part, exchanged) for part in (rule.body, rule.weight))


_COMMUTATIVE = frozenset({"and", "or", "xor", "<=>", "=", "!=", "+", "*", "min", "max"})


def _key(node: Any, uids: Mapping[int, int]) -> str:
    """A text that is equal for expressions that are equal but for the order of operands.

    ``uids`` renames variables.
    """
    if isinstance(node, Variable):
        return f"variable {uids.get(node.uid, node.uid)}"
    if isinstance(node, Operation) and node.op in _COMMUTATIVE:
        return f"{node.op}({', '.join(sorted(_key(argument, uids) for argument in node.arguments))})"
    if isinstance(node, tuple):
        return f"({', '.join(_key(item, uids) for item in node)})"
    if is_dataclass(node) and not isinstance(node, Span):
        inner = (_key(getattr(node, field.name), uids) for field in fields(node) if field.compare)
        return f"{type(node).__name__}({', '.join(inner)})"
    return repr(node)
