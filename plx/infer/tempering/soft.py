"""What is raised to β: all tables, or those of some factors; and what that part of a world weighs at β = 1,
as the kernel that weighs lanes reads it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph
from plx.graph.ragged import owners, segments, starts
from plx.graph.rows import BoolArray
from plx.graph.subgraph import scope_entries
from plx.graph.worlds import scope_strides
from plx.infer.gibbs.markov_blanket import DerivedRows
from plx.infer.kernels.tempering import FEW, SoftFactors
from plx.values import FloatArray, IntArray


def raised(table: FloatArray, beta: float) -> FloatArray:
    """Log potentials times β; what is impossible stays impossible."""
    return np.where(table == -np.inf, -np.inf, beta * np.where(table == -np.inf, 0.0, table))


@dataclass(frozen=True)
class Path:
    """How a model depends on β: ``on`` are the entries of its tables that are raised to β; None: all."""

    on: BoolArray | None = None

    def at(self, table: FloatArray, beta: float) -> FloatArray:
        """The log potentials at an inverse temperature."""
        whole = raised(table, beta)
        return whole if self.on is None else np.where(self.on, whole, table)

    def part(self, table: FloatArray) -> FloatArray:
        """What is raised to β: log potentials, 0 for what is not, and for what is impossible."""
        on = np.isfinite(table) if self.on is None else np.isfinite(table) & self.on
        return np.where(on, table, 0.0)


def apart(graph: FactorGraph, cut: BoolArray) -> tuple[FactorGraph, Path]:
    """The same graph, in which the factors ``cut`` [F] share no table with others; β is on theirs alone."""
    tables, of = np.unique(graph.table_of[cut], return_inverse=True)
    size = np.diff(graph.table_start)[tables]
    at = segments(graph.table_start[tables], size)
    table_of = graph.table_of.copy()
    table_of[cut] = graph.n_tables + of.ravel()
    out = graph._replace(
        table_of=table_of,
        table_start=np.concatenate([graph.table_start, graph.table_start[-1] + starts(size)[1:]]),
        table=np.concatenate([graph.table, graph.table[at]]),
        weight=np.concatenate([graph.weight, graph.weight[at]]),
    )
    return out, Path(np.arange(len(out.table)) >= len(graph.table))


def soft_factors(graph: FactorGraph, rows: DerivedRows, path: Path) -> SoftFactors:
    """The factors that are raised to β, over a compiled model: ``rows`` are its derived nodes."""
    potential = path.part(graph.table)
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
