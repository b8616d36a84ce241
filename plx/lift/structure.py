"""Recognising what a generated layer does: does it permute some of its unknowns in all ways?"""

from __future__ import annotations

import math

import numpy as np

from plx.graph.components import component_numbers
from plx.graph.ragged import starts
from plx.lift.layers import Layer
from plx.lift.limits import LARGEST_ORBIT
from plx.lift.schreier_sims import GroupTooLargeError, stabiliser_chain
from plx.values import IntArray


def full_orbits(layer: Layer, variable: IntArray) -> list[IntArray]:
    """Orbits of unknowns that the group of a generated layer permutes in all ways, as places.

    ``variable`` [width] says which unknown each place of the layer belongs to. An orbit is returned as
    places [n, states]: place by place, the states of its unknowns are matched. Orbits in which some
    element maps an unknown to itself but moves its states are left out.
    """
    n = len(variable)
    left = np.tile(np.arange(n), len(layer.generators))
    orbit = component_numbers(n, left, layer.generators.ravel())
    found = []
    order = np.lexsort((np.arange(n), orbit))
    size = np.bincount(orbit)
    begin = starts(size)
    by_unknowns: dict[tuple[int, ...], list[IntArray]] = {}
    for o in np.flatnonzero((size > 1) & (size <= LARGEST_ORBIT)):
        places = order[begin[o] : begin[o] + size[o]]
        unknowns = variable[places]
        if len(np.unique(unknowns)) == len(places):  # one state of each unknown
            rank = np.argsort(unknowns)
            by_unknowns.setdefault(tuple(unknowns[rank].tolist()), []).append(places[rank])
    for columns in by_unknowns.values():
        if _permutes_fully(layer, columns[0]):
            found.append(np.stack(columns, axis=1))
    return found


def _permutes_fully(layer: Layer, places: IntArray) -> bool:
    """Whether the group acts on these places, an orbit, as the symmetric group."""
    rank = np.full(layer.points.shape[2], -1, dtype=np.int32)
    rank[places] = np.arange(len(places))
    action = rank[layer.generators[:, places]]
    action = action[(action != np.arange(len(places))).any(axis=1)]
    if layer.order % math.factorial(len(places)):
        return False
    if len(places) == 2:
        return True
    try:
        return stabiliser_chain(action).order == math.factorial(len(places))
    except GroupTooLargeError:
        return False
