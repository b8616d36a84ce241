"""Moves along orbits: uniform elements of a group applied to the states of lanes, compiled.

All lanes are moved by the same elements. That keeps them as good as independent: given the elements,
lanes are independent chains that all leave the distribution π alone, so E[f(lane) | elements] = π(f)
whatever the elements are, and two lanes that have settled are uncorrelated. Standard errors from the
spread between lanes stay right. Where weights matter an element g only leaves π alone if g and g⁻¹ are
proposed equally often, so there every lane chooses between them by its own coin, and accepts by itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit, typeof, types

Ints = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


class Moves(NamedTuple):
    """A group as pieces, each acting on its own points; a piece is applied after those before it.

    Piece p has ``blocks[p]`` blocks of ``width[p]`` points, ``point[first[p]] …``. With ``chain[p]`` -1
    it permutes its blocks in all ways, else it is the group of that stabiliser chain on its one block.
    Point q is state ``value[q]`` of variable ``variable[q]``, of which there are exp(``weight[q]``).
    Its points are of the variables ``row[row_first[p]] …``, each of which goes to one variable as a whole.
    ``even[p]`` says that the weights of a piece do not depend on the order of its blocks;
    ``subset[p]`` ≥ 0 that its blocks have two states, and where its table is: entry j·(k+1) + c is the log
    of the c-th elementary symmetric polynomial of the odds of the second state in blocks j … k-1.
    """

    blocks: Ints  # [pieces]
    width: Ints
    first: Ints
    chain: Ints
    even: npt.NDArray[np.bool_]
    subset: Ints
    point: Ints
    row_first: Ints  # [pieces + 1]
    row: Ints
    start: Ints  # [variables + 1] where the points of a variable begin
    variable: Ints  # [points of the model]
    value: Ints
    weight: Floats
    table: Floats  # of all subsets
    element_first: Ints  # [chains] where its elements begin
    level_first: Ints  # [chains + 1]
    level_size: Ints  # [levels] orbit length
    level_base: Ints  # [levels] where orbit, via and parent of the level begin
    element: Int32s  # images of the places
    orbit: Int32s
    via: Int32s
    parent: Int32s


_INTS, _FLOATS = np.zeros(1, dtype=np.int64), np.zeros(1)
_INT32S, _BOOLS = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.bool_)
_MOVES = typeof(  # type: ignore[no-untyped-call]
    Moves(
        *(_INTS,) * 4,
        _BOOLS,
        *(_INTS,) * 7,
        *(_FLOATS,) * 2,
        *(_INTS,) * 4,
        *(_INT32S,) * 4,
    )
)
_RANDOM = types.uint64[:]


@njit(types.uint64(_RANDOM, types.int64), cache=True)
def _next(random: Any, lane: Any) -> Any:
    """The next word of a lane's splitmix64 generator."""
    random[lane] += np.uint64(0x9E3779B97F4A7C15)
    z = random[lane]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(types.int64(_RANDOM, types.int64, types.int64), cache=True)
def _below(random: Any, lane: Any, n: Any) -> Any:
    """A uniform integer in 0 … n-1, exactly, for n < 2³²."""
    bound = np.uint64(n)
    least = (np.uint64(0x100000000) - bound) % bound
    while True:
        product = (_next(random, lane) >> np.uint64(32)) * bound
        if (product & np.uint64(0xFFFFFFFF)) >= least:
            return np.int64(product >> np.uint64(32))


@njit(types.float64(_RANDOM, types.int64), cache=True)
def _uniform(random: Any, lane: Any) -> Any:
    return np.float64(_next(random, lane) >> np.uint64(11)) * 2.0**-53


@njit(
    types.void(_MOVES, types.int64, types.int64, types.int64[:], types.int64, _RANDOM, types.int64),
    cache=True,
)
def _draw_element(moves: Any, chain: Any, degree: Any, place: Any, n: Any, random: Any, lane: Any) -> Any:
    """Apply a uniform element of a chain to ``place[:n]``, in place: the deepest level first."""
    word = np.empty(64, np.int64)
    for level in range(moves.level_first[chain + 1] - 1, moves.level_first[chain] - 1, -1):
        base = moves.level_base[level]
        point = np.int64(moves.orbit[base + _below(random, lane, moves.level_size[level])])
        length = 0
        while moves.via[base + point] >= 0:
            if length == len(word):
                longer = np.empty(2 * length, np.int64)
                longer[:length] = word
                word = longer
            word[length] = moves.via[base + point]
            length += 1
            point = np.int64(moves.parent[base + point])
        for w in range(length - 1, -1, -1):
            row = moves.element_first[chain] + word[w] * degree
            for i in range(n):
                place[i] = moves.element[row + place[i]]


@njit(types.void(types.int64[:], types.int64, _RANDOM, types.int64), cache=True)
def _shuffle(target: Any, k: Any, random: Any, lane: Any) -> Any:
    """A uniform permutation of 0 … k-1 (Fisher & Yates)."""
    for j in range(k):
        target[j] = j
    for j in range(k - 1, 0, -1):
        other = _below(random, lane, j + 1)
        target[j], target[other] = target[other], target[j]


@njit(types.float64(_MOVES, types.int64, types.int64[:], types.int64, types.int64, types.int64), cache=True)
def _weight(moves: Any, first: Any, place: Any, begin: Any, end: Any, block: Any) -> Any:
    """The log number of given states behind some places, ``place[begin:end]``, of a block."""
    total = 0.0
    for i in range(begin, end):
        total += moves.weight[moves.point[first + block + place[i]]]
    return total


@njit(
    types.void(_MOVES, types.int64, types.int64[:], types.int64[:], types.int64[:], _RANDOM, types.int64),
    cache=True,
)
def _exchange(moves: Any, piece: Any, place: Any, begin: Any, target: Any, random: Any, lane: Any) -> Any:
    """Where the content of each block goes: as many exchanges of two as there are blocks, each drawn
    in proportion to the number of given states before and after."""
    k, b, first = moves.blocks[piece], moves.width[piece], moves.first[piece]
    for j in range(k):
        target[j] = j
    for _ in range(k):
        x = _below(random, lane, k)
        y = _below(random, lane, k - 1)
        if y >= x:
            y += 1
        gain = _weight(moves, first, place, begin[x], begin[x + 1], target[y] * b)
        gain += _weight(moves, first, place, begin[y], begin[y + 1], target[x] * b)
        gain -= _weight(moves, first, place, begin[x], begin[x + 1], target[x] * b)
        gain -= _weight(moves, first, place, begin[y], begin[y + 1], target[y] * b)
        if _uniform(random, lane) < 1.0 / (1.0 + np.exp(-gain)):
            target[x], target[y] = target[y], target[x]


@njit(types.void(_MOVES, types.int64, types.int64, types.int64[:], _RANDOM, types.int64), cache=True)
def _choose(moves: Any, piece: Any, marked: Any, chosen: Any, random: Any, lane: Any) -> Any:
    """A set of blocks in proportion to the product of their odds, exactly: ``chosen[j]`` is 0 or 1."""
    k, first, table = moves.blocks[piece], moves.first[piece], moves.subset[piece]
    left = marked
    for j in range(k):
        chosen[j] = 0
        if left == 0:
            continue
        low, high = moves.point[first + 2 * j], moves.point[first + 2 * j + 1]
        odds = moves.weight[high] - moves.weight[low]
        now = moves.table[table + j * (k + 1) + left]
        rest = moves.table[table + (j + 1) * (k + 1) + left - 1]
        if np.log(_uniform(random, lane) + 1e-300) < odds + rest - now:
            chosen[j] = 1
            left -= 1


@njit(
    types.void(_MOVES, types.int64, types.int64[:], types.int64[:], types.int64[:], _RANDOM, types.int64),
    cache=True,
)
def _draw_images(moves: Any, piece: Any, place: Any, target: Any, image: Any, random: Any, lane: Any) -> Any:
    """A uniform element of a piece: ``image[q]`` for each of its points q."""
    k, b, first = moves.blocks[piece], moves.width[piece], moves.first[piece]
    for w in range(b):
        place[w] = w
    target[0] = 0
    if moves.chain[piece] >= 0:
        _draw_element(moves, moves.chain[piece], b, place, b, random, lane)
    else:
        _shuffle(target, k, random, lane)
    for j in range(k):
        for w in range(b):
            image[moves.point[first + j * b + w]] = moves.point[first + target[j] * b + place[w]]


_STATES = [kind[:, ::1] for kind in (types.uint8, types.uint16)]


@njit([types.void(_MOVES, types.int64, types.int64[:], s, s) for s in _STATES], cache=True)
def _permute(moves: Any, piece: Any, image: Any, old: Any, state: Any) -> Any:
    """Apply an element of a piece, given by the image of every point, to all lanes; ``old`` is scratch."""
    begin, end = moves.row_first[piece], moves.row_first[piece + 1]
    for r in range(begin, end):
        x = moves.row[r]
        for c in range(state.shape[1]):
            old[r - begin, c] = state[x, c]
    for r in range(begin, end):
        first = moves.start[moves.row[r]]
        y = moves.variable[image[first]]
        if moves.start[moves.row[r] + 1] == first + 2:
            low = moves.value[image[first]]
            rise = moves.value[image[first + 1]] - low
            for c in range(state.shape[1]):
                state[y, c] = low + rise * old[r - begin, c]
        else:
            for c in range(state.shape[1]):
                state[y, c] = moves.value[image[first + old[r - begin, c]]]


_PROPOSE = [
    types.void(_MOVES, types.int64, types.int64[:], types.int64[:], s, s, _RANDOM, types.int64[:])
    for s in _STATES
]


@njit(_PROPOSE, cache=True)
def _propose(
    moves: Any, piece: Any, image: Any, inverse: Any, old: Any, state: Any, random: Any, accepted: Any
) -> Any:
    """Propose an element of a piece, or by a fair coin its inverse, to every lane (Metropolis & Hastings)."""
    begin, end = moves.row_first[piece], moves.row_first[piece + 1]
    gain, way = np.zeros((2, state.shape[1])), np.full(state.shape[1], -1)
    for r in range(begin, end):
        x = moves.row[r]
        for c in range(state.shape[1]):
            old[r - begin, c] = state[x, c]
            q = moves.start[x] + np.int64(state[x, c])
            gain[0, c] += moves.weight[image[q]] - moves.weight[q]
            gain[1, c] += moves.weight[inverse[q]] - moves.weight[q]
    for c in range(state.shape[1]):
        coin = np.int64(_next(random, c) >> np.uint64(63))
        accepted[0] += 1
        if np.log(_uniform(random, c) + 1e-300) < gain[coin, c]:
            way[c] = coin
            accepted[1] += 1
    for r in range(begin, end):
        first = moves.start[moves.row[r]]
        to, back = moves.variable[image[first]], moves.variable[inverse[first]]
        for c in range(state.shape[1]):
            q = first + np.int64(old[r - begin, c])
            if way[c] == 0:
                state[to, c] = moves.value[image[q]]
            elif way[c] == 1:
                state[back, c] = moves.value[inverse[q]]


_ARRANGE = [types.void(_MOVES, types.int64, s, *(types.int64[:],) * 3, _RANDOM, types.int64) for s in _STATES]


@njit(_ARRANGE, cache=True)
def _arrange(
    moves: Any, piece: Any, state: Any, place: Any, begin: Any, target: Any, random: Any, lane: Any
) -> Any:
    """Permute the blocks of a piece in one lane, in proportion to the number of given states."""
    k, b, first = moves.blocks[piece], moves.width[piece], moves.first[piece]
    n = 0
    for j in range(k):
        begin[j] = n
        for w in range(b):
            q = moves.point[first + j * b + w]
            if state[moves.variable[q], lane] == moves.value[q]:
                place[n] = w
                n += 1
    begin[k] = n
    if moves.subset[piece] >= 0:
        marked = 0
        for i in range(n):
            marked += place[i]
        _choose(moves, piece, marked, target, random, lane)
        for j in range(k):
            q = moves.point[first + 2 * j + target[j]]
            state[moves.variable[q], lane] = moves.value[q]
        return
    _exchange(moves, piece, place, begin, target, random, lane)
    for j in range(k):
        for i in range(begin[j], begin[j + 1]):
            q = moves.point[first + target[j] * b + place[i]]
            state[moves.variable[q], lane] = moves.value[q]


@njit([types.void(_MOVES, s, types.uint64[:], types.int64[:]) for s in _STATES], cache=True, nogil=True)
def move(moves: Any, state: Any, random: Any, accepted: Any) -> Any:
    """Move the state of every lane, ``state[variable, lane]``, by every piece in turn.

    ``random`` [lanes + 1] are the generators of the lanes, for pieces whose weights are uneven, and last
    the one of the elements that all lanes share. ``accepted`` [2] counts proposals of pieces that can
    refuse them, and those that were accepted.
    """
    most, widest, rows = 1, 1, 0
    for piece in range(len(moves.blocks)):
        most = max(most, moves.blocks[piece])
        widest = max(widest, moves.blocks[piece] * moves.width[piece])
        rows = max(rows, moves.row_first[piece + 1] - moves.row_first[piece])
    place, begin = np.empty(widest, np.int64), np.empty(most + 1, np.int64)
    target, old = np.empty(most, np.int64), np.empty((rows, state.shape[1]), state.dtype)
    image, inverse = np.arange(len(moves.variable)), np.arange(len(moves.variable))
    for piece in range(len(moves.blocks)):
        if not moves.even[piece] and moves.chain[piece] < 0:
            for lane in range(state.shape[1]):
                _arrange(moves, piece, state, place, begin, target, random, lane)
            continue
        own = moves.point[moves.first[piece] :][: moves.blocks[piece] * moves.width[piece]]
        _draw_images(moves, piece, place, target, image, random, state.shape[1])
        if moves.even[piece]:
            _permute(moves, piece, image, old, state)
        else:
            for q in own:
                inverse[image[q]] = q
            _propose(moves, piece, image, inverse, old, state, random, accepted)
        for q in own:
            image[q] = inverse[q] = q


_ADD = [
    types.void(kind[:, ::1], types.int64[::1], types.float64[::1], types.int64[::1], types.float64[:, ::1])
    for kind in (types.int32, types.float64)
]


@njit(_ADD, cache=True)
def add_pools(counts: Any, source: Any, weight: Any, start: Any, pools: Any) -> Any:
    """pools[k] = Σ weight[e] · counts[source[e]] over e from start[k] to start[k + 1], lane by lane."""
    for k in range(len(start) - 1):
        pools[k] = 0.0
        for e in range(start[k], start[k + 1]):
            row, by = source[e], weight[e]
            for c in range(pools.shape[1]):
                pools[k, c] += by * counts[row, c]
