"""What a world weighs at β = 1, as the kernel that weighs lanes reads it; and tables raised to β."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph
from plx.graph.ragged import owners, segments, starts
from plx.graph.subgraph import scope_entries
from plx.graph.worlds import scope_strides
from plx.infer.gibbs.markov_blanket import DerivedRows
from plx.infer.kernels.tempering import FEW, SoftFactors
from plx.values import FloatArray, IntArray


def raised(table: FloatArray, beta: float) -> FloatArray:
    """Log potentials times β; what is impossible stays impossible."""
    return np.where(table == -np.inf, -np.inf, beta * np.where(table == -np.inf, 0.0, table))


def soft_factors(graph: FactorGraph, rows: DerivedRows) -> SoftFactors:
    """The factors that weigh worlds, over a compiled model: ``rows`` are its derived nodes."""
    potential = np.where(np.isfinite(graph.table), graph.table, 0.0)
    weighs = np.zeros(graph.n_tables, dtype=bool)
    weighs[owners(graph.table_start)[potential != 0]] = True
    factors = np.flatnonzero(weighs[graph.table_of])
    entries, of = scope_entries(graph, factors)
    row = rows.of_nodes(graph, graph.scope[entries])
    deep = np.bincount(of, weights=row >= graph.n_variables, minlength=len(factors)) > 0
    arity, size = np.diff(graph.scope_start)[factors], np.diff(graph.table_start)[graph.table_of[factors]]
    counted = (size <= FEW) & (arity <= 2) & ~deep
    key = (graph.table_of[factors].astype(np.int64) * 4 + arity.clip(max=3)) * 2 + counted
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    at = segments(starts(arity)[:-1][order], arity[order])
    lead = order[first]
    return SoftFactors(
        group_start=np.append(first, len(order)).astype(np.int64),
        group_entry=graph.table_start[graph.table_of[factors[lead]]].astype(np.int64),
        group_size=np.where(counted[lead], size[lead], 0).astype(np.int64),
        operand_start=starts(arity[order]).astype(np.int64),
        operand_row=_i32(row[at]),
        operand_stride=_i32(scope_strides(graph)[entries][at]),
        potential=np.require(potential, np.float64, ("C", "W")),
    )


def _i32(values: IntArray) -> npt.NDArray[np.int32]:
    return np.require(values, np.int32, ("C", "W"))
