"""Lanes: Markov chains of a ground model that go on while its learned numbers change, and their statistics.

The model is compiled once. From one value of the numbers to the next only log potentials change, and every
lane goes on from the world where it stands (Younes 1989; Tieleman 2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from plx import deadline
from plx.graph.learned import statistics
from plx.graph.model import GroundModel
from plx.graph.ragged import owners, segments, starts
from plx.graph.rows import unique_keys
from plx.graph.worlds import scope_strides
from plx.infer.gibbs import blocked
from plx.infer.gibbs.blocked import BlockedChains
from plx.infer.gibbs.chains import ChainBlock, chains_at
from plx.infer.kernels.statistics import Tallied, kernel
from plx.infer.problem import Problem
from plx.values import FloatArray, IntArray

LANES = 64
"""Lanes of one model: their means are independent estimates, from which the Monte-Carlo error is known."""

_WORTH_A_THREAD = 1 << 20
"""Entries looked at that are worth starting threads for."""

_MOST_THIN = 4
"""Between two draws are at most so many sweeps, so that a draw costs no more than the sweeps before it."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Statistics of n draws of each of C lanes over K numbers, less those of ``origin`` [K]."""

    lane_sums: FloatArray  # [2, C, K], those of the first and of the second half of the draws
    squares: FloatArray  # [K, K], sums of products over all draws
    origin: FloatArray
    n: int

    @property
    def lane_means(self) -> FloatArray:
        """The mean of each lane, shape (C, K)."""
        return np.asarray(self.lane_sums.sum(axis=0) / self.n + self.origin)

    @property
    def mean(self) -> FloatArray:
        """The mean of all draws, shape (K,)."""
        return np.asarray(self.lane_means.mean(axis=0))

    @property
    def covariance(self) -> FloatArray:
        """Of the draws of all lanes, shape (K, K)."""
        away = self.mean - self.origin
        return np.asarray(self.squares / (self.n * self.lane_sums.shape[1]) - np.outer(away, away))


class Lanes:
    """Lanes of one ground model over K numbers. Raises NoWorldError where hard rules clash."""

    def __init__(
        self,
        model: GroundModel,
        names: tuple[str, ...],
        seed: int,
        states: IntArray | None = None,
        lanes: int = LANES,
        threads: int | None = None,
    ) -> None:
        """``states`` [V, n] are worlds from which every second lane starts, in turn."""
        problem = Problem(replace(model, queries=()))
        chains = blocked.init(problem, seed, lanes, threads, lambda one: _generic(one, names))
        swept = problem.model if not isinstance(chains, BlockedChains) else chains.found.model
        if states is not None and not isinstance(chains, BlockedChains):
            begun = chains.states
            begun[:, ::2] = states[:, np.arange(begun[:, ::2].shape[1]) % states.shape[1]]
            chains = chains_at(chains.swept.plan, begun, seed, threads)
        self._chains, self.size = chains, len(names)
        weights = np.append(swept.graph.weight, swept.constant_weight)
        self._statistics, rows = statistics(model.values, weights, names)
        self._rows = rows[:-1]
        fixed = np.bincount(rows[-1:], minlength=len(self._statistics.constant)).astype(np.float64)
        self._fixed = self._statistics.expected(fixed)
        self._tallied = self._tally_of()
        work = swept.graph.card[swept.graph.scope].sum() + len(swept.graph.scope)
        self.thin = max(1, min(_MOST_THIN, int(work) // max(1, 4 * swept.graph.n_variables)))

    def set(self, weights: FloatArray) -> None:
        """From here on the lanes draw at these values of the numbers."""
        self._chains.set_potentials(self._statistics.logs(weights)[self._rows])

    def burn(self, sweeps: int) -> None:
        """Move all lanes without a look."""
        if isinstance(self._chains, BlockedChains):
            self._chains.step(sweeps, 1)
        else:
            self._chains.step(1, sweeps)

    def draw(self, n: int) -> Drawn:
        """The statistics of n draws of each lane, `thin` sweeps apart."""
        origin = self.statistics().mean(axis=0)
        lane_sums = np.zeros((2, self._chains.states.shape[1], self.size))
        squares = np.zeros((self.size, self.size))
        for i in range(n):
            deadline.check()
            self.burn(self.thin)
            away = self.statistics() - origin
            lane_sums[2 * i // n] += away
            squares += away.T @ away
        return Drawn(lane_sums, squares, origin, n)

    @property
    def states(self) -> npt.NDArray[np.int32]:
        """The worlds where the lanes stand, shape (V, C)."""
        return self._chains.states

    def statistics(self) -> FloatArray:
        """The statistics of the worlds where the lanes stand, shape (C, K)."""
        swept = self._chains.swept

        def tally(block: ChainBlock) -> FloatArray:
            total = np.zeros((self.size, block.state.shape[1]))
            kernel(block.state.dtype.name)(self._tallied, block.state, block.level, total)
            return total

        lanes = sum(block.state.shape[1] for block in swept.blocks)
        if len(self._tallied.scope_row) * lanes < _WORTH_A_THREAD or swept.threads == 1:
            parts = [tally(block) for block in swept.blocks]
        else:
            with ThreadPoolExecutor(swept.threads) as pool:
                parts = list(pool.map(tally, swept.blocks))
        return np.concatenate(parts, axis=1).T + self._fixed

    def _tally_of(self) -> Tallied:
        """The factors that depend on learned numbers, as the kernel reads them."""
        graph, table = self._chains.swept.plan.graph, self._statistics
        count = np.bincount(table.row, minlength=len(table.constant))
        of_entry = count[self._rows]
        part = segments(starts(count)[self._rows], of_entry)
        entry = np.repeat(np.arange(len(self._rows)), of_entry)
        of_table = owners(graph.table_start)[entry]
        first, column = unique_keys(of_table * max(self.size, 1) + table.number[part])
        length = np.diff(graph.table_start)[of_table[first]]
        begin = starts(length)
        coefficient = np.zeros(begin[-1])
        coefficient[begin[column] + entry - graph.table_start[of_table]] = table.coefficient[part]
        parts = starts(np.bincount(of_table[first], minlength=graph.n_tables))
        factors = np.flatnonzero((np.diff(parts) > 0)[graph.table_of])
        arity = np.diff(graph.scope_start)[factors]
        at = segments(graph.scope_start[factors], arity)
        return Tallied(
            _i32(graph.table_of[factors]),
            starts(arity),
            _i32(self._chains.swept.plan.rows.of_nodes(graph, graph.scope[at])),
            _i32(scope_strides(graph)[at]),
            parts,
            _i32(table.number[part[first]]),
            begin[:-1].copy(),
            coefficient,
        )


def _generic(model: GroundModel, names: Sequence[str]) -> FloatArray:
    """Log potentials at numbers at which only those are equal that always are."""
    table, rows = statistics(model.values, model.graph.weight, names)
    numbers = np.random.default_rng(20080705).uniform(0.5, 1.0, len(names))
    return table.logs(numbers)[rows]


def _i32(values: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    """As numba's signatures want it."""
    return np.require(values, np.int32, ("C", "W"))
