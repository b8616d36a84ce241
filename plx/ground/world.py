"""A program without and with its observations, grounded once: what is observed is cut out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plx.check.program import Program
from plx.errors import NoWorldError
from plx.graph.assemble import FactorBatch
from plx.graph.derived import NO_DERIVED
from plx.graph.model import GroundModel
from plx.graph.tables import total_weight
from plx.graph.worlds import entries, node_states
from plx.ground.budget import GroundBudget
from plx.ground.evidence import Observations
from plx.ground.grounder import Pieces, ground, pieces_of, put_together
from plx.ground.limits import MAX_GROUND
from plx.ground.tasks import split
from plx.values import IntArray


def ground_world(
    program: Program, free: Program, max_ground: int = MAX_GROUND
) -> tuple[GroundModel, GroundModel]:
    """What `ground` makes of ``free``, which is the program without some of its observations, and of the
    program, both without queries. Raises as it does."""
    pieces = pieces_of(free, max_ground)
    model = put_together(pieces)
    return model, _seen(program, model, pieces, max_ground) or ground(program, max_ground)


def _seen(program: Program, free: GroundModel, pieces: Pieces, max_ground: int) -> GroundModel | None:
    """The model of the program; None where it must be grounded by itself.

    That is so where an observation is a formula, where sums are left of which a part was observed (as tables
    they may be smaller), and where no world is left: grounding tells why.
    """
    fixed = _observed(program, pieces, max_ground)
    if fixed is None:
        return None
    new = np.flatnonzero((fixed >= 0) & (free.atoms.node >= 0))
    new_states = pieces.table.states(new, fixed[new])
    states = pieces.fixed.copy()
    states[pieces.table.node[new]] = new_states
    pieces = pieces._replace(table=replace(pieces.table, fixed=fixed), fixed=states)
    if len(new) == free.graph.n_variables:
        at = np.empty(len(new), dtype=np.int64)
        at[free.atoms.node[new]] = new_states
        pieces = pieces._replace(batches=[_constant(free, at)], derived=NO_DERIVED)
    try:
        found = put_together(pieces)
    except NoWorldError:
        return None
    return None if found.graph.n_derived else found


def _observed(program: Program, pieces: Pieces, max_ground: int) -> IntArray | None:
    """The value of every atom that is known, or -1; None where a formula is observed that the pieces lack."""
    evaluator = pieces.evaluator
    held = {id(rule) for rule in evaluator.program.rules}
    rules = {i: rule for i, rule in enumerate(program.rules) if rule.kind == "observe"}
    budgets = {i: GroundBudget(rule.span, max_ground) for i, rule in rules.items()}
    table = replace(pieces.table, fixed=pieces.table.fixed.copy())
    observations = Observations(evaluator, table)
    observations.arrays(program)
    tasks = [task for i, rule in rules.items() for task in split(i, rule, evaluator.terms)]
    rest = observations.rules(tasks, budgets)
    return table.fixed if all(id(task.source) in held for task in rest) else None


def _constant(model: GroundModel, states: IntArray) -> FactorBatch:
    """What a model says of one world, as a factor over nothing."""
    held = entries(model.graph, node_states(model.graph, states[:, None]))[:, 0]
    weights = np.append(model.graph.weight[held], model.constant_weight)
    nothing = np.empty((1, 0), dtype=np.int32)
    total = np.array([[total_weight(model.values, weights)]])
    return FactorBatch(nothing, np.zeros(1, dtype=np.int32), total)
