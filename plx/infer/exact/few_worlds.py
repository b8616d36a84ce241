"""The worlds that hard rules leave, where they are few: found by a SAT solver, listed and summed.

A puzzle has one world or a handful however wide its rules are, and elimination sees their width alone. The
solver rules out every world that it has found and looks for another one, until there is none. That is done
for the plan already, as nothing less tells what is left to do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph
from plx.graph.sizes import joint_states
from plx.graph.subgraph import reached
from plx.graph.worlds import log_weights, node_states
from plx.infer.answers import Nodes, with_maps, worlds_wanted
from plx.infer.exact.drawing import drawn
from plx.infer.exact.limits import LISTED_SIZE, LISTED_WORLDS, WORLD_CONFLICTS
from plx.infer.exact_plan import Refusal, exact_inference
from plx.infer.exact_scores import ranked, told
from plx.infer.hard.contradiction import contradiction
from plx.infer.inference import Inference, World
from plx.infer.problem import Problem
from plx.numerals import counted
from plx.values import FloatArray, IntArray

Worlds = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class FewWorldsPlan:
    """The worlds that no factor forbids, shape (V, worlds)."""

    problem: Problem
    worlds: Worlds

    @property
    def reason(self) -> str:
        """In words for people."""
        n = self.worlds.shape[1]
        return f"{counted(n, 'world')} {'keeps' if n == 1 else 'keep'} every hard rule, found by a SAT solver"

    @property
    def operations(self) -> float:
        """Table entries and inputs read in all worlds; the search is over."""
        return float(max(1, self.worlds.shape[1]) * _size(self.problem.graph))

    @property
    def memory(self) -> float:
        """Bytes held at once: the states of all nodes in all worlds, and weights."""
        return float(self.worlds.shape[1] * (4 * self.problem.graph.n_nodes + 24))

    def run(self) -> Inference:
        """Every answer, `map` too, from all the worlds. Raises NoWorldError if there is none."""
        model = self.problem.model
        nodes, logs = self._weighed()
        log_sum = float(np.logaddexp.reduce(logs, initial=-np.inf))
        p = np.exp(logs - log_sum)
        found = exact_inference(
            model, self.reason, log_sum, lambda asked: _joint(model.graph, asked, nodes, p)
        )
        if not (wanted := worlds_wanted(model.queries)):
            return found
        worlds, note = told(tuple(self._best(max(wanted.values()))), "a list of all worlds")
        return with_maps(replace(found, notes=(*found.notes, note)), wanted, worlds)

    def draw(self, count: int, random: np.random.Generator) -> Worlds:
        """Some of the worlds, by their weights. Raises NoWorldError if there is none."""
        return self.worlds[:, drawn(self._weighed()[1], count, random)]

    def _best(self, count: int) -> list[World]:
        """The best worlds that are possible, best first."""
        worlds = ranked(self.problem.model, self.worlds)[:count]
        return [world for world in worlds if world.log_weight > -np.inf]

    def _weighed(self) -> tuple[Worlds, FloatArray]:
        """The states of all nodes in all worlds, and the log weights of these. Raises NoWorldError."""
        nodes = node_states(self.problem.graph, self.worlds)
        logs = log_weights(self.problem.graph, nodes)
        if logs.max(initial=-np.inf) == -np.inf:
            raise contradiction(self.problem.model)
        return nodes, logs


def few_worlds(problem: Problem) -> FewWorldsPlan | Refusal | None:
    """The plan where few worlds are possible, or that they may be many; None where there are no hard rules.

    Raises OutOfTimeError at the deadline.
    """
    graph, hard = problem.graph, problem.parts.hard_factors
    if not len(hard):
        return None
    if (size := _size(graph)) > LISTED_SIZE:
        return Refusal(
            lambda: f"the SAT solver lists worlds of at most {LISTED_SIZE:,} nodes and entries, not {size:,}",
            math.inf,
        )
    if (worlds := _listed(graph, hard)) is None:
        return Refusal(
            lambda: f"the SAT solver lists at most {LISTED_WORLDS:,} worlds that keep every hard rule",
            math.inf,
        )
    return FewWorldsPlan(problem, worlds)


def _size(graph: FactorGraph) -> int:
    """Nodes, and entries of scopes and inputs."""
    return graph.n_nodes + len(graph.scope) + len(graph.input_node)


def _listed(graph: FactorGraph, hard: IntArray) -> Worlds | None:
    """The worlds that no factor forbids, shape (V, worlds); None if they are many, or not found soon."""
    free = np.flatnonzero(~reached(graph, hard)[: graph.n_variables] & (graph.card[: graph.n_variables] > 1))
    most = int(LISTED_WORLDS / joint_states(graph.card[free]))
    if not most:
        return None
    from plx.infer.hard.sat import Satisfier

    found = Satisfier(graph).all(most, WORLD_CONFLICTS)
    return None if found is None else _with_free(graph, found.T, free)


def _with_free(graph: FactorGraph, worlds: Worlds, free: IntArray) -> Worlds:
    """Every world with every joint state of the unknowns that no hard rule is about."""
    cards = graph.card[free].tolist()
    states = np.indices(cards, dtype=np.int32).reshape(len(free), int(np.prod(cards, dtype=np.int64)))
    out = np.repeat(worlds, states.shape[1], axis=1)
    out[free] = np.tile(states, worlds.shape[1])
    return out


def _joint(graph: FactorGraph, asked: Nodes, nodes: Worlds, p: FloatArray) -> FloatArray:
    """The joint distribution of some nodes, flat in C order, from the probability of each world."""
    cards = tuple(graph.card[list(asked)].tolist())
    state = np.ravel_multi_index(tuple(nodes[list(asked)]), cards) if asked else np.zeros(len(p), np.int64)
    return np.bincount(state, weights=p, minlength=math.prod(cards)).astype(np.float64)
