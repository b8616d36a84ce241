"""A group as the arrays that the kernels of orbital moves read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np
import numpy.typing as npt

from plx.graph.components import smallest_reachable
from plx.graph.model import Int32Array
from plx.graph.ragged import starts
from plx.graph.rows import AnyInt
from plx.infer.kernels.pieces import ARRANGED, EVEN, PROPOSED, UNKNOWNS, VALUES, Moves
from plx.lift.group import Group
from plx.lift.layers import Layer
from plx.lift.schreier_sims import GroupTooLargeError, StabiliserChain, flat, stabiliser_chain
from plx.values import FloatArray, IntArray

_TABLE = 1 << 22
"""Entries of the tables from which sets of blocks are drawn exactly."""

_FLAT = 1 << 18
"""Entries of a chain's elements where each level has one for every point of its orbit: 1 MiB."""

TOO_LARGE = "part of the symmetry group is too large for uniform elements in memory; it is not used in moves"


def moves_of(group: Group, start: IntArray, weight: FloatArray) -> tuple[Moves, tuple[str, ...]]:
    """The moves of a group on the points ``start[i] + state`` of variables i, and what was left out.

    ``weight`` [points] is the log number of original states behind each point.
    """
    notes: list[str] = []
    build = _MovesBuilder(start, weight)
    for layer in _gathered(group):
        try:
            build.add(layer)
        except GroupTooLargeError:
            notes.append(TOO_LARGE)
    return build.moves(), tuple(dict.fromkeys(notes))


def _gathered(group: Group) -> Iterator[Layer]:
    """The layers in the order in which they move: g = l₀∘l₁∘…, so the last is first.

    Neighbours that are the same group become copies of one, which is dealt with once.
    """

    def action(layer: Layer) -> tuple[tuple[int, ...], bytes]:
        return layer.points.shape[1:], layer.generators.tobytes()

    for _, run in groupby(reversed(group.layers), action):
        layers = list(run)
        points = np.concatenate([layer.points for layer in layers])
        yield replace(layers[0], points=points)


class _MovesBuilder:
    """Pieces as they come; copies of a layer become pieces together."""

    def __init__(self, start: IntArray, weight: FloatArray) -> None:
        self.card = np.diff(start).astype(np.int64)
        self.variable = np.repeat(np.arange(len(self.card)), self.card)
        self.value = np.arange(len(self.variable)) - start[self.variable]
        self.weight = weight
        self.parts: dict[str, list[AnyInt]] = {}
        self.weights: list[FloatArray] = [np.empty(0)]
        self.tables: dict[bytes, int] = {}
        self.table: list[FloatArray] = [np.empty(0)]
        self.table_size = 0
        self.chains: list[StabiliserChain] = []

    def add(self, layer: Layer) -> None:
        """Every copy of a layer is a piece."""
        points, chain, heavy = layer.points, -1, 0
        if layer.is_symmetric:
            weight = self.weight[points]
            even = (weight == weight[:, :1]).all(axis=(1, 2))
            kind = np.where(even, EVEN, ARRANGED)
            kind[even & self._of_one_unknown(points)] = VALUES
            whole, heads = self._of_whole_unknowns(points)
            kind[even & whole] = UNKNOWNS
        else:
            label = _orbits(layer.generators)
            weight = self.weight[points[:, 0]]
            uneven = weight != weight[:, label]
            kind = np.where(uneven.any(axis=1), PROPOSED, EVEN)
            orbit_is_heavy = np.isin(label, label[uneven.any(axis=0)])
            heavy = int(orbit_is_heavy.sum())
            order = np.argsort(~orbit_is_heavy, kind="stable")
            points, heads = points[:, :, order], np.zeros((len(points), len(order)), dtype=bool)
            chain = len(self.chains)
            self.chains.append(flat(stabiliser_chain(_renamed(layer.generators, order), layer.order), _FLAT))
        self._pieces(points, kind, chain, heavy)
        self._rows(points, kind, heads, heavy)

    def _of_one_unknown(self, points: IntArray) -> npt.NDArray[np.bool_]:
        """Which copies permute values of one unknown."""
        variable = self.variable[points]
        alone: npt.NDArray[np.bool_] = (variable == variable[:, :1, :1]).all(axis=(1, 2)) & (
            points.shape[2] == 1
        )
        return alone

    def _of_whole_unknowns(self, points: IntArray) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Which copies exchange unknowns as they are, and places [copies, width] of their first states."""
        width = points.shape[2]
        order = np.argsort(points[:, 0], axis=1)
        in_order = np.take_along_axis(points, order[:, None], axis=2)
        variable, value = self.variable[in_order], self.value[in_order]
        follows = (variable[..., 1:] == variable[..., :-1]) & (value[..., 1:] == value[..., :-1] + 1)
        from_zero = (value[..., 0] == 0) & ((value[..., 1:] == 0) | follows).all(axis=2)
        complete = np.where(value == 0, self.card[variable], 0).sum(axis=2) == width
        whole = (value == value[:, :1]).all(axis=2) & from_zero & complete
        return whole.all(axis=1), self.value[points[:, 0]] == 0

    def _pieces(self, points: IntArray, kind: IntArray, chain: int, heavy: int) -> None:
        copies, blocks, width = points.shape
        subset = np.full(copies, -1)
        for copy in np.flatnonzero(kind == ARRANGED).tolist():
            subset[copy] = self._subset(points[copy])
        self._put(
            kind=kind,
            blocks=np.full(copies, blocks),
            width=np.full(copies, width),
            chain=np.full(copies, chain),
            heavy=np.where(kind == PROPOSED, heavy, 0),
            subset=subset,
            variable=self.variable[points].ravel(),
            value=self.value[points].ravel(),
        )
        self.weights.append(self.weight[points].ravel())

    def _rows(self, points: IntArray, kind: IntArray, heads: npt.NDArray[np.bool_], heavy: int) -> None:
        """The unknowns of each copy, and the places of their states."""
        copies, blocks, width = points.shape
        variable = self.variable[points]
        if (kind == UNKNOWNS).all():
            counts = blocks * heads.sum(axis=1)
            none = np.zeros(int(counts.sum()), dtype=np.int64)
            row = variable[np.broadcast_to(heads[:, None], points.shape)]
            self._put(row_count=counts, heavy_rows=np.zeros_like(counts), row=row, row_states=none)
            return
        if (kind == UNKNOWNS).any():
            for copy in range(copies):
                part = slice(copy, copy + 1)
                self._rows(points[part], kind[part], heads[part], heavy)
            return
        piece = np.arange(copies)[:, None]
        key = piece * len(self.card) + variable.reshape(copies, blocks * width)
        known, own = np.unique(key, return_inverse=True)
        own = own.reshape(key.shape)
        # Rows with places whose weights matter come first in their piece.
        is_heavy = np.zeros(len(known), dtype=bool)
        is_heavy[own[:, :heavy]] = True
        of_piece, row = np.divmod(known, len(self.card))
        order = np.lexsort((~is_heavy, of_piece))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        row = row[order]
        states = self.card[row]
        place = np.full(int(states.sum()), -1)
        at = starts(states)[:-1][rank[own]] + self.value[points].reshape(key.shape)
        place[at] = np.arange(blocks * width)
        self._put(
            row_count=np.bincount(of_piece, minlength=copies),
            heavy_rows=np.bincount(of_piece[is_heavy], minlength=copies),
            row=row,
            row_states=states,
            place=place,
        )

    def _put(self, **parts: AnyInt) -> None:
        for name, part in parts.items():
            self.parts.setdefault(name, []).append(part)

    def _subset(self, points: IntArray) -> int:
        """Where the table of a piece over variables of two states is; -1 for other pieces."""
        k, width = points.shape
        one = width == 2 and (self.variable[points[:, 0]] == self.variable[points[:, 1]]).all()
        if not one or (self.card[self.variable[points[:, 0]]] != 2).any():
            return -1
        odds = self.weight[points[:, 1]] - self.weight[points[:, 0]]
        key = odds.tobytes()
        if key not in self.tables and self.table_size + (k + 1) ** 2 <= _TABLE:
            self.tables[key] = self.table_size
            self.table.append(chances(odds).ravel())
            self.table_size += (k + 1) ** 2
        return self.tables.get(key, -1)

    def moves(self) -> Moves:
        kind, blocks, width, row_count, row_states = (
            self._joined(name) for name in ("kind", "blocks", "width", "row_count", "row_states")
        )
        change = np.flatnonzero(np.diff(kind, prepend=-1))
        levels = [level for chain in self.chains for level in _levels(chain)]
        elements = [chain.elements.ravel() for chain in self.chains]
        return Moves(
            most_blocks=int(blocks.max(initial=1)),
            most_places=int((blocks * width).max(initial=1)),
            most_rows=int(row_count.max(initial=1)),
            most_states=int(self.card.max(initial=1)),
            most_word=max([1, *(chain.longest_word for chain in self.chains)]),
            batch_kind=kind[change],
            batch_start=np.append(change, len(kind)),
            blocks=blocks,
            width=width,
            first=starts(blocks * width)[:-1],
            chain=self._joined("chain"),
            heavy=self._joined("heavy"),
            heavy_rows=self._joined("heavy_rows"),
            subset=self._joined("subset"),
            row_first=starts(row_count),
            row=self._joined("row").astype(np.int32),
            row_place=starts(row_states),
            place=self._joined("place").astype(np.int32),
            variable=self._joined("variable").astype(np.int32),
            value=self._joined("value").astype(np.int32),
            weight=np.concatenate(self.weights),
            probability=np.concatenate(self.table),
            element_first=_before([len(e) for e in elements]),
            level_first=np.cumsum([0, *(len(chain.base) for chain in self.chains)]),
            level_size=np.array([size for size, *_ in levels], dtype=np.int64),
            level_base=_before([len(orbit) for _, orbit, *_ in levels]),
            element=_flat(elements),
            orbit=_flat([orbit for _, orbit, _, _ in levels]),
            via=_flat([via for _, _, via, _ in levels]),
            parent=_flat([parent for *_, parent in levels]),
        )

    def _joined(self, name: str) -> IntArray:
        return np.concatenate([np.empty(0, dtype=np.int64), *self.parts.get(name, [])]).astype(np.int64)


def _orbits(generators: Int32Array) -> IntArray:
    """The first place of the orbit of each place."""
    width = generators.shape[1]
    here = np.tile(np.arange(width), len(generators))
    return smallest_reachable(width, here, generators.ravel())


def _renamed(generators: Int32Array, order: IntArray) -> Int32Array:
    """Permutations of places that are listed in another order."""
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    renamed: Int32Array = rank[generators[:, order]]
    return renamed


def _levels(chain: StabiliserChain) -> Iterator[tuple[int, AnyInt, AnyInt, AnyInt]]:
    for level in range(len(chain.base)):
        yield int(chain.size[level]), chain.orbit[level], chain.via[level], chain.parent[level]


def _before(sizes: list[int]) -> IntArray:
    return np.cumsum([0, *sizes], dtype=np.int64)[:-1]


def _flat(parts: Sequence[AnyInt]) -> Int32Array:
    return np.concatenate([np.empty(0, dtype=np.int32), *parts]).astype(np.int32)


def chances(log_odds: FloatArray) -> FloatArray:
    """Entry (j, c): the probability that block j is in its second state if c of the blocks j … k-1 are.

    With e_c(j) the c-th elementary symmetric polynomial of the odds from j on, it is
    odds_j · e_{c-1}(j+1) / e_c(j). Shape (k + 1, k + 1).
    """
    below = suffix_polynomials(log_odds)
    chance = np.zeros_like(below)
    with np.errstate(invalid="ignore"):
        chance[:-1, 1:] = np.exp(log_odds[:, None] + below[1:, :-1] - below[:-1, 1:])
    return np.nan_to_num(chance)


def suffix_polynomials(log_odds: FloatArray) -> FloatArray:
    """Logs of the elementary symmetric polynomials of exp(log_odds[j:]), shape (k + 1, k + 1).

    Row j, column c: e_c of the odds from j on, by e_c(j) = e_c(j+1) + odds_j · e_{c-1}(j+1).
    """
    k = len(log_odds)
    table = np.full((k + 1, k + 1), -np.inf)
    table[k, 0] = 0.0
    for j in range(k - 1, -1, -1):
        table[j, 0] = 0.0
        table[j, 1:] = np.logaddexp(table[j + 1, 1:], log_odds[j] + table[j + 1, :-1])
    return table
