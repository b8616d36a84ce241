"""Moves along orbits: uniform elements of a group applied to the states of lanes, between sweeps.

All lanes are moved by the same elements. That keeps them as good as independent: given the elements,
lanes are independent chains that all leave the distribution π alone, so E[f(lane) | elements] = π(f)
whatever the elements are, and two lanes that have settled are uncorrelated. Standard errors from the
spread between lanes stay right. Where weights matter an element g only leaves π alone if g and g⁻¹ are
proposed equally often, so there every lane chooses between them by its own coin, and accepts by itself.
What is drawn from the shared generator depends on no state, so blocks of lanes draw the same.

The arrays and lanes are those of `plx.infer.kernels`, and states are the same with NUMBA_DISABLE_JIT=1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, get_type_hints

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from plx.infer.kernels import _COMPILED, _LESS, _MORE, Compiled, _exp, _keep, _record, _shift, _sweep
from plx.jit import Kernel

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
UInt32 = npt.NDArray[np.uint32]
UInt64 = npt.NDArray[np.uint64]
States = npt.NDArray[np.integer]
Number = int | np.int64

VALUES, UNKNOWNS, EVEN, ARRANGED, PROPOSED = range(5)
"""How a piece moves: it permutes values of one unknown; exchanges unknowns as they are; any other group
whose moves are never refused; draws an arrangement in proportion to weights; proposes an element."""


class Moves(NamedTuple):
    """A group as pieces, each acting on its own points; a piece is applied after those before it.

    Pieces ``batch_start[b]`` … ``batch_start[b + 1]`` are of kind ``batch_kind[b]``. Piece p has
    ``blocks[p]`` blocks of ``width[p]`` points; place i of it, counted from ``first[p]``, is state ``value``
    of unknown ``variable``, of which there are exp(``weight``). With ``chain[p]`` -1 it permutes its blocks
    in all ways, else it is the group of that stabiliser chain on its one block.

    Its unknowns are ``row[row_first[p]] …``, block by block for the kind UNKNOWNS. Each goes to one unknown
    as a whole; state s of row r is place ``place[row_place[r] + s]``, or -1 where the piece leaves it alone.
    Weights matter in its first ``heavy[p]`` places only, and those are of its first ``heavy_rows[p]`` rows.
    ``subset[p]`` ≥ 0 says that blocks are an unknown of two states each: entry j·(k+1) + c from there is
    the probability that block j is in its second state if c of the blocks j … k-1 are.
    """

    most_blocks: int
    most_places: int
    most_rows: int
    most_states: int
    most_word: int

    batch_kind: Int64
    batch_start: Int64
    blocks: Int64  # [pieces]
    width: Int64
    first: Int64
    chain: Int64
    heavy: Int64
    heavy_rows: Int64
    subset: Int64
    row_first: Int64  # [pieces + 1]
    row: Int32
    row_place: Int64  # [rows + 1]
    place: Int32
    variable: Int32  # [places of all pieces]
    value: Int32
    weight: Float64
    probability: Float64  # of all subsets
    element_first: Int64  # [chains] where its elements begin
    level_first: Int64  # [chains + 1]
    level_size: Int64  # [levels] orbit length
    level_base: Int64  # [levels] where orbit, via and parent of the level begin
    element: Int32  # images of the places
    orbit: Int32
    via: Int32
    parent: Int32


_FIELD = {
    int: types.int64,
    Int32: types.Array(types.int32, 1, "C"),
    Int64: types.Array(types.int64, 1, "C"),
    Float64: types.Array(types.float64, 1, "C"),
}
_MOVES = types.NamedTuple(  # type: ignore[no-untyped-call]
    [_FIELD[kind] for kind in get_type_hints(Moves).values()], Moves
)


def _signature(state: types.Type) -> object:
    lanes, seeds = types.Array(types.int32, 2, "C"), types.Array(types.uint32, 2, "C")
    states, random, n = types.Array(state, 2, "C"), types.Array(types.uint64, 1, "C"), types.int64
    accepted = types.Array(types.int64, 1, "C")
    chains = (states, lanes, lanes, seeds, seeds)
    return types.void(_COMPILED, _MOVES, *chains, random, accepted, n, n, lanes)


# ---------------------------------------------------------------------- random numbers


@numba.njit(nogil=True)
def _next(random: UInt64, lane: Number) -> np.uint64:
    """The next word of a lane's splitmix64 generator."""
    random[lane] += np.uint64(0x9E3779B97F4A7C15)
    z = random[lane]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64(z ^ (z >> np.uint64(31)))


@numba.njit(nogil=True)
def _below(random: UInt64, lane: Number, n: Number) -> np.int64:
    """A uniform integer in 0 … n-1, exactly, for n < 2³² (Lemire 2019: divides in one of 2³²/n draws)."""
    bound, low = np.uint64(n), np.uint64(0xFFFFFFFF)
    product = (_next(random, lane) >> np.uint64(32)) * bound
    if (product & low) < bound:
        least = (np.uint64(0x100000000) - bound) % bound
        while (product & low) < least:
            product = (_next(random, lane) >> np.uint64(32)) * bound
    return np.int64(product >> np.uint64(32))


@numba.njit(nogil=True)
def _uniform(random: UInt64, lane: Number) -> float:
    return float(np.float64(np.int64(_next(random, lane) >> np.uint64(11))) * 2.0**-53)


# ------------------------------------------------------- values, and unknowns as they are


@numba.njit(nogil=True)
def _rotate_values(
    begin: Number, end: Number, blocks: Int64, first: Int64, row_first: Int64, row: Int32, row_place: Int64,
    place: Int32, value: Int32, image: Int64, state: States, random: UInt64,
) -> None:  # fmt: skip
    """Move values of one unknown on by a uniform number of steps, in a ring of those that are alike.

    A rotation takes each to a uniform one, as a uniform permutation would, and needs one random number.
    """
    lanes = state.shape[1]
    for p in range(begin, end):
        r, k = row_first[p], blocks[p]
        x, states = row[r], row_place[r]
        steps = _below(random, lanes, k)
        low, high = np.int64(0), row_place[r + 1] - states
        if lanes == 1:
            low = np.int64(state[x, 0])
            high = low + 1
        for s in range(low, high):
            i = np.int64(place[states + s])
            image[s] = s
            if i >= 0:
                i += steps
                image[s] = value[first[p] + (i - k if i >= k else i)]
        for c in range(lanes):
            state[x, c] = image[np.uint64(state[x, c])]


@numba.njit(nogil=True)
def _swap(a: Number, b: Number, mask: np.int64, state: States) -> None:
    """Exchange two rows where the mask is -1, none where it is 0: no branch that cannot be foreseen."""
    if state.shape[1] == 1:
        change = (np.int64(state[a, 0]) ^ np.int64(state[b, 0])) & mask
        state[a, 0] = np.int64(state[a, 0]) ^ change
        state[b, 0] = np.int64(state[b, 0]) ^ change
        return
    for c in range(state.shape[1]):
        change = (np.int64(state[a, c]) ^ np.int64(state[b, c])) & mask
        state[a, c] = np.int64(state[a, c]) ^ change
        state[b, c] = np.int64(state[b, c]) ^ change


@numba.njit(nogil=True)
def _shuffle_unknowns(
    begin: Number, end: Number, blocks: Int64, row_first: Int64, row: Int32, state: States, random: UInt64
) -> None:
    """Permute blocks of unknowns with all they hold (Fisher & Yates); two of them by one bit of a word."""
    lanes, coins, left = state.shape[1], np.uint64(0), 0
    for p in range(begin, end):
        r, k = row_first[p], blocks[p]
        n = (row_first[p + 1] - r) // k
        if k == 2:
            if left == 0:
                coins, left = _next(random, lanes), 64
            mask = -np.int64(coins & np.uint64(1))
            coins >>= np.uint64(1)
            left -= 1
            for i in range(r, r + n):
                _swap(row[i], row[i + n], mask, state)
            continue
        for j in range(k - 1, 0, -1):
            other = _below(random, lanes, j + 1)
            if other != j:
                for i in range(r, r + n):
                    _swap(row[i + j * n], row[i + other * n], np.int64(-1), state)


# --------------------------------------------------------------------- other even pieces


@numba.njit(nogil=True)
def _draw_word(
    chain: Number, degree: Number, element_first: Int64, level_first: Int64, level_size: Int64,
    level_base: Int64, orbit: Int32, via: Int32, parent: Int32, word: Int64, random: UInt64, lane: Number,
) -> int:  # fmt: skip
    """A uniform element of a chain as a product: where the images of its factors begin, the first to apply
    first. Returns how many there are."""
    length = 0
    for level in range(level_first[chain + 1] - 1, level_first[chain] - 1, -1):
        base = level_base[level]
        point = np.int64(orbit[base + _below(random, lane, level_size[level])])
        begin = length
        while via[base + point] >= 0:
            word[length] = element_first[chain] + np.int64(via[base + point]) * degree
            length += 1
            point = np.int64(parent[base + point])
        for i in range((length - begin) // 2):
            word[begin + i], word[length - 1 - i] = word[length - 1 - i], word[begin + i]
    return length


@numba.njit(nogil=True)
def _apply_word(
    word: Int64, length: Number, element: Int32, begin: Number, end: Number, place: Int64
) -> None:
    """The images of ``place[begin:end]`` under a product, in place; -1 stays."""
    for w in range(length):
        row = word[w]
        for i in range(begin, end):
            if place[i] >= 0:
                place[i] = element[np.uint64(row + place[i])]


@numba.njit(nogil=True)
def _shuffle_blocks(
    k: Number, width: Number, target: Int64, image: Int64, random: UInt64, lane: Number
) -> None:
    """The images of the places of k blocks under a uniform permutation of the blocks."""
    for j in range(k):
        target[j] = j
    for j in range(k - 1, 0, -1):
        other = _below(random, lane, j + 1)
        target[j], target[other] = target[other], target[j]
    for j in range(k):
        for i in range(width):
            image[j * width + i] = target[j] * width + i


@numba.njit(nogil=True)
def _read_places(
    begin: Number, end: Number, row: Int32, row_place: Int64, place: Int32, state: States, now: Int64
) -> None:
    """The place that each row of the one lane is at."""
    for r in range(begin, end):
        now[r - begin] = place[row_place[r] + np.int64(state[row[r], 0])]


@numba.njit(nogil=True)
def _write_places(n: Number, first: Number, now: Int64, variable: Int32, value: Int32, state: States) -> None:
    """Put the one lane to places."""
    for i in range(n):
        if now[i] >= 0:
            q = np.uint64(first + now[i])
            state[variable[q], 0] = value[q]


@numba.njit(nogil=True)
def _image_of_row(
    x: Number, states: Number, card: Number, first: Number, place: Int32, image: Int64, variable: Int32,
    value: Int32, to: Int64,
) -> np.int64:  # fmt: skip
    """The unknown that unknown x goes to; ``to[s]`` is the state that its state s goes to."""
    y = np.int64(x)
    for s in range(card):
        i = place[states + s]
        to[s] = s
        if i >= 0:
            q = first + image[i]
            to[s], y = value[q], variable[q]
    return y


@numba.njit(nogil=True)
def _copy_rows(begin: Number, end: Number, row: Int32, state: States, old: States) -> None:
    for r in range(begin, end):
        x = row[r]
        for c in range(state.shape[1]):
            old[x, c] = state[x, c]


@numba.njit(nogil=True)
def _move_even(
    begin: Number, end: Number, m: Moves, image: Int64, target: Int64, word: Int64, to: Int64, old: States,
    state: States, random: UInt64,
) -> None:  # fmt: skip
    """Apply a uniform element of each piece to all lanes."""
    lanes, row, row_place, place = state.shape[1], m.row, m.row_place, m.place
    variable, value, element = m.variable, m.value, m.element
    for p in range(begin, end):
        k, width, first, chain = m.blocks[p], m.width[p], m.first[p], m.chain[p]
        low, high, length = m.row_first[p], m.row_first[p + 1], 0
        if chain >= 0:
            length = _draw_word(chain, width, m.element_first, m.level_first, m.level_size, m.level_base,
                                m.orbit, m.via, m.parent, word, random, lanes)  # fmt: skip
        if lanes == 1 and chain >= 0:
            _read_places(low, high, row, row_place, place, state, image)
            _apply_word(word, length, element, 0, high - low, image)
            _write_places(high - low, first, image, variable, value, state)
            continue
        if chain >= 0:
            for i in range(width):
                image[i] = i
            _apply_word(word, length, element, 0, width, image)
        else:
            _shuffle_blocks(k, width, target, image, random, lanes)
        _copy_rows(low, high, row, state, old)
        for r in range(low, high):
            x, card = row[r], row_place[r + 1] - row_place[r]
            y = _image_of_row(x, row_place[r], card, first, place, image, variable, value, to)
            if card == 2:
                flip = to[0]
                for c in range(lanes):
                    state[y, c] = np.int64(old[x, c]) ^ flip
                continue
            for c in range(lanes):
                state[y, c] = to[np.uint64(old[x, c])]


# ------------------------------------------------------------------- pieces with weights


@numba.njit(nogil=True)
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


@numba.njit(nogil=True)
def _weight(weight: Float64, first: Number, place: Int64, begin: Number, end: Number) -> float:
    """The log number of given states behind some places, ``place[begin:end]``, of a block."""
    total = 0.0
    for i in range(begin, end):
        total += weight[first + place[i]]
    return total


@numba.njit(nogil=True)
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


@numba.njit(nogil=True)
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


@numba.njit(nogil=True)
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


@numba.njit(nogil=True)
def _take_looked_up(
    y: Number, x: Number, card: Number, way: Number, to: Int64, old: States, goes: States, state: States
) -> None:
    """Put y to the state s for which to[s] is the state that x had, in the lanes that go this way."""
    for s in range(card):
        for c in range(state.shape[1]):
            if goes[way, c] != 0 and to[s] == old[x, c]:
                state[y, c] = s


@numba.njit(nogil=True)
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


# ---------------------------------------------------------------------------- all of them


@numba.njit(nogil=True)
def _move(
    m: Moves, state: States, random: UInt64, accepted: Int64, image: Int64, inverse: Int64, now: Int64,
    target: Int64, start: Int64, word: Int64, to: Int64, way: Int64, old: States, goes: States,
    more: Float64, gain: Float64,
) -> None:  # fmt: skip
    """Move the state of every lane by every piece in turn; the arrays from ``image`` on are scratch."""
    blocks, first, row_first, row = m.blocks, m.first, m.row_first, m.row
    for b in range(len(m.batch_kind)):
        begin, end, kind = m.batch_start[b], m.batch_start[b + 1], m.batch_kind[b]
        if kind == VALUES:
            _rotate_values(begin, end, blocks, first, row_first, row, m.row_place, m.place, m.value, to,
                           state, random)  # fmt: skip
        elif kind == UNKNOWNS:
            _shuffle_unknowns(begin, end, blocks, row_first, row, state, random)
        elif kind == EVEN:
            _move_even(begin, end, m, image, target, word, to, old, state, random)
        elif kind == PROPOSED:
            _propose(begin, end, m, image, inverse, now, word, to, old, goes, more, gain, way, state, random,
                     accepted)  # fmt: skip
        else:
            for p in range(begin, end):
                if m.subset[p] >= 0:
                    _choose(blocks[p], first[p], m.subset[p], m.probability, m.variable, m.value, way,
                            state, random)  # fmt: skip
                    continue
                for lane in range(state.shape[1]):
                    _exchange(blocks[p], m.width[p], first[p], m.weight, m.variable, m.value, target, image,
                              start, state, random, lane)  # fmt: skip


@numba.njit(nogil=True)
def _follow(m: Compiled, moved: Int32, before: States, state: States, total: Int32, level: Int32) -> None:
    """Bring derived nodes up to date with moved unknowns, one after the other; so is ``before``."""
    affected_start, affected = m.affected_start, m.affected
    edge_start, edge_source, edge_contribution = m.edge_start, m.edge_source, m.edge_contribution
    contribution, output_start, output = m.contribution, m.output_start, m.output
    edge_step, awaited = m.edge_step, m.awaited
    for r in range(len(moved)):
        v = np.int64(moved[r])
        first, last, same = affected_start[v], affected_start[v + 1], True
        for c in range(state.shape[1]):
            same &= before[v, c] == state[v, c]
        if same or first == last:
            continue
        _shift(first, last, v, _LESS, affected, edge_start, edge_source, edge_contribution, edge_step,
               contribution, output_start, output, awaited, True, before, total, level)  # fmt: skip
        _shift(first, last, v, _MORE, affected, edge_start, edge_source, edge_contribution, edge_step,
               contribution, output_start, output, awaited, True, state, total, level)  # fmt: skip
        before[v] = state[v]


def _advance(
    m: Compiled, moves: Moves, state: States, total: Int32, level: Int32, rng: UInt32, scan: UInt32,
    random: UInt64, accepted: Int64, draws: int, updates: int, counts: Int32,
) -> None:  # fmt: skip
    """``draws`` times: a move, ``updates`` of single variables, then record.

    As in `plx.infer.kernels`, and ``random`` [lanes + 1] are generators of the lanes for their own choices
    in moves, and last the one of the elements that all lanes share. ``accepted`` [2] counts proposals of
    pieces that can refuse them, and those that were accepted.
    """
    lanes = state.shape[1]
    draw = np.empty(lanes, dtype=np.int32)
    index, cut = np.empty(lanes, dtype=np.int32), np.empty(lanes, dtype=np.int32)
    pick = np.empty(scan.shape[1], dtype=np.int32)
    candidate = np.empty((m.max_candidates, lanes), dtype=np.int32)
    score = np.empty((m.max_card + 1, lanes))
    seen = np.zeros(counts.shape, dtype=np.uint8)
    image, inverse = np.empty(moves.most_places, np.int64), np.empty(moves.most_places, np.int64)
    now, word = np.empty(moves.most_rows, np.int64), np.empty(moves.most_word, np.int64)
    target, start = np.empty(moves.most_blocks, np.int64), np.empty(moves.most_blocks + 1, np.int64)
    to, more = np.empty(moves.most_states, np.int64), np.empty((2, moves.most_states))
    way, gain = np.empty(lanes, np.int64), np.empty((2, lanes))
    old, goes = np.empty_like(state), np.empty((2, lanes), state.dtype)
    follows = len(total) > 0
    before = np.empty(state.shape if follows else (0, 0), state.dtype)
    for i in range(draws):
        if follows:
            for v in range(state.shape[0]):  # a slice would take seconds to compile
                for c in range(lanes):
                    before[v, c] = state[v, c]
        _move(moves, state, random, accepted, image, inverse, now, target, start, word, to, way, old, goes,
              more, gain)  # fmt: skip
        if follows:
            _follow(m, moves.row, before, state, total, level)
        _sweep(m, state, total, level, rng, scan, updates, draw, cut, pick, index, candidate, score)
        if counts.shape[0]:
            _record(m, state, total, level, index, candidate, seen)
            _keep(i, draws, seen, counts)


@cache
def kernel(state: str) -> Callable[..., None]:
    """`_advance` compiled for one type of state, uint8 or uint16."""
    signature = _signature(numba.from_dtype(np.dtype(state)))
    return Kernel(_advance, signature).compiled


def add_pools(counts: Any, source: Int64, weight: Float64, start: Int64, pools: Float64) -> None:
    """pools[k] = Σ weight[e] · counts[source[e]] over e from start[k] to start[k + 1], lane by lane.

    ``counts`` [rows, lanes] are int32 or float64.
    """
    _adder(counts.dtype.name)(counts, source, weight, start, pools)


@cache
def _adder(counts: str) -> Callable[..., None]:
    """`_add_pools` compiled for one type of counts."""
    row, lanes = numba.from_dtype(np.dtype(counts))[:, ::1], types.float64[:, ::1]
    signature = types.void(row, types.int64[::1], types.float64[::1], types.int64[::1], lanes)
    return Kernel(_add_pools, signature).compiled


def _add_pools(counts: Any, source: Int64, weight: Float64, start: Int64, pools: Float64) -> None:
    for k in range(len(start) - 1):
        pools[k] = 0.0
        for e in range(start[k], start[k + 1]):
            row, by = source[e], weight[e]
            for c in range(pools.shape[1]):
                pools[k, c] += by * counts[row, c]
