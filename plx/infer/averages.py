"""Averages over orbits: from counts over a reduced model to estimates for the given one.

A symmetry of the distribution maps a query to one of the same probability, so the counts of all of
them may be averaged. That is linear in the counts, so it is done once, to the counts of a batch,
and costs the chain nothing. Averaging over an orbit is a conditional expectation: it never has more
variance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from plx.ground.graph import FactorGraph, GroundModel, GroundQuery, Target
from plx.ground.rows import segments, starts
from plx.infer.compiled import targets_of
from plx.infer.orbit_kernels import add_pools
from plx.lift.images import Image, Images, Moved, MovedCount, MovedVariable, content_of, with_nodes
from plx.lift.reduced import Reduced
from plx.lift.slots import Slot, occupancy
from plx.lift.symmetry import Symmetry
from plx.values import FloatArray, IntArray

_IMAGES = 64
"""Images of a formula or a tuple of unknowns that are counted with it."""


@dataclass(frozen=True)
class Averages:
    """``model`` records what the averages need.

    Pool k is Σ ``weight[e]`` · counts[``source[e]``] over e in ``start[k] … start[k + 1]``; the estimate
    for state t of the given model's targets is ``share[t]`` · pool ``pool[t]``, or ``share[t]`` times all
    draws where ``pool[t]`` is -1. ``pooled[t]`` is the number of counts behind it.
    """

    model: GroundModel
    source: IntArray
    weight: FloatArray
    start: IntArray
    pool: IntArray
    share: FloatArray
    pooled: FloatArray

    def apply(self, counts: npt.NDArray[Any], draws: int) -> FloatArray:
        """Counts [chains, Σ states of the targets], from those of ``model``, after ``draws`` draws."""
        pools = np.full((len(self.start), len(counts)), float(draws))
        kind = np.int32 if np.issubdtype(counts.dtype, np.integer) else np.float64
        by_state = np.require(counts.T, kind, "C")
        add_pools(by_state, self.source, self.weight, self.start, pools)
        estimates: FloatArray = pools[self.pool] * self.share[:, None]
        return estimates.T


def averages(reduced: Reduced, symmetry: Symmetry, slots: Sequence[Slot] = ()) -> Averages:
    """What to record on the reduced model and how to average it, for all queries of the given one.

    ``symmetry`` are symmetries of ``reduced.model``, over variables and values. Unknowns of ``slots`` are
    not counted themselves: how many of a slot are in their second state is, and `occupancy` says
    what that tells of each (estimate F1 of docs/lifting.md).
    """
    build = _Build(reduced, symmetry, slots)
    return build.finish()


class _Build:
    """Pools as they are asked for: orbits of pairs, and images of other targets."""

    def __init__(self, reduced: Reduced, symmetry: Symmetry, slots: Sequence[Slot]) -> None:
        self.reduced, self.symmetry, self.slots = reduced, symmetry, slots
        self.images = Images(reduced.model.graph, symmetry.group)
        self.joints: list[tuple[int, IntArray, list[Image]]] = []  # first pool, shape, images
        self.n_pools = 0
        targets = targets_of(reduced.given)
        self.pool = np.empty(targets.offset[-1], dtype=np.int64)
        self.share = np.empty(targets.offset[-1])
        n = reduced.given.graph.n_variables
        alone = np.array([len(nodes) == 1 and nodes[0] < n for nodes in targets.nodes], dtype=bool)
        variable = np.array(
            [nodes[0] for nodes in targets.nodes if len(nodes) == 1 and nodes[0] < n], dtype=np.int64
        )
        self._unknowns(variable, targets.offset[:-1][alone])
        for t in np.flatnonzero(~alone).tolist():
            part = slice(*targets.offset[t : t + 2])
            self.pool[part], self.share[part] = self._joint(targets.nodes[t])

    def _unknowns(self, variable: IntArray, begin: IntArray) -> None:
        """Targets of one unknown each, whose states begin at ``begin``: a pool per orbit of pairs."""
        reduced, orbit = self.reduced, self.symmetry.orbits
        card = reduced.given.graph.card[variable].astype(np.int64)
        out = segments(begin, card)
        state = reduced.quotient.state[segments(reduced.start[variable], card)]
        self.share[out] = 1.0 / reduced.quotient.multiplicity[state]
        node = np.repeat(reduced.node[variable], card)
        alive = node >= 0
        inner = self.symmetry.start[node[alive]] + state[alive]
        inner -= np.repeat(reduced.quotient.start[variable], card)[alive]
        self.pool_of_orbit = np.full(int(orbit.max(initial=-1)) + 1, -1, dtype=np.int64)
        used = np.unique(orbit[inner])
        self.pool_of_orbit[used] = self._new_pools(len(used)) + np.arange(len(used))
        self.pool[out] = -1
        self.pool[out[alive]] = self.pool_of_orbit[orbit[inner]]

    def _joint(self, nodes: tuple[int, ...]) -> tuple[IntArray, FloatArray]:
        """The pool and the share of each joint state of some nodes of the given model."""
        graph = self.reduced.model.graph
        share, pool, alive = np.ones(1), np.zeros(1, dtype=np.int64), []
        for node in nodes:
            state, count = self.reduced.state_map(node)
            each = np.divide(1.0, count, out=np.zeros(len(count)), where=count > 0)
            share = np.multiply.outer(share, each).ravel()
            inner = int(self.reduced.node[node])
            if inner >= 0:
                alive.append(inner)
                pool = np.add.outer(pool * graph.card[inner], state).ravel()
            else:
                pool = np.repeat(pool, len(state))
        if not alive:
            return np.full(len(share), -1), share
        shape = graph.card[alive].astype(np.int64)
        first = self._new_pools(int(shape.prod()))
        self.joints.append((first, shape, self.images.of(tuple(alive), _IMAGES)))
        return first + pool, share

    def _new_pools(self, n: int) -> int:
        self.n_pools += n
        return self.n_pools - n

    def finish(self) -> Averages:
        """The model that records all pools, and where they are in its counts."""
        orbit, start = self.symmetry.orbits, self.symmetry.start
        pool_of = self.pool_of_orbit
        slots = [slot for slot in self.slots if (pool_of[orbit[slot.points]] >= 0).any()]
        counted = pool_of[orbit] >= 0
        counted[[p for slot in slots for p in slot.points.ravel().tolist()]] = False
        pairs = np.flatnonzero(counted)
        variable = np.searchsorted(start, pairs, side="right") - 1
        recorded = np.unique(variable)
        tallies = [self._tally(slot) for slot in slots]
        graph, node_of = self._with_images(tallies)
        joint = [tuple(node_of(item) for item in image) for _, _, images in self.joints for image in images]
        nodes = [*zip(recorded.tolist()), *((node_of(tally),) for tally in tallies), *joint]
        model = replace(self.reduced.model, graph=graph, queries=_queries(nodes))
        targets = targets_of(model)
        offset = targets.offset[targets.of_query]
        place = np.zeros(len(start), dtype=np.int64)
        place[recorded] = offset[: len(recorded)]
        size = np.bincount(orbit)
        own = place[variable] + pairs - start[variable]
        after = len(recorded) + len(slots)
        entries = [
            (pool_of[orbit[pairs]], own, 1.0 / size[orbit[pairs]]),
            *self._slot_entries(slots, offset[len(recorded) : after], pool_of, size),
            *self._joint_entries(offset[after:]),
        ]
        pool, source, weight = (np.concatenate(part) for part in zip(*entries, strict=True))
        order = np.argsort(pool, kind="stable")
        return Averages(
            model=model,
            source=source[order],
            weight=weight[order],
            start=starts(np.bincount(pool, minlength=self.n_pools)),
            pool=self.pool,
            share=self.share,
            pooled=np.append(self._pooled(size), 1.0)[self.pool],
        )

    def _pooled(self, size: IntArray) -> FloatArray:
        """How many pairs, or images, are behind each pool."""
        out = np.ones(self.n_pools)
        used = self.pool_of_orbit >= 0
        out[self.pool_of_orbit[used]] = size[used]
        for first, shape, images in self.joints:
            out[first : first + int(shape.prod())] = len(images)
        return out

    def _tally(self, slot: Slot) -> MovedCount:
        """How many unknowns of a slot are in their second state."""
        variable = np.searchsorted(self.symmetry.start, slot.points[:, 1], side="right") - 1
        second = slot.points[:, 1] - self.symmetry.start[variable]
        inputs = ((v, (1 - s, s)) for v, s in zip(variable.tolist(), second.tolist(), strict=True))
        return MovedCount(len(second) + 1, tuple(range(len(second) + 1)), frozenset(inputs))

    def _slot_entries(
        self, slots: list[Slot], offset: IntArray, pool_of: IntArray, size: IntArray
    ) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """Pools, places and weights of the tallies of slots."""
        orbit = self.symmetry.orbits
        for slot, first in zip(slots, offset.tolist(), strict=True):
            second = occupancy(slot.log_odds)
            for points, chance in zip(slot.points.T, (1.0 - second, second), strict=True):
                for o in np.unique(orbit[points]):
                    if pool_of[o] >= 0:
                        weight = chance[orbit[points] == o].sum(axis=0) / size[o]
                        yield np.full(len(weight), pool_of[o]), first + np.arange(len(weight)), weight

    def _with_images(self, tallies: Sequence[MovedCount]) -> tuple[FactorGraph, Callable[[Moved], int]]:
        """The graph with all derived nodes that are images, and the number of each."""
        graph = self.reduced.model.graph
        asked = {t.node for q in self.reduced.model.queries for t in q.targets if t.node >= graph.n_variables}
        known = {content: node for node in sorted(asked) if (content := content_of(graph, node))}
        images = (item for _, _, images in self.joints for image in images for item in image)
        counts = [item for item in images if isinstance(item, MovedCount)]
        graph, known = with_nodes(graph, [*tallies, *counts], known)

        def node_of(item: Moved) -> int:
            if isinstance(item, MovedCount):
                return known[item]
            return item.variable if isinstance(item, MovedVariable) else item.node

        return graph, node_of

    def _joint_entries(self, offset: IntArray) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """Pools, places in the counts, and weights, of every image of every joint target."""
        place = iter(offset.tolist())
        for first, shape, images in self.joints:
            states = np.indices(shape.tolist()).reshape(len(shape), -1)
            pool = first + np.arange(states.shape[1])
            for image in images:
                moved = [
                    np.array(item.state)[s] if isinstance(item, MovedVariable) else s
                    for item, s in zip(image, states, strict=True)
                ]
                source = next(place) + np.ravel_multi_index(moved, tuple(shape))
                yield pool, source, np.full(len(pool), 1.0 / len(images))


def _queries(nodes: Sequence[tuple[int, ...]]) -> tuple[GroundQuery, ...]:
    """Queries that have these nodes counted together."""
    none = np.empty(0, dtype=np.int64)
    return tuple(
        GroundQuery("joint", "", "", tuple(Target(node, none) for node in part), (), None) for part in nodes
    )
