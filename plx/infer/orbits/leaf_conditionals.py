"""What unknowns that were summed out depend on, in the reduced model.

Given the classes that its others are in, an unknown is distributed as on average over the values of
those classes: exchanges of values keep what is left of the model, so all of them are equally likely.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plx.graph.leaves import WIDEST
from plx.graph.rows import unique_rows
from plx.infer.orbits.collapse import Collapsed, Leaves
from plx.lift.reduced import Reduced
from plx.values import FloatArray, IntArray, distinct


@dataclass(frozen=True)
class LeafConditionals:
    """Distinct conditional distributions: of leaves given some nodes of the reduced model.

    Feature f is ``tables[table[f]]`` [cards of its nodes …, card of the leaf] over ``nodes[f]``, which are
    increasing and -1 at the end. ``of`` is the feature of each original unknown, -1 for those that stay.
    """

    collapsed: Collapsed
    of: IntArray  # [V]
    nodes: IntArray  # [m, WIDEST - 1]
    table: IntArray  # [m]
    tables: tuple[FloatArray, ...]

    @property
    def size(self) -> IntArray:
        """The number of states of the leaves of each feature."""
        cards = np.array([table.shape[-1] for table in self.tables], dtype=np.int64)
        return cards[self.table]


def leaf_conditionals(collapsed: Collapsed, reduced: Reduced) -> LeafConditionals:
    """The features of all leaves; ``reduced`` is the reduced model of ``collapsed.model``."""
    of = np.full(collapsed.original.graph.n_variables, -1, dtype=np.int64)
    tables: dict[tuple[tuple[int, ...], bytes], int] = {}
    found: list[FloatArray] = []
    parts = [(of[:0], np.empty((0, WIDEST), dtype=np.int64))]
    classes = _Classes(collapsed, reduced)
    for leaves in collapsed.leaves:
        for members, nodes, table in classes.given(leaves):
            key = (table.shape, np.round(table, 14).tobytes())
            number = tables.setdefault(key, len(found))
            found += [table] if number == len(found) else []
            row = np.full((len(members), WIDEST), -1, dtype=np.int64)
            row[:, : nodes.shape[1]], row[:, -1] = nodes, number
            parts.append((leaves.variable[members], row))
    variable, rows = (np.concatenate(column) for column in zip(*parts, strict=True))
    first, of[variable] = unique_rows(rows)
    return LeafConditionals(collapsed, of, rows[first, :-1], rows[first, -1], tuple(found))


class _Classes:
    """Which reduced state each value of an unknown is in, the same for unknowns that look alike."""

    def __init__(self, collapsed: Collapsed, reduced: Reduced) -> None:
        self.node, self.reduced = collapsed.nodes.node, reduced
        self.known: dict[bytes, int] = {}
        self.maps: list[FloatArray] = []  # [reduced states, states] the share of each value in its class
        self.pattern = np.full(len(collapsed.nodes.node), -1, dtype=np.int64)

    def given(self, leaves: Leaves) -> list[tuple[IntArray, IntArray, FloatArray]]:
        """Leaves of one group by what they look like: which, their nodes [n, k] and the table given those."""
        inner = self.node[leaves.others]
        for variable in distinct(inner.ravel()):
            if self.pattern[variable] < 0:
                self.pattern[variable] = self._pattern(int(variable))
        node = self.reduced.nodes.node[inner]
        order = np.argsort(node, axis=1, kind="stable")
        first, kind = unique_rows(np.concatenate([self.pattern[inner], order, node < 0], axis=1))
        out = []
        for i, example in enumerate(first.tolist()):
            members = np.flatnonzero(kind == i)
            table = leaves.conditional
            for axis, p in enumerate(self.pattern[inner[example]].tolist()):
                table = np.moveaxis(np.tensordot(self.maps[p], table, axes=(1, axis)), 0, axis)
            table = table.transpose(*order[example].tolist(), -1 % table.ndim)
            gone = int((node[example] < 0).sum())  # first in order, of one state
            table = np.ascontiguousarray(table.reshape(table.shape[gone:]))
            nodes = np.take_along_axis(node[members], order[members], axis=1)[:, gone:]
            if (table == table.reshape(-1, table.shape[-1])[0]).all():
                table, nodes = table.reshape(-1, table.shape[-1])[0], nodes[:, :0]
            out.append((members, nodes, table))
        return out

    def _pattern(self, variable: int) -> int:
        state, count = self.reduced.state_map(variable)
        number = self.known.setdefault(state.tobytes(), len(self.maps))
        if number == len(self.maps):
            self.maps.append((state == np.arange(state.max() + 1)[:, None]) / count)
        return number
