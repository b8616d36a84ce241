"""MC-SAT: each step draws uniformly from the worlds that a random slice of the weights allows.

The kernels say how, and how that differs from the literature.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from plx.graph.joins import Lookup
from plx.graph.model import FactorGraph
from plx.graph.ragged import owners, starts
from plx.graph.worlds import derived_totals, node_states, scope_strides
from plx.infer.chains import Chains
from plx.infer.gibbs.blocked import Readout, readout, started
from plx.infer.gibbs.markov_blanket import Dependents, DerivedRows, dependents, derived_rows
from plx.infer.inference import Standing
from plx.infer.kernels.mcsat import Slices, kernel
from plx.infer.problem import Problem
from plx.infer.streams import Stream, wide_states
from plx.threads import cores
from plx.values import IntArray

VISITS = 1024
"""Assignments that may be tried to list the solutions of a part of a slice."""

_WORTH_A_THREAD = 1 << 14
"""Factors to look at that are worth starting threads for."""


@dataclass
class SliceChains(Chains):
    """Chains as rows: states [C, V], totals and states of derived nodes [C, D], generators [C]."""

    problem: Problem
    arrays: Slices
    readout: Readout
    state: npt.NDArray[np.int32]
    total: npt.NDArray[np.int32]
    level: npt.NDArray[np.int32]
    random: npt.NDArray[np.uint64]
    threads: int

    def standing(self) -> Standing:
        """Where the chains stand, in the model without defined unknowns."""
        return Standing(self.problem.model, self._states_of)

    def taken(self, first: int, last: int, threads: int) -> SliceChains:
        """Some of the chains, see `Chains.taken`."""
        return replace(
            self,
            state=np.array(self.state[first:last]),
            total=np.array(self.total[first:last]),
            level=np.array(self.level[first:last]),
            random=np.array(self.random[first:last]),
            threads=threads,
        )

    def _states_of(self, variables: IntArray) -> npt.NDArray[np.integer]:
        return self.state.T[variables]


def init(problem: Problem, seed: int, chains: int, threads: int | None = None) -> SliceChains:
    """Chains at first states that satisfy every hard rule.

    Raises NoWorldError, naming rules that clash, if there is no such state.
    """
    found, states = started(problem, seed, chains, threads)
    graph = found.problem.graph
    rows = derived_rows(found.problem.parts, np.empty(0, dtype=np.int64))
    nodes = node_states(graph, states)
    return SliceChains(
        problem=found.problem,
        arrays=_slices(graph, rows, dependents(graph, rows)),
        readout=readout(problem, found),
        state=np.ascontiguousarray(states.T, dtype=np.int32),
        total=np.ascontiguousarray(derived_totals(graph, nodes, rows.node - graph.n_variables).T),
        level=np.ascontiguousarray(nodes[rows.node].T),
        random=wide_states(seed, Stream.SLICES, range(chains)),
        threads=threads or cores(),
    )


def step(chains: SliceChains, draws: int, thin: int) -> npt.NDArray[np.int64]:
    """Counts for the targets of the original model; a sweep is one slice."""
    counts = np.zeros((len(chains.state), int(chains.problem.targets.offset[-1])), dtype=np.int64)
    for _ in range(draws):
        _advance(chains, thin)
        _record(chains, counts)
    return chains.readout.apply(counts, draws)


def _advance(chains: SliceChains, steps: int) -> None:
    advance = kernel()

    def run(part: slice) -> None:
        with np.errstate(over="ignore"):
            advance(
                chains.arrays,
                chains.state[part],
                chains.total[part],
                chains.level[part],
                chains.random[part],
                steps,
                VISITS,
            )

    n = len(chains.state)
    if chains.threads == 1 or steps * n * len(chains.arrays.factor) < _WORTH_A_THREAD:
        run(slice(0, n))
        return
    width = -(-n // chains.threads)
    with ThreadPoolExecutor(chains.threads) as pool:
        for _ in pool.map(run, [slice(first, min(first + width, n)) for first in range(0, n, width)]):
            pass


def _record(chains: SliceChains, counts: IntArray) -> None:
    """Add the present state of every target to its counts."""
    graph, targets = chains.problem.graph, chains.problem.targets
    states = targets.states(graph.card, node_states(graph, chains.state.T))
    counts[np.arange(len(chains.state)), targets.offset[:-1, None] + states] += 1


def _slices(graph: FactorGraph, rows: DerivedRows, s: Dependents) -> Slices:
    """The kernel's arrays."""
    n = graph.n_variables
    factor, variable = _below(graph, rows, s)
    by_variable = np.argsort(variable, kind="stable")
    least = np.minimum.reduceat(graph.table, graph.table_start[:-1]) if len(graph.table) else graph.table
    pairs = starts(np.bincount(s.pair_variable, minlength=n))
    above, below = (
        starts(np.bincount(variable, minlength=n)),
        starts(np.bincount(factor, minlength=graph.n_factors)),
    )
    edges = starts(np.bincount(s.edge_pair, minlength=len(s.pair_row)))
    output = graph.output_start[graph.output_of[rows.node - n]]
    return Slices(
        variable=_columns(graph.card[:n], pairs[:-1], pairs[1:], above[:-1], above[1:]),
        affected=_columns(s.pair_row, edges[:-1], edges[1:]),
        edge=_columns(s.edge_source, s.edge_contribution),
        output=(output + len(graph.contribution)).astype(np.int32),
        map=np.concatenate([graph.contribution, graph.output]).astype(np.int32),
        factor=_columns(
            graph.scope_start[:-1],
            graph.scope_start[1:],
            graph.table_start[graph.table_of],
            below[:-1],
            below[1:],
        ),
        scope=_columns(rows.of_nodes(graph, graph.scope), scope_strides(graph)),
        pair=_columns(variable, factor[by_variable]),
        potential=np.require(graph.table, np.float64, ("C", "W")),
        least=np.require(least[graph.table_of], np.float64, ("C", "W")),
    )


def _columns(*columns: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    return np.ascontiguousarray(np.stack(columns, axis=1), dtype=np.int32)


def _below(graph: FactorGraph, rows: DerivedRows, s: Dependents) -> tuple[IntArray, IntArray]:
    """All (factor, variable) such that the factor depends on the variable, sorted."""
    n = graph.n_variables
    of = owners(graph.scope_start)
    row = rows.of_nodes(graph, graph.scope)
    direct = row < n
    at, pair = Lookup(s.pair_row, max(1, len(rows.node))).join(row[~direct] - n)
    factor = np.concatenate([of[direct], of[~direct][at]])
    variable = np.concatenate([row[direct], s.pair_variable[pair]])
    key = np.unique(factor * max(1, n) + variable)
    return key // max(1, n), key % max(1, n)
