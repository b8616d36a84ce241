"""What stays at β = 0 stands in for what is cut: there factors beside the cut are stronger than they are.

Where strips of a grid are cut apart, their borders are less ordered at β = 0 than at β = 1. By how much more
the factors there must weigh is a regression of the log weight of what is cut on theirs, at β = 1: what they
weigh stays as it is then while the cut goes. That is a reference fitted to samples (Surjanovic, Syed,
Bouchard-Côté & Campbell 2022, *Parallel tempering with a variational reference*, §3) within the models that
can be summed over. Any gain is exact; a good one makes the way to β = 1 short.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plx import deadline
from plx.graph.model import FactorGraph
from plx.graph.ragged import owners
from plx.graph.rows import BoolArray
from plx.graph.subgraph import without_factors
from plx.graph.worlds import entries, node_states
from plx.infer.tempering.ladders import Ladders
from plx.infer.tempering.limits import BEFORE, BESIDE, EXPLAINED, GAIN, LOOKS, MEMBERS
from plx.infer.tempering.soft import Path, apart
from plx.infer.tempering.solvable import Part, Solvable
from plx.values import FloatArray, IntArray


@dataclass(frozen=True)
class Reference:
    """A graph in which what is cut (label 0), the classes of factors beside it (1 …) and all else (-1) share
    no tables: ``label`` [F] of factors, ``entry`` of tables' entries."""

    graph: FactorGraph
    label: IntArray
    entry: IntArray
    part: Part

    @property
    def classes(self) -> int:
        """How many classes there are beside the cut."""
        return int(self.label.max(initial=0))

    def path(self, gain: FloatArray) -> Path:
        """Factors of each class weigh more at β = 0 by a share of themselves, ``gain`` [classes]."""
        return Path(np.concatenate([[0.0], 1.0 + gain, [1.0]])[self.entry])

    def solved(self, path: Path) -> Solvable:
        """What stays at β = 0, with its log Z."""
        return self.part.over(self.graph._replace(table=path.at(self.graph.table, 0.0)))

    def gains(self, ladders: Ladders) -> FloatArray:
        """The gains [classes] from some rounds at β = 1, where the ladders stay, on the plain path; 0 where
        they would bring little."""
        none = np.zeros(self.classes)
        if not self.classes:
            return none
        rest = np.flatnonzero(self.label < 0)
        graph, label = without_factors(ladders.updates.plan.graph, rest), np.delete(self.label, rest)
        ladders.place(np.ones(1))
        seen = []
        for turn in range(BEFORE + LOOKS):
            ladders.rounds(1, 1)
            if deadline.over():
                return none
            if turn >= BEFORE:
                states = ladders.states_of(np.arange(graph.n_variables))
                weight = graph.table[entries(graph, node_states(graph, states))]
                seen.append([weight[label == k].sum(axis=0) for k in range(self.classes + 1)])
        found = _regression(np.concatenate(seen, axis=1))
        return none if found is None else found


def reference(graph: FactorGraph, part: Part) -> Reference:
    """A part that stays, apart from the rest."""
    label = _labels(graph, part.cut)
    separate, entry = apart(graph, label)
    return Reference(separate, label, entry, part)


def _labels(graph: FactorGraph, cut: BoolArray) -> IntArray:
    """The classes are of one table, and of as many unknowns that what is cut is about; the largest alone."""
    owner = owners(graph.scope_start)
    touched = np.zeros(graph.n_nodes, dtype=bool)
    touched[graph.scope[cut[owner]]] = True
    count = np.bincount(owner, weights=touched[graph.scope], minlength=graph.n_factors).astype(np.int64)
    key = np.where(cut | (count == 0), -1, graph.table_of.astype(np.int64) * (1 + count.max()) + count)
    kinds, of, size = np.unique(key, return_inverse=True, return_counts=True)
    size[kinds < 0] = 0
    largest = np.argsort(-size, kind="stable")[:BESIDE]
    largest = largest[size[largest] >= MEMBERS]
    number = np.full(len(kinds), -1)
    number[largest] = np.arange(1, len(largest) + 1)
    return np.where(cut, 0, number[of.ravel()])


def _regression(weight: FloatArray) -> FloatArray | None:
    """Of the log weight of what is cut, ``weight`` [0, draws], on those of the classes [1 …, draws]."""
    cut, *beside = weight - weight.mean(axis=1, keepdims=True)
    if not cut.any():
        return None
    features = np.stack(beside, axis=1)
    gain = np.linalg.lstsq(features, cut, rcond=1e-6)[0]
    left = cut - features @ gain
    if float(left @ left) > (1.0 - EXPLAINED) * float(cut @ cut):
        return None
    kept: FloatArray = np.clip(gain, -GAIN, GAIN)
    return kept
