"""Gibbs chains on a model with hard rules: defined unknowns are computed, tied ones updated in blocks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from plx.deadline import seconds_left, within
from plx.errors import NoWorldError
from plx.graph.model import GroundModel
from plx.graph.subgraph import hard_factors
from plx.graph.worlds import node_states
from plx.infer.gibbs import chains as lanes
from plx.infer.gibbs import plain as gibbs
from plx.infer.gibbs.block_arrays import block_arrays, portions
from plx.infer.gibbs.blocks import choose_blocks
from plx.infer.gibbs.compiled import compile_model, targets_of
from plx.infer.gibbs.initial_states import initial_states
from plx.infer.hard.contradiction import contradiction
from plx.infer.hard.substitute import Substituted, substitute
from plx.infer.inference import Standing
from plx.infer.kernels.blocks import BlockArrays, kernel
from plx.values import IMPOSSIBLE, IntArray

_BLOCKS = 2**33
"""The generators of block updates are numbered from here, past all others."""

_CHOOSING = 0.25
"""The share of the time in which blocks are chosen."""

_SHARE = 4.0
"""Blocks updated per draw are at most so many times the work of a sweep."""


@dataclass(frozen=True)
class Readout:
    """Counts of the given model's targets from those of the determined one.

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


@dataclass
class BlockedChains:
    """Chains on ``found.model``; ``blocks`` is None where single updates are enough."""

    given: GroundModel
    found: Substituted
    readout: Readout
    chains: lanes.Chains
    blocks: BlockArrays | None
    portions: IntArray  # where to cut the blocks; each draw updates one portion of them
    turn: int  # the portion that is next
    random: tuple[npt.NDArray[np.uint32], ...]  # [4, C] for every block of lanes

    @property
    def states(self) -> npt.NDArray[np.int32]:
        """The states of the given model's variables, shape (V, chains)."""
        nodes = node_states(self.found.model.graph, self.chains.states)
        node, fixed = self.found.nodes
        own = nodes[np.maximum(node, 0)] if len(nodes) else np.zeros((len(node), nodes.shape[1]), np.int32)
        all_nodes = np.where(node[:, None] >= 0, own, fixed[:, None])
        return all_nodes[: self.given.graph.n_variables].astype(np.int32)


Chains = lanes.Chains | BlockedChains


def init(model: GroundModel, seed: int, chains: int, threads: int | None = None) -> Chains:
    """Chains for a scan in order, at first states that satisfy every hard rule, spread out.

    Raises NoWorldError, naming rules that clash, if there is no such state.
    """
    if not len(hard_factors(model.graph)):
        return gibbs.init(model, seed, chains, threads)
    return _init(model, seed, chains, threads, random_scan=False)


def init_random_scan(model: GroundModel, seed: int, chains: int, threads: int | None = None) -> Chains:
    """As `init`, for a random scan; blocks are updated in order."""
    if not len(hard_factors(model.graph)):
        return gibbs.init_random_scan(model, seed, chains, threads)
    return _init(model, seed, chains, threads, random_scan=True)


def started(
    model: GroundModel, seed: int, chains: int, threads: int | None
) -> tuple[Substituted, npt.NDArray[np.int32]]:
    """The model with defined unknowns computed, and states of its variables that keep every hard rule.

    Raises NoWorldError, naming rules that clash, if there is no such state.
    """
    found = substitute(model)
    try:
        if found.model.constant_weight == IMPOSSIBLE:
            raise contradiction(model)
        return found, initial_states(found.model, seed, chains, threads)
    except NoWorldError:
        raise contradiction(model) from None


def _init(
    model: GroundModel, seed: int, chains: int, threads: int | None, random_scan: bool
) -> BlockedChains:
    found, states = started(model, seed, chains, threads)
    plan = compile_model(found.model)
    begun = lanes.chains_at(plan, states, seed, threads, random_scan)
    graph, blocks, cuts = found.model.graph, None, np.zeros(2, dtype=np.int64)
    with within(_CHOOSING * seconds_left()):
        chosen = choose_blocks(graph) if len(hard_factors(graph)) else []
    if chosen:
        blocks = block_arrays(graph, plan.rows, chosen)
        cuts = portions(graph, blocks, _SHARE)
    random = np.stack([lanes.generator(seed, _BLOCKS + lane) for lane in range(chains)], axis=1)
    widths = np.cumsum([block.state.shape[1] for block in begun.blocks])[:-1]
    parts = tuple(np.ascontiguousarray(part) for part in np.split(random, widths, axis=1))
    return BlockedChains(model, found, readout(model, found), begun, blocks, cuts, 0, parts)


def standing(chains: Chains, orbits: IntArray | None = None) -> Standing:
    """Where the chains stand, in the model that they were made for; orbits are those of its pairs."""
    if isinstance(chains, lanes.Chains):
        return Standing(chains.plan.given, chains.states_of, orbits)
    return Standing(chains.given, lambda variables: chains.states[variables], orbits)


def step(chains: Chains, draws: int, thin: int) -> npt.NDArray[np.integer]:
    """Counts for the targets of the given model; one portion of the blocks is updated per draw."""
    if isinstance(chains, lanes.Chains):
        return lanes.step(chains, draws, thin)
    if chains.blocks is None:
        return chains.readout.apply(lanes.step(chains.chains, draws, thin), draws)
    jobs = list(zip(chains.chains.blocks, chains.random, strict=True))
    with ThreadPoolExecutor(min(chains.chains.threads, len(jobs))) as pool:
        done = [pool.submit(_advance, chains, block, random, draws, thin) for block, random in jobs]
        counts = np.concatenate([part.result() for part in done])
    chains.turn += draws
    return chains.readout.apply(counts, draws)


def _advance(
    chains: BlockedChains, block: lanes.ChainBlock, random: npt.NDArray[np.uint32], draws: int, thin: int
) -> npt.NDArray[np.int32]:
    """Counts of some lanes, shape (lanes, Σ states)."""
    single = replace(chains.chains, blocks=(block,), threads=1)
    sweep = kernel(block.state.dtype.name)
    counts = np.zeros((block.state.shape[1], int(chains.chains.plan.targets.offset[-1])), dtype=np.int32)
    for turn in range(chains.turn, chains.turn + draws):
        first, last = chains.portions[turn % (len(chains.portions) - 1) :][:2]
        with np.errstate(over="ignore"):
            sweep(chains.blocks, first, last, block.state, block.total, block.level, random)
        counts += lanes.step(single, 1, thin)
    return counts


def readout(model: GroundModel, found: Substituted) -> Readout:
    """How the targets of the given model are read off those of the determined one."""
    given, own = targets_of(model), targets_of(found.model)
    source = []
    for t, nodes in enumerate(given.nodes):
        query = int(np.flatnonzero(given.of_query == t)[0])
        start = own.offset[own.of_query[query]]
        cards = model.graph.card[list(nodes)].tolist()
        digits = np.unravel_index(np.arange(given.offset[t + 1] - given.offset[t]), cards) if nodes else ()
        index, possible, alive = np.zeros(int(given.offset[t + 1] - given.offset[t]), np.int64), True, False
        for node, digit in zip(nodes, digits, strict=True):
            if found.nodes.node[node] < 0:
                possible = possible & (digit == found.nodes.state[node])
            else:
                index, alive = index * found.model.graph.card[found.nodes.node[node]] + digit, True
        always = start + index if alive else np.full(len(index), -2)
        source.append(np.where(possible, always, -1))
    return Readout(np.concatenate([*source, np.empty(0, dtype=np.int64)]).astype(np.int64))
