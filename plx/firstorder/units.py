"""What the rules say of one element alone, and of two together: log weights of their states."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from plx.firstorder.exact.ratio import log_sum
from plx.firstorder.limits import MOST_CELLS, MOST_GLOBAL, MOST_PAIR
from plx.firstorder.local import Local, Table, allowed, states_of, tuples
from plx.firstorder.refusal import NotLiftableError, shown
from plx.firstorder.rules import Part
from plx.graph.components import component_numbers
from plx.values import FloatArray, IntArray

LongArray = npt.NDArray[np.longdouble]
"""Log weights of pairs: each occurs up to n² times, and so does what is rounded off."""

States = dict[int, IntArray]
"""The state of each node in each joint state, in C order."""


class Units:
    """The tables of one element, of two, and of none, among a few elements.

    Shapes are [G, …]: G joint states of the unknowns that are about no element, then the states (*cells*) of
    each element.
    """

    def __init__(self, local: Local, parts: Sequence[Part]) -> None:
        self.local, self.parts = local, tuple(parts)
        self._placed: dict[tuple[int, tuple[int, ...]], list[Table]] = {}
        self._cells: dict[int, tuple[int, States]] = {}
        self._joints: dict[tuple[int, int], tuple[FloatArray, list[int]]] = {}
        nodes = local.of()
        _refuse_many(local, nodes, MOST_GLOBAL, "unknowns that are about no one in particular")
        self.global_size, self._global = states_of(local, nodes)
        self._global_nodes = nodes

    def alone(self) -> FloatArray:
        """The log weight [G] of what is about no element."""
        logs = allowed(self.local, self._global_nodes, self._global)
        total = np.zeros(self.global_size) + logs
        for table in self._tables():
            total = total + table.at(dict(self._global))
        return total

    def cells(self, element: int) -> tuple[int, States]:
        """The joint states of the unknowns of an element, without evidence."""
        if element not in self._cells:
            nodes = self.local.of(element)
            _refuse_many(self.local, nodes, MOST_CELLS, "unknowns of one member")
            self._cells[element] = states_of(self.local, nodes)
        return self._cells[element]

    def own(self, element: int) -> FloatArray:
        """The log weight [G, C] of each cell of an element."""
        size, states = self.cells(element)
        total = np.zeros((self.global_size, size)) + allowed(self.local, self.local.of(element), states)
        where = self.axes([states])
        for table in self._tables(element):
            total = total + table.at(where)
        return total

    def pair(self, a: int, b: int, labels: Sequence[tuple[Table, int]] = ()) -> LongArray:
        """The log weight [G, Ca, Cb, M] of two cells, what the two share summed out.

        ``labels`` are tables of numbers from 0, each with how many there are: M are their combinations, in C
        order, and weights of states are added by them.
        """
        found, weight = self._shared(a, b, labels)
        first = self.axes([self.cells(a)[1], self.cells(b)[1]])
        count = math.prod(m for _, m in labels)
        shape = self.global_size, self.cells(a)[0], self.cells(b)[0], 1
        total: LongArray = np.zeros(shape, dtype=self.local.rules.long) + weight
        for nodes, tables in found:
            size, where = self._component(nodes, first, total.shape)
            logs: LongArray = np.zeros((1, 1, 1, size), dtype=self.local.rules.long)
            logs = logs + allowed(self.local, nodes, where)
            for table in tables:
                logs = logs + table.at(self._axes_last(first, where))
            if labels and (nodes == found[0][0]):
                total = total + _by_label(logs, self._codes(labels, first, where), count)
            else:
                total = total + log_sum(logs, axis=3, keepdims=True)
        return total

    def labelled(self, a: int, b: int, labels: Sequence[tuple[Table, int]]) -> IntArray:
        """The label [G, Ca, Cb, R], as in `pair`, of two cells and of what the two share; axes may be 1."""
        first = self.axes([self.cells(a)[1], self.cells(b)[1]])
        return self._codes(labels, first, states_of(self.local, self.local.of(a, b))[1])

    def joint(self, a: int, b: int) -> tuple[FloatArray, list[int]]:
        """The log weight [G, Ca, Cb, R] of two cells and of what the two share, and which nodes R is of."""
        if (a, b) not in self._joints:
            self._joints[a, b] = self._joint(a, b)
        return self._joints[a, b]

    def _joint(self, a: int, b: int) -> tuple[FloatArray, list[int]]:
        nodes = self.local.of(a, b)
        first = self.axes([self.cells(a)[1], self.cells(b)[1]])
        shape = (self.global_size, self.cells(a)[0], self.cells(b)[0])
        size, where = self._component(nodes, first, shape)
        logs = np.zeros((*shape, size)) + allowed(self.local, nodes, where)
        for table in self._tables(a, b):
            logs = logs + table.at(self._axes_last(first, where))
        return logs, nodes

    def global_table(self, table: Table) -> IntArray:
        """The entries [G] of a table over unknowns that are about no element."""
        if any(node not in self._global for node in table.nodes):
            raise NotLiftableError("a rule about a count is about a member by name too")
        found: IntArray = np.zeros(self.global_size, dtype=np.int64) + table.at(dict(self._global))
        return found

    # ------------------------------------------------------------------------ tables

    def _tables(self, *elements: int) -> Iterator[Table]:
        """The tables about exactly these elements."""
        for number, part in enumerate(self.parts):
            count = len(part.variables)
            for chosen in [()] if count == 0 else tuples(elements, count) if elements else ():
                yield from self._mine(number, chosen, elements)
            if count == 1 and len(elements) == 2:
                for element in elements:
                    yield from self._mine(number, (element,), elements)

    def _mine(self, number: int, chosen: tuple[int, ...], elements: tuple[int, ...]) -> Iterator[Table]:
        """Of what a part says at some elements, what is about exactly ``elements``."""
        key = number, chosen
        if key not in self._placed:
            self._placed[key] = [*self.local.tables(self.parts[number], chosen)]
        for table in self._placed[key]:
            about = frozenset(chosen).union(*(self.local.nodes[node].elements for node in table.nodes))
            if len(about) > 2 or (len(chosen) == 2 and len(about) > len(set(chosen))):
                span = self.parts[number].task.source.span
                raise NotLiftableError(f"{shown(span)} is about two members and one by name", span)
            if about == frozenset(elements):
                yield table

    def _shared(
        self, a: int, b: int, labels: Sequence[tuple[Table, int]]
    ) -> tuple[list[tuple[list[int], list[Table]]], LongArray]:
        """The nodes that two elements share, in parts that no table joins, with the tables of each; and the
        weight of what is about their cells alone. What is labelled comes first."""
        nodes = self.local.of(a, b)
        place = {node: i for i, node in enumerate(nodes)}
        tables = [*self._tables(a, b)]
        groups = [[place[n] for n in table.nodes if n in place] for table in tables]
        marked = [place[n] for table, _ in labels for n in table.nodes if n in place]
        edges = [(g[0], other) for g in [*groups, marked] for other in g[1:]]
        left, right = (np.array([e[k] for e in edges], dtype=np.int64) for k in (0, 1))
        number = component_numbers(len(nodes), left, right)
        first = self.axes([self.cells(a)[1], self.cells(b)[1]])
        weight: LongArray = np.zeros((1, 1, 1, 1), dtype=self.local.rules.long)
        by_part: dict[int, tuple[list[int], list[Table]]] = {}
        if labels:
            by_part[int(number[marked[0]]) if marked else -1] = ([], [])
        for node, part in zip(nodes, number.tolist(), strict=True):
            by_part.setdefault(part, ([], []))[0].append(node)
        for table, group in zip(tables, groups, strict=True):
            if group:
                by_part[int(number[group[0]])][1].append(table)
            else:
                weight = weight + table.at(self._axes_last(first, {}))
        return [*by_part.values()], weight

    def _codes(self, labels: Sequence[tuple[Table, int]], first: States, where: States) -> IntArray:
        code = np.zeros((1, 1, 1, 1), dtype=np.int64)
        for table, count in labels:
            code = code * count + table.at(self._axes_last(first, where)).astype(np.int64)
        return code

    def _component(self, nodes: list[int], first: States, shape: tuple[int, ...]) -> tuple[int, States]:
        bits = sum(math.log2(self.local.nodes[node].card) for node in nodes) + sum(map(math.log2, shape))
        if bits > math.log2(MOST_PAIR):
            raise NotLiftableError(
                f"two members have about 10^{bits * math.log10(2):.0f} joint states together "
                f"(at most {MOST_PAIR:,} are taken)"
            )
        return states_of(self.local, nodes)

    def axes(self, cells: Sequence[States]) -> States:
        """States of global nodes and of the cells of elements, each along its own axis."""
        count = 1 + len(cells)
        where: States = {}
        for axis, states in enumerate([self._global, *cells]):
            shape = [1] * count
            for node, column in states.items():
                shape[axis] = len(column)
                where[node] = column.reshape(shape)
        return where

    @staticmethod
    def _axes_last(first: States, shared: States) -> States:
        """States along the first axes, and those of shared nodes along one more."""
        where = {node: column[..., None] for node, column in first.items()}
        where.update({node: column[None, None, None, :] for node, column in shared.items()})
        return where


def _by_label(logs: LongArray, code: IntArray, count: int) -> LongArray:
    """Log sums of the last axis by the label of its entries."""
    code = np.broadcast_to(code, np.broadcast_shapes(code.shape, logs.shape))
    logs = np.broadcast_to(logs, code.shape)
    parts = [np.where(code == label, logs, -np.inf) for label in range(count)]
    return np.stack([log_sum(part, axis=3) for part in parts], axis=3)


def _refuse_many(local: Local, nodes: Sequence[int], most: int, what: str) -> None:
    bits = sum(math.log2(local.nodes[node].card) for node in nodes)
    if bits > math.log2(most) + 1e-9:
        size = f"{2**bits:,.0f}" if bits < 40 else f"about 10^{bits * math.log10(2):.0f}"
        raise NotLiftableError(f"the {what} have {size} joint states (at most {most:,} are taken)")
