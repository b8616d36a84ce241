"""The automorphism group of a coloured graph, on its pairs, as layers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from plx import deadline
from plx.deadline import OutOfTimeError, within
from plx.graph.rows import unique_rows
from plx.lift.actions import symmetric_action
from plx.lift.align import align
from plx.lift.automorphism import MISSING, SearchStoppedError, automorphisms, installed
from plx.lift.coloring import ColoredGraph
from plx.lift.layers import Layer, generated, symmetric
from plx.lift.refine import Subgraph, induced, split, stable
from plx.lift.twins import twin_classes
from plx.values import IntArray

BoolArray = npt.NDArray[np.bool_]


def late(seconds: float) -> str:
    """What to say where symmetries are left out for lack of time."""
    return f"the search for symmetries took more than {seconds:.3g} seconds"


@dataclass
class Search:
    """One search, of about ``seconds`` at most.

    ``notes`` says what was given up; then the layers make a subgroup.
    """

    graph: ColoredGraph
    seconds: float = 60.0
    notes: list[str] = field(default_factory=list)

    def run(self) -> list[Layer]:
        """Layers over the pairs; their product is the group."""
        self._solved: dict[bytes, list[Layer]] = {}
        graph = self.graph
        everything = np.arange(graph.n_vertices)
        whole = Subgraph(graph.start, graph.neighbor, graph.color, everything)
        with within(self.seconds):
            layers = self._explore(whole, everything < graph.n_pairs)
        self.notes = list(dict.fromkeys(self.notes))
        found = (_on_pairs(layer, graph.n_pairs) for layer in layers)
        return [layer for layer in found if layer is not None]

    def _explore(self, part: Subgraph, is_pair: BoolArray) -> list[Layer]:
        """Layers over ``part.origin``: all permutations of isomorphic components, and each inside; those
        that are found in time."""
        layers: list[Layer] = []
        try:
            self._explore_onto(layers, stable(part), is_pair)
        except OutOfTimeError:
            self.notes.append(late(self.seconds))
        return layers

    def _explore_onto(self, layers: list[Layer], part: Subgraph, is_pair: BoolArray) -> None:
        """Add to the layers of a part with stable colours."""
        for vertices in split(part):
            if vertices.shape[1] == 1 and np.bincount(part.color[vertices[:, 0]]).max() == 1:
                continue
            aligned = list(align(part, vertices))
            if len(aligned) > 1 and not installed("pybliss"):
                self.notes.append(MISSING)
            for rows in aligned:
                origin = part.origin[rows]
                if len(rows) > 1:
                    layers.append(symmetric(origin))
                if (np.diff(part.color[rows[0]]) == 0).any():
                    one = induced(part, rows[0])._replace(origin=np.arange(rows.shape[1]))
                    layers += [layer.on(origin) for layer in self._solve(one, is_pair[rows[0]])]

    def _solve(self, part: Subgraph, is_pair: BoolArray) -> list[Layer]:
        """A connected component with ``origin`` 0, 1, …; one that was met before need not be solved again.

        Components that differ in colours alone (one weight per student, say) are equal here.
        """
        content = part.start.tobytes() + part.neighbor.tobytes() + part.color.tobytes() + is_pair.tobytes()
        if content not in self._solved:
            self._solved[content] = self._solve_new(part, is_pair)
        return self._solved[content]

    def _solve_new(self, part: Subgraph, is_pair: BoolArray) -> list[Layer]:
        """All permutations of the twins, and what is left once they are told apart.

        Twins are marked by their place in their class, so that classes may still be exchanged.
        """
        if self._late():
            return []
        twins = twin_classes(part, is_pair)
        if twins:
            return [symmetric(blocks) for blocks in twins] + self._told_apart(part, twins, is_pair)
        action = None if self._late() else symmetric_action(part, is_pair)
        if action is None:
            return self._ask_solver(part)
        order = math.factorial(len(action.blocks))
        acting = generated(part.origin, action.generators, order)
        return [acting, *self._told_apart(part, [action.blocks], is_pair)]

    def _told_apart(self, part: Subgraph, classes: list[IntArray], is_pair: BoolArray) -> list[Layer]:
        """What is left of a component when the blocks of each class are numbered."""
        mark = np.zeros(len(part.color), dtype=np.int64)
        for blocks in classes:
            mark[blocks] = 1 + np.arange(len(blocks))[:, None]
        _, color = unique_rows(np.stack([part.color, mark], axis=1))
        return self._explore(part._replace(color=color), is_pair)

    def _late(self) -> bool:
        """Whether the time is over; then what is left is not looked at."""
        is_late = deadline.over()
        if is_late:
            self.notes.append(late(self.seconds))
        return is_late

    def _ask_solver(self, part: Subgraph) -> list[Layer]:
        if self._late():
            return []
        try:
            found = automorphisms(part.start, part.neighbor, part.color, deadline.seconds_left())
        except SearchStoppedError as stopped:
            self.notes.append(str(stopped))
            return []
        return [generated(part.origin, found.generators, found.order)] if len(found.generators) else []


def _on_pairs(layer: Layer, n_pairs: int) -> Layer | None:
    """The layer without the places that are no pairs; None if it moves no pair."""
    kept = np.flatnonzero(layer.points[0, 0] < n_pairs)
    if not len(kept):
        return None
    if layer.is_symmetric:
        return Layer(layer.points[:, :, kept])
    place = np.full(layer.points.shape[2], -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    generators = place[layer.generators[:, kept]]
    moving = (generators != np.arange(len(kept))).any(axis=1)
    if not moving.any():
        return None
    return Layer(layer.points[:, :, kept], generators[moving], layer.order)
