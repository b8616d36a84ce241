"""Structures that hard rules make, in which chains move as a whole: partitions and assignments."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plx.graph.rows import BoolArray
from plx.graph.subgraph import subgraph
from plx.infer.gibbs.block_arrays import VariableBlock
from plx.infer.gibbs.rearrangements import of_assignment, of_partition
from plx.infer.hard.assignments import assignments
from plx.infer.hard.partitions import partitions
from plx.infer.problem import Parts
from plx.values import IntArray


@dataclass(frozen=True, eq=False)
class Structures:
    """``moves`` within structures; ``kept_in`` [F]: the structure whose moves keep a factor's rule, -1: none;
    ``free`` [V]: no other hard rule is about a variable of a structure, so that it needs no blocks."""

    moves: list[VariableBlock]
    kept_in: IntArray
    free: BoolArray

    def leaves(self, variables: IntArray) -> bool:
        """Whether some of these variables may need blocks."""
        return not self.free[variables].all()


def found_structures(parts: Parts) -> Structures:
    """The structures of a graph, as many as are found by the deadline, and the moves within them."""
    graph, hard = parts.graph, parts.hard_factors
    moves: list[VariableBlock] = []
    kept_in = np.full(graph.n_factors, -1, dtype=np.int64)
    inside = np.zeros(graph.n_variables, dtype=np.int64)
    found = [(one.factors, one.edge, of_partition(one)) for one in partitions(graph, hard)]
    found += [(one.factors, one.cell, of_assignment(one)) for one in assignments(graph, hard)]
    for number, (factors, unknown, within) in enumerate(found):
        moves += [replace(block, structure=number) for block in within]
        kept_in[factors] = number
        inside[np.unique(unknown[unknown >= 0])] += 1
    others = hard[kept_in[hard] < 0]
    return Structures(moves, kept_in, (inside == 1) & ~_ruled(parts, others))


def _ruled(parts: Parts, factors: IntArray) -> BoolArray:
    """The variables that some factors depend on."""
    out = np.zeros(parts.graph.n_variables, dtype=bool)
    if len(factors):
        out[subgraph(parts.graph, factors)[1]] = True
    return out
