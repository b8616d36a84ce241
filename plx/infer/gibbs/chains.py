"""Many chains at once, dealt to blocks of lanes that threads work on.

The result does not depend on the number of blocks or threads: a lane's states follow from the
seed and the lane's number alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph
from plx.graph.worlds import derived_totals, node_states
from plx.infer.gibbs.compiled import CompiledModel
from plx.infer.kernels.gibbs import kernel
from plx.values import IntArray

Counts = npt.NDArray[np.int32]

_SCAN = 2**31
"""The generator of the scan order is numbered past those of the lanes."""

_NARROW, _WIDE = 32, 64
"""Lanes of a block: fewer waste vector instructions, more waste cache."""

_ROWS = 1 << 11
"""Rows of counts that are turned at once."""

_WORTH_A_THREAD = 1 << 20
"""Updates that are worth starting threads for."""


@dataclass
class ChainBlock:
    """Some lanes: states [V, C], totals and states of derived nodes [D, C], generators [4, C]."""

    state: npt.NDArray[np.unsignedinteger]
    total: npt.NDArray[np.int32]
    level: npt.NDArray[np.int32]
    random: npt.NDArray[np.uint32]
    scan: npt.NDArray[np.uint32]  # [4, 1] for random scan, [4, 0] for scan in order


@dataclass
class Chains:
    """All chains of a run; the arrays of ``blocks`` change as the chains move.

    A sweep is ``sweep_length`` updates: as many as there are variables, or one, which needs a random scan.
    """

    plan: CompiledModel
    blocks: tuple[ChainBlock, ...]
    threads: int
    sweep_length: int

    @property
    def states(self) -> npt.NDArray[np.int32]:
        """A copy of the states of the variables, shape (V, chains)."""
        return np.concatenate([block.state for block in self.blocks], axis=1).astype(np.int32)

    def states_of(self, variables: IntArray) -> npt.NDArray[np.integer]:
        """A copy of the states of some variables, shape (variables, chains)."""
        return np.concatenate([block.state[variables] for block in self.blocks], axis=1)


def step(chains: Chains, draws: int, thin: int) -> Counts:
    """Record ``draws`` draws, ``thin`` sweeps apart: counts of targets' states, shape (chains, Σ states)."""
    counts = no_counts(chains)
    run(chains, draws * thin, lambda k: advance(chains, k, draws, thin, counts[k]))
    return gathered(counts)


def sweep(chains: Chains, sweeps: int) -> None:
    """Move every chain without recording."""
    none = [np.zeros((0, block.state.shape[1]), dtype=np.int32) for block in chains.blocks]
    run(chains, sweeps, lambda k: advance(chains, k, 1, sweeps, none[k]))


def no_counts(chains: Chains) -> list[Counts]:
    """Zeros for every block of lanes, shape (Σ states, lanes), to which `advance` adds."""
    size = int(chains.plan.targets.offset[-1])
    return [np.zeros((size, block.state.shape[1]), dtype=np.int32) for block in chains.blocks]


def gathered(counts: list[Counts]) -> Counts:
    """The counts of all lanes, shape (chains, Σ states)."""
    out = np.empty((sum(part.shape[1] for part in counts), len(counts[0])), dtype=np.int32)
    first = 0
    for part in counts:
        lanes = slice(first, first + part.shape[1])
        for row in range(0, len(part), _ROWS):  # each written as long as it is near
            out[lanes, row : row + _ROWS] = part[row : row + _ROWS].T
        first = lanes.stop
    return out


def run(chains: Chains, sweeps: int, job: Callable[[int], None]) -> None:
    """``job(k)`` for every block k, on threads where so many sweeps are worth it."""
    every = range(len(chains.blocks))
    work = sweeps * chains.sweep_length * sum(block.state.shape[1] for block in chains.blocks)
    if len(every) == 1 or chains.threads == 1 or work < _WORTH_A_THREAD:
        for k in every:
            job(k)
        return
    with ThreadPoolExecutor(chains.threads) as pool:
        for done in [pool.submit(job, k) for k in every]:
            done.result()


def advance(chains: Chains, k: int, draws: int, thin: int, counts: Counts) -> None:
    """Move block k by ``draws`` times ``thin`` sweeps; each draw is added to counts that have rows."""
    block = chains.blocks[k]
    with np.errstate(over="ignore"):
        kernel(block.state.dtype.name)(
            chains.plan.arrays,
            block.state,
            block.total,
            block.level,
            block.random,
            block.scan,
            draws,
            thin * chains.sweep_length,
            counts,
        )


def update_singly(chains: Chains, seed: int) -> None:
    """From here on a sweep is one update, of a variable picked at random."""
    chains.sweep_length = 1
    for block in chains.blocks:
        block.scan = generator(seed, _SCAN)[:, None]


def chains_at(
    plan: CompiledModel,
    states: npt.NDArray[np.integer],
    seed: int,
    threads: int | None = None,
    random_scan: bool = False,
) -> Chains:
    """Chains that stand at given states of the variables, shape (V, chains)."""
    threads = threads or os.cpu_count() or 1
    n = states.shape[1]
    nodes = node_states(plan.graph, states)
    kind = state_type(plan.graph)
    total, level = _derived(plan, nodes)
    random = np.stack([generator(seed, lane) for lane in range(n)], axis=1)
    scan = generator(seed, _SCAN)[:, None] if random_scan else np.zeros((4, 0), dtype=np.uint32)
    blocks = [
        ChainBlock(
            np.ascontiguousarray(states[:, lanes], dtype=kind),
            np.ascontiguousarray(total[:, lanes]),
            np.ascontiguousarray(level[:, lanes]),
            np.ascontiguousarray(random[:, lanes]),
            scan.copy(),
        )
        for lanes in _deal(n, threads)
    ]
    return Chains(plan, tuple(blocks), threads, len(states))


def state_type(graph: FactorGraph) -> str:
    """The name of the smallest type that holds the state of every variable."""
    return "uint8" if graph.card[: graph.n_variables].max(initial=1) <= 256 else "uint16"


def _deal(lanes: int, threads: int) -> Iterator[slice]:
    """Blocks of equal width, one or more per thread where lanes suffice."""
    width = min(_WIDE, max(_NARROW, -(-lanes // threads)))
    return (slice(first, min(first + width, lanes)) for first in range(0, lanes, width))


def generator(seed: int, lane: int) -> npt.NDArray[np.uint32]:
    """The state of a lane's random numbers, shape (4,)."""
    return np.random.SeedSequence(seed, spawn_key=(lane,)).generate_state(4).astype(np.uint32)


def _derived(plan: CompiledModel, nodes: npt.NDArray[np.int32]) -> tuple[Counts, Counts]:
    """Totals and states of the kept derived nodes, shape (D, chains)."""
    kept = plan.rows.node
    return derived_totals(plan.graph, nodes, kept - plan.graph.n_variables), nodes[kept]
