"""Learned numbers in a factor graph: how every table entry is affine in them, and what it is at values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from plx.graph.assemble import assemble, factor_batches, reassembled, variable_cards
from plx.graph.derived import derived_of
from plx.graph.model import GroundModel
from plx.graph.node_map import nodes_of
from plx.graph.ragged import segments
from plx.values import IMPOSSIBLE, FloatArray, IntArray, Values, distinct
from plx.weights import Affine, Number, add, mul, to_float


class Statistics(NamedTuple):
    """R distinct log potentials, each ``constant[r]`` + Σ coefficient · number, over K learned numbers.

    The coefficients are sufficient statistics: summed over the factors of a world they say how often each
    number counts in it. Row 0 is a log potential of 0.
    """

    constant: FloatArray  # [R], -inf for what is impossible
    row: IntArray  # [C] of each coefficient
    number: IntArray  # [C]
    coefficient: FloatArray  # [C]
    size: int  # K

    def logs(self, weights: FloatArray) -> FloatArray:
        """The log potentials [R] at values [K] of the numbers."""
        parts = self.coefficient * weights[self.number]
        return self.constant + _sums(self.row, parts, len(self.constant))

    def expected(self, times: FloatArray) -> FloatArray:
        """Σ times [R] · statistics, shape (K,)."""
        return _sums(self.number, self.coefficient * times[self.row], self.size)

    def combined(self, start: IntArray, rows: IntArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Σ times · row for each run of ``rows``: statistics (n, K) and constants (n,)."""
        n = len(start) - 1
        owner = np.repeat(np.arange(n), np.diff(start))
        first = np.searchsorted(self.row, rows, side="left")
        count = np.searchsorted(self.row, rows, side="right") - first
        at = segments(first, count)
        mine, by = np.repeat(owner, count), np.repeat(times, count)
        flat = _sums(mine * self.size + self.number[at], by * self.coefficient[at], n * self.size)
        return flat.reshape(n, self.size), _sums(owner, times * self.constant[rows], n)


def _sums(index: IntArray, parts: FloatArray, size: int) -> FloatArray:
    """The sums of parts by index 0 … size - 1."""
    return np.bincount(index, parts, size).astype(np.float64, copy=False)


def statistics(values: Values, weights: IntArray, names: Sequence[str]) -> tuple[Statistics, IntArray]:
    """The statistics of weight ids over the learned numbers of these names, and the row of each id."""
    ids = distinct(weights)
    place = {name: k for k, name in enumerate(names)}
    row, number, coefficient = [], [], []
    for r, i in enumerate(ids.tolist(), start=1):
        value = values[i]
        for name, times in value.terms if isinstance(value, Affine) else ():
            row.append(r)
            number.append(place[name])
            coefficient.append(to_float(times))
    table = Statistics(
        np.concatenate([[0.0], values.logs(ids)]),
        np.array(row, dtype=np.int64),
        np.array(number, dtype=np.int64),
        np.array(coefficient, dtype=np.float64),
        len(names),
    )
    return table, np.searchsorted(ids, weights) + 1


def with_numbers(model: GroundModel, numbers: Mapping[str, Number]) -> GroundModel:
    """The model with numbers in the place of the names of those that are learned; itself if it has none."""
    values = model.values
    ids = distinct(np.append(model.graph.weight, model.constant_weight))
    if not any(isinstance(values[i], Affine) for i in ids.tolist()):
        return model

    def put(weights: IntArray) -> IntArray:
        return ids_with(values, weights, numbers)

    graph = model.graph
    batches = [batch._replace(tables=put(batch.tables)) for batch in factor_batches(graph)]
    queries = nodes_of(model.queries)
    assembly = assemble(values, variable_cards(graph), batches, derived_of(graph), None, queries)
    constant = int(put(np.array([model.constant_weight]))[0])
    found = reassembled(replace(model, constant_weight=constant), assembly)
    return replace(found, atoms=assembly.nodes.atoms(model.atoms, assembly.graph.n_variables))


def ids_with(values: Values, weights: IntArray, numbers: Mapping[str, Number]) -> IntArray:
    """Weight ids with numbers in the place of the names of those that are learned."""
    ids = distinct(weights.ravel())
    new = np.array([_with(values, i, numbers) for i in ids.tolist()], dtype=np.int64)
    return new[np.searchsorted(ids, weights)]


def _with(values: Values, index: int, numbers: Mapping[str, Number]) -> int:
    value = values[index] if index != IMPOSSIBLE else None
    if not isinstance(value, Affine):
        return index
    total: Number = value.constant
    for name, times in value.terms:
        total = add(total, mul(times, numbers[name]))
    return values.id(total)
