"""What has mean 0 at a temperature, and goes up and down with the log weight: a control variate for log Z.

For an unknown it is the log weight that the unknown feels, less its mean given all others; summed over
unknowns it is what a step of Gibbs sampling takes off the log weight on average (Dellaportas & Kontoyiannis
2012, *Control variates for estimation based on reversible Markov chain Monte Carlo samplers*). Where unknowns
are nearly independent hardly anything is left of the spread of log weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plx.graph.ragged import segments, starts
from plx.graph.rows import BoolArray
from plx.infer.gibbs.chains import ChainBlock
from plx.infer.gibbs.compiled import CompiledModel
from plx.infer.gibbs.conditional_tables import log_tables
from plx.infer.kernels.controls import Controlled, kernel
from plx.infer.tempering.soft import Path
from plx.values import FloatArray


@dataclass(frozen=True)
class Controls:
    """Of the unknowns whose conditionals are tables that unknowns alone choose from.

    Tables are unnormalised logs, each [tables, states, configurations], and the part of it that is raised to
    β.
    """

    arrays: Controlled
    tables: tuple[tuple[FloatArray, FloatArray], ...]

    def excess(self, beta: float) -> FloatArray:
        """All tables one after the other: log weights less their means at an inverse temperature."""
        found = [np.zeros(0), *(_excess(logs, part, beta).ravel() for logs, part in self.tables)]
        return np.concatenate(found)


def add_controls(controls: Controls, excess: FloatArray, block: ChainBlock, out: FloatArray) -> None:
    """Add the control variate of each lane to ``out`` [C]."""
    kernel(block.state.dtype.name)(controls.arrays, excess, block.state, out)


def _excess(logs: FloatArray, part: FloatArray, beta: float) -> FloatArray:
    possible = np.isfinite(logs)
    weight = np.where(possible, part, 0.0)
    scaled = np.where(possible, np.where(possible, logs, 0.0) + (beta - 1.0) * weight, -np.inf)
    high = scaled.max(axis=1, keepdims=True)
    p = np.exp(scaled - np.where(np.isfinite(high), high, 0.0))
    total = p.sum(axis=1, keepdims=True)
    mean = (p * weight).sum(axis=1, keepdims=True) / np.where(total > 0, total, 1.0)
    found: FloatArray = weight - mean
    return found


def controls_of(plan: CompiledModel, path: Path) -> Controls:
    """The control variates of a model, of what is raised to β."""
    c, n = plan.conditionals, plan.graph.n_variables
    tables = []
    entry, size = np.zeros(n, dtype=np.int64), 0
    card = plan.graph.card[:n].astype(np.int64)
    graph = plan.graph
    parts = log_tables(c, graph._replace(table=path.part(graph.table)))
    felt = np.zeros(n, dtype=bool)
    for (start, logs), (_, part) in zip(log_tables(c, graph), parts, strict=True):
        mine = (c.start >= start) & (c.start < start + logs[:, 1:].size)
        table = (c.start[mine] - start) // logs[0, 1:].size
        entry[mine] = size + table * logs[0].size
        felt[mine] = (np.ptp(part, axis=1) > 0).any(axis=1)[table]
        tables.append((logs, part))
        size += logs.size
    chosen = np.flatnonzero(_plain(plan) & (card > 1) & felt)
    count = np.diff(c.reader_start)[chosen]
    reader = segments(c.reader_start[chosen], count)
    arrays = Controlled(
        variable=chosen.astype(np.int32),
        entry=entry[chosen] + c.offset[chosen],
        plane=c.configurations[chosen].astype(np.int64),
        reader_start=starts(count).astype(np.int64),
        reader_row=c.reader_row[reader].astype(np.int32),
        reader_stride=c.reader_stride[reader].astype(np.int32),
    )
    return Controls(arrays, tuple(tables))


def _plain(plan: CompiledModel) -> BoolArray:
    """Whose conditionals are tables that hang on states of unknowns alone [V]."""
    c, n = plan.conditionals, plan.graph.n_variables
    owner = np.repeat(np.arange(n), np.diff(c.reader_start))
    derived = np.bincount(owner[c.reader_row >= n], minlength=n) > 0
    feeds = np.diff(plan.arrays.affected_start) > 0
    plain: BoolArray = (c.start >= 0) & (np.diff(c.product_start) == 0) & ~derived & ~feeds
    return plain
