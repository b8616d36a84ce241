"""The streams of random numbers that a seed feeds do not overlap, and chains draw from their own."""

from __future__ import annotations

import ast
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from plx.infer.mcmc.samplers import SAMPLERS
from plx.infer.orbits import orbital
from plx.infer.problem import Problem
from plx.infer.streams import Stream, generator, narrow_states, seed_sequence, wide_states
from tests.benchmarks.models import complete

PACKAGE = Path(__file__).parents[2] / "plx"


@pytest.mark.parametrize(("one", "other"), list(combinations(Stream, 2)), ids=lambda stream: stream.name)
def test_no_two_streams_share_a_generator(one: Stream, other: Stream) -> None:
    a, b = one.value, other.value
    apart = a.first + a.size <= b.first or b.first + b.size <= a.first
    assert apart or a.added != b.added


def test_every_name_has_a_range_of_its_own() -> None:
    assert len(Stream) == len(Stream.__members__), "equal ranges would make one name an alias of another"
    assert all(stream.value.first >= 0 and stream.value.size > 0 for stream in Stream)


@pytest.mark.parametrize("stream", Stream, ids=lambda stream: stream.name)
def test_the_ends_of_a_stream_are_its_own(stream: Stream) -> None:
    size = stream.value.size
    ends = {seed_sequence(1, stream, number).spawn_key for number in (0, size - 1)}
    assert len(ends) == min(2, size)
    for number in (-1, size):
        with pytest.raises(AssertionError):
            seed_sequence(1, stream, number)


def test_states_of_all_streams_differ() -> None:
    """From the first generators of every stream, of two seeds."""
    words = [
        wide_states(seed, stream, range(min(3, stream.value.size))) for seed in (0, 1) for stream in Stream
    ]
    every = np.concatenate(words)
    assert len(np.unique(every)) == len(every)
    narrow = narrow_states(4, Stream.BLOCKS, range(5))
    assert narrow.shape == (4, 5) and len(np.unique(narrow)) == 20
    assert generator(0, Stream.PINS, 2).random() != generator(0, Stream.PINS, 3).random()


def test_seeded_results_stand_on_these_numbers() -> None:
    """Results of earlier releases are repeated only if streams keep their keys."""
    keys = {stream.name: seed_sequence(0, stream).spawn_key[0] for stream in Stream}
    assert keys == {
        "SWEEPS": 0,
        "SCAN": 2**31,
        "FIRST_STATES": 2**31 + 1,
        "SEARCH": 0,
        "WISHES": 2**32,
        "PINS": 2**32 + 1,
        "BLOCKS": 2**33,
        "SLICES": 2**33 + 2**32,
        "SHARED_MOVES": 2**34,
        "MOVES": 2**34 + 1,
        "ANNEALING": 2**34 + 2**32,
        "FORWARD": 2**34 + 2**32 + 2**31,
        "LADDERS": 2**34 + 2**33,
        "LADDER_BLOCKS": 2**34 + 2**33 + 2**32,
        "EXCHANGES": 2**35,
        "FITS": 2**35 + 2**32,
        "DRAWS": 2**35 + 2**32 + 1,
        "CLUSTERS": 2**35 + 2**33,
        "BEST": 2**35 + 2**33 + 2**32,
        "BEST_BLOCKS": 2**35 + 2**34,
    }
    assert seed_sequence(7, Stream.SEARCH).entropy == 7 + 2**32


def test_chains_draw_from_their_streams_whatever_block_they_are_in() -> None:
    model = complete(6)
    chains = orbital.init_vv(Problem(model), 5, 100, 2)
    assert len(chains.random) > 1
    moves = np.concatenate([block[:-1] for block in chains.random])
    np.testing.assert_array_equal(moves, wide_states(5, Stream.MOVES, range(100)))
    assert {int(block[-1]) for block in chains.random} == set(wide_states(5, Stream.SHARED_MOVES).tolist())
    sweeps = np.concatenate([block.random for block in chains.chains.swept.blocks], axis=1)
    np.testing.assert_array_equal(sweeps, narrow_states(5, Stream.SWEEPS, range(100)))
    slices = SAMPLERS["mcsat"].init(Problem(model), 5, 9, 1).random
    np.testing.assert_array_equal(slices, wide_states(5, Stream.SLICES, range(9)))


def test_only_this_file_makes_generators_from_spawn_keys() -> None:
    made = [
        path.relative_to(PACKAGE).as_posix()
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "SeedSequence" and "streams" not in path.name
    ]
    assert not made
