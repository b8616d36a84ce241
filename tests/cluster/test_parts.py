"""Parts of the chains of a run: they move as they would among the others, wherever they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import plx
from plx.cluster.part import Part, fixed_in, packed
from plx.infer.chains import Chains
from plx.infer.compare.protocols import _SINGLE, sampler_of
from plx.infer.mcmc.samplers import SAMPLERS, Sampler
from plx.infer.problem import Problem

PROGRAM = """
type P = 1..4
random f(P): {a, b, c}
random g(P)
weight 0.5: f(x) = f(y) for x, y in P if y = x + 1
weight 0.8: g(x) <=> f(x) = a for x in P
require exists(g(x) for x in P)
query (f(1), f(4))
query g(2) & g(3)
"""
PROBLEM = Problem(plx.compile(PROGRAM).ground)
CHAINS = 40
INDEPENDENT = [name for name, sampler in SAMPLERS.items() if not sampler.sums]


@pytest.mark.parametrize("name", INDEPENDENT)
@pytest.mark.parametrize("ends", [(13, 40), (5, 21, 40)])
def test_parts_move_as_the_whole_does(name: str, ends: tuple[int, ...]) -> None:
    require_same_moves(SAMPLERS[name], ends)


@pytest.mark.parametrize("name", _SINGLE)
def test_parts_that_are_updated_singly_move_as_the_whole_does(name: str) -> None:
    require_same_moves(sampler_of(name, "paper"), (13, 40))


def require_same_moves(sampler: Sampler[Any], ends: tuple[int, ...]) -> None:
    name = next(name for name, known in SAMPLERS.items() if known.step is sampler.step)
    whole = sampler.init(PROBLEM, 3, CHAINS, 2)
    ranges = zip((0, *ends), ends, strict=False)
    taken = [whole.taken(first, last, 1 + k) for k, (first, last) in enumerate(ranges)]
    fixed = fixed_in(whole, taken[0])
    parts = [Part(name, packed(list(fixed)), packed((SAMPLERS[name], part, 0), fixed)) for part in taken]
    expected = [sampler.step(whole, 3, 2), sampler.step(whole, 4, 1)]
    np.testing.assert_array_equal(expected[0], np.concatenate([part.step(0, 3, 2) for part in parts]))
    moved = [Part(name, packed(list(fixed)), part.kept()) for part in parts]
    np.testing.assert_array_equal(expected[1], np.concatenate([part.step(1, 4, 1) for part in moved]))
    every = np.arange(whole.standing().model.graph.n_variables)
    stand = np.concatenate([part.states(every) for part in moved], axis=1)
    np.testing.assert_array_equal(whole.standing().states(every), stand)


def test_what_parts_share_is_not_in_them() -> None:
    sampler = SAMPLERS["lifted"]
    whole = sampler.init(PROBLEM, 3, CHAINS, 1)
    part = whole.taken(0, 4, 1)
    assert len(packed((sampler, part, 0), fixed_in(whole, part))) < len(packed((sampler, part, 0))) / 4


def test_a_part_that_missed_a_call_says_so() -> None:
    sampler = SAMPLERS["gibbs"]
    whole = sampler.init(PROBLEM, 3, CHAINS, 1)
    part = Part("missed", packed([]), packed((sampler, whole.taken(0, 4, 1), 0)))
    part.again([(1, 1), (2, 1)])
    with pytest.raises(RuntimeError, match="have had 2 calls cannot have call 1"):
        part.step(1, 1, 1)


def test_chains_that_depend_on_each_other_have_no_parts() -> None:
    from plx.infer.tempering.tempered import TemperedChains

    assert TemperedChains.taken is Chains.taken  # which has none
