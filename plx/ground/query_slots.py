"""What the instances of a query have in common, and the index that tells them apart."""

from __future__ import annotations

from plx.check.program import Program, Query, RandomTerm, SetType, SlotInfo
from plx.ground.env import Env
from plx.ground.evaluate import Evaluator
from plx.ground.terms import variables
from plx.syntax import ast
from plx.syntax.printer import print_expr


def query_slots(evaluator: Evaluator, query: Query, env: Env) -> tuple[str, dict[str, list[int]]]:
    """The common term of all instances, and by the name of each slot the value ids of the instances.

    Those of an unknown are the random function and its slots, also where the query names some of them; those
    of anything else the label, or the text of the formula, and the variables that the query binds.
    """
    target = query.targets[0] if len(query.targets) == 1 else None
    if query.label is None and isinstance(target, RandomTerm):
        names = _slot_names(evaluator.program, target.name)
        columns = [evaluator.value(argument, env).tolist() for argument in target.arguments]
        return target.name, dict(zip(names, columns, strict=True))
    bound = {v.name: v.uid for binding in query.scope.bindings for v in variables(binding)}
    return query.label or _term(query.syntax.target), {
        name: env.columns[uid].tolist() for name, uid in bound.items()
    }


def _slot_names(program: Program, function: str) -> list[str]:
    """The declared names of slots; else those of their types, else their numbers. All are different."""
    names: list[str] = []
    for number, slot in enumerate(program.randoms[function].slots, start=1):
        name = _slot_name(slot) or f"slot{number}"
        names.append(name if name not in names else f"{name}{number}")
    return names


def _slot_name(slot: SlotInfo) -> str | None:
    if not slot.variable.name.startswith("#"):
        return slot.variable.name
    return slot.set.name if isinstance(slot.set, SetType) else None


def _term(target: ast.Expr | ast.MapTarget | ast.LogZTarget) -> str:
    match target:
        case ast.MapTarget():
            return "map"
        case ast.LogZTarget():
            return "logz"
        case ast.Apply(name):
            return name.text
    return print_expr(target, {})
