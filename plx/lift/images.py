"""What becomes of a query under a symmetry: its nodes, moved."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from plx.graph.model import FactorGraph, Int32Array
from plx.graph.ragged import starts
from plx.lift.group import Group
from plx.lift.limits import IMAGE_WORK
from plx.values import IntArray


@dataclass(frozen=True)
class MovedVariable:
    """Variable ``variable``; its state ``state[s]`` stands where state s of the original one stood."""

    variable: int
    state: tuple[int, ...]


@dataclass(frozen=True)
class MovedCount:
    """A derived node over variables, each of its inputs as (variable, contribution per state)."""

    card: int
    output: tuple[int, ...]
    inputs: frozenset[tuple[int, tuple[int, ...]]]


@dataclass(frozen=True)
class FixedNode:
    """A derived node that reads derived nodes; it is taken only where it is."""

    node: int


Moved = MovedVariable | MovedCount | FixedNode
Image = tuple[Moved, ...]


class Images:
    """Finds images of tuples of nodes under a group that acts on the pairs of a graph."""

    def __init__(self, graph: FactorGraph, group: Group) -> None:
        self.graph = graph
        self.start = starts(graph.card[: graph.n_variables])
        self.variable = np.repeat(np.arange(graph.n_variables), graph.card[: graph.n_variables])
        self.generators: list[tuple[IntArray, IntArray]] = []
        for points, images in group.generators():
            order = np.argsort(points)
            self.generators.append((points[order], images[order]))
        owner = np.repeat(np.arange(len(self.generators)), [len(points) for points, _ in self.generators])
        moved = np.concatenate([points for points, _ in self.generators] or [np.empty(0, dtype=np.int64)])
        by_variable = np.argsort(self.variable[moved], kind="stable")
        self.movers = owner[by_variable]
        self.mover_start = starts(np.bincount(self.variable[moved], minlength=graph.n_variables))

    def of(self, nodes: tuple[int, ...], most: int) -> list[Image]:
        """Up to ``most`` distinct images of some nodes, themselves first."""
        first = tuple(self._node(node) for node in nodes)
        found = {first: None}
        queue = deque([first])
        work = 0
        while queue and len(found) < most and work < IMAGE_WORK:
            image = queue.popleft()
            for generator in self._movers(image):
                work += sum(len(m.inputs) if isinstance(m, MovedCount) else 1 for m in image)
                moved = tuple(self._move(item, *self.generators[generator]) for item in image)
                if moved not in found and len(found) < most and work < IMAGE_WORK:
                    found[moved] = None
                    queue.append(moved)
        return list(found)

    def _node(self, node: int) -> Moved:
        graph = self.graph
        if node < graph.n_variables:
            return MovedVariable(node, tuple(range(int(graph.card[node]))))
        return content_of(graph, node) or FixedNode(node)

    def _movers(self, image: Image) -> list[int]:
        """The generators that move a pair of these nodes; none if a node must stay."""
        variables: set[int] = set()
        for item in image:
            if isinstance(item, FixedNode):
                return []
            variables |= {item.variable} if isinstance(item, MovedVariable) else {i for i, _ in item.inputs}
        found = {
            int(g) for v in variables for g in self.movers[self.mover_start[v] : self.mover_start[v + 1]]
        }
        return sorted(found)

    def _move(self, item: Moved, points: IntArray, images: IntArray) -> Moved:
        if isinstance(item, MovedVariable):
            pairs = self._image(self.start[item.variable] + np.array(item.state), points, images)
            variable = int(self.variable[pairs[0]])
            return MovedVariable(variable, tuple((pairs - self.start[variable]).tolist()))
        if isinstance(item, FixedNode):
            return item
        inputs = []
        for v, vector in item.inputs:
            pairs = self._image(np.arange(self.start[v], self.start[v + 1]), points, images)
            variable = int(self.variable[pairs[0]])
            moved = np.empty(len(vector), dtype=np.int64)
            moved[pairs - self.start[variable]] = vector
            inputs.append((variable, tuple(moved.tolist())))
        return replace(item, inputs=frozenset(inputs))

    def _image(self, pairs: IntArray, points: IntArray, images: IntArray) -> IntArray:
        place = np.minimum(np.searchsorted(points, pairs), len(points) - 1)
        return np.where(points[place] == pairs, images[place], pairs)


def content_of(graph: FactorGraph, node: int) -> MovedCount | None:
    """A derived node as what it reads; None if it reads derived nodes."""
    inputs, vectors = graph.inputs_of(node - graph.n_variables)
    if (inputs >= graph.n_variables).any():
        return None
    content = (
        (int(i), tuple(graph.contribution_of(k).tolist())) for i, k in zip(inputs, vectors, strict=True)
    )
    output = tuple(graph.output_map(node - graph.n_variables).tolist())
    return MovedCount(int(graph.card[node]), output, frozenset(content))


def with_nodes(
    graph: FactorGraph, wanted: list[MovedCount], known: dict[MovedCount, int]
) -> tuple[FactorGraph, dict[MovedCount, int]]:
    """The graph with these derived nodes, those not ``known`` added at its end, and their numbers."""
    known = dict(known)
    fresh = [item for item in dict.fromkeys(wanted) if item not in known]
    for place, item in enumerate(fresh):
        known[item] = graph.n_nodes + place
    return _extended(graph, fresh), known


def _extended(graph: FactorGraph, fresh: list[MovedCount]) -> FactorGraph:
    """The graph with more derived nodes at its end."""
    if not fresh:
        return graph
    vectors = _Numbers(graph.contribution, graph.contribution_start)
    maps = _Numbers(graph.output, graph.output_start)
    inputs = [sorted(item.inputs) for item in fresh]
    node = [variable for part in inputs for variable, _ in part]
    vector = [vectors.number(content) for part in inputs for _, content in part]
    output_of = [maps.number(item.output) for item in fresh]
    contribution_start, contribution = vectors.arrays()
    output_start, output = maps.arrays()
    count = np.cumsum([len(part) for part in inputs])
    return graph._replace(
        card=np.concatenate([graph.card, np.array([item.card for item in fresh], dtype=np.int32)]),
        input_start=np.concatenate([graph.input_start, graph.input_start[-1] + count]),
        input_node=np.concatenate([graph.input_node, np.array(node, dtype=np.int32)]),
        input_contribution=np.concatenate([graph.input_contribution, np.array(vector, dtype=np.int32)]),
        contribution_start=contribution_start,
        contribution=contribution,
        output_of=np.concatenate([graph.output_of, np.array(output_of, dtype=np.int32)]),
        output_start=output_start,
        output=output,
    )


class _Numbers:
    """Vectors stored one after the other; new ones are added at the end."""

    def __init__(self, flat: Int32Array, start: IntArray) -> None:
        self.flat, self.start = flat, start
        parts = np.split(flat, start[1:-1]) if len(start) > 1 else []
        self.known = {tuple(part.tolist()): i for i, part in enumerate(parts)}
        self.added: list[tuple[int, ...]] = []

    def number(self, vector: tuple[int, ...]) -> int:
        if vector not in self.known:
            self.known[vector] = len(self.known)
            self.added.append(vector)
        return self.known[vector]

    def arrays(self) -> tuple[IntArray, Int32Array]:
        sizes = np.cumsum([len(vector) for vector in self.added], dtype=np.int64)
        more = np.array([x for vector in self.added for x in vector], dtype=np.int32)
        return np.concatenate([self.start, self.start[-1] + sizes]), np.concatenate([self.flat, more])
