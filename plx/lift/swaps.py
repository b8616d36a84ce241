"""Value-swap classes: values of one variable that can be exchanged in every world.

v ~ v' for variable X iff exchanging them maps the model to itself: iff in every table the slices
X=v and X=v' are equal and in every derived node the two contribute the same, or the exchange also
exchanges equal derived nodes (``X=1 ∨ rest`` with ``X=2 ∨ rest``) and the factors over them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from plx.graph.assemble import factor_batches
from plx.graph.model import FactorGraph
from plx.graph.ragged import segments, starts
from plx.graph.rows import AnyInt, unique_keys, unique_rows
from plx.lift.exchange import merge_by_exchange
from plx.lift.kernels import split_classes
from plx.values import IntArray


def value_classes(graph: FactorGraph, label: AnyInt) -> IntArray:
    """The smallest interchangeable state of every state [Σ card of the variables].

    The graph must be in normal form. States with different labels are never interchangeable.
    """
    card = graph.card[: graph.n_variables].astype(np.int64)
    start = starts(card)
    classes = segments(np.zeros(len(card), dtype=np.int64), card) * 0
    _split(classes, start, _Incidences(np.arange(len(card)), start[:-1], np.asarray(label, dtype=np.int64)))
    _split(classes, start, _Incidences.join(_table_slices(graph, mixed=False)))
    if graph.n_derived:
        possible = classes.copy()
        _split(classes, start, _Incidences.join(_table_slices(graph, mixed=True)))
        _split(classes, start, _contributions(graph))
        merge_by_exchange(graph, classes, possible)
    return classes


@dataclass(frozen=True)
class _Incidences:
    """States of ``variable[e]`` are equal only if their entries of ``label[begin[e] : …]`` are."""

    variable: AnyInt
    begin: IntArray
    label: IntArray

    @staticmethod
    def join(parts: Iterator[_Incidences]) -> _Incidences:
        found = list(parts)
        if not found:
            return _Incidences(*(np.empty(0, dtype=np.int64) for _ in range(3)))
        shift = starts(np.array([len(part.label) for part in found]))
        return _Incidences(
            np.concatenate([part.variable for part in found]),
            np.concatenate([part.begin + s for part, s in zip(found, shift[:-1], strict=True)]),
            np.concatenate([part.label for part in found]),
        )


def _split(classes: IntArray, start: IntArray, by: _Incidences) -> None:
    _, label = unique_keys(by.label)
    split_classes(classes, start, by.variable.astype(np.int64, copy=False), by.begin, label)


def _table_slices(graph: FactorGraph, mixed: bool) -> Iterator[_Incidences]:
    """Which slices are equal, per axis, of the tables over variables, or of those ``mixed`` with others."""
    for batch in factor_batches(graph):
        scope = np.asarray(batch.scope, dtype=np.int64)
        cards = graph.card[scope[0]]
        shaped = batch.tables.reshape(len(batch.tables), *cards)
        for axis, c in enumerate(cards):
            derived = (scope >= graph.n_variables).any(axis=1)
            mine = np.flatnonzero((scope[:, axis] < graph.n_variables) & (derived == mixed))
            slices = np.moveaxis(shaped, axis + 1, 1).reshape(len(shaped) * int(c), -1)
            _, label = unique_rows(slices)
            begin = np.asarray(batch.table, dtype=np.int64)[mine] * int(c)
            yield _Incidences(scope[mine, axis], begin, label)


def _contributions(graph: FactorGraph) -> _Incidences:
    mine = np.flatnonzero(graph.input_node < graph.n_variables)
    vector = graph.input_contribution[mine]
    return _Incidences(
        graph.input_node[mine].astype(np.int64),
        graph.contribution_start[vector],
        graph.contribution.astype(np.int64),
    )
