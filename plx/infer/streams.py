"""The streams of random numbers that a seed feeds: no two of them share a generator.

Each is a range of spawn keys of numpy's `SeedSequence`. A key says what a generator is for, and for which
chain, so what a chain draws depends neither on how many others there are nor on threads. Seeded results
depend on these numbers: a new stream begins after the last one.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Keys(NamedTuple):
    """The spawn keys ``first`` to ``first + size - 1`` of a seed, to which ``added`` is added."""

    first: int
    size: int
    added: int = 0


class Stream(Enum):
    """What random numbers are for; those with many keys have one for each chain."""

    SWEEPS = Keys(0, 2**31)
    """Updates of single unknowns by Gibbs sampling."""
    SCAN = Keys(2**31, 1)
    """Which unknown a random scan updates next, the same for all chains."""
    FIRST_STATES = Keys(2**31 + 1, 2**31 - 1)
    """Random worlds from which first states are searched for."""
    SEARCH = Keys(0, 2**31, added=2**32)
    """Sweeps of the search for first states that keep every hard rule."""
    WISHES = Keys(2**32, 1)
    """The order of what first states should show."""
    PINS = Keys(2**32 + 1, 2**32 - 1)
    """Which unknowns a solution of the SAT solver keeps."""
    BLOCKS = Keys(2**33, 2**32)
    """Updates of blocks that hard rules tie."""
    SLICES = Keys(2**33 + 2**32, 2**32)
    """Slices of MC-SAT and the worlds drawn from them."""
    SHARED_MOVES = Keys(2**34, 1)
    """Group elements that all chains are moved by."""
    MOVES = Keys(2**34 + 1, 2**32 - 1)
    """Moves along orbits, of one chain each."""
    ANNEALING = Keys(2**34 + 2**32, 2**31)
    """Sweeps of simulated annealing."""
    FORWARD = Keys(2**34 + 2**32 + 2**31, 2**31)
    """First states that are drawn along a Bayesian network."""
    LADDERS = Keys(2**34 + 2**33, 2**32)
    """Updates of single unknowns at all temperatures: 256 generators for each ladder."""
    LADDER_BLOCKS = Keys(2**34 + 2**33 + 2**32, 2**32)
    """Updates of blocks at all temperatures: 256 for each ladder."""
    EXCHANGES = Keys(2**35, 2**32)
    """Exchanges between temperatures, of one ladder each."""
    FITS = Keys(2**35 + 2**32, 1)
    """Seeds for the lanes of each world that numbers are learned from."""
    DRAWS = Keys(2**35 + 2**32 + 1, 1)
    """Worlds that are drawn exactly."""
    CLUSTERS = Keys(2**35 + 2**33, 2**32)
    """Moves of many unknowns at once: bonds, clusters and trees."""
    BEST = Keys(2**35 + 2**33 + 2**32, 2**32)
    """Updates of single unknowns from the most probable world."""
    BEST_BLOCKS = Keys(2**35 + 2**34, 2**32)
    """Updates of blocks from the most probable world."""


def seed_sequence(seed: int, stream: Stream, number: int = 0) -> np.random.SeedSequence:
    """The source of a stream's random numbers, of its ``number``-th generator."""
    first, size, added = stream.value
    assert 0 <= number < size, f"{stream} has no generator {number}"
    return np.random.SeedSequence(seed + added, spawn_key=(first + number,))


def generator(seed: int, stream: Stream, number: int = 0) -> np.random.Generator:
    """A generator of numpy, for code that is not compiled."""
    return np.random.default_rng(seed_sequence(seed, stream, number))


def narrow_states(seed: int, stream: Stream, numbers: Iterable[int] = (0,)) -> npt.NDArray[np.uint32]:
    """States of the kernels' generators of 32-bit numbers, shape (4, numbers)."""
    states = [seed_sequence(seed, stream, number).generate_state(4) for number in numbers]
    return np.stack(states, axis=1).astype(np.uint32)


def wide_states(seed: int, stream: Stream, numbers: Iterable[int] = (0,)) -> npt.NDArray[np.uint64]:
    """States of the kernels' generators of 64-bit numbers, shape (numbers,)."""
    states = [seed_sequence(seed, stream, number).generate_state(1, np.uint64) for number in numbers]
    return np.concatenate(states)
