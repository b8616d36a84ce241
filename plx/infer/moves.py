"""A group as the arrays that the kernels of orbital moves read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from plx.ground.graph import Int32Array
from plx.ground.rows import AnyInt
from plx.infer.orbit_kernels import Moves
from plx.lift.chain import Chain, GroupTooLarge, stabiliser_chain
from plx.lift.group import Group
from plx.lift.layers import Layer
from plx.values import FloatArray, IntArray

_TABLE = 1 << 22
"""Entries of the tables from which sets of blocks are drawn exactly."""

TOO_LARGE = "part of the symmetry group is too large for uniform elements in memory; it is not used in moves"


def moves_of(group: Group, start: IntArray, weight: FloatArray) -> tuple[Moves, tuple[str, ...]]:
    """The moves of a group on the points ``start[i] + state`` of variables i, and what was left out.

    ``weight`` [points] is the log number of given states behind each point.
    """
    notes: list[str] = []
    build = _Build(start, weight)
    # g = l₀∘l₁∘…, so the last layer moves first.
    for layer in reversed(group.layers):
        try:
            build.add(layer)
        except GroupTooLarge:
            notes.append(TOO_LARGE)
    return build.moves(), tuple(dict.fromkeys(notes))


class _Build:
    def __init__(self, start: IntArray, weight: FloatArray) -> None:
        self.start = start
        self.card = np.diff(start)
        self.variable = np.repeat(np.arange(len(self.card)), self.card)
        self.value = np.arange(len(self.variable)) - start[self.variable]
        self.weight = weight
        self.shapes: list[IntArray] = [np.empty((0, 2), dtype=np.int64)]
        self.points: list[IntArray] = [np.empty(0, dtype=np.int64)]
        self.rows: list[IntArray] = [np.empty(0, dtype=np.int64)]
        self.row_counts: list[IntArray] = [np.empty(0, dtype=np.int64)]
        self.chain_of: list[int] = []
        self.even: list[bool] = []
        self.subset: list[int] = []
        self.tables: dict[bytes, int] = {}
        self.table: list[FloatArray] = [np.empty(0)]
        self.table_size = 0
        self.chains: list[Chain] = []

    def add(self, layer: Layer) -> None:
        """Every copy of a layer is a piece."""
        copies, blocks, width = layer.points.shape
        chain = -1
        if not layer.is_symmetric:
            chain = len(self.chains)
            self.chains.append(stabiliser_chain(layer.generators, layer.order))
        self.shapes.append(np.tile([blocks, width], (copies, 1)))
        self.points.append(layer.points.ravel())
        variable = self.variable[layer.points.reshape(copies, blocks * width)]
        piece, row = np.divmod(
            np.unique(variable + np.arange(copies)[:, None] * len(self.card)), len(self.card)
        )
        self.rows.append(row)
        self.row_counts.append(np.bincount(piece, minlength=copies))
        self.chain_of += [chain] * copies
        for points in layer.points:
            even = self._is_even(layer, points)
            self.even.append(even)
            self.subset.append(-1 if even or not layer.is_symmetric else self._subset(points))

    def _is_even(self, layer: Layer, points: IntArray) -> bool:
        weight = self.weight[points]
        if layer.is_symmetric:
            return bool((weight == weight[0]).all())
        return bool((weight[0][layer.generators] == weight[0]).all())

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
            self.table.append(suffix_polynomials(odds).ravel())
            self.table_size += (k + 1) ** 2
        return self.tables.get(key, -1)

    def moves(self) -> Moves:
        shape = np.concatenate(self.shapes)
        size = shape.prod(axis=1)
        levels = [level for chain in self.chains for level in _levels(chain)]
        elements = [chain.elements.ravel() for chain in self.chains]
        return Moves(
            blocks=shape[:, 0].copy(),
            width=shape[:, 1].copy(),
            first=np.cumsum(size) - size,
            chain=np.array(self.chain_of, dtype=np.int64),
            even=np.array(self.even, dtype=np.bool_),
            subset=np.array(self.subset, dtype=np.int64),
            point=np.concatenate(self.points),
            row_first=np.append(0, np.cumsum(np.concatenate(self.row_counts))),
            row=np.concatenate(self.rows),
            start=np.ascontiguousarray(self.start, dtype=np.int64),
            variable=self.variable,
            value=self.value,
            weight=np.ascontiguousarray(self.weight, dtype=np.float64),
            table=np.concatenate(self.table),
            element_first=_before([len(e) for e in elements]),
            level_first=np.cumsum([0, *(len(chain.base) for chain in self.chains)]),
            level_size=np.array([size for size, *_ in levels], dtype=np.int64),
            level_base=_before([len(orbit) for _, orbit, *_ in levels]),
            element=_flat(elements),
            orbit=_flat([orbit for _, orbit, _, _ in levels]),
            via=_flat([via for _, _, via, _ in levels]),
            parent=_flat([parent for *_, parent in levels]),
        )


def _levels(chain: Chain) -> Iterator[tuple[int, AnyInt, AnyInt, AnyInt]]:
    for level in range(len(chain.base)):
        yield int(chain.size[level]), chain.orbit[level], chain.via[level], chain.parent[level]


def _before(sizes: list[int]) -> IntArray:
    return np.cumsum([0, *sizes], dtype=np.int64)[:-1]


def _flat(parts: Sequence[AnyInt]) -> Int32Array:
    return np.concatenate([np.empty(0, dtype=np.int32), *parts]).astype(np.int32)


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
