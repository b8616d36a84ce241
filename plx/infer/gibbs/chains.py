"""Many chains at once, dealt to blocks of chains that threads work on.

The result does not depend on the number of blocks or threads: a chain's states follow from the
seed and the chain's number alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph
from plx.graph.worlds import derived_totals, node_states
from plx.infer.chains import Chains
from plx.infer.gibbs.compiled import CompiledModel
from plx.infer.inference import Standing
from plx.infer.kernels.gibbs import kernel
from plx.infer.streams import Stream, narrow_states
from plx.threads import cores
from plx.values import FloatArray, IntArray

Counts = npt.NDArray[np.int32]

_NARROW, _WIDE = 32, 64
"""Chains of a block: fewer waste vector instructions, more waste cache."""

_MANY = 1 << 24
"""Counts past which they are kept in as few bytes as they need."""

_LINE = 64
"""Bytes of a line of the cache."""

_ROWS = 1 << 11
"""Rows of counts that are turned at once."""

_WORTH_A_THREAD = 1 << 20
"""Updates that are worth starting threads for."""


@dataclass
class ChainBlock:
    """Some chains: states [V, C], totals and states of derived nodes [D, C], generators [4, C]."""

    state: npt.NDArray[np.unsignedinteger]
    total: npt.NDArray[np.int32]
    level: npt.NDArray[np.int32]
    random: npt.NDArray[np.uint32]
    scan: npt.NDArray[np.uint32]  # [4, 1] for random scan, [4, 0] for scan in order

    def taken(self, mine: slice) -> ChainBlock:
        """A copy of some of the chains."""
        return ChainBlock(
            _in_lines(self.state[:, mine]),
            np.array(self.total[:, mine]),
            np.array(self.level[:, mine]),
            np.array(self.random[:, mine]),
            self.scan.copy(),
        )


Move = Callable[[int, int, int, Counts], None]
"""Moves the chains of a block: called as `advance` is, without the chains."""


class SteppedChains(Chains, Protocol):
    """Chains that Gibbs sweeps move, and whatever else."""

    @property
    def swept(self) -> GibbsChains:
        """What single updates move."""

    def step(self, draws: int, thin: int) -> npt.NDArray[np.integer]:
        """Record ``draws`` draws, ``thin`` sweeps apart: counts, shape (chains, Σ states)."""

    def step_with(self, advance: Move, draws: int, thin: int) -> npt.NDArray[np.integer]:
        """As `step`, where ``advance`` sweeps in place of `advance`, and does more before each draw."""

    def standing(self, orbits: IntArray | None = None) -> Standing:
        """Where the chains stand, in the original model; orbits are those of its pairs."""

    def taken(self, first: int, last: int, threads: int) -> Self:
        """Some of the chains, see `Chains.taken`."""


class SweptChains(SteppedChains, Protocol):
    """Chains that Gibbs sweeps move, with blocks for hard rules or without."""

    @property
    def states(self) -> npt.NDArray[np.int32]:
        """A copy of the states of the variables of the original model, shape (V, chains)."""

    def set_potentials(self, table: FloatArray) -> None:
        """From here on the log potentials of what is swept are these, shape of its ``graph.table``."""

    def update_singly(self, seed: int) -> None:
        """From here on a sweep is one update, of a variable picked at random."""


@dataclass
class GibbsChains(Chains):
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

    @property
    def swept(self) -> GibbsChains:
        """These chains."""
        return self

    def step(self, draws: int, thin: int) -> npt.NDArray[np.integer]:
        """Record ``draws`` draws, ``thin`` sweeps apart: counts, shape (chains, Σ states)."""
        return self.step_with(partial(advance, self), draws, thin)

    def step_with(self, advance: Move, draws: int, thin: int) -> npt.NDArray[np.integer]:
        """As `step`, each block of chains moved by ``advance``."""
        counts = no_counts(self)
        run(self, draws * thin, lambda k: advance(k, draws, thin, counts[k]))
        return gathered(counts, draws)

    def set_potentials(self, table: FloatArray) -> None:
        """From here on the log potentials are these, shape of ``graph.table`` of the plan."""
        self.plan = self.plan.with_potentials(table)

    def standing(self, orbits: IntArray | None = None) -> Standing:
        """Where the chains stand, in the model that they were made for; orbits are those of its pairs."""
        return Standing(self.plan.problem.model, self.states_of, orbits)

    def taken(self, first: int, last: int, threads: int) -> GibbsChains:
        """Some of the chains, see `Chains.taken`."""
        blocks = tuple(self.blocks[k].taken(mine) for k, mine in cuts(widths(self), first, last, threads))
        return replace(self, blocks=blocks, threads=threads)

    def update_singly(self, seed: int) -> None:
        """From here on a sweep is one update, of a variable picked at random."""
        self.sweep_length = 1
        for block in self.blocks:
            block.scan = narrow_states(seed, Stream.SCAN)


def widths(chains: GibbsChains) -> list[int]:
    """How many chains each block has."""
    return [block.state.shape[1] for block in chains.blocks]


def cuts(widths: Sequence[int], first: int, last: int, threads: int) -> Iterator[tuple[int, slice]]:
    """The blocks, and what to take of each, that make chains ``first`` to ``last - 1`` of blocks of such
    widths; one or more for each thread where there are chains enough."""
    most, begin = -(-(last - first) // threads), 0
    for k, width in enumerate(widths):
        start, end = max(first, begin), min(last, begin + width)
        for low in range(start, end, max(1, most)):
            yield k, slice(low - begin, min(low + most, end) - begin)
        begin += width


def sweep(chains: GibbsChains, sweeps: int) -> None:
    """Move every chain without recording."""
    none = [np.zeros((0, block.state.shape[1]), dtype=np.int32) for block in chains.blocks]
    run(chains, sweeps, lambda k: advance(chains, k, 1, sweeps, none[k]))


def no_counts(chains: GibbsChains) -> list[Counts]:
    """Zeros for every block of chains, shape (Σ states, chains), to which `advance` adds."""
    size = int(chains.plan.targets.offset[-1])
    return [np.zeros((size, block.state.shape[1]), dtype=np.int32) for block in chains.blocks]


def gathered(counts: list[Counts], draws: int = 1 << 31) -> npt.NDArray[np.integer]:
    """The counts of all chains, shape (chains, Σ states); many of few draws as unsigned integers that hold
    as much."""
    chains = sum(part.shape[1] for part in counts)
    wide = chains * len(counts[0]) > _MANY
    out = np.empty((chains, len(counts[0])), dtype=np.min_scalar_type(draws) if wide else np.int32)
    first = 0
    for part in counts:
        mine = slice(first, first + part.shape[1])
        for row in range(0, len(part), _ROWS):  # each written as long as it is near
            out[mine, row : row + _ROWS] = part[row : row + _ROWS].T
        first = mine.stop
    return out


def run(chains: GibbsChains, sweeps: int, job: Callable[[int], None]) -> None:
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


def advance(chains: GibbsChains, k: int, draws: int, thin: int, counts: Counts) -> None:
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


def chains_at(
    plan: CompiledModel,
    states: npt.NDArray[np.integer],
    seed: int,
    threads: int | None = None,
    random_scan: bool = False,
    stream: Stream = Stream.SWEEPS,
) -> GibbsChains:
    """Chains that stand at these states of the variables, shape (V, chains), and draw from a stream."""
    threads = threads or cores()
    n = states.shape[1]
    kind = state_type(plan.graph)
    total, level = derived_rows_at(plan, node_states(plan.graph, states) if plan.graph.n_derived else states)
    random = narrow_states(seed, stream, range(n))
    scan = narrow_states(seed, Stream.SCAN) if random_scan else np.zeros((4, 0), dtype=np.uint32)
    blocks = [
        ChainBlock(
            _in_lines(states[:, mine], kind),
            np.ascontiguousarray(total[:, mine]),
            np.ascontiguousarray(level[:, mine]),
            np.ascontiguousarray(random[:, mine]),
            scan.copy(),
        )
        for mine in _deal(n, threads)
    ]
    return GibbsChains(plan, tuple(blocks), threads, len(states))


def _in_lines(states: npt.NDArray[np.integer], kind: str | None = None) -> npt.NDArray[np.unsignedinteger]:
    """A copy of states that begins where a line of the cache does, so that a row lies in as few as it can."""
    item = np.dtype(kind or states.dtype)
    size = states.size * item.itemsize
    room = np.empty(size + _LINE, dtype=np.uint8)
    begin = -room.ctypes.data % _LINE
    copy: npt.NDArray[np.unsignedinteger] = room[begin : begin + size].view(item).reshape(states.shape)
    copy[...] = states
    return copy


def state_type(graph: FactorGraph) -> str:
    """The name of the smallest type that holds the state of every variable."""
    return "uint8" if graph.card[: graph.n_variables].max(initial=1) <= 256 else "uint16"


def _deal(chains: int, threads: int) -> Iterator[slice]:
    """Blocks of equal width, one or more per thread where chains suffice."""
    width = min(_WIDE, max(_NARROW, -(-chains // threads)))
    return (slice(first, min(first + width, chains)) for first in range(0, chains, width))


def derived_rows_at(plan: CompiledModel, nodes: npt.NDArray[np.integer]) -> tuple[Counts, Counts]:
    """Totals and states of the kept derived nodes, shape (D, chains), from states of all nodes."""
    kept = plan.rows.node
    totals = derived_totals(plan.graph, nodes, kept - plan.graph.n_variables)
    return totals, nodes[kept].astype(np.int32)
