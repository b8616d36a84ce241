"""Weighted clauses as factors: tables where they are small, derived nodes where they are not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Final

import numpy as np

from plx.formats.network import Clause
from plx.graph.assemble import FactorBatch
from plx.graph.derived import DerivedNodes, VectorStore
from plx.graph.ragged import starts
from plx.values import IntArray

LARGEST_TABLE: Final = 4096
"""A clause over more joint states than this becomes a derived node."""


def clause_table(clause: Clause) -> IntArray:
    """The weight ids of a clause over all joint states of its scope, in C order."""
    holds = reduce(np.logical_or.outer, [literal.astype(bool) for literal in clause.literals])
    return np.where(holds.ravel(), clause.weight, clause.fails)


def clause_nodes(clauses: Sequence[Clause]) -> DerivedNodes:
    """One node per clause: the number of its literals that hold, mapped to 0 (none) or 1."""
    vectors, maps = VectorStore(), VectorStore()
    width = np.array([len(clause.scope) for clause in clauses], dtype=np.int64)
    contribution = [vectors.id(literal) for clause in clauses for literal in clause.literals]
    output = [maps.id(np.minimum(np.arange(k + 1), 1)) for k in width]
    contribution_start, flat = vectors.flat()
    output_start, flat_maps = maps.flat()
    return DerivedNodes(
        card=np.full(len(clauses), 2, dtype=np.int32),
        input_start=starts(width),
        input_node=np.array([v for clause in clauses for v in clause.scope], dtype=np.int32),
        input_contribution=np.array(contribution, dtype=np.int32),
        contribution_start=contribution_start,
        contribution=flat,
        output_of=np.array(output, dtype=np.int32),
        output_start=output_start,
        output=flat_maps,
    )


def node_factors(clauses: Sequence[Clause], first_node: int, first_rule: int) -> FactorBatch:
    """The factors of `clause_nodes`: their weights where no literal holds, and where one does."""
    n = np.arange(len(clauses))
    tables = np.array([[clause.fails, clause.weight] for clause in clauses], dtype=np.int64).reshape(-1, 2)
    return FactorBatch((first_node + n).reshape(-1, 1), n, tables, first_rule + n)
