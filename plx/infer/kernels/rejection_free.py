"""Moves that are never refused, as no weight changes: all lanes are moved by the same uniform elements."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.group import _apply_word, _draw_word, _shuffle_blocks
from plx.infer.kernels.pieces import Moves, _copy_rows, _image_of_row, _read_places, _write_places
from plx.infer.kernels.random import _below, _next
from plx.jit import inner

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
States = npt.NDArray[np.integer]
Number = int | np.int64


@inner
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


@inner
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


@inner
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


@inner
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
