"""From a ground model to the arrays that the kernels read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph
from plx.graph.ragged import segments, starts
from plx.graph.room import PIECE, trim
from plx.graph.worlds import run_strides
from plx.infer.gibbs.conditional_tables import Conditionals, ConditionalTables, thresholds
from plx.infer.gibbs.limits import TABLE_ENTRIES
from plx.infer.gibbs.markov_blanket import (
    Dependents,
    DerivedRows,
    Structure,
    dependents,
    derived_rows,
    structures,
)
from plx.infer.gibbs.portions import Portions
from plx.infer.kernels.derived import NO_STEP
from plx.infer.kernels.gibbs import Compiled
from plx.infer.kernels.random import BITS
from plx.infer.problem import Problem, Targets
from plx.values import FloatArray, IntArray


@dataclass(frozen=True)
class CompiledModel:
    """A compiled model: the kernels' arrays, and what rebuilds its tables for other weights."""

    problem: Problem
    graph: FactorGraph
    arrays: Compiled
    rows: DerivedRows
    conditionals: Conditionals

    @property
    def targets(self) -> Targets:
        """What is counted."""
        return self.problem.targets

    def with_potentials(self, table: FloatArray) -> CompiledModel:
        """The same model with other log potentials, shape of ``graph.table``."""
        graph = self.graph._replace(table=table)
        filled = thresholds(self.conditionals, graph, BITS)
        arrays = self.arrays._replace(threshold=filled, potential=np.require(table, np.float64, ("C", "W")))
        return CompiledModel(self.problem, graph, arrays, self.rows, self.conditionals)


def compile_model(problem: Problem, table_entries: int = TABLE_ENTRIES) -> CompiledModel:
    """The arrays for a model and its queries; conditionals of ≤ ``table_entries`` numbers become tables."""
    graph = problem.graph
    rows = derived_rows(problem.parts, problem.targets.asked)
    above = dependents(graph, rows)
    tables, summed = ConditionalTables(graph, rows, table_entries), Portions()
    read = np.zeros(len(rows.node), dtype=np.int64)
    for s in structures(graph, rows, above):
        _add_summed(summed, s, tables.add(s))
        state = (s.operand_row >= graph.n_variables) & (s.operand_row < graph.n_variables + len(read))
        read[s.operand_row[state] - graph.n_variables] = 1
    c = tables.finish()
    if graph.n_factors > PIECE:
        trim()
    arrays = Compiled(
        **_sizes(graph, rows, above),
        **_tables(c, graph),
        **_affected(graph, rows, above, read),
        **_terms(graph, summed),
        **_passive(graph, rows),
        **_counted(graph, rows, problem.targets),
    )
    return CompiledModel(problem, graph, arrays, rows, c)


def _sizes(graph: FactorGraph, rows: DerivedRows, above: Dependents) -> dict[str, Any]:
    most = int(np.bincount(above.pair_variable).max(initial=0))
    return {
        "n_variables": graph.n_variables,
        "n_derived": len(rows.node),
        "max_card": int(graph.card[: graph.n_variables].max(initial=1)),
        "max_candidates": most,
        "first_passive": rows.first_passive,
    }


def _tables(c: Conditionals, graph: FactorGraph) -> dict[str, Any]:
    return {
        "card": _i32(graph.card[: graph.n_variables]),
        "conditional": _i64(c.start),
        "configurations": _i64(c.configurations),
        "threshold": thresholds(c, graph, BITS),
        "reader_start": _i64(c.reader_start),
        "reader_split": _i64(c.reader_split),
        "reader_row": _i32(c.reader_row),
        "reader_stride": _i32(c.reader_stride),
        "offset": _i32(c.offset),
        "product_start": _i64(c.product_start),
        "product_row": _i32(c.product_row.ravel()),
        "product_value": _i32(c.product_value.ravel()),
        "product_step": _i32(c.product_step),
    }


def _affected(graph: FactorGraph, rows: DerivedRows, s: Dependents, read: IntArray) -> dict[str, Any]:
    """``read`` [D] is 1 for derived nodes whose state a factor reads."""
    derived = rows.node - graph.n_variables
    return {
        "affected_start": _i64(np.searchsorted(s.pair_variable, np.arange(graph.n_variables + 1))),
        "affected": _i32(s.pair_row),
        "edge_start": _i64(np.searchsorted(s.edge_pair, np.arange(len(s.pair_row) + 1))),
        "edge_source": _i32(s.edge_source),
        "edge_contribution": _i64(s.edge_contribution),
        "edge_step": _i32(_steps(graph, s)),
        "contribution": _i32(graph.contribution),
        "output_start": _i64(graph.output_start[graph.output_of[derived]]),
        "output": _i32(graph.output),
        "awaited": _i32(_awaited(s, read)),
    }


def _steps(graph: FactorGraph, s: Dependents) -> IntArray:
    """What one more in the variable's state adds to each edge's contribution, if it is always the same."""
    own = np.flatnonzero(s.edge_source < 0)
    start, card = s.edge_contribution[own], graph.card[s.pair_variable[s.edge_pair[own]]]
    step = np.where(card > 1, graph.contribution[np.minimum(start + 1, len(graph.contribution) - 1)], 0)
    step = step.astype(np.int64) - np.where(card > 1, graph.contribution[start], 0)
    many = np.flatnonzero(card > 2)
    count = card[many].astype(np.int64)
    k = segments(np.zeros(len(many), dtype=np.int64), count)
    at, edge = np.repeat(start[many], count) + k, np.repeat(many, count)
    bent = graph.contribution[at] != graph.contribution[start[edge]] + k * step[edge]
    step[edge[bent]] = NO_STEP
    out = np.full(len(s.edge_source), NO_STEP, dtype=np.int64)
    out[own] = step
    return out


def _awaited(s: Dependents, read: IntArray) -> IntArray:
    """1 for the derived nodes whose state an update reads: of a factor, or on the way to another node."""
    nested = np.flatnonzero(s.edge_source >= 0)
    pair = s.edge_pair[nested]
    first = np.searchsorted(s.pair_variable, s.pair_variable[pair])
    out = read.copy()
    out[s.pair_row[first + s.edge_source[nested]]] = 1
    return out


def _add_summed(summed: Portions, s: Structure, start: IntArray) -> None:
    """Keep the terms, and operands, of the variables of a portion without a table: ``start`` is -1."""
    terms = np.flatnonzero(start[s.term_variable] < 0)
    counts = np.bincount(s.operand_term, minlength=len(s.term_entry))
    operands = segments((np.cumsum(counts) - counts)[terms], counts[terms])
    summed.add(
        terms=np.bincount(s.term_variable[terms], minlength=len(start)).astype(np.int32),
        factor_entry=s.term_entry[terms],
        factor_stride=_i32(s.term_stride[terms]),
        operands=_i32(counts[terms]),
        operand_row=_i32(s.operand_row[operands]),
        operand_stride=_i32(s.operand_stride[operands]),
    )


def _terms(graph: FactorGraph, summed: Portions) -> dict[str, Any]:
    return {
        "factor_start": starts(summed.all("terms")),
        "factor_entry": _i64(summed.all("factor_entry")),
        "factor_stride": summed.all("factor_stride"),
        "operand_start": starts(summed.all("operands")),
        "operand_row": summed.all("operand_row"),
        "operand_stride": summed.all("operand_stride"),
        "potential": np.require(graph.table, np.float64, ("C", "W")),
    }


def _passive(graph: FactorGraph, rows: DerivedRows) -> dict[str, Any]:
    derived = rows.node[rows.first_passive :] - graph.n_variables
    counts = np.diff(graph.input_start)[derived]
    entries = segments(graph.input_start[derived], counts)
    return {
        "passive_start": _i64(np.concatenate([[0], np.cumsum(counts)])),
        "passive_row": _i32(rows.of_nodes(graph, graph.input_node[entries])),
        "passive_contribution": _i64(graph.contribution_start[graph.input_contribution[entries]]),
    }


def _counted(graph: FactorGraph, rows: DerivedRows, targets: Targets) -> dict[str, Any]:
    return {
        "target_start": _i64(targets.start),
        "target_row": _i32(rows.of_nodes(graph, targets.node)),
        "target_stride": _i32(run_strides(graph.card[targets.node], targets.start)),
        "target_offset": _i64(targets.offset),
    }


# Numba's signatures are of writable arrays, so the read-only ones of a graph are copied.


def _i32(values: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    return np.require(values, np.int32, ("C", "W"))


def _i64(values: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    return np.require(values, np.int64, ("C", "W"))
