"""Terms of members before or after another, ``s(x + 1)``, as terms of two: ``s(y)`` where y = x + 1."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from plx.check.program import (
    Const,
    Expr,
    Operation,
    RandomTerm,
    Scope,
    SetBinding,
    SetExpr,
    Variable,
)
from plx.check.walk import parts
from plx.firstorder.elements import members
from plx.firstorder.function_terms import put
from plx.firstorder.limits import MOST_NEXT
from plx.ground.bind import all_instances, count_candidates
from plx.ground.env import ROOT
from plx.ground.tasks import Task

if TYPE_CHECKING:
    from plx.firstorder.rules import Rules

_FIRST_UID = -2_000_000


def stepped(rules: Rules, task: Task, uid: int) -> Task | None:
    """A task about one element and that before or after it as one about two, with a new variable.

    None where it is no such thing, or some instance has no element there: grounding says that.
    """
    found = _step(rules, task)
    if found is None:
        return None
    argument, set_ = found
    evaluator = rules.evaluator
    if count_candidates(evaluator, ROOT, task.scope, MOST_NEXT) > MOST_NEXT:
        return None
    env = all_instances(evaluator, ROOT, task.scope)
    ids = members(evaluator.program, set_)
    if ids is None or not np.isin(evaluator.value(argument, env), ids).all():
        return None
    other = Variable(_FIRST_UID - uid, " ".join(argument.span.text.split()), span=argument.span)
    binding = SetBinding(other, set_, span=argument.span)
    here: Expr = Operation("=", (other, argument), span=argument.span)
    if task.scope.guard is not None:
        here = Operation("and", (task.scope.guard, here), span=argument.span)
    scope = Scope((*task.scope.bindings, binding), here)
    return replace(task, body=put(task.body, argument, other), scope=scope)


def _step(rules: Rules, task: Task) -> tuple[Expr, SetExpr] | None:
    """The one sum or difference of a variable and 1 that indexes unknowns, and the set of that index."""
    found: dict[Expr, SetExpr] = {}
    for part in parts(task.body):
        if isinstance(part, RandomTerm):
            slots = rules.evaluator.program.randoms[part.name].slots
            for argument, slot in zip(part.arguments, slots, strict=True):
                if isinstance(argument, Operation) and rules.universe.is_element_set(slot.set):
                    found[argument] = slot.set
    if len(found) != 1:
        return None
    ((argument, set_),) = found.items()
    match argument:
        case Operation(op="+", arguments=(Variable() as variable, Const() as one)):
            pass
        case Operation(op="+", arguments=(Const() as one, Variable() as variable)):
            pass
        case Operation(op="-", arguments=(Variable() as variable, Const() as one)):
            pass
        case _:
            return None
    inside = variable.uid in rules.elements and variable.uid in {
        b.variable.uid for b in task.scope.bindings if isinstance(b, SetBinding)
    }
    step = rules.evaluator.program.values[one.id]
    return (argument, set_) if inside and step in (1, -1) and not isinstance(step, bool) else None
