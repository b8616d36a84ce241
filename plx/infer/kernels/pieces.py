"""The pieces that a group is made of, as arrays, and the places of a piece that states are at."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx.jit import inner

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
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


@inner
def _read_places(
    begin: Number, end: Number, row: Int32, row_place: Int64, place: Int32, state: States, now: Int64
) -> None:
    """The place that each row of the one lane is at."""
    for r in range(begin, end):
        now[r - begin] = place[row_place[r] + np.int64(state[row[r], 0])]


@inner
def _write_places(n: Number, first: Number, now: Int64, variable: Int32, value: Int32, state: States) -> None:
    """Put the one lane to places."""
    for i in range(n):
        if now[i] >= 0:
            q = np.uint64(first + now[i])
            state[variable[q], 0] = value[q]


@inner
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


@inner
def _copy_rows(begin: Number, end: Number, row: Int32, state: States, old: States) -> None:
    for r in range(begin, end):
        x = row[r]
        for c in range(state.shape[1]):
            old[x, c] = state[x, c]
