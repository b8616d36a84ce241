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
    first: Number, last: Number, card: Number, entry: Int64, stride: Int64, index: Int32, potential: Float64,
    score: Float64, most: Float64, belief: Float64,
) -> None:  # fmt: skip
    """Multiply belief by what factors over one member alone say of its states; ``index`` [terms, C] is where
    their tables are read."""
    if first == last:
        return
    score[:card] = 0.0
    for t in range(first, last):
        for k in range(card):
            _score(k, entry[t] + k * stride[t], potential, index[t - first], score)
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
def _look(
    first: Number, last: Number, operand: Int64, row: Int32, step: Int32, state: States, level: Int32,
    index: Int32,
) -> None:  # fmt: skip
    """index[t - first]: where the table of factor t is read, for the first states of members."""
    for t in range(first, last):
        own = index[t - first]
        own[:] = 0
        _add_rows(operand[t], operand[t + 1], row, step, state, level, level, level, own)


@inner
def _tell(
    first: Number, last: Number, card: Number, wide: Number, plain: Number, entry: Int64, child: Int64,
    parent: Int64, weight: Float64, index: Int32, factor: Float64, told: Float64, belief: Float64,
    above: Float64,
) -> None:  # fmt: skip
    """Multiply what is known of a parent by what is known of its child; ``plain``: one tie, which nothing
    else is about."""
    for j in range(wide):
        told[:] = 0.0
        for k in range(card):
            if plain:
                w = weight[entry[first] + k * child[first] + j * parent[first]]
                for c in range(told.shape[0]):
                    told[c] += w * belief[k, c]
                continue
            factor[:] = belief[k]
            for t in range(first, last):
                base, own = np.uint64(entry[t] + k * child[t] + j * parent[t]), t - first
                for c in range(told.shape[0]):
                    factor[c] *= weight[base + np.uint64(index[own, c])]
            for c in range(told.shape[0]):
                told[c] += factor[c]
        for c in range(told.shape[0]):
            above[j, c] *= told[c]


@inner
def _hear(
    first: Number, last: Number, card: Number, entry: Int64, child: Int64, parent: Int64, weight: Float64,
    index: Int32, drawn: Int32, belief: Float64,
) -> None:  # fmt: skip
    """Multiply what is known of a child by what its parent's state says."""
    for t in range(first, last):
        step, own = parent[t], t - first
        for k in range(card):
            base = np.uint64(entry[t] + k * child[t])
            for c in range(drawn.shape[0]):
                place = np.int64(index[own, c]) + step * np.int64(drawn[c])
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
    member, card, parent, weight = m.member, m.card, m.parent, m.weight
    term_start, term_operand, term_row, term_step = m.term_start, m.term_operand, m.term_row, m.term_step
    tie_start, tie_operand, tie_row, tie_step = m.tie_start, m.tie_operand, m.tie_row, m.tie_step
    tie_entry, tie_child, tie_parent = m.tie_entry, m.tie_child, m.tie_parent
    n, lanes = member.shape[0], state.shape[1]
    most_card, most_factors = np.int64(1), np.int64(1)
    for i in range(n):
        most_card = max(most_card, card[i])
        most_factors = max(most_factors, tie_start[i + 1] - tie_start[i], term_start[i + 1] - term_start[i])
    belief = np.ones((n, most_card, lanes))
    drawn = np.zeros((n, lanes), dtype=np.int32)
    score, most, told = np.empty((most_card, lanes)), np.empty(lanes), np.empty(lanes)
    factor, dead = np.empty(lanes), np.zeros(lanes, dtype=np.uint8)
    draw, index = np.empty(lanes, dtype=np.int32), np.empty((most_factors, lanes), dtype=np.int32)
    for i in range(n - 1, -1, -1):
        first, last, above = term_start[i], term_start[i + 1], parent[i]
        _look(first, last, term_operand, term_row, term_step, state, level, index)
        _own(first, last, card[i], m.term_entry, m.term_stride, index, m.potential, score, most, belief[i])
        _scale(card[i], most, belief[i], dead)
        if above >= 0:
            first, last = tie_start[i], tie_start[i + 1]
            plain = last - first == 1 and tie_operand[first] == tie_operand[last]
            _look(first, last, tie_operand, tie_row, tie_step, state, level, index)
            _tell(first, last, card[i], card[above], plain, tie_entry, tie_child, tie_parent, weight, index,
                  factor, told, belief[i], belief[above])  # fmt: skip
    for i in range(n):
        _random(rng, draw)
        above = parent[i]
        if above >= 0:
            first, last = tie_start[i], tie_start[i + 1]
            _look(first, last, tie_operand, tie_row, tie_step, state, level, index)
            _hear(first, last, card[i], tie_entry, tie_child, tie_parent, weight, index, drawn[above],
                  belief[i])  # fmt: skip
        _pick(card[i], draw, most, belief[i], drawn[i])
    for i in range(n):
        row = member[i]
        for c in range(lanes):
            if dead[c] == 0:
                state[row, c] = drawn[i, c]


@cache
def kernel(state: str) -> Callable[..., None]:
    """`_draw` compiled for one type of state, uint8 or uint16."""
    lanes = array("int32", 2)
    return Kernel(_draw, [Forest, array(state, 2), lanes, array("uint32", 2)]).compiled
