"""Automorphism groups and canonical forms of coloured graphs: the door to pynauty and pybliss.

pynauty is an extra, since installing it needs a compiler; without it pybliss finds the same groups.
"""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

import numpy as np

from plx.graph.model import Int32Array
from plx.graph.ragged import owners
from plx.lift.limits import DENSE_LIMIT
from plx.values import IntArray


class Automorphisms(NamedTuple):
    """Generators [g, n] as images of the vertices, and the exact order of the group."""

    generators: Int32Array
    order: int


MISSING = "pybliss is not installed: only such symmetries are found as are seen without a search"
"""What is said of a search without a solver."""


class SearchStoppedError(Exception):
    """The solver was given up: its time was over, or its memory."""


def automorphisms(
    start: IntArray,
    neighbor: Int32Array,
    color: IntArray,
    seconds: float = 60.0,
    solver: Literal["auto", "pynauty", "pybliss"] = "auto",
) -> Automorphisms:
    """The automorphism group of a coloured graph, given as sorted neighbour lists.

    Raises SearchStopped past ``seconds`` (pybliss only) or past memory.
    """
    if solver == "auto":
        solver = "pynauty" if len(color) <= DENSE_LIMIT and installed() else "pybliss"
        if solver == "pybliss" and not installed("pybliss"):
            raise SearchStoppedError(MISSING)
    try:
        if solver == "pynauty":
            return _with_pynauty(start, neighbor, color)
        return _with_pybliss(start, neighbor, color, seconds)
    except MemoryError as error:
        raise SearchStoppedError("not enough memory for the search for symmetries") from error


def installed(solver: Literal["pynauty", "pybliss"] = "pynauty") -> bool:
    """Whether a solver is there: by default that of the extra ``plx[nauty]``."""
    return find_spec(solver) is not None


def canonical_labelling(start: IntArray, neighbor: Int32Array, color: IntArray) -> IntArray:
    """New number of each vertex, such that isomorphic graphs become equal. Colours must be dense.

    It needs pybliss.
    """
    import pybliss

    found = _bliss_graph(start, neighbor, color).get_permutation_to_canonical_form(pybliss.Stats())
    return np.asarray(found, dtype=np.int64)


def _with_pynauty(start: IntArray, neighbor: Int32Array, color: IntArray) -> Automorphisms:
    import pynauty

    n = len(color)
    adjacency = {v: neighbor[start[v] : start[v + 1]].tolist() for v in range(n)}
    order = np.argsort(color, kind="stable")
    cells = np.split(order, np.flatnonzero(np.diff(color[order])) + 1)
    graph = pynauty.Graph(n, adjacency_dict=adjacency, vertex_coloring=[set(c.tolist()) for c in cells])
    generators, mantissa, exponent, *_ = pynauty.autgrp(graph)
    size = round(mantissa * 10.0**exponent) if exponent < 15 and mantissa * 10.0**exponent < 2**50 else 0
    if not size:  # past what a double holds exactly
        return _with_pybliss(start, neighbor, color, np.inf)
    return Automorphisms(np.array(generators, dtype=np.int32).reshape(-1, n), size)


def _with_pybliss(start: IntArray, neighbor: Int32Array, color: IntArray, seconds: float) -> Automorphisms:
    import pybliss

    generators: list[Int32Array] = []
    stopped = False
    deadline = time.monotonic() + seconds

    def found(_: int, image: Int32Array) -> None:
        generators.append(image.astype(np.int32))

    def over() -> bool:
        nonlocal stopped
        stopped = time.monotonic() > deadline
        return stopped

    stats = pybliss.Stats()
    _bliss_graph(start, neighbor, color).find_automorphisms(stats, found, over)
    if stopped:
        raise SearchStoppedError("the solver for symmetries ran out of time")
    return Automorphisms(np.array(generators, dtype=np.int32).reshape(-1, len(color)), int(stats.group_size))


def _bliss_graph(start: IntArray, neighbor: Int32Array, color: IntArray) -> Any:
    import pybliss

    graph = pybliss.Graph(0)
    for c in color.tolist():
        graph.add_vertex(c)
    left = owners(start)
    once = left < neighbor
    for a, b in zip(left[once].tolist(), neighbor[once].tolist(), strict=True):
        graph.add_edge(a, b)
    return graph
