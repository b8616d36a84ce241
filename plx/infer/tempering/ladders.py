"""Ladders: chains at all temperatures side by side, each of which exchanges worlds with its neighbours.

Lane c of every temperature is of ladder c. The temperatures of groups of ladders are dealt to threads, and a
ladder's worlds follow from the seed and its number alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from plx.graph.rows import BoolArray
from plx.graph.worlds import node_states
from plx.infer.gibbs.blocked import BlockMoves
from plx.infer.gibbs.chains import ChainBlock, Counts, GibbsChains, advance, chains_at, derived_rows_at
from plx.infer.gibbs.compiled import CompiledModel
from plx.infer.kernels.blocks import BlockArrays
from plx.infer.kernels.tempering import SoftFactors, Tally, kernel
from plx.infer.streams import Stream, narrow_states
from plx.infer.tempering.controls import Controls, add_controls, controls_of
from plx.infer.tempering.limits import COLDEST, SELDOM, SWEEPS, WORTH_A_SWEEP
from plx.infer.tempering.soft import Path, raised, soft_factors
from plx.infer.tempering.solvable import Solvable
from plx.threads import cores, working
from plx.values import FloatArray, IntArray

Lanes = npt.NDArray[Any]

PER_LADDER = 256
"""Generators of each ladder, one for each temperature there may be."""

WIDE = 64
"""Lanes of a group, where there are as many."""

_WORTH_A_THREAD = 1 << 18
"""Updates of a round that are worth dealing it to threads."""

_NO_COUNTS = np.zeros((0, 0), dtype=np.int32)

Move = Callable[[ChainBlock, npt.NDArray[np.uint32], int], None]
"""Moves lanes that stand at one temperature, with their own random numbers, in some turn."""

Flip = Callable[[ChainBlock, npt.NDArray[np.uint32], int, FloatArray | None], None]
"""Moves clusters, and adds by how much lanes weigh more then than is expected given the bonds."""


@dataclass(frozen=True)
class Updates:
    """What moves lanes at every temperature, besides sweeps: to add a kind, append to ``moves``.

    ``moves`` are functions of the path and β, each of which gives what moves lanes there. ``clusters`` is one
    too, of moves that cost many sweeps: where they are not needed lanes make them seldom. ``path``: what β
    is on; ``part``: what stays at β = 0, from which worlds are drawn there, if any.
    """

    plan: CompiledModel
    moves: tuple[Callable[[Path, float], Move], ...]
    clusters: Callable[[Path, float], Flip] | None = None
    path: Path = Path()
    part: Solvable | None = None


@dataclass(frozen=True)
class Seldom:
    """A move in one of so many turns; temperatures take them in turn."""

    move: Flip
    first: int
    turns: int = SELDOM

    def __call__(
        self, block: ChainBlock, random: npt.NDArray[np.uint32], turn: int, excess: FloatArray | None = None
    ) -> None:
        """Move lanes, or not."""
        if turn % self.turns == self.first % self.turns:
            self.move(block, random, turn // self.turns, excess)


def of_blocks(moves: BlockMoves) -> Callable[[Path, float], Move]:
    """Updates of blocks that hard rules tie, at any temperature."""
    return partial(_of_blocks_at, moves)


def _of_blocks_at(moves: BlockMoves, path: Path, beta: float) -> Move:
    """Models with such blocks are on a path to β = 0 of all tables."""
    base, potential = (raised(table, beta) for table in (moves.arrays.base, moves.arrays.potential))
    return partial(_update_blocks, moves, moves.arrays._replace(base=base, potential=potential))


def _update_blocks(
    moves: BlockMoves, arrays: BlockArrays, block: ChainBlock, random: npt.NDArray[np.uint32], turn: int
) -> None:
    first, last = moves.portion(turn)
    for _ in range(moves.passes):
        moves.sweep(arrays, first, last, block.state, block.total, block.level, random)


@dataclass
class Group:
    """Some ladders: states [T, V, C], totals and states of derived nodes [T, D, C], generators."""

    state: Lanes
    total: Lanes
    level: Lanes
    random: Lanes  # [at least T, 4, C]
    block_random: Lanes  # [at least T, 4, C]
    exchange_random: Lanes  # [4, C]
    replica: npt.NDArray[np.uint8]  # [T, C]
    weight: FloatArray  # [T, C]
    tally: Tally
    control: FloatArray  # [2, T, C] sums of control variates: of sweeps, and of clusters

    def at(self, k: int) -> ChainBlock:
        """The lanes at temperature k."""
        scan = np.zeros((4, 0), dtype=np.uint32)
        return ChainBlock(self.state[k], self.total[k], self.level[k], self.random[k], scan)


@dataclass
class Ladders:
    """All ladders of a run; ``beta`` [T] rises from 0 to 1. ``often``: clusters move in every turn,
    until temperatures are tuned."""

    updates: Updates
    seed: int
    threads: int
    groups: list[Group]
    beta: FloatArray
    soft: SoftFactors
    middle: FloatArray  # [T - 1]
    turn: int = 0
    swept: list[GibbsChains] = field(default_factory=list)  # one for each temperature
    moves: list[list[Move]] = field(default_factory=list)
    clusters: list[Seldom] = field(default_factory=list)  # one for each temperature, if there are any
    often: bool = False
    controls: Controls | None = None
    excess: list[FloatArray] = field(default_factory=list)  # one for each temperature, if there are controls

    def __setstate__(self, state: dict[str, object]) -> None:
        """What sweeps looks at parts of the groups' arrays; in a pickle these are copies."""
        vars(self).update(state)
        for k, chains in enumerate(self.swept):
            chains.blocks = tuple(group.at(k) for group in self.groups)

    @property
    def ladders(self) -> int:
        """How many ladders there are."""
        return sum(group.state.shape[2] for group in self.groups)

    @property
    def sweeps(self) -> int:
        """Sweeps between exchanges."""
        updates = self.updates.plan.graph.n_variables * min(WIDE, self.ladders)  # however they are grouped
        return min(SWEEPS, max(1, WORTH_A_SWEEP // max(1, updates)))

    def states_of(self, variables: IntArray) -> npt.NDArray[np.integer]:
        """A copy of the states of some variables at β = 1, shape (variables, ladders)."""
        return np.concatenate([group.state[-1][variables] for group in self.groups], axis=1)

    def rounds(self, draws: int, thin: int) -> list[Counts]:
        """Make ``draws`` times ``thin`` rounds: moves at every temperature, then exchanges.

        Counts of the compiled model's targets at β = 1 after every ``thin`` rounds, (Σ states, C) per group.
        """
        size = int(self.updates.plan.targets.offset[-1])
        counts = [np.zeros((size, group.state.shape[2]), dtype=np.int32) for group in self.groups]
        lanes = [(g, k) for g in range(len(self.groups)) for k in range(len(self.beta))]
        work = self.sweeps * sum(group.state.size for group in self.groups)
        with working(1 if work < _WORTH_A_THREAD else self.threads) as each:
            for turn in range(self.turn, self.turn + draws * thin):
                recorded = (turn - self.turn + 1) % thin == 0
                each(partial(self._move, turn, counts if recorded else None), lanes)
                each(partial(self._exchange, turn), self.groups)
        self.turn += draws * thin
        return counts

    def _move(self, turn: int, counts: list[Counts] | None, at: tuple[int, int]) -> None:
        """Move the lanes of a group at one temperature; ``counts`` gets the states of those at β = 1."""
        (g, k), part = at, self.updates.part
        group = self.groups[g]
        block = group.at(k)
        with np.errstate(over="ignore"):
            if k == 0 and part is not None:
                self._draw(part, block)
            else:
                for move in self.moves[k]:
                    move(block, group.block_random[k], turn)
                last = k + 1 == len(self.beta)
                advance(self.swept[k], g, 1, self.sweeps, counts[g] if counts and last else _NO_COUNTS)
                if self.clusters:
                    excess = None if self.controls is None else group.control[1, k]
                    self.clusters[k](block, group.block_random[k], turn, excess)
            if self.controls is not None:
                add_controls(self.controls, self.excess[k], block, group.control[0, k])

    def _exchange(self, turn: int, group: Group) -> None:
        """Exchange the worlds of neighbouring temperatures in a group."""
        with np.errstate(over="ignore"):
            kernel(group.state.dtype.name)(
                self.soft, self.beta, self.middle, turn % 2, self.updates.plan.rows.first_passive,
                group.state, group.total, group.level, group.exchange_random, group.replica, group.weight,
                group.tally,
            )  # fmt: skip

    def _draw(self, part: Solvable, block: ChainBlock) -> None:
        """Lanes at β = 0 go to worlds that do not depend on where they were."""
        part.draw(block.state, block.random)
        if len(block.level):
            plan = self.updates.plan
            total, level = derived_rows_at(plan, node_states(plan.graph, block.state))
            block.total[:], block.level[:] = total, level

    def tallies(self) -> Tally:
        """What exchanges added up since the last call, of all ladders in order."""
        found = [group.tally for group in self.groups]
        self.clear()
        joined = (np.concatenate([getattr(one, name) for one in found], axis=-1) for name in Tally._fields)
        return Tally(*joined)._replace(tried=found[0].tried)

    def control(self) -> None:
        """From here on add up control variates too, at the temperatures that there are now, and move clusters
        in every turn at all of them, as all count alike."""
        self.clusters = [replace(one, turns=1) for one in self.clusters]
        self.controls = controls_of(self.updates.plan, self.updates.path)
        self.excess = [self.controls.excess(beta) for beta in self.beta.tolist()]
        self.clear()

    def controlled(self) -> FloatArray:
        """The sums of control variates since the last call of `tallies` [2, T, ladders]."""
        return np.concatenate([group.control for group in self.groups], axis=2)

    def put(self, worlds: npt.NDArray[np.integer], chosen: IntArray) -> None:
        """Let the lanes of chosen ladders at the last temperature stand at worlds, shape (V, chosen)."""
        plan, first = self.updates.plan, 0
        for group in self.groups:
            mine = (chosen >= first) & (chosen < first + group.state.shape[2])
            group.state[-1][:, chosen[mine] - first] = worlds[:, mine]
            group.total[-1], group.level[-1] = derived_rows_at(plan, node_states(plan.graph, group.state[-1]))
            first += group.state.shape[2]

    def clear(self) -> None:
        """Forget what exchanges added up."""
        for group in self.groups:
            group.tally = no_tally(len(self.beta), group.state.shape[2])
            group.control = np.zeros((2, len(self.beta), group.state.shape[2]))

    def weights(self) -> FloatArray:
        """The log weights of all lanes at β = 1, when exchanges were last made [T, ladders]."""
        return np.concatenate([group.weight for group in self.groups], axis=1)

    def follow(self, updates: Updates, beta: FloatArray) -> None:
        """Move in other ways from here on, at temperatures of theirs."""
        self.updates = updates
        self.often = updates.part is not None  # the way from first worlds is what takes longest there
        self.soft = soft_factors(updates.plan.graph, updates.plan.rows, updates.path)
        self.place(beta)

    def place(self, beta: FloatArray) -> None:
        """Move to other temperatures: each takes the worlds of the one that was nearest."""
        nearest = np.abs(self.beta[:, None] - beta).argmin(axis=0)
        nearest[0], nearest[-1] = 0, len(self.beta) - 1
        first = 0
        for group in self.groups:
            ladders = range(first, first + group.state.shape[2])
            for name in ("state", "total", "level", "replica", "weight"):
                setattr(group, name, np.ascontiguousarray(getattr(group, name)[nearest]))
            group.random = self._more(group.random, Stream.LADDERS, ladders, len(beta))
            group.block_random = self._more(group.block_random, Stream.LADDER_BLOCKS, ladders, len(beta))
            first = ladders.stop
        self.beta = beta
        self.settle()

    def _more(self, random: Lanes, stream: Stream, ladders: range, temperatures: int) -> Lanes:
        """Generators for at least so many temperatures: those that there were, and new ones."""
        fresh = [generators(self.seed, stream, ladders, k) for k in range(len(random), temperatures)]
        return np.ascontiguousarray(np.concatenate([random, *(one[None] for one in fresh)]))

    def settle(self, slow: BoolArray | None = None) -> None:
        """Make what moves lanes at these temperatures; ``slow`` [T]: where sweeps alone are slow, if that is
        known. Clusters move in every turn there, where it is coldest, and ``often``."""
        plan, width = self.updates.plan, len(self.beta)
        self.swept = [
            GibbsChains(
                plan.with_potentials(self.updates.path.at(plan.graph.table, beta)),
                tuple(group.at(k) for group in self.groups),
                1,
                plan.graph.n_variables,
            )
            for k, beta in enumerate(self.beta.tolist())
        ]
        path = self.updates.path
        self.moves = [[move(path, beta) for move in self.updates.moves] for beta in self.beta.tolist()]
        self.clusters = []
        if (clusters := self.updates.clusters) is not None:
            always = coldest(width) | (self.often if slow is None else slow)
            for k, beta in enumerate(self.beta.tolist()):
                self.clusters.append(Seldom(clusters(path, beta), k, 1 if always[k] else SELDOM))
        weight = self.weights().mean(axis=1)
        self.middle = 0.5 * (weight[1:] + weight[:-1]) if width > 1 else np.zeros(0)
        self.clear()


def coldest(temperatures: int) -> BoolArray:
    """The coldest of so many temperatures [T]."""
    share: BoolArray = np.arange(temperatures) >= temperatures - math.ceil(COLDEST * temperatures)
    return share


def generators(seed: int, stream: Stream, ladders: range, k: int) -> npt.NDArray[np.uint32]:
    """The generators of ladders at temperature k, shape (4, ladders)."""
    return narrow_states(seed, stream, (PER_LADDER * ladder + k for ladder in ladders))


def no_tally(temperatures: int, ladders: int) -> Tally:
    """Nothing added up yet."""
    pairs = (temperatures - 1, ladders)
    return Tally(
        np.zeros(pairs),
        np.zeros(temperatures - 1, dtype=np.int64),
        np.zeros(pairs),
        np.zeros(pairs),
        np.zeros((temperatures, ladders)),
        np.zeros((2, ladders)),
        np.full(ladders, -np.inf),
        np.zeros(ladders, dtype=np.int64),
    )


def ladders_at(
    updates: Updates, states: npt.NDArray[np.integer], beta: FloatArray, seed: int, threads: int | None
) -> Ladders:
    """Ladders all of whose lanes stand at these states of the variables, shape (V, ladders)."""
    begun = chains_at(updates.plan, states, seed, 1, stream=Stream.EXCHANGES)
    groups = list(_groups(begun, beta, seed))
    soft = soft_factors(updates.plan.graph, updates.plan.rows, updates.path)
    made = Ladders(updates, seed, threads or cores(), groups, beta, soft, np.zeros(len(beta) - 1))
    made.settle()
    return made


def _groups(begun: GibbsChains, beta: FloatArray, seed: int) -> Iterator[Group]:
    """The groups, one for each block of chains."""
    first, n = 0, len(beta)
    for block in begun.blocks:
        width = block.state.shape[1]
        ladders = range(first, first + width)
        random, blocks = (
            np.stack([generators(seed, stream, ladders, k) for k in range(n)])
            for stream in (Stream.LADDERS, Stream.LADDER_BLOCKS)
        )
        state, total, level = (np.repeat(x[None], n, axis=0) for x in (block.state, block.total, block.level))
        replica, weight = np.zeros((n, width), dtype=np.uint8), np.zeros((n, width))
        tally, control = no_tally(n, width), np.zeros((2, n, width))
        yield Group(state, total, level, random, blocks, block.random, replica, weight, tally, control)
        first += width
