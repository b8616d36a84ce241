"""Moves where weights matter: every lane draws an arrangement, or accepts a proposal, by itself."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.choice import _exp
from plx.infer.kernels.group import _apply_word, _draw_word
from plx.infer.kernels.pieces import Moves, _copy_rows, _image_of_row, _read_places, _write_places
from plx.infer.kernels.random import _below, _next, _uniform
from plx.jit import inner

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
UInt64 = npt.NDArray[np.uint64]
States = npt.NDArray[np.integer]
Number = int | np.int64


@inner
def _choose(
    k: Number, first: Number, table: Number, probability: Float64, variable: Int32, value: Int32,
    marked: Int64, state: States, random: UInt64,
) -> None:  # fmt: skip
    """In every lane: which of k unknowns of two states are in the second, given how many, exactly."""
    lanes = state.shape[1]
    marked[:lanes] = 0
    for j in range(k):
        x, high = variable[first + 2 * j], value[first + 2 * j + 1]
        for c in range(lanes):
            marked[c] += state[x, c] == high
    for j in range(k):
        x, low, high = variable[first + 2 * j], value[first + 2 * j], value[first + 2 * j + 1]
        own = table + j * (k + 1)
        for c in range(lanes):
            second = np.int64(_uniform(random, c) < probability[np.uint64(own + marked[c])])
            marked[c] -= second
            state[x, c] = low + (high - low) * second


@inner
def _weight(weight: Float64, first: Number, place: Int64, begin: Number, end: Number) -> float:
    """The log number of given states behind some places, ``place[begin:end]``, of a block."""
    total = 0.0
    for i in range(begin, end):
        total += weight[first + place[i]]
    return total


@inner
def _exchange(
    k: Number, width: Number, first: Number, weight: Float64, variable: Int32, value: Int32, target: Int64,
    held: Int64, start: Int64, state: States, random: UInt64, lane: Number,
) -> None:  # fmt: skip
    """Permute the blocks of one lane: as many exchanges of two as there are blocks, each drawn in proportion
    to the number of given states before and after."""
    n = 0
    for j in range(k):
        target[j], start[j] = j, n
        for i in range(width):
            q = first + j * width + i
            if state[variable[q], lane] == value[q]:
                held[n] = i
                n += 1
    start[k] = n
    for _ in range(k):
        x, y = _below(random, lane, k), _below(random, lane, k - 1)
        if y >= x:
            y += 1
        at_x, at_y = first + target[x] * width, first + target[y] * width
        gain = _weight(weight, at_y, held, start[x], start[x + 1])
        gain += _weight(weight, at_x, held, start[y], start[y + 1])
        gain -= _weight(weight, at_x, held, start[x], start[x + 1])
        gain -= _weight(weight, at_y, held, start[y], start[y + 1])
        if _uniform(random, lane) < 1.0 / (1.0 + np.exp(-gain)):
            target[x], target[y] = target[y], target[x]
    for j in range(k):
        for i in range(start[j], start[j + 1]):
            q = first + target[j] * width + held[i]
            state[variable[q], lane] = value[q]


@inner
def _accept(
    low: Number, high: Number, heavy: Number, first: Number, row: Int32, row_place: Int64, place: Int32,
    weight: Float64, image: Int64, inverse: Int64, more: Float64, gain: Float64, way: Int64, state: States,
    random: UInt64,
) -> int:  # fmt: skip
    """Let every lane pick an element or its inverse by a fair coin, and accept it or not (Metropolis &
    Hastings): ``way`` is 0 or 1, or 2 where it stays. Returns how many accept.

    Reads rows low … high, whose weights matter, and images of the first ``heavy`` places.
    """
    lanes, taken = state.shape[1], 0
    gain[:] = 0.0
    for r in range(low, high):
        x, states = row[r], row_place[r]
        for s in range(row_place[r + 1] - states):
            i = place[states + s]
            more[0, s] = more[1, s] = 0.0
            if 0 <= i < heavy:
                more[0, s] = weight[first + image[i]] - weight[first + i]
                more[1, s] = weight[first + inverse[i]] - weight[first + i]
        for c in range(lanes):
            gain[0, c] += more[0, np.uint64(state[x, c])]
            gain[1, c] += more[1, np.uint64(state[x, c])]
    for c in range(lanes):
        z = np.int64(_next(random, c) >> np.uint64(1))
        coin = z & 1
        way[c] = 2
        if np.float64(z >> 10) * 2.0**-53 < _exp(min(gain[coin, c], 0.0)):
            way[c] = coin
            taken += 1
    return taken


@inner
def _take(
    y: Number, states: Number, card: Number, first: Number, image: Int64, inverse: Int64, place: Int32,
    variable: Int32, value: Int32, to: Int64, old: States, goes: States, state: States,
) -> None:  # fmt: skip
    """Put the unknown y to what comes to it, by the element in lanes where all bits of goes[0] are set, by
    its inverse where those of goes[1] are."""
    a = _image_of_row(y, states, card, first, place, inverse, variable, value, to)
    if card == 2:
        flip_a = to[0]
        b = _image_of_row(y, states, card, first, place, image, variable, value, to)
        flip_b = to[0]
        for c in range(state.shape[1]):
            own = np.int64(old[y, c])
            from_a = (own ^ np.int64(old[a, c]) ^ flip_a) & np.int64(goes[0, c])
            from_b = (own ^ np.int64(old[b, c]) ^ flip_b) & np.int64(goes[1, c])
            state[y, c] = own ^ from_a ^ from_b
        return
    _take_looked_up(y, a, card, 0, to, old, goes, state)
    b = _image_of_row(y, states, card, first, place, image, variable, value, to)
    _take_looked_up(y, b, card, 1, to, old, goes, state)


@inner
def _take_looked_up(
    y: Number, x: Number, card: Number, way: Number, to: Int64, old: States, goes: States, state: States
) -> None:
    """Put y to the state s for which to[s] is the state that x had, in the lanes that go this way."""
    for s in range(card):
        for c in range(state.shape[1]):
            if goes[way, c] != 0 and to[s] == old[x, c]:
                state[y, c] = s


@inner
def _propose(
    begin: Number, end: Number, m: Moves, image: Int64, inverse: Int64, now: Int64, word: Int64, to: Int64,
    old: States, goes: States, more: Float64, gain: Float64, way: Int64, state: States, random: UInt64,
    accepted: Int64,
) -> None:  # fmt: skip
    """Propose a uniform element of each piece, or its inverse, to every lane."""
    lanes, row, row_place, place = state.shape[1], m.row, m.row_place, m.place
    variable, value, element, weight = m.variable, m.value, m.element, m.weight
    for p in range(begin, end):
        width, first, heavy = m.width[p], m.first[p], m.heavy[p]
        low, high = m.row_first[p], m.row_first[p + 1]
        length = _draw_word(m.chain[p], width, m.element_first, m.level_first, m.level_size, m.level_base,
                            m.orbit, m.via, m.parent, word, random, lanes)  # fmt: skip
        for i in range(width):
            image[i] = i
        _apply_word(word, length, element, 0, heavy, image)
        for i in range(heavy):
            inverse[image[i]] = i
        taken = _accept(low, low + m.heavy_rows[p], heavy, first, row, row_place, place, weight,
                        image, inverse, more, gain, way, state, random)  # fmt: skip
        accepted[0] += lanes
        accepted[1] += taken
        if taken == 0:
            continue
        if lanes == 1:
            _read_places(low, high, row, row_place, place, state, now)
            if way[0] == 0:
                _apply_word(word, length, element, 0, high - low, now)
                _write_places(high - low, first, now, variable, value, state)
                continue
        _apply_word(word, length, element, heavy, width, image)
        for i in range(heavy, width):
            inverse[image[i]] = i
        if lanes == 1:
            for i in range(high - low):
                now[i] = inverse[now[i]] if now[i] >= 0 else -1
            _write_places(high - low, first, now, variable, value, state)
            continue
        for c in range(lanes):
            goes[0, c], goes[1, c] = -np.int64(way[c] == 0), -np.int64(way[c] == 1)
        _copy_rows(low, high, row, state, old)
        for r in range(low, high):
            y, states, card = row[r], row_place[r], row_place[r + 1] - row_place[r]
            _take(y, states, card, first, image, inverse, place, variable, value, to, old, goes, state)
