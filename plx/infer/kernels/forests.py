"""Forests of unknowns drawn at once, given all others, over many chains: sums from the leaves to the roots,
then draws from the roots to the leaves.

What the leaves below say of an unknown is kept as numbers, the largest of them 1. Lanes are those of
`plx.infer.kernels.gibbs`. A lane in which numbers get too small keeps its states: that hangs on what is given
alone, so that its distribution stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.choice import _exp, _score
from plx.infer.kernels.random import BITS, _random
from plx.infer.kernels.rows import _add_rows
from plx.jit import Kernel, array, inner

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
UInt8 = npt.NDArray[np.uint8]
UInt32 = npt.NDArray[np.uint32]
States = npt.NDArray[np.integer]
Number = int | np.int64 | np.int32

_SMALL = 1e-150
"""Less than this, but more than 0, is too small to go on with."""

_UNIT = 2.0**-BITS


class Forest(NamedTuple):
    """Unknowns of a forest, each after its parent, and the factors about them; starts are into what is named
    after them. A factor over one of them is a term, one over two a tie between child and parent."""

    member: Int32  # [N] variables
    card: Int64  # [N]
    parent: Int64  # [N] position, -1: a root
    term_start: Int64  # [N + 1]
    term_entry: Int64  # start in potential
    term_stride: Int64  # of the member
    term_operand: Int64  # [terms + 1]
    tie_start: Int64  # [N + 1] of the child
    tie_entry: Int64  # start in weight
    tie_child: Int64  # stride of the child
    tie_parent: Int64
    tie_operand: Int64  # [ties + 1]
    term_row: Int32
    term_step: Int32
    tie_row: Int32
    tie_step: Int32
    potential: Float64
    weight: Float64  # exp(potential - the largest of its table)


@inner
def _own(
    m: Forest, i: Number, state: States, level: Int32, index: Int32, score: Float64, most: Float64,
    belief: Float64,
) -> None:  # fmt: skip
    """Multiply belief by what factors over member i alone say of its states."""
    first, last, card = m.term_start[i], m.term_start[i + 1], m.card[i]
    if first == last:
        return
    score[:card] = 0.0
    for t in range(first, last):
        index[:] = 0
        _add_rows(m.term_operand[t], m.term_operand[t + 1], m.term_row, m.term_step, state, level, level,
                  level, index)  # fmt: skip
        for k in range(card):
            _score(k, m.term_entry[t] + k * m.term_stride[t], m.potential, index, score)
    most[:] = -np.inf
    for k in range(card):
        for c in range(most.shape[0]):
            most[c] = max(most[c], score[k, c])
    for k in range(card):
        for c in range(most.shape[0]):
            belief[k, c] *= _exp(score[k, c] - most[c])


@inner
def _scale(card: Number, most: Float64, belief: Float64, dead: UInt8) -> None:
    """Divide by the largest number of each lane; note where one is too small."""
    most[:] = 0.0
    for k in range(card):
        for c in range(most.shape[0]):
            most[c] = max(most[c], belief[k, c])
    for c in range(most.shape[0]):
        if most[c] < _SMALL:
            dead[c] = 1
        most[c] = 1.0 / max(most[c], _SMALL)
    for k in range(card):
        for c in range(most.shape[0]):
            belief[k, c] *= most[c]
            dead[c] |= np.uint8((belief[k, c] > 0.0) & (belief[k, c] < _SMALL))


@inner
def _look(m: Forest, i: Number, state: States, level: Int32, at: Int32) -> None:
    """at[t]: where the table of the t-th tie of member i is read, for the first states of both ends."""
    first = m.tie_start[i]
    for t in range(first, m.tie_start[i + 1]):
        index = at[t - first]
        index[:] = 0
        _add_rows(m.tie_operand[t], m.tie_operand[t + 1], m.tie_row, m.tie_step, state, level, level, level,
                  index)  # fmt: skip


@inner
def _tell(
    m: Forest, i: Number, at: Int32, factor: Float64, told: Float64, belief: Float64, above: Float64
) -> None:
    """Multiply what is known of the parent of member i by what is known of i."""
    weight = m.weight
    first, last, card, wide = m.tie_start[i], m.tie_start[i + 1], m.card[i], m.card[m.parent[i]]
    plain = last - first == 1 and m.tie_operand[first] == m.tie_operand[last]
    for j in range(wide):
        told[:] = 0.0
        for k in range(card):
            if plain:
                w = weight[m.tie_entry[first] + k * m.tie_child[first] + j * m.tie_parent[first]]
                for c in range(told.shape[0]):
                    told[c] += w * belief[k, c]
                continue
            factor[:] = belief[k]
            for t in range(first, last):
                base = np.uint64(m.tie_entry[t] + k * m.tie_child[t] + j * m.tie_parent[t])
                for c in range(told.shape[0]):
                    factor[c] *= weight[base + np.uint64(at[t - first, c])]
            for c in range(told.shape[0]):
                told[c] += factor[c]
        for c in range(told.shape[0]):
            above[j, c] *= told[c]


@inner
def _hear(m: Forest, i: Number, at: Int32, drawn: Int32, belief: Float64) -> None:
    """Multiply what is known of member i by what its parent's state says."""
    weight = m.weight
    for t in range(m.tie_start[i], m.tie_start[i + 1]):
        step = m.tie_parent[t]
        for k in range(m.card[i]):
            base = np.uint64(m.tie_entry[t] + k * m.tie_child[t])
            for c in range(drawn.shape[0]):
                place = np.int64(at[t - m.tie_start[i], c]) + step * np.int64(drawn[c])
                belief[k, c] *= weight[base + np.uint64(place)]


@inner
def _pick(card: Number, draw: Int32, most: Float64, belief: Float64, drawn: Int32) -> None:
    """drawn: states with probabilities ∝ belief, which are summed up on the way."""
    for k in range(1, card):
        for c in range(draw.shape[0]):
            belief[k, c] += belief[k - 1, c]
    for c in range(draw.shape[0]):
        most[c] = belief[card - 1, c] * (draw[c] * _UNIT)
        drawn[c] = 0
    for k in range(card - 1):
        for c in range(draw.shape[0]):
            drawn[c] += np.int32(belief[k, c] <= most[c])


def _draw(m: Forest, state: States, level: Int32, rng: UInt32) -> None:
    """Draw the states of all members, given those of all other unknowns.

    Arrays: state [V, C], level [D, C] states of derived nodes, rng [4, C]; state and rng are changed.
    """
    n, lanes = m.member.shape[0], state.shape[1]
    most_card, most_ties = 1, 1
    for i in range(n):
        most_card = max(most_card, m.card[i])
        most_ties = max(most_ties, m.tie_start[i + 1] - m.tie_start[i])
    belief = np.ones((n, most_card, lanes))
    drawn = np.zeros((n, lanes), dtype=np.int32)
    score, most, told = np.empty((most_card, lanes)), np.empty(lanes), np.empty(lanes)
    factor, dead = np.empty(lanes), np.zeros(lanes, dtype=np.uint8)
    index, draw = np.empty(lanes, dtype=np.int32), np.empty(lanes, dtype=np.int32)
    at = np.empty((most_ties, lanes), dtype=np.int32)
    for i in range(n - 1, -1, -1):
        _own(m, i, state, level, index, score, most, belief[i])
        _scale(m.card[i], most, belief[i], dead)
        if m.parent[i] >= 0:
            _look(m, i, state, level, at)
            _tell(m, i, at, factor, told, belief[i], belief[m.parent[i]])
    for i in range(n):
        _random(rng, draw)
        if m.parent[i] >= 0:
            _look(m, i, state, level, at)
            _hear(m, i, at, drawn[m.parent[i]], belief[i])
        _pick(m.card[i], draw, most, belief[i], drawn[i])
    for i in range(n):
        row = m.member[i]
        for c in range(lanes):
            if dead[c] == 0:
                state[row, c] = drawn[i, c]


@cache
def kernel(state: str) -> Callable[..., None]:
    """`_draw` compiled for one type of state, uint8 or uint16."""
    lanes = array("int32", 2)
    return Kernel(_draw, [Forest, array(state, 2), lanes, array("uint32", 2)]).compiled
