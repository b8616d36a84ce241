"""Gibbs chains on a model with hard rules: defined unknowns are computed, tied ones updated in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from plx.deadline import seconds_left, within
from plx.errors import NoWorldError
from plx.graph.model import GroundModel
from plx.graph.ragged import owners
from plx.infer.chains import Chains
from plx.infer.gibbs import plain
from plx.infer.gibbs.block_arrays import block_arrays, passes, portions
from plx.infer.gibbs.blocks import choose_blocks, choose_exchanges
from plx.infer.gibbs.chains import (
    ChainBlock,
    GibbsChains,
    Move,
    SweptChains,
    chains_at,
    cuts,
    no_counts,
    widths,
)
from plx.infer.gibbs.clusters import clusters
from plx.infer.gibbs.compiled import compile_model
from plx.infer.gibbs.held_rows import held_rows
from plx.infer.gibbs.initial_states import initial_states
from plx.infer.gibbs.limits import BLOCK_SHARE, CHOOSING
from plx.infer.gibbs.markov_blanket import DerivedRows
from plx.infer.gibbs.structures import found_structures
from plx.infer.hard.contradiction import contradiction
from plx.infer.hard.substitute import Substituted, substitute
from plx.infer.inference import Standing
from plx.infer.kernels import blocks, exchanges
from plx.infer.kernels.blocks import BlockArrays
from plx.infer.kernels.exchanges import Held
from plx.infer.problem import Parts, Problem
from plx.infer.streams import Stream, narrow_states
from plx.values import IMPOSSIBLE, FloatArray, IntArray


@dataclass(frozen=True)
class Readout:
    """Counts of the original model's targets from those of the determined one.

    ``source[t]`` is the state counted for state t of the targets; -1: never, -2: always.
    """

    source: IntArray

    def apply(self, counts: npt.NDArray[np.integer], draws: int) -> npt.NDArray[np.int64]:
        """Counts [chains, Σ states] after so many draws."""
        seen = counts.shape[1]
        padded = np.zeros((len(counts), seen + 2), dtype=np.int64)
        padded[:, :seen] = counts
        padded[:, seen] = draws
        return padded[:, np.where(self.source < 0, seen + (self.source == -1), self.source)]


@dataclass(frozen=True)
class BlockMoves:
    """Updates of several variables at once: ``sweep`` goes over the blocks of ``arrays`` from one to another.

    Each draw updates one portion of them, ``passes`` times: ``portions`` says where to cut.
    """

    sweep: Callable[..., None]
    arrays: BlockArrays
    portions: IntArray
    passes: int = 1

    def portion(self, turn: int) -> tuple[int, int]:
        """The first block that is updated in some turn, and the first one that is not."""
        first, last = self.portions[turn % (len(self.portions) - 1) :][:2]
        return int(first), int(last)


@dataclass
class BlockedChains(Chains):
    """Chains on ``found.model``; there are no ``moves`` where single updates are enough."""

    problem: Problem
    found: Substituted
    readout: Readout
    swept: GibbsChains
    moves: tuple[BlockMoves, ...]
    turn: int  # the portion that is next
    random: tuple[npt.NDArray[np.uint32], ...]  # [4, C] for every block of chains

    @property
    def states(self) -> npt.NDArray[np.int32]:
        """The states of the original model's variables, shape (V, chains)."""
        return self.found.original(self.problem, self.swept.states)

    def step(self, draws: int, thin: int) -> npt.NDArray[np.integer]:
        """Counts for the targets of the original model; one portion of the blocks is updated per draw."""
        if not self.moves:
            return self.readout.apply(self.swept.step(draws, thin), draws)
        jobs = list(zip(self.swept.blocks, self.random, strict=True))
        if self.swept.threads == 1:
            parts = [_advance(self, block, random, draws, thin) for block, random in jobs]
        else:
            with ThreadPoolExecutor(min(self.swept.threads, len(jobs))) as pool:
                done = [pool.submit(_advance, self, block, random, draws, thin) for block, random in jobs]
                parts = [part.result() for part in done]
        counts = np.concatenate(parts)
        self.turn += draws
        return self.readout.apply(counts, draws)

    def step_with(self, advance: Move, draws: int, thin: int) -> npt.NDArray[np.integer]:
        """As `step`; ``advance`` makes no sweeps, but what else it does before each draw."""
        nothing = [part[:0] for part in no_counts(self.swept)]
        total = np.zeros(1, dtype=np.int64)
        for _ in range(draws):
            for k, none in enumerate(nothing):
                advance(k, 1, 0, none)
            total = total + self.step(1, thin)
        return total

    def standing(self, orbits: IntArray | None = None) -> Standing:
        """Where the chains stand, in the original model; orbits are those of its pairs."""
        return Standing(self.problem.model, self._states_of, orbits)

    def taken(self, first: int, last: int, threads: int) -> BlockedChains:
        """Some of the chains, see `Chains.taken`."""
        parts = cuts(widths(self.swept), first, last, threads)
        random = tuple(np.array(self.random[k][:, mine]) for k, mine in parts)
        return replace(self, swept=self.swept.taken(first, last, threads), random=random)

    def _states_of(self, variables: IntArray) -> npt.NDArray[np.integer]:
        return self.states[variables]

    def set_potentials(self, table: FloatArray) -> None:
        """From here on the log potentials of what is swept are these, shape of its ``graph.table``."""
        self.swept.set_potentials(table)
        if self.moves:
            plan = self.swept.plan
            kind = self.swept.blocks[0].state.dtype.name
            self.moves = tuple(block_moves(Parts(plan.graph), plan.rows, kind))

    def update_singly(self, seed: int) -> None:
        """From here on a sweep is one update, of a variable picked at random; blocks stay."""
        self.swept.update_singly(seed)


Potentials = Callable[[GroundModel], FloatArray]
"""Log potentials of a model, shape of its ``graph.table``."""


def init(
    problem: Problem, seed: int, chains: int, threads: int | None = None, generic: Potentials | None = None
) -> SweptChains:
    """Chains for a scan in order, at first states that satisfy every hard rule, spread out.

    ``generic``: log potentials that are equal only where they are so whatever is set later, if they are to
    be set later. Raises NoWorldError, naming rules that clash, if there is no such state.
    """
    if not len(problem.parts.hard_factors):
        return plain.init(_with(problem, generic), seed, chains, threads)
    return _init(problem, seed, chains, threads, random_scan=False, generic=generic)


def _with(problem: Problem, generic: Potentials | None) -> Problem:
    """The problem with other log potentials."""
    if generic is None:
        return problem
    model = problem.model
    return Problem(replace(model, graph=model.graph._replace(table=generic(model))))


def init_random_scan(problem: Problem, seed: int, chains: int, threads: int | None = None) -> SweptChains:
    """As `init`, for a random scan; blocks are updated in order."""
    if not len(problem.parts.hard_factors):
        return plain.init_random_scan(problem, seed, chains, threads)
    return _init(problem, seed, chains, threads, random_scan=True)


def started(
    problem: Problem, seed: int, chains: int, threads: int | None, with_structures: bool = False
) -> tuple[Substituted, npt.NDArray[np.integer]]:
    """The model with defined unknowns computed, and states of its variables that keep every hard rule.

    ``with_structures``: chains will move within assignments, which stay whole. Raises NoWorldError, naming
    rules that clash, if there is no such state.
    """
    found = substitute(problem, but_assignments=with_structures)
    try:
        if found.model.constant_weight == IMPOSSIBLE:
            raise contradiction(problem.model)
        return found, initial_states(found.problem, seed, chains, threads)
    except NoWorldError:
        raise contradiction(problem.model) from None


def _init(
    problem: Problem,
    seed: int,
    chains: int,
    threads: int | None,
    random_scan: bool,
    generic: Potentials | None = None,
) -> BlockedChains:
    found, states = started(problem, seed, chains, threads, with_structures=True)
    found = replace(found, problem=_with(found.problem, generic))
    return _standing(problem, found, states, seed, threads, random_scan)


def lanes_from(problem: Problem, world: npt.NDArray[np.integer], seed: int, lanes: int) -> SweptChains:
    """Chains that begin at one world, states [V], and count nothing."""
    problem = problem.asking(())
    streams = Stream.BEST, Stream.BEST_BLOCKS
    if not len(problem.parts.hard_factors):
        states = np.repeat(world[:, None], lanes, axis=1)
        return chains_at(compile_model(problem), states, seed, 1, stream=streams[0])
    found = substitute(problem, but_assignments=True)
    node, own = found.nodes.node[: len(world)], np.zeros(found.model.graph.n_variables, dtype=np.int32)
    kept = (node >= 0) & (node < len(own))
    own[node[kept]] = world[kept]
    return _standing(problem, found, np.repeat(own[:, None], lanes, axis=1), seed, 1, False, streams)


def _standing(
    problem: Problem,
    found: Substituted,
    states: npt.NDArray[np.integer],
    seed: int,
    threads: int | None,
    random_scan: bool,
    streams: tuple[Stream, Stream] = (Stream.SWEEPS, Stream.BLOCKS),
) -> BlockedChains:
    """Chains that stand at these states of what is computed no more."""
    plan = compile_model(found.problem)
    begun = chains_at(plan, states, seed, threads, random_scan, streams[0])
    moves = tuple(block_moves(found.problem.parts, plan.rows, begun.blocks[0].state.dtype.name))
    random = narrow_states(seed, streams[1], range(states.shape[1]))
    widths = np.cumsum([block.state.shape[1] for block in begun.blocks])[:-1]
    split = tuple(np.ascontiguousarray(part) for part in np.split(random, widths, axis=1))
    return BlockedChains(problem, found, readout(problem, found), begun, moves, 0, split)


def block_moves(parts: Parts, rows: DerivedRows, state: str) -> Iterator[BlockMoves]:
    """The updates of several variables at once; ``rows`` are the derived nodes, ``state`` their type."""
    if not len(parts.hard_factors):
        return
    graph = parts.graph
    with within(CHOOSING * seconds_left()):
        structures = found_structures(parts)
    found = [alike for alike in clusters(parts) if structures.leaves(alike.variables)]
    with within(CHOOSING * seconds_left()):
        chosen = choose_blocks(found)
    if chosen:
        arrays = block_arrays(graph, rows, chosen)
        yield BlockMoves(blocks.kernel(state), arrays, portions(graph, arrays, BLOCK_SHARE))
    with within(CHOOSING * seconds_left()):
        chosen = [*structures.moves, *choose_exchanges(found)]
    if chosen:
        arrays = block_arrays(graph, rows, chosen, structures.kept_in)
        several = passes(graph, arrays, BLOCK_SHARE)
        sweep = partial(_with_held, exchanges.kernel(state), held_rows(chosen))
        yield BlockMoves(sweep, arrays, portions(graph, arrays, BLOCK_SHARE), several)


def _with_held(kernel: Callable[..., None], held: Held, arrays: BlockArrays, *rest: object) -> None:
    """The kernel of exchanges, called as that of blocks is."""
    kernel(arrays, held, *rest)


def step(chains: SweptChains, draws: int, thin: int) -> npt.NDArray[np.integer]:
    """Counts for the targets of the original model, shape (chains, Σ states)."""
    return chains.step(draws, thin)


def _advance(
    chains: BlockedChains, block: ChainBlock, random: npt.NDArray[np.uint32], draws: int, thin: int
) -> npt.NDArray[np.int32]:
    """Counts of some chains, shape (chains, Σ states)."""
    single = replace(chains.swept, blocks=(block,), threads=1)
    counts = np.zeros((block.state.shape[1], int(chains.swept.plan.targets.offset[-1])), dtype=np.int32)
    for turn in range(chains.turn, chains.turn + draws):
        for move in chains.moves:
            first, last = move.portion(turn)
            for _ in range(move.passes):
                with np.errstate(over="ignore"):
                    move.sweep(move.arrays, first, last, block.state, block.total, block.level, random)
        counts += single.step(1, thin)
    return counts


def readout(problem: Problem, found: Substituted) -> Readout:
    """How the targets of the original model are read off those of the determined one."""
    asked, own = problem.targets, found.problem.targets
    _, query = np.unique(asked.of_query, return_index=True)
    start = own.offset[own.of_query[query]]
    size, of = np.diff(asked.offset), owners(asked.offset)
    state = np.arange(asked.offset[-1]) - asked.offset[of]
    alone = np.diff(asked.start) == 1
    node = np.full(len(asked), -1, dtype=np.int64)
    node[alone] = found.nodes.node[asked.node[asked.start[:-1][alone]]]
    fixed = np.zeros(len(asked), dtype=np.int64)
    fixed[alone] = found.nodes.state[asked.node[asked.start[:-1][alone]]]
    source = np.where(node[of] >= 0, start[of] + state, np.where(state == fixed[of], -2, -1))
    for t in np.flatnonzero(np.diff(asked.start) > 1).tolist():
        scope = asked.node[asked.start[t] : asked.start[t + 1]]
        digits = np.unravel_index(np.arange(size[t]), problem.graph.card[scope].tolist())
        index, possible, alive = np.zeros(size[t], np.int64), True, False
        for one, digit in zip(scope.tolist(), digits, strict=True):
            if found.nodes.node[one] < 0:
                possible = possible & (digit == found.nodes.state[one])
            else:
                index, alive = index * found.model.graph.card[found.nodes.node[one]] + digit, True
        always = start[t] + index if alive else np.full(len(index), -2)
        source[asked.offset[t] : asked.offset[t + 1]] = np.where(possible, always, -1)
    return Readout(source.astype(np.int64))
