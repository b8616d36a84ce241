"""Whether chains may have missed the most probable world, and those like it.

No number of chains that agree tells of a heavy world that none of them ever met. Where the most probable
world is proven in next to no time, some more lanes begin there. They are never counted, so they bias no
answer. Either they come down to where the chains are, which they do at once where chains mix; or most of them
stay above where three quarters of the chains are, and then it is not known how much such worlds weigh. (Not
above all chains: one that has fallen into a hole stays there, and R-hat hardly sees one of many.)
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from plx import deadline
from plx.graph.model import FactorGraph
from plx.graph.ragged import owners
from plx.graph.rows import BoolArray
from plx.graph.worlds import log_weights, node_states, scope_strides
from plx.infer.best.quick import LOOKING, has_wide_rules, quick_best
from plx.infer.gibbs.blocked import lanes_from
from plx.infer.gibbs.chains import SweptChains
from plx.infer.inference import Standing, World
from plx.infer.mcmc.monitor import Monitor
from plx.infer.problem import Problem
from plx.values import FloatArray, IntArray

LANES = 16
"""Lanes that begin at the most probable world."""

USUAL = 0.75
"""The share of chains that most of these lanes are above where chains do not mix; else with chance 0.007."""

MOST = 0.5
"""That is more than this share of the lanes. Not all: some leave where hardly any chain falls in."""

FEWEST = 64
"""They make as many sweeps as the chains have made, or this if that is more, unless they come down before."""

TRIES = 2
"""So often the most probable world is looked for, where once is not enough."""

WORTH_A_SEARCH = 1e8
"""Updates, about a second, after which it is looked for whatever the rules are."""

LARGEST = 1 << 16
"""In a model with more factors, or sums over more unknowns, no such world is looked for."""


@dataclass
class BestWorld:
    """The search for what chains have missed; all arrays are by connected part of the model they stand in."""

    problem: Problem
    standing: Standing
    watch: Monitor
    seed: int
    chains: int
    met: FloatArray | None = None
    lanes: SweptChains | None = None
    known: World | None = None
    swept: int = 0
    tries: int = 0
    missed: BoolArray | None = None
    _label: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def looked(self, sweeps: int) -> BoolArray:
        """Per target whether it hangs on a part of which the chains, that have made so many sweeps, may have
        missed the best worlds. If there is no time to find out it is taken that they have not."""
        targets = len(self.problem.targets)
        if deadline.over() or not self._begun(sweeps):
            return self._readers(targets)
        assert self.lanes is not None
        self._meet()
        wanted = max(FEWEST, sweeps)
        while (missed := self._still_above()).any() and self.swept < wanted:
            if deadline.over():
                return self._readers(targets)
            more = min(max(1, self.swept), wanted - self.swept)
            self.lanes.step(more, 1)
            self.swept += more
        self.missed = missed
        return self._readers(targets)

    def _readers(self, targets: int) -> BoolArray:
        """The targets that depend on a part that was missed when there was time to see."""
        if self.missed is None:
            return np.zeros(targets, dtype=bool)
        model = self.standing.model
        variables = np.flatnonzero(self.missed[self._label[: model.graph.n_variables]])
        original = self.problem.model.atoms.node[model.atoms.atom_of[variables]]
        return self.watch.readers_of(original.astype(np.int64), targets)

    def notes(self) -> tuple[str, ...]:
        """What to know if no chain came near."""
        if self.missed is None or not self.missed.any():
            return ()
        assert self.known is not None
        weight = self.known.log_weight + self.standing.model.log_constant
        return (
            f"hardly any chain came near the most probable world (log weight {weight:.6g}), and lanes that"
            " begin there stay, so answers may lack what such worlds weigh: try --method tempered",
        )

    def _begun(self, sweeps: int) -> bool:
        """Whether there are lanes that began at the best world, which are looked for twice at most."""
        if self.lanes is None and self.tries < TRIES and self._is_worth_a_search(sweeps):
            self.tries += 1
            model = self.standing.model
            self._label = Problem(model).parts.components
            self.met = np.full(int(self._label.max(initial=-1)) + 1, -np.inf)
            self.known = quick_best(model, LOOKING)
            if self.known is not None:
                self.lanes = lanes_from(Problem(model), self.known.states, self.seed, LANES)
        return self.lanes is not None

    def _is_worth_a_search(self, sweeps: int) -> bool:
        graph = self.standing.model.graph
        if graph.n_factors + len(graph.input_node) > LARGEST:
            return False
        return has_wide_rules(graph) or sweeps * graph.n_variables * self.chains >= WORTH_A_SEARCH

    def _meet(self) -> None:
        """Note what the chains are at."""
        graph = self.standing.model.graph
        states = self.standing.states(np.arange(graph.n_variables))
        assert self.met is not None
        self.met = np.maximum(
            self.met, np.quantile(self._weights(graph, states), USUAL, axis=1, method="higher")
        )

    def _still_above(self) -> BoolArray:
        """The parts in which most lanes that began at the best world are above where most chains were."""
        assert self.lanes is not None
        weights = self._weights(self.standing.model.graph, self.lanes.states)
        limit = self.met + 1e-9 * (1.0 + np.abs(weights).max(axis=1))
        above: BoolArray = (weights > limit[:, None]).mean(axis=1) > MOST
        return above

    def _weights(self, graph: FactorGraph, states: npt.NDArray[np.integer]) -> FloatArray:
        """Log weights [parts, lanes]."""
        return part_weights(graph, states, self._label)


def part_weights(graph: FactorGraph, states: npt.NDArray[np.integer], label: IntArray) -> FloatArray:
    """The log weight of each connected part ``label`` [V + D] of worlds [V, lanes], shape (parts, lanes)."""
    nodes = node_states(graph, states)
    parts = int(label.max(initial=-1)) + 1
    of = label[graph.scope[graph.scope_start[:-1]]]
    out = np.zeros((parts, states.shape[1]))
    if parts == 1:
        out[0] = log_weights(graph, nodes)
        return out
    stride = scope_strides(graph)
    entry = np.zeros((graph.n_factors, states.shape[1]), dtype=np.int64)
    np.add.at(entry, owners(graph.scope_start), stride[:, None] * nodes[graph.scope])
    entry += graph.table_start[graph.table_of][:, None]
    np.add.at(out, of, graph.table[entry])
    return out
