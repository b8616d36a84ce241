"""log Z as a function of the learned numbers, and its gradient: expected statistics.

By junction tree, or by counting where no tree is small enough. What is summed is planned once; only the log
potentials change from one call to the next.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plx.graph.learned import Statistics, statistics
from plx.graph.model import FactorGraph, GroundModel
from plx.graph.ragged import owners, segments, starts
from plx.infer.counting.limits import MANY
from plx.infer.counting.log_sums import LogSums
from plx.infer.counting.term_plan import sum_of_terms
from plx.infer.counting.terms import NEVER, ZERO, Terms
from plx.infer.exact.elimination import JunctionTreePlan, elimination
from plx.infer.exact.junction_tree import EntryStatistics, ImpossibleError, Propagation
from plx.infer.exact.network import Network
from plx.infer.exact_plan import Refusal
from plx.infer.problem import Problem
from plx.values import FloatArray, IntArray

MOST_AT_ONCE = 150
"""With more numbers, steps that follow the gradient alone are cheaper than their covariance at each."""

_RUNS = 30
"""A fit works out log Z at least so often: steps, and looks at what the data leave open."""

_MOST_SLOPES = 20_000_000
"""So many slopes of parts of log Z by numbers are held at most."""


class TooWideError(ValueError):
    """No junction tree of this model is small enough, and it cannot be counted."""


class LogZ:
    """log Z of a ground model over K learned numbers. Raises TooWideError."""

    def __init__(self, model: GroundModel, names: Sequence[str]) -> None:
        weights = np.append(model.graph.weight, model.constant_weight)
        self.statistics, rows = statistics(model.values, weights, names)
        self._constant = int(rows[-1])
        self._tree: Propagation | None = None
        self._counted: LogSums | None = None
        if not model.graph.n_variables:
            return
        many = model.graph.n_factors > MANY  # to look for a tree takes longer there
        if many:
            self._counted = _counted(model.graph, self.statistics, rows[:-1])
        if self._counted is not None:
            return
        chosen = elimination(Problem(model))
        if not isinstance(chosen, Refusal):
            self._prepare(chosen, rows[:-1])
            return
        if not many:
            self._counted = _counted(model.graph, self.statistics, rows[:-1])
        if self._counted is None:
            raise TooWideError

    def _prepare(self, chosen: JunctionTreePlan, rows: IntArray) -> None:
        """Find the rows of all entries and the factors that depend on learned numbers."""
        network = chosen.skeleton.network
        self._rows = np.zeros(len(network.table), dtype=np.int64)
        self._rows[: len(rows)] = rows
        sizes = _sizes(network)
        learned = np.zeros(len(self.statistics.constant), dtype=bool)
        learned[self.statistics.row] = True
        owner = owners(starts(sizes))
        entry = self._rows[segments(network.table_at, sizes)]
        factors = np.flatnonzero(np.bincount(owner, learned[entry], len(sizes)))
        scopes = [
            tuple(network.scope[a:b].tolist())
            for a, b in zip(network.scope_start[factors], network.scope_start[factors + 1], strict=True)
        ]
        self._entries = self._rows[segments(network.table_at[factors], sizes[factors])]
        first = network.scope[network.scope_start[factors]]
        self._times = np.repeat(network.times[first].astype(np.float64), sizes[factors])
        self._tree = Propagation(chosen.skeleton, scopes, _RUNS)

    def __call__(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """log Z and the expected statistics, shape (K,). Raises ImpossibleError if no world is possible."""
        logs = self.statistics.logs(weights)
        mass = np.zeros(len(logs))
        mass[self._constant] = 1.0
        log_z = float(logs[self._constant])
        if self._tree is not None:
            beliefs = self._tree.run(logs[self._rows])
            log_z += beliefs.log_z
            mass += np.bincount(self._entries, beliefs.flat * self._times, len(mass))
        if self._counted is not None:
            counted, moved = self._counted(logs)
            if counted == -np.inf:
                raise ImpossibleError
            log_z += counted
            mass += moved
        return log_z, self.statistics.expected(mass)

    @property
    def has_covariance(self) -> bool:
        """Whether the covariance of the statistics takes not much more memory and time than log Z itself."""
        rows = self._tree.n_messages if self._tree else self._counted.n_rows if self._counted else 0
        return self.statistics.size <= MOST_AT_ONCE and rows * self.statistics.size <= _MOST_SLOPES

    def covariance(self, weights: FloatArray) -> FloatArray:
        """The covariance of the statistics, shape (K, K): the second derivatives of log Z.

        Raises ImpossibleError if no world is possible.
        """
        table = self.statistics
        logs, size = table.logs(weights), table.size
        out = np.zeros((size, size))
        if self._tree is not None:
            start = np.searchsorted(table.row, np.arange(len(logs) + 1))
            entries = EntryStatistics(self._rows, start, table.number, table.coefficient, size)
            out += self._tree.covariance(logs[self._rows], entries)
        if self._counted is not None:
            along = np.zeros((len(logs), size))
            along[table.row, table.number] = table.coefficient
            out += self._counted.second(logs, along)
        return out


def _counted(graph: FactorGraph, table: Statistics, rows: IntArray) -> LogSums | None:
    """log Z as sums over counts of interchangeable unknowns; None if that does not do."""
    plain = np.bincount(table.row, minlength=len(table.constant)) == 0
    term = np.arange(len(table.constant))
    term[plain & (table.constant == 0)] = ZERO
    term[table.constant == -np.inf] = NEVER
    terms = Terms(len(term))
    found = sum_of_terms(graph._replace(weight=term[rows]), terms)
    return None if found is None else LogSums(terms, found)


def _sizes(network: Network) -> IntArray:
    """How many entries the table of each factor has."""
    bits = np.concatenate([[0.0], np.cumsum(np.log2(network.card[network.scope]))])
    return np.rint(2.0 ** np.diff(bits[network.scope_start])).astype(np.int64)
