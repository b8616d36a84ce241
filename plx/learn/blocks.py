"""Blocks of unknowns, each with the joint states that hard rules leave it, the others as they are.

An unknown that no hard rule ties to others is a block by itself. Those that hard rules tie, directly or
through others, are one block: alone, none of them might be free to change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from plx.errors import Diagnostic, PlxError
from plx.graph.model import GroundModel
from plx.graph.ragged import owners, starts
from plx.graph.sizes import joint_states
from plx.infer.gibbs.clusters import Alike, clusters
from plx.infer.gibbs.feasible import States, feasible
from plx.infer.hard.sat import Satisfier
from plx.infer.problem import Parts
from plx.learn.worlds import World
from plx.values import IntArray

_MOST = 1 << 12
"""A block has at most so many joint states."""

_MOST_CHANGES = 20_000_000
"""So many changes of unknowns are listed at most, over all blocks and their states."""


class Moves(NamedTuple):
    """Every block put into each of its other joint states: n moves of B blocks, in order of blocks.

    Entry i says that move ``move[i]`` puts ``variable[i]`` into ``state[i]``; ``block`` is that of each move.
    """

    n_blocks: int
    block: IntArray  # [n]
    move: IntArray
    variable: IntArray
    state: IntArray


def moves(world: World) -> Moves:
    """The moves of a complete world. Raises PlxError where hard rules tie too many unknowns together."""
    graph, states = world.free.graph, world.states
    single = np.ones(graph.n_variables, dtype=bool)
    parts: list[Moves] = []
    listed = 0
    for alike in clusters(Parts(graph)):
        members, joint = _joint(alike, world.free)
        single[alike.variables[:, members]] = False
        listed += len(alike.variables) * joint.size
        if listed > _MOST_CHANGES:
            raise _too_many(alike, world.free)
        parts.append(_together(alike.variables[:, members], joint, states))
    alone = np.flatnonzero(single)
    return _joined([_alone(graph.card[alone].astype(np.int64), alone, states), *parts])


def _joint(alike: Alike, model: GroundModel) -> tuple[IntArray, States]:
    """The variables that hard rules are about, by position, and the joint states that these allow."""
    graph = alike.graph
    members = np.arange(graph.n_variables)
    if joint_states(graph.card[: graph.n_variables]) <= _MOST:
        found = feasible(graph, _MOST)
    else:
        satisfier = Satisfier(graph)
        members = satisfier.mentioned[satisfier.mentioned < graph.n_variables]
        found = satisfier.all(_MOST)
        found = None if found is None else found[:, members]
    if found is None:
        raise _too_many(alike, model)
    return members, found


def _alone(cards: IntArray, variable: IntArray, states: IntArray) -> Moves:
    block = owners(starts(cards - 1))
    rank = np.arange(len(block)) - starts(cards - 1)[block]
    mine = variable[block]
    return Moves(len(cards), block, np.arange(len(block)), mine, rank + (rank >= states[mine]))


def _together(variables: IntArray, joint: States, states: IntArray) -> Moves:
    """Clusters that are alike, shape (C, V), in each of their joint states, (n, V), but the observed one."""
    differs = joint[None] != states[variables][:, None]  # [C, n, V]
    cluster, state = np.nonzero(differs.any(axis=2))
    move, place = np.nonzero(differs[cluster, state])
    new = joint[state[move], place].astype(np.int64)
    return Moves(len(variables), cluster, move, variables[cluster[move], place], new)


def _joined(parts: list[Moves]) -> Moves:
    def all_of(arrays: Iterator[IntArray]) -> IntArray:
        return np.concatenate([np.empty(0, dtype=np.int64), *arrays]).astype(np.int64)

    blocks, count = starts([part.n_blocks for part in parts]), starts([len(part.block) for part in parts])
    return Moves(
        int(blocks[-1]),
        all_of(part.block + at for part, at in zip(parts, blocks, strict=False)),
        all_of(part.move + at for part, at in zip(parts, count, strict=False)),
        all_of(iter([part.variable for part in parts])),
        all_of(iter([part.state for part in parts])),
    )


def _too_many(alike: Alike, model: GroundModel) -> PlxError:
    atoms = model.atoms
    names = [f"`{atoms.name(int(atoms.atom_of[v]))}`" for v in alike.variables[0].tolist()]
    listed = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    message = (
        f"hard rules tie {len(names):,} unknowns together, with more than {_MOST:,} joint states: {listed}"
    )
    hint = "learn by --objective likelihood, condition on some of them (--given), or make the rule a `weight`"
    hard = [rule.span for rule in model.rules if rule.kind == "require"]
    return PlxError(Diagnostic(message, hard[0] if hard else None, hint=hint))
