"""Jumps between the most probable worlds and worlds drawn from a part of the model that can be summed over.

A world that outweighs all others and has none like it nearby is met by no walk, at any temperature. So lanes
are proposed, whatever their world, one of such worlds with probability 1/2, else one drawn from the part: an
independence sampler (Hastings 1970; Tierney 1994, *Markov chains for exploring posterior distributions*, §2)
whose proposals have a known probability, so that jumps leave every temperature's distribution as it is. They
are of use where worlds of the part are much like those of the model but for these few.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph
from plx.graph.rows import BoolArray
from plx.graph.worlds import entries, node_states
from plx.infer.best.quick import LOOKING, has_wide_rules, quick_worlds
from plx.infer.gibbs.blocked import lanes_from
from plx.infer.gibbs.chains import ChainBlock, derived_rows_at
from plx.infer.gibbs.compiled import CompiledModel
from plx.infer.kernels.random import BITS
from plx.infer.kernels.uniforms import integers
from plx.infer.problem import Parts, Problem
from plx.infer.tempering.ladders import Move
from plx.infer.tempering.limits import HOLES, JUMPS, LANES, MOST_STAY, PART_FACTORS, PART_UNKNOWNS, STAYING
from plx.infer.tempering.soft import Path
from plx.infer.tempering.solvable import Cover, Part, Search, Solvable
from plx.values import FloatArray

States = npt.NDArray[np.integer]


@dataclass(frozen=True)
class Jumps:
    """Proposals of the worlds ``best`` [V, n] and of worlds of ``part``."""

    plan: CompiledModel
    part: Solvable
    best: States

    def at(self, path: Path, beta: float) -> Move:
        """The moves at an inverse temperature."""
        return partial(self._move, path.at(self.plan.graph.table, beta))

    def _move(self, table: FloatArray, block: ChainBlock, random: npt.NDArray[np.uint32], turn: int) -> None:
        if turn % JUMPS:
            return
        old, new = block.state, np.zeros_like(block.state)
        self.part.draw(new, random)
        coin, which, luck = (_uniform(random) for _ in range(3))
        n = self.best.shape[1]
        chosen = np.flatnonzero(coin < 0.5)
        new[:, chosen] = self.best[:, (which[chosen] * n).astype(np.int64)]
        weight, proposal = self._weighed(table, np.concatenate([old, new], axis=1))
        before, after = np.split(weight - proposal, 2)
        jumping = np.flatnonzero((np.log(luck) < after - before) & (old != new).any(axis=0))
        if not len(jumping):
            return
        old[:, jumping] = new[:, jumping]
        if len(block.level):
            total, level = derived_rows_at(self.plan, node_states(self.plan.graph, new[:, jumping]))
            block.total[:, jumping], block.level[:, jumping] = total, level

    def _weighed(self, table: FloatArray, states: States) -> tuple[FloatArray, FloatArray]:
        """The log weights of worlds [V, lanes], and the logs of the probabilities that each is proposed, plus
        log 2."""
        graph = self.plan.graph
        found = entries(graph, node_states(graph, states))
        drawn = self.part.table[found[~self.part.cut]].sum(axis=0) - self.part.log_z
        n = self.best.shape[1]
        is_best = np.any([(states == world[:, None]).all(axis=0) for world in self.best.T], axis=0)
        return table[found].sum(axis=0), np.logaddexp(np.where(is_best, -np.log(n), -np.inf), drawn)


def _uniform(random: npt.NDArray[np.uint32]) -> FloatArray:
    """A number between 0 and 1 of each lane."""
    out = np.empty(random.shape[1], dtype=np.int32)
    integers()(random, out)
    return (out.astype(np.float64) + 0.5) / 2.0**BITS


def jumps(
    problem: Problem, plan: CompiledModel, part: Solvable | None, best: States, seed: int
) -> Jumps | None:
    """Jumps where the most probable world ``best`` [V] is one that no walk finds, and between what others
    like it there are; ``part``: what is drawn at β = 0, None: nothing is.

    None too where such worlds are too many to know all.
    """
    if len(problem.parts.hard_factors) or not has_wide_rules(problem.graph):
        return None
    if not _alone(problem, best[:, None], seed).all():
        return None
    worlds = quick_worlds(problem.model, HOLES + 1, LOOKING)
    if not worlds:
        return None
    states = np.stack([world.states for world in worlds], axis=1)
    alone = _alone(problem, states, seed)
    drawn = None if alone.sum() > HOLES else part or _reference(problem.parts)
    return None if drawn is None else Jumps(plan, drawn, states[:, alone])


def _alone(problem: Problem, worlds: States, seed: int) -> BoolArray:
    """At which of some worlds [V, n] most lanes that begin there stay."""
    stay = []
    for world in worlds.T:
        lanes = lanes_from(problem, world, seed, LANES)
        lanes.step(STAYING, 1)
        stay.append((lanes.states == world[:, None]).all(axis=0).mean() > MOST_STAY)
    return np.array(stay)


def _reference(parts: Parts) -> Solvable | None:
    """A part to draw from, whatever weight the rest has; None where there are too many factors."""
    graph = parts.graph
    if graph.n_factors > PART_FACTORS or graph.n_variables > PART_UNKNOWNS:
        return None
    search = Search(graph)
    cover = search.best() if search.tie.any() else _apart(graph)
    return Part(cover, search.owners(cover), 0.0).over(graph)


def _apart(graph: FactorGraph) -> Cover:
    """Each variable by itself."""
    every = np.arange(graph.n_variables)
    return Cover(every, every[:, None], np.ones_like(every), 0.0)
