"""Whether the unknowns that answers depend on move, also those that nobody asks about.

At the end of every batch each chain's states are looked at, which costs the kernels nothing. An
unknown whose states differ between chains, and hardly change within them, keeps its chains apart:
the answers of its component are not to be trusted, however well they agree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from plx.graph.components import components
from plx.graph.model import FactorGraph
from plx.graph.ragged import owners, segments, starts
from plx.graph.room import pieces
from plx.graph.rows import BoolArray
from plx.graph.subgraph import below, live_derived
from plx.graph.worlds import input_owner
from plx.infer.inference import Standing
from plx.infer.problem import Problem
from plx.values import FloatArray, IntArray

_WATCHED = 1024
"""So many states of unknowns are watched: half of them near what is asked, half anywhere."""

_ORBIT = 1 << 14
"""A larger orbit is not watched."""

_ROUNDS = 8
"""How many factors away from what is asked is near."""

_WIDE = 1 << 10
"""Of so many sums that nothing depends on it is asked which components each one reads."""

_NOISE, _SHARE = 2.5, 0.2
"""Looks at chains that mix have a variance ratio of about 1. Past ``_NOISE`` + ``_SHARE`` · looks a
chain has been to fewer than five independent states in the whole run."""


_ROUNDING = 1e-10
"""A variance that may come of rounding alone."""


@dataclass(frozen=True)
class Movement:
    """What the looks tell per component of the original model; ``apart``: unknowns that keep chains apart."""

    stuck: BoolArray  # [components]
    looks: FloatArray  # [components] independent looks at what moves there; infinite where nothing does
    apart: IntArray  # variables of the original model, worst first
    most: float = np.inf  # looks of all chains


@dataclass
class Monitor:
    """The watched unknowns of a run: ``label`` [pairs] numbers what each (unknown, state) counts for."""

    reader: IntArray  # [n] target …
    read: IntArray  # [n] … and a component that it depends on
    n_components: int
    standing: Standing
    variable: IntArray  # [pairs] of the model that the chains stand in
    state: IntArray  # [pairs]
    first: IntArray  # [labels] where the pairs of each label begin
    original: IntArray  # [labels] an unknown of the original model
    component: IntArray  # [labels]
    label: IntArray  # [V + D of the original model] the component of every node
    looks: list[npt.NDArray[Any]] = field(default_factory=list)  # each [labels, chains]

    def look(self) -> None:
        """Note where the chains stand at the end of a batch."""
        seen = self.standing.states(self.variable) == self.state[:, None]
        if len(seen) > len(self.first):
            size = np.diff(np.append(self.first, len(seen))).astype(np.float32)
            seen = np.add.reduceat(seen, self.first, axis=0, dtype=np.float32) / size[:, None]
        self.looks.append(seen)

    def drop(self, batches: int) -> None:
        """Forget the looks at the first batches."""
        self.looks = self.looks[batches:]

    def merge(self) -> None:
        """Keep the last look at each pair of batches."""
        self.looks = self.looks[1::2]

    def movement(self) -> Movement:
        """What the looks so far tell."""
        stuck, looks = np.zeros(self.n_components, dtype=bool), np.full(self.n_components, np.inf)
        if len(self.looks) < 2 or not len(self.first):
            return Movement(stuck, looks, self.original[:0])
        x = np.stack(self.looks).astype(np.float32)
        ratio, moves = _variance_ratio(x)
        apart = ratio > _NOISE + _SHARE * len(x)
        stuck[self.component[apart]] = True
        independent = x.shape[0] * x.shape[2] / np.maximum(ratio, 1.0)
        np.minimum.at(looks, self.component[moves], independent[moves])
        order = np.flatnonzero(apart)[np.argsort(-ratio[apart], kind="stable")]
        names = np.array(list(dict.fromkeys(self.original[order].tolist())), dtype=np.int64)
        return Movement(stuck, looks, names, x.shape[0] * x.shape[2])

    def stuck(self, movement: Movement, targets: int) -> BoolArray:
        """Per target whether something that it depends on keeps chains apart."""
        out = np.zeros(targets, dtype=bool)
        np.logical_or.at(out, self.reader, movement.stuck[self.read])
        return out

    def readers_of(self, variables: IntArray, targets: int) -> BoolArray:
        """Per target whether it depends on the component of some of these variables of the original model."""
        hit = np.zeros(self.n_components, dtype=bool)
        hit[self.label[variables]] = True
        out = np.zeros(targets, dtype=bool)
        np.logical_or.at(out, self.reader, hit[self.read])
        return out

    def worth(self, movement: Movement, ess: FloatArray) -> FloatArray:
        """How many independent draws a target is worth where its own do not tell.

        As many as the worst of those that share a component with it, else as the looks at unknowns that do;
        infinitely many where nothing moves.

        ``ess`` [targets] are the effective sizes, infinite for targets that never changed.
        """
        moving = np.full(self.n_components, np.inf)
        np.minimum.at(moving, self.read, ess[self.reader])
        slow = movement.looks < movement.most / 2
        moving = np.where(np.isinf(moving) | slow, np.minimum(moving, movement.looks), moving)
        out = np.full(len(ess), np.inf)
        np.minimum.at(out, self.reader, moving[self.read])
        return out


def _variance_ratio(x: npt.NDArray[np.float32]) -> tuple[FloatArray, BoolArray]:
    """Per label the variance between chains over that within them, 1 for independent looks, and whether
    it moves at all; of looks of shape (looks, labels, chains)."""
    n = len(x)
    mean = x.mean(axis=0)
    between = n * mean.var(axis=1, ddof=min(1, x.shape[2] - 1), dtype=np.float64)
    within = ((x**2).mean(axis=0) - mean**2).mean(axis=1) * (n / (n - 1))
    moves = between > _ROUNDING
    floor = between / n**2 + _ROUNDING  # what never moves within a chain has a ratio of n² at most
    return np.where(moves, between / np.maximum(within, floor), 0.0), moves


def monitor(problem: Problem, standing: Standing) -> Monitor:
    """A monitor of what the targets depend on, for chains that stand in a model with the same atoms."""
    label, reader, read = _dependence(problem)
    original = problem.model.atoms.node[standing.model.atoms.atom_of].astype(np.int64)
    component = label[original]
    wanted = np.isin(component, read)
    graph = standing.model.graph
    asked = np.flatnonzero(np.isin(original, np.flatnonzero(_asked(problem))))
    pairs, first = _watched(graph, _in_turn(graph, asked, wanted), standing.orbits)
    start = starts(graph.card[: graph.n_variables].astype(np.int64))
    variable = np.searchsorted(start, pairs, side="right") - 1
    of = original[variable[first]] if len(first) else original[:0]
    return Monitor(
        reader=reader,
        read=read,
        n_components=int(label.max(initial=-1)) + 1,
        standing=standing,
        variable=variable,
        state=pairs - start[variable],
        first=first,
        original=of,
        component=label[of],
        label=label,
    )


def _asked(problem: Problem) -> BoolArray:
    graph = problem.graph
    return below(graph, problem.targets.asked)[: graph.n_variables]


def _dependence(problem: Problem) -> tuple[IntArray, IntArray, IntArray]:
    """The component of every node, and pairs of a target and a component that it depends on."""
    graph, targets, live = problem.graph, problem.targets, problem.parts.live
    derived = targets.asked[targets.asked >= graph.n_variables]
    sums = derived[~live[derived - graph.n_variables]].tolist()
    if len(sums) <= _WIDE:
        label = problem.parts.components
    else:
        label, sums = components(graph, live_derived(graph, np.array(sums, dtype=np.int64))), []
    reads = {
        node: np.unique(label[np.flatnonzero(below(graph, np.array([node]))[: graph.n_variables])])
        for node in sums
    }
    reader, read = owners(targets.start), label[targets.node]
    if sums:
        each = [reads[node] if node in reads else label[node : node + 1] for node in targets.node.tolist()]
        reader, read = np.repeat(reader, [len(one) for one in each]), np.concatenate(each)
    return label, reader, read


def _in_turn(graph: FactorGraph, asked: IntArray, wanted: BoolArray) -> IntArray:
    """The variables to watch, most urgent first: near ones and others in turn."""
    near = _near(graph, asked)
    near = near[wanted[near]]
    rest = wanted.copy()
    rest[near] = False
    others = np.flatnonzero(rest)
    spread = others[:: max(1, -(-2 * len(others) // _WATCHED))]
    return np.concatenate([near[: _WATCHED // 2], spread, near[_WATCHED // 2 :]])


def _near(graph: FactorGraph, asked: IntArray) -> IntArray:
    """Variables by the number of factors between them and those that are asked about."""
    seen = np.zeros(graph.n_nodes, dtype=bool)
    seen[asked] = True
    found, known = [asked], seen[: graph.n_variables].copy()
    owner = input_owner(graph) + graph.n_variables
    for _ in range(_ROUNDS):
        if known.sum() >= _WATCHED:
            break
        seen[owner[seen[graph.input_node]]] = True
        seen |= below(graph, _beside(graph, seen))
        fresh = np.flatnonzero(seen[: graph.n_variables] & ~known)
        if not len(fresh):
            break
        known[fresh] = True
        found.append(fresh)
    return np.concatenate(found)


def _beside(graph: FactorGraph, seen: BoolArray) -> npt.NDArray[np.int32]:
    """The nodes of all factors over one of those seen."""
    found = [graph.scope[:0]]
    for part in pieces(graph.n_factors):
        begin = graph.scope_start[part.start : part.stop + 1]
        nodes = graph.scope[begin[0] : begin[-1]]
        touched = np.logical_or.reduceat(seen[nodes], begin[:-1] - begin[0])
        found.append(nodes[np.repeat(touched, np.diff(begin))])
    return np.concatenate(found)


def _watched(graph: FactorGraph, variables: IntArray, orbits: IntArray | None) -> tuple[IntArray, IntArray]:
    """Pairs of a variable and a state, by orbit, and where those of each orbit begin.

    Averages over an orbit are the same in worlds that a symmetry maps to each other.
    """
    card = graph.card[variables].astype(np.int64)
    begin = starts(graph.card[: graph.n_variables].astype(np.int64))
    told = card - 1  # the states of a variable but one tell the last
    pairs = segments(begin[variables] + 1, told)
    if orbits is None:
        pairs = pairs[:_WATCHED]
        return pairs, np.arange(len(pairs))
    size = np.bincount(orbits)
    chosen = np.array(list(dict.fromkeys(orbits[pairs].tolist())), dtype=np.int64)
    chosen = chosen[size[chosen] <= _ORBIT]
    chosen = chosen[np.cumsum(size[chosen]) <= _ORBIT][:_WATCHED]
    place = np.full(len(size), -1, dtype=np.int64)
    place[chosen] = np.arange(len(chosen))
    every = np.flatnonzero(place[orbits] >= 0)
    every = every[np.argsort(place[orbits[every]], kind="stable")]
    return every, starts(size[chosen])[:-1]
