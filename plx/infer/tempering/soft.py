"""What is raised to β: all tables, or what they differ by from those at β = 0; and what that part of a world
weighs at β = 1, as the kernel that weighs lanes reads it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph
from plx.graph.ragged import owners, segments, starts
from plx.graph.subgraph import scope_entries
from plx.graph.worlds import scope_strides
from plx.infer.gibbs.markov_blanket import DerivedRows
from plx.infer.kernels.tempering import FEW, SoftFactors
from plx.values import FloatArray, IntArray


def raised(table: FloatArray, share: float | FloatArray) -> FloatArray:
    """Log potentials times a share; what is impossible stays impossible."""
    return np.where(table == -np.inf, -np.inf, share * np.where(table == -np.inf, 0.0, table))


@dataclass(frozen=True)
class Path:
    """How a model depends on β: the entries of its tables are ``first`` times themselves at β = 0, themselves
    at β = 1, and on a line between; None: 0 times."""

    first: FloatArray | None = None

    def at(self, table: FloatArray, beta: float) -> FloatArray:
        """The log potentials at an inverse temperature."""
        return raised(table, beta if self.first is None else self.first + beta * (1.0 - self.first))

    def cut(self, table: FloatArray) -> FloatArray:
        """As `part`, of the entries alone that weigh nothing at β = 0."""
        part = self.part(table)
        return part if self.first is None else np.where(self.first == 0.0, part, 0.0)

    def part(self, table: FloatArray) -> FloatArray:
        """What is raised to β: log potentials, 0 for what is not, and for what is impossible."""
        finite = np.where(np.isfinite(table), table, 0.0)
        return finite if self.first is None else (1.0 - self.first) * finite


def apart(graph: FactorGraph, label: IntArray) -> tuple[FactorGraph, IntArray]:
    """The same graph, in which factors of different ``label`` [F] share no table; the label of each entry of
    its tables."""
    pairs = np.stack([label, graph.table_of.astype(np.int64)])
    (labels, tables), of = np.unique(pairs, axis=1, return_inverse=True)
    size = np.diff(graph.table_start)[tables]
    at = segments(graph.table_start[tables], size)
    out = graph._replace(
        table_of=of.ravel().astype(graph.table_of.dtype),
        table_start=starts(size),
        table=graph.table[at],
        weight=graph.weight[at],
    )
    return out, np.repeat(labels, size)


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
