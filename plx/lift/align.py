"""Isomorphic components matched vertex by vertex, most of them without a solver."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from plx.graph.ragged import entries_of, owners
from plx.graph.rows import equal_rows, unique_keys, unique_rows
from plx.lift.automorphism import canonical_labelling, installed
from plx.lift.limits import ALIGN_WORK, SOLVER_CALLS
from plx.lift.refine import Subgraph, induced, refine
from plx.values import IntArray


def align(part: Subgraph, vertices: IntArray) -> Iterator[IntArray]:
    """Classes of isomorphic components, as rows of matched vertices.

    ``vertices`` [m, s] are components of one size in a part with stable colours, each ordered by
    colour. Yields arrays [k, s]: place by place, mapping row to row is an isomorphism. Components
    that are not recognised as isomorphic come in different classes, which is safe.
    """
    first, group = unique_rows(part.color[vertices])
    discrete = (np.diff(part.color[vertices[first]], axis=1) != 0).all(axis=1)
    size = np.bincount(group)
    several = (size > 1) & ~discrete
    for g in np.flatnonzero(~several):
        yield vertices[group == g]
    if several.any():
        rows = several[group]
        yield from _individualise(part, vertices[rows], group[rows])


def _individualise(part: Subgraph, vertices: IntArray, group: IntArray) -> Iterator[IntArray]:
    """Fix one vertex after another in every component at once, until all vertices differ; then compare."""
    m, s = vertices.shape
    whole = induced(part, vertices.ravel())
    color = whole.color.reshape(m, s)
    order = np.tile(np.arange(s), (m, 1))  # places by colour
    work = 0
    while work < ALIGN_WORK:
        ordered = np.take_along_axis(color, order, axis=1)
        repeated = ordered[:, 1:] == ordered[:, :-1]
        open_ = repeated.any(axis=1)
        if not open_.any():
            break
        row = np.flatnonzero(open_)
        chosen = order[row, repeated[row].argmax(axis=1)]
        marked = 2 * color
        marked[row, chosen] += 1
        _, dense = unique_keys(marked.ravel())
        color = refine(whole.start, whole.neighbor, dense).reshape(m, s)
        order = np.argsort(color, axis=1, kind="stable")
        work += len(whole.neighbor) + len(dense)
    for g in np.unique(group):
        mine = np.flatnonzero(group == g)
        classes = (
            _equal_rows(whole, color, order, mine)
            if work < ALIGN_WORK
            else [mine[[i]] for i in range(len(mine))]
        )
        matched = [np.take_along_axis(vertices[c], order[c], axis=1) for c in classes]
        yield from _merge_by_solver(part, matched)


def _equal_rows(whole: Subgraph, color: IntArray, order: IntArray, rows: IntArray) -> list[IntArray]:
    """Components (rows) whose colours and edges agree place by place."""
    m, s = color.shape
    rank = np.empty((m, s), dtype=np.int64)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(s), (m, s)), axis=1)
    vertex = (rows[:, None] * s + np.arange(s)).ravel()
    edge, of = entries_of(whole.start, vertex)
    flat = rank.ravel()
    key = flat[vertex[of]] * s + flat[whole.neighbor[edge]]
    _, component = unique_keys(vertex[of] // s)
    sorted_ = np.lexsort((key, component))
    count = np.bincount(component, minlength=len(rows))
    if (count != count[0]).any():
        return [rows[[i]] for i in range(len(rows))]
    edges = key[sorted_].reshape(len(rows), -1)
    colors = np.take_along_axis(color[rows], order[rows], axis=1)
    return [rows[alike] for alike in equal_rows(np.concatenate([colors, edges], axis=1))]


def _merge_by_solver(part: Subgraph, classes: list[IntArray]) -> Iterator[IntArray]:
    """Classes whose representatives have one canonical form become one."""
    if len(classes) == 1 or len(classes) > SOLVER_CALLS or not installed("pybliss"):
        yield from classes
        return
    merged: dict[bytes, list[IntArray]] = {}
    for rows in classes:
        one = induced(part, rows[0])
        label = canonical_labelling(one.start, one.neighbor, one.color)
        place = np.argsort(label)
        left = owners(one.start)
        edges = np.sort(label[left] * len(label) + label[one.neighbor])
        key = part.color[rows[0]][place].tobytes() + edges.tobytes()
        merged.setdefault(key, []).append(rows[:, place])
    for group in merged.values():
        yield np.concatenate(group)
