"""log Z as a function of the learned numbers, and its gradient: expected statistics.

By junction tree, by counting where no tree is small enough, or by a circuit where hard rules leave little.
What is summed is planned, and the circuit compiled, once; only the log potentials change from one call to the
next.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plx import deadline
from plx.deadline import OutOfTimeError
from plx.graph.learned import Statistics, statistics
from plx.graph.model import FactorGraph, GroundModel
from plx.graph.ragged import owners, segments, starts
from plx.infer.circuit.plan import is_ruled
from plx.infer.circuit.reweighed import ReweighedCircuit, reweighed
from plx.infer.counting.limits import MANY
from plx.infer.counting.log_sums import LogSums
from plx.infer.counting.term_plan import sum_of_terms
from plx.infer.counting.terms import NEVER, ZERO, Terms
from plx.infer.exact.elimination import JunctionTreePlan, elimination
from plx.infer.exact.junction_tree import EntryStatistics, ImpossibleError, Propagation
from plx.infer.exact.network import Network
from plx.infer.exact_plan import GaveUpError, Refusal
from plx.infer.limits import DEAR, PER_SECOND, TRIED_BEFORE, USUAL_TRYING
from plx.infer.problem import Problem
from plx.values import FloatArray, IntArray

MOST_AT_ONCE = 150
"""With more numbers, steps that follow the gradient alone are cheaper than their covariance at each."""

_RUNS = 30
"""A fit works out log Z at least so often: steps, and looks at what the data leave open."""

_MOST_SLOPES = 20_000_000
"""So many slopes of parts of log Z by numbers are held at most."""


class TooWideError(ValueError):
    """No junction tree of this model is small enough, and it can be neither counted nor compiled."""


class LogZ:
    """log Z of a ground model over K learned numbers. A circuit may take so many seconds to be compiled.

    Raises TooWideError.
    """

    def __init__(self, model: GroundModel, names: Sequence[str], compiling: float = USUAL_TRYING) -> None:
        weights = np.append(model.graph.weight, model.constant_weight)
        self.statistics, rows = statistics(model.values, weights, names)
        self._constant = int(rows[-1])
        self._tree: Propagation | None = None
        self._sums: LogSums | ReweighedCircuit | None = None
        self._never, self._compiling = False, compiling
        if model.graph.n_variables:
            self._plan(model, rows[:-1])

    def _plan(self, model: GroundModel, rows: IntArray) -> None:
        """Choose how to sum."""
        many = model.graph.n_factors > MANY  # to look for a tree takes longer there
        if many:
            self._sums = _counted(model.graph, self.statistics, rows)
        if self._sums is not None:
            return
        problem = Problem(model)
        chosen = elimination(problem)
        if not isinstance(chosen, Refusal):
            if chosen.operations > DEAR:
                self._compile(problem, rows, chosen.operations)
            if self._sums is None and not self._never:
                self._prepare(chosen, rows)
            return
        if not many:
            self._sums = _counted(model.graph, self.statistics, rows)
        if self._sums is None:
            self._compile(problem, rows)
        if self._sums is None and not self._never:
            raise TooWideError

    def _compile(self, problem: Problem, rows: IntArray, operations: float = np.inf) -> None:
        """Sum by a circuit, if it can be compiled and costs no more than so many operations of a tree."""
        if not is_ruled(problem):
            return
        is_open = np.zeros(len(self.statistics.constant), dtype=bool)
        is_open[self.statistics.row] = True
        seconds = min(self._compiling, TRIED_BEFORE * _RUNS * operations / PER_SECOND)
        try:
            with deadline.within(seconds):
                found = reweighed(problem.graph, rows, is_open)
            self._sums = found if found.operations <= operations else None
        except (GaveUpError, OutOfTimeError):
            deadline.check()
        except ImpossibleError:
            self._never = True

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
        if self._never:
            raise ImpossibleError
        logs = self.statistics.logs(weights)
        mass = np.zeros(len(logs))
        mass[self._constant] = 1.0
        log_z = float(logs[self._constant])
        if self._tree is not None:
            beliefs = self._tree.run(logs[self._rows])
            log_z += beliefs.log_z
            mass += np.bincount(self._entries, beliefs.flat * self._times, len(mass))
        if self._sums is not None:
            summed, moved = self._sums(logs)
            if summed == -np.inf:
                raise ImpossibleError
            log_z += summed
            mass += moved
        return log_z, self.statistics.expected(mass)

    @property
    def is_compiled(self) -> bool:
        """Whether a circuit is evaluated."""
        return isinstance(self._sums, ReweighedCircuit)

    @property
    def has_covariance(self) -> bool:
        """Whether the covariance of the statistics takes not much more memory and time than log Z itself."""
        rows = self._tree.n_messages if self._tree else self._sums.n_rows if self._sums else 0
        return self.statistics.size <= MOST_AT_ONCE and rows * self.statistics.size <= _MOST_SLOPES

    def covariance(self, weights: FloatArray) -> FloatArray:
        """The covariance of the statistics, shape (K, K): the second derivatives of log Z.

        Raises ImpossibleError if no world is possible.
        """
        if self._never:
            raise ImpossibleError
        table = self.statistics
        logs, size = table.logs(weights), table.size
        out = np.zeros((size, size))
        if self._tree is not None:
            start = np.searchsorted(table.row, np.arange(len(logs) + 1))
            entries = EntryStatistics(self._rows, start, table.number, table.coefficient, size)
            out += self._tree.covariance(logs[self._rows], entries)
        if self._sums is not None:
            along = np.zeros((len(logs), size))
            along[table.row, table.number] = table.coefficient
            out += self._sums.second(logs, along)
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
