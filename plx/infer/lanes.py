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

from plx.infer.compiled import Plan
from plx.infer.kernels import advance
from plx.infer.worlds import node_states

Counts = npt.NDArray[np.int32]

_SCAN = 2**31
"""The generator of the scan order is numbered past those of the lanes."""

_WIDTH = 64
"""Lanes of a block: one row of 8-bit states is one cache line."""


@dataclass
class Block:
    """Some lanes: states [V, C], totals and states of derived nodes [D, C], generators [4, C]."""

    state: npt.NDArray[np.unsignedinteger]
    total: npt.NDArray[np.int32]
    level: npt.NDArray[np.int32]
    random: npt.NDArray[np.uint32]
    scan: npt.NDArray[np.uint32]  # [4, 1] for random scan, [4, 0] for scan in order


@dataclass
class Chains:
    """All chains of a run; the arrays of ``blocks`` change as the chains move."""

    plan: Plan
    blocks: tuple[Block, ...]
    threads: int

    @property
    def states(self) -> npt.NDArray[np.int32]:
        """A copy of the states of the variables, shape (V, chains)."""
        return np.concatenate([block.state for block in self.blocks], axis=1).astype(np.int32)


def step(chains: Chains, draws: int, thin: int) -> Counts:
    """Record ``draws`` draws, ``thin`` sweeps apart: counts of the targets' states, shape (chains, Σ states).

    A sweep is as many updates as there are variables.
    """
    size = int(chains.plan.targets.offset[-1])
    counts = [np.zeros((size, block.state.shape[1]), dtype=np.int32) for block in chains.blocks]
    _run(chains, draws, thin, counts)
    return np.concatenate([part.T for part in counts])


def sweep(chains: Chains, sweeps: int) -> None:
    """Move every chain without recording."""
    _run(chains, sweeps, 1, [np.zeros((0, block.state.shape[1]), dtype=np.int32) for block in chains.blocks])


def chains_at(
    plan: Plan,
    states: npt.NDArray[np.integer],
    seed: int,
    threads: int | None = None,
    random_scan: bool = False,
) -> Chains:
    """Chains that stand at given states of the variables, shape (V, chains)."""
    threads = threads or os.cpu_count() or 1
    n = states.shape[1]
    nodes = node_states(plan.graph, states)
    kind = np.uint8 if plan.arrays.max_card <= 256 else np.uint16
    total, level = _derived(plan, nodes)
    random = np.stack([_generator(seed, lane) for lane in range(n)], axis=1)
    scan = _generator(seed, _SCAN)[:, None] if random_scan else np.zeros((4, 0), dtype=np.uint32)
    blocks = [
        Block(
            np.ascontiguousarray(states[:, lanes], dtype=kind),
            np.ascontiguousarray(total[:, lanes]),
            np.ascontiguousarray(level[:, lanes]),
            np.ascontiguousarray(random[:, lanes]),
            scan.copy(),
        )
        for lanes in _deal(n, threads)
    ]
    return Chains(plan, tuple(blocks), threads)


def _deal(lanes: int, threads: int) -> Iterator[slice]:
    """Equal blocks of at most `_WIDTH` lanes, at least one per thread where lanes suffice."""
    width = min(_WIDTH, max(1, -(-lanes // threads)))
    return (slice(first, min(first + width, lanes)) for first in range(0, lanes, width))


def _generator(seed: int, lane: int) -> npt.NDArray[np.uint32]:
    return np.random.SeedSequence(seed, spawn_key=(lane,)).generate_state(4)


def _derived(plan: Plan, nodes: npt.NDArray[np.int32]) -> tuple[Counts, Counts]:
    """Totals and states of the kept derived nodes, shape (D, chains)."""
    graph, kept = plan.graph, plan.rows.node
    level = nodes[kept]
    total = np.zeros_like(level)
    for row, node in enumerate(kept.tolist()):
        for source, vector in zip(*graph.inputs_of(node - graph.n_variables), strict=True):
            total[row] += graph.contribution_of(int(vector))[nodes[source]]
    return total, level


def _run(chains: Chains, draws: int, thin: int, counts: list[Counts]) -> None:
    jobs = [
        _job(chains.plan, block, draws, thin, part) for block, part in zip(chains.blocks, counts, strict=True)
    ]
    if len(jobs) == 1 or chains.threads == 1:
        for job in jobs:
            job()
        return
    with ThreadPoolExecutor(chains.threads) as pool:
        for done in [pool.submit(job) for job in jobs]:
            done.result()


def _job(plan: Plan, block: Block, draws: int, thin: int, counts: Counts) -> Callable[[], None]:
    def job() -> None:
        with np.errstate(over="ignore"):
            advance(
                plan.arrays,
                block.state,
                block.total,
                block.level,
                block.random,
                block.scan,
                draws,
                thin,
                counts,
            )

    return job
