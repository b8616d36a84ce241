"""What the instances of a query have in common, and the index that tells them apart."""

from __future__ import annotations

from plx.check.program import Query, RandomTerm, Variable
from plx.ground.env import Env
from plx.ground.evaluate import Evaluator
from plx.ground.terms import slot_names, variables
from plx.syntax import ast
from plx.syntax.printer import print_expr
from plx.values import IntArray


def query_slots(evaluator: Evaluator, query: Query, env: Env) -> tuple[str, dict[str, IntArray]]:
    """The common term of all instances, and by the name of each slot the value ids of the instances.

    Those of an unknown are the random function and its slots, also where the query names some of them; those
    of anything else the label, or the text of the formula, and the variables that the query binds. What is
    given belongs to the term.
    """
    bound = {v.name: v.uid for binding in query.scope.bindings for v in variables(binding) if v.name}
    target = query.targets[0] if len(query.targets) == 1 else None
    slots = {}
    if query.label is None and isinstance(target, RandomTerm):
        names = slot_names(evaluator.program.randoms[target.name])
        slots = dict(zip(names, target.arguments, strict=True))
        told = {argument.uid for argument in target.arguments if isinstance(argument, Variable)}
        bound = {name: uid for name, uid in bound.items() if uid not in told and name not in slots}
    columns = {name: evaluator.value(argument, env) for name, argument in slots.items()}
    columns |= {name: env.columns[uid] for name, uid in bound.items()}
    return query.label or _term(query.syntax), columns


def _term(query: ast.Query) -> str:
    given = ", ".join(map(print_expr, query.given))
    return _target(query.target) + (f" given {given}" if given else "")


def _target(target: ast.Expr | ast.MapTarget | ast.LogZTarget) -> str:
    match target:
        case ast.MapTarget():
            return "map"
        case ast.LogZTarget():
            return "logz"
        case ast.Apply(name):
            return name.text
    return print_expr(target)
