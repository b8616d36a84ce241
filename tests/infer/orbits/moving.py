"""Moves by compiled kernels, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from plx.infer.gibbs.compiled import compile_model
from plx.infer.kernels.gibbs import Compiled
from plx.infer.kernels.orbital import kernel
from plx.infer.kernels.pieces import Moves
from plx.infer.orbits.group_moves import moves_of
from plx.infer.problem import Problem
from plx.lift.group import Group
from tests.models import make_model


def moved_by_kernel(
    group: Group, start: np.ndarray, weight: np.ndarray, states: np.ndarray, times: int
) -> Iterator[np.ndarray]:
    """States [variables, lanes] after each of so many moves."""
    moves, notes = moves_of(group, start, weight)
    assert not notes
    state = np.ascontiguousarray(states, dtype=np.uint8)
    random = np.random.default_rng(5).integers(2**63, size=state.shape[1] + 1).astype(np.uint64)
    for _ in range(times):
        apply_moves(moves, np.diff(start), state, random)
        yield state.copy()


def apply_moves(
    moves: Moves, card: np.ndarray, state: np.ndarray, random: np.ndarray, times: int = 1
) -> np.ndarray:
    """Move states [variables, lanes] in place, and the generators [lanes + 1] with them; how many proposals
    there were, and how many were accepted."""
    arrays, accepted = _nothing_else(tuple(card.tolist())), np.zeros(2, dtype=np.int64)
    none = np.zeros((0, state.shape[1]), dtype=np.int32)
    idle = np.zeros((4, state.shape[1]), dtype=np.uint32)
    with np.errstate(over="ignore"):
        kernel(state.dtype.name)(
            arrays,
            moves,
            state,
            none,
            none.copy(),
            idle,
            idle[:, :0].copy(),
            random,
            accepted,
            times,
            0,
            none,
        )
    return accepted


@cache
def _nothing_else(card: tuple[int, ...]) -> Compiled:
    """Unknowns without factors."""
    return compile_model(Problem(make_model(card, []))).arrays
