"""Unknowns that the reduced group permutes in all ways, though they stand for more or fewer values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from plx.graph.ragged import owners
from plx.lift.group import Group
from plx.lift.layers import Layer
from plx.lift.limits import LARGEST_SET
from plx.lift.structure import full_orbits
from plx.values import FloatArray, IntArray


class ExchangeableSet(NamedTuple):
    """n unknowns; given how many are in the state of column 1, the orbit decides which, by the odds alone."""

    points: IntArray  # [n, 2] the two states of each unknown, matched
    log_odds: FloatArray  # [n] log weight of column 1 less that of column 0


def exchangeable_sets(group: Group, start: IntArray, weight: FloatArray) -> list[ExchangeableSet]:
    """The slots of a group on the points ``start[i] + state`` of variables i with these log weights.

    A piece of the group has a slot if the weights of everything else that it moves stay as they are.
    Each unknown is of one slot at most, the larger one where there are several.
    """
    taken = np.zeros(len(weight), dtype=bool)
    found = []
    for slot in sorted(_slots(group, start, weight), key=lambda slot: -len(slot.points)):
        if not taken[slot.points].any():
            taken[slot.points] = True
            found.append(slot)
    return found


def _slots(group: Group, start: IntArray, weight: FloatArray) -> Iterator[ExchangeableSet]:
    variable = owners(start)
    binary = np.diff(start)[variable] == 2
    known: dict[bytes, list[IntArray]] = {}
    for layer in group.layers:
        if np.ptp(weight[layer.points]) == 0:
            continue
        pattern = np.unique(variable[layer.points[0]], return_inverse=True)[1]
        content = layer.generators.tobytes() + pattern.tobytes()
        if layer.is_symmetric or content not in known:
            known[content] = list(_columns(layer, variable))
        for columns in known[content]:
            for points in layer.points.reshape(len(layer.points), -1)[:, columns]:
                if len(points) <= LARGEST_SET and binary[points].all() and _alone(layer, points, weight):
                    log_odds = weight[points[:, 1]] - weight[points[:, 0]]
                    if np.ptp(log_odds) > 0:
                        yield ExchangeableSet(points, log_odds)


def _columns(layer: Layer, variable: IntArray) -> Iterator[IntArray]:
    """Places [n, 2], in a flattened copy, of unknowns that the layer permutes in all ways."""
    first = layer.points[0]
    if not layer.is_symmetric:
        yield from (places for places in full_orbits(layer, variable[first[0]]) if places.shape[1] == 2)
        return
    blocks, width = first.shape
    unknown = variable[first[0]]
    for u in np.unique(unknown):
        place = np.flatnonzero(unknown == u)
        if len(place) == 2:
            yield np.arange(blocks)[:, None] * width + place


def _alone(layer: Layer, points: IntArray, weight: FloatArray) -> bool:
    """Whether weights change under the layer at these points only."""
    copy = layer.points[(layer.points == points[0, 0]).any(axis=(1, 2))][0]
    others = weight[copy].copy()
    others[np.isin(copy, points)] = 0.0
    if layer.is_symmetric:
        return bool((others == others[0]).all())
    return bool((others[0][layer.generators] == others[0]).all())


def conditional_bernoulli(log_odds: FloatArray, members: IntArray | None = None) -> FloatArray:
    """The joint states of some unknowns given how many of all n are chosen, shape [m, 2^k, n + 1].

    ``members`` [m, k] are the unknowns of each tuple, different ones, all alone if it is left out; states
    in C order, 1 for chosen. Sets of j are drawn in proportion to the product of their odds o, so the
    members of A, and no others of the tuple T, are chosen with probability Π_{i in A} o_i ·
    e_{j-|A|}(o without T) / e_j(o), with e the elementary symmetric polynomials. (For k = 1 that is π of
    docs/lifting.md.)
    """
    n = len(log_odds)
    if members is None:
        members = np.arange(n)[:, None]
    m, k = members.shape
    odds = np.exp(log_odds - log_odds.mean())
    inside = np.zeros((m, n), dtype=bool)
    np.put_along_axis(inside, members, True, axis=1)
    without, whole = np.zeros((m, n + 1)), np.zeros(n + 1)
    without[:, 0] = whole[0] = 1.0
    for i in range(n):
        without[:, 1:] += np.where(inside[:, i], 0.0, odds[i])[:, None] * without[:, :-1]
        whole[1:] += odds[i] * whole[:-1]
    out = np.zeros((m, 2**k, n + 1))
    for state in range(2**k):
        chosen = [bool(state >> (k - 1 - i) & 1) for i in range(k)]
        size = sum(chosen)
        out[:, state, size:] = odds[members[:, chosen]].prod(axis=1)[:, None] * without[:, : n + 1 - size]
    return out / whole
