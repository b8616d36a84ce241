"""Averages over orbits: from counts over a reduced model to estimates for the original one.

A symmetry of the distribution maps a query to one of the same probability, so the counts of all of
them may be averaged. That is linear in the counts, so it is done once, to the counts of a batch,
and costs the chain nothing. Averaging over an orbit is a conditional expectation: it never has more
variance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph, GroundModel, GroundQuery, Target
from plx.graph.node_map import nodes_of
from plx.graph.queries import Names, QueryBlock
from plx.graph.ragged import segments, starts
from plx.infer.kernels.pools import add_pools
from plx.infer.orbits.collapse import Collapsed
from plx.infer.orbits.leaf_conditionals import LeafConditionals
from plx.infer.orbits.slot_counts import Entries, SlotCounts
from plx.infer.problem import targets_of
from plx.lift.exchangeable_sets import ExchangeableSet
from plx.lift.images import Image, Images, Moved, MovedCount, MovedVariable, content_of, with_nodes
from plx.lift.reduced import Reduced
from plx.lift.symmetry import Symmetry
from plx.sequences import joined
from plx.values import FloatArray, IntArray, distinct

_IMAGES = 64
"""Images of a formula or a tuple of unknowns that are counted with it."""


@dataclass(frozen=True)
class OrbitAverages:
    """``model`` records what the averages need.

    Pool k is Σ ``weight[e]`` · counts[``source[e]``] over e in ``start[k] … start[k + 1]``; the estimate
    for state t of the original model's targets is ``share[t]`` · pool ``pool[t]``, or ``share[t]`` times all
    draws where ``pool[t]`` is -1. ``pooled[t]`` is the number of counts behind it.
    """

    model: GroundModel
    source: IntArray
    weight: FloatArray
    start: IntArray
    pool: IntArray
    share: FloatArray
    pooled: FloatArray

    @cached_property
    def only_counted(self) -> IntArray | None:
        """The count that each estimate is, where nothing is averaged; else None."""
        if len(self.source) != len(self.start) - 1 or not len(self.pool) or self.pool.min() < 0:
            return None
        if not ((np.diff(self.start) == 1).all() and (self.weight == 1).all() and (self.share == 1).all()):
            return None
        return self.source[self.pool]

    def apply(self, counts: npt.NDArray[Any], draws: int) -> npt.NDArray[Any]:
        """Counts [chains, Σ states of the targets], from those of ``model``, after ``draws`` draws."""
        taken = self.only_counted
        if taken is not None:
            in_order = len(taken) == counts.shape[1] and (taken == np.arange(len(taken))).all()
            return counts if in_order else counts[:, taken]
        pools = np.full((len(self.start), len(counts)), float(draws))
        kind = np.int32 if np.issubdtype(counts.dtype, np.integer) else np.float64
        by_state = np.require(counts.T, kind, "C")
        add_pools(by_state, self.source, self.weight, self.start, pools)
        estimates: FloatArray = pools[self.pool] * self.share[:, None]
        return estimates.T


def orbit_averages(
    leaves: LeafConditionals, reduced: Reduced, symmetry: Symmetry, slots: Sequence[ExchangeableSet] = ()
) -> OrbitAverages:
    """What to record on the reduced model and how to average it, for all queries of the original one.

    ``leaves`` are those that were summed out of the original model before it was reduced; they are not
    counted, what they depend on is. ``symmetry`` are symmetries of ``reduced.model``, over variables and
    values. Nor are unknowns of ``slots`` counted: how many of a slot are in their second state is, and
    `occupancy` says what that tells of each (estimate F1 of docs/lifting.md).
    """
    build = _AveragesBuilder(leaves, reduced, symmetry, slots)
    return build.finish()


@dataclass(frozen=True)
class _Joint:
    """Pools of what some nodes tell together: ``given`` [Π shape, pools] is the share of each joint state.

    Without it each joint state is a pool of its own.
    """

    first: int
    shape: IntArray
    images: list[Image]
    given: FloatArray | None = None

    @property
    def pools(self) -> int:
        return int(self.shape.prod()) if self.given is None else self.given.shape[1]

    @property
    def shares(self) -> tuple[IntArray, IntArray, FloatArray]:
        """The joint states and pools where the share is not 0, and the shares."""
        if self.given is None:
            each = np.arange(self.pools)
            return each, each, np.ones(self.pools)
        state, pool = np.nonzero(self.given)
        return state, pool, self.given[state, pool]


class _AveragesBuilder:
    """Pools as they are asked for: orbits of pairs, leaves that were summed out, images of other targets."""

    def __init__(
        self, leaves: LeafConditionals, reduced: Reduced, symmetry: Symmetry, slots: Sequence[ExchangeableSet]
    ) -> None:
        self.reduced, self.symmetry = reduced, symmetry
        self.images = Images(reduced.model.graph, symmetry.group)
        self.tallies = SlotCounts(slots, symmetry.start)
        self.joints: list[_Joint] = []
        self.tables: list[tuple[IntArray, FloatArray]] = []  # first pools of leaves, and what they depend on
        self.n_pools = 0
        collapsed = leaves.collapsed
        targets = targets_of(collapsed.original)
        self.pool = np.empty(targets.offset[-1], dtype=np.int64)
        self.share = np.empty(targets.offset[-1])
        n = collapsed.original.graph.n_variables
        alone = np.diff(targets.start) == 1
        alone[alone] = targets.node[targets.start[:-1][alone]] < n
        variable = targets.node[targets.start[:-1][alone]]
        begin = targets.offset[:-1][alone]
        feature = leaves.of[variable]
        stays = feature < 0
        self._unknowns(collapsed.nodes.node[variable[stays]], begin[stays])
        self._leaves(leaves, feature[~stays], begin[~stays])
        for t in np.flatnonzero(~alone).tolist():
            part = slice(*targets.offset[t : t + 2])
            self.pool[part], self.share[part] = self._joint(collapsed, targets.nodes[t])

    def _unknowns(self, variable: IntArray, begin: IntArray) -> None:
        """Targets of one unknown each, whose states begin at ``begin``: a pool per orbit of pairs."""
        reduced, orbit = self.reduced, self.symmetry.orbits
        card = reduced.original.graph.card[variable].astype(np.int64)
        out = segments(begin, card)
        state = reduced.quotient.state[segments(reduced.start[variable], card)]
        self.share[out] = 1.0 / reduced.quotient.multiplicity[state]
        node = np.repeat(reduced.nodes.node[variable], card)
        alive = node >= 0
        inner = self.symmetry.start[node[alive]] + state[alive]
        inner -= np.repeat(reduced.quotient.start[variable], card)[alive]
        self.pool_of_orbit = np.full(int(orbit.max(initial=-1)) + 1, -1, dtype=np.int64)
        used = distinct(orbit[inner])
        self.pool_of_orbit[used] = self._new_pools(len(used)) + np.arange(len(used))
        self.pool[out] = -1
        self.pool[out[alive]] = self.pool_of_orbit[orbit[inner]]

    def _leaves(self, found: LeafConditionals, feature: IntArray, begin: IntArray) -> None:
        """Targets of one unknown each that was summed out: a pool per state of each feature."""
        asked = np.zeros(len(found.table), dtype=bool)
        asked[feature] = True
        constant = found.nodes[:, 0] < 0
        first = np.full(len(asked), -1, dtype=np.int64)
        free = np.flatnonzero(asked & ~constant)
        before = starts(found.size[free])
        first[free] = self._new_pools(int(before[-1])) + before[:-1]
        for t in np.unique(found.table[free]).tolist():
            self.tables.append((first[free[found.table[free] == t]], found.tables[t]))
        outside = self.tallies.take(found, free, first)
        for f in outside.tolist():
            nodes, table = found.nodes[f][found.nodes[f] >= 0], found.tables[found.table[f]]
            images = self.images.of(tuple(nodes.tolist()), _IMAGES)
            shape = np.array(table.shape[:-1])
            self.joints.append(_Joint(int(first[f]), shape, images, table.reshape(-1, table.shape[-1])))
        size = found.size[feature]
        out, state = segments(begin, size), segments(np.zeros_like(size), size)
        fixed = np.repeat(constant[feature], size)
        self.pool[out] = np.where(fixed, -1, np.repeat(first[feature], size) + state)
        self.share[out] = 1.0
        for f in np.unique(feature[constant[feature]]).tolist():
            self.share[out[np.repeat(feature == f, size)]] = np.tile(
                found.tables[found.table[f]], int((feature == f).sum())
            )

    def _joint(self, collapsed: Collapsed, nodes: Sequence[int]) -> tuple[IntArray, FloatArray]:
        """The pool and the share of each joint state of some nodes of the original model."""
        graph = self.reduced.model.graph
        share, pool, alive = np.ones(1), np.zeros(1, dtype=np.int64), []
        for node in nodes:
            state, count = _state_map(collapsed, self.reduced, node)
            each = np.divide(1.0, count, out=np.zeros(len(count)), where=count > 0)
            share = np.multiply.outer(share, each).ravel()
            kept = collapsed.nodes.node[node]
            inner = int(self.reduced.nodes.node[kept]) if kept >= 0 else -1
            if inner >= 0:
                alive.append(inner)
                pool = np.add.outer(pool * graph.card[inner], state).ravel()
            else:
                pool = np.repeat(pool, len(state))
        if not alive:
            return np.full(len(share), -1), share
        shape = graph.card[alive].astype(np.int64)
        size = int(shape.prod())
        first = self._new_pools(size)
        self.joints.append(_Joint(first, shape, self.images.of(tuple(alive), _IMAGES)))
        return first + pool, share

    def _new_pools(self, n: int) -> int:
        self.n_pools += n
        return self.n_pools - n

    def finish(self) -> OrbitAverages:
        """The model that records all pools, and where they are in its counts."""
        orbit, start = self.symmetry.orbits, self.symmetry.start
        size = np.bincount(orbit)
        counted = self.pool_of_orbit[orbit] >= 0
        self.tallies.use(counted)
        pairs = np.flatnonzero(counted & ~self.tallies.covers)
        variable = np.searchsorted(start, pairs, side="right") - 1
        recorded = distinct(variable)
        tallies = self.tallies.nodes()
        graph, node_of = self._with_images(tallies)
        joint = [tuple(node_of(item) for item in image) for part in self.joints for image in part.images]
        nodes = [*((node_of(tally),) for tally in tallies), *joint]
        queries = joined([*([_alone(recorded)] if len(recorded) else []), _together(nodes)])
        model = replace(self.reduced.model, graph=graph, queries=queries)
        targets = targets_of(model)
        offset = targets.offset[targets.of_query]
        place = np.zeros(len(start), dtype=np.int64)
        place[recorded] = offset[: len(recorded)]
        own = place[variable] + pairs - start[variable]
        after = len(recorded) + len(tallies)
        entries = [
            (self.pool_of_orbit[orbit[pairs]], own, 1.0 / size[orbit[pairs]]),
            *self.tallies.entries(offset[len(recorded) : after], self.pool_of_orbit[orbit], size[orbit]),
            *self._joint_entries(offset[after:]),
        ]
        pool, source, weight = (np.concatenate(part) for part in zip(*entries, strict=True))
        order = np.argsort(pool, kind="stable")
        return OrbitAverages(
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
        for joint in self.joints:
            out[joint.first : joint.first + joint.pools] = len(joint.images)
        for first, table in self.tables:
            worth = _worth(table)
            out[first[:, None] + np.arange(len(worth))] *= worth
        return out

    def _with_images(self, tallies: Sequence[MovedCount]) -> tuple[FactorGraph, Callable[[Moved], int]]:
        """The graph with all derived nodes that are images, and the number of each."""
        graph = self.reduced.model.graph
        read = nodes_of(self.reduced.model.queries)
        asked = read[read >= graph.n_variables].tolist()
        known = {content: node for node in asked if (content := content_of(graph, node))}
        images = (item for part in self.joints for image in part.images for item in image)
        counts = [item for item in images if isinstance(item, MovedCount)]
        graph, known = with_nodes(graph, [*tallies, *counts], known)

        def node_of(item: Moved) -> int:
            if isinstance(item, MovedCount):
                return known[item]
            return item.variable if isinstance(item, MovedVariable) else item.node

        return graph, node_of

    def _joint_entries(self, offset: IntArray) -> Iterator[Entries]:
        """Pools, places in the counts, and weights, of every image of every joint target."""
        place = iter(offset.tolist())
        for joint in self.joints:
            states = np.indices(joint.shape.tolist()).reshape(len(joint.shape), -1)
            state, column, share = joint.shares
            pool, weight = joint.first + column, share / len(joint.images)
            for image in joint.images:
                moved = [
                    np.array(item.state)[s] if isinstance(item, MovedVariable) else s
                    for item, s in zip(image, states, strict=True)
                ]
                source = next(place) + np.ravel_multi_index(moved, tuple(joint.shape))
                yield pool, source[state], weight


def _state_map(collapsed: Collapsed, reduced: Reduced, node: int) -> tuple[IntArray, IntArray]:
    """As `Reduced.state_map`, of a node of the original model, before leaves were summed out."""
    kept = int(collapsed.nodes.node[node])
    if kept >= 0:
        return reduced.state_map(kept)
    states = np.arange(collapsed.original.graph.card[node])
    return np.zeros_like(states), (states == collapsed.nodes.state[node]).astype(np.int64)


def _worth(table: FloatArray) -> FloatArray:
    """How many draws of a leaf one draw of what it depends on is worth, at least, for each of its states.

    A probability p between a and b has a variance of at most (b - a)²/4, a draw of the leaf p(1 - p).
    """
    flat = table.reshape(-1, table.shape[-1])
    low, high = flat.min(axis=0), flat.max(axis=0)
    drawn, known = np.minimum(low * (1 - low), high * (1 - high)), (high - low) ** 2 / 4
    out: FloatArray = np.maximum(1.0, np.divide(drawn, known, out=np.ones(len(low)), where=known > 0))
    return out


_NONE = np.empty(0, dtype=np.int64)


def _alone(nodes: IntArray) -> QueryBlock:
    """Queries that have each of these nodes counted by itself."""
    n = len(nodes)
    names, form = Names(("",), (), (), n), np.zeros(n, dtype=np.int64)
    return QueryBlock("joint", None, "", names, names, (), (), nodes, form, (Target(-1, _NONE),))


def _together(nodes: Sequence[tuple[int, ...]]) -> tuple[GroundQuery, ...]:
    """Queries that have these nodes counted together."""
    return tuple(
        GroundQuery("joint", "", "", tuple(Target(node, _NONE) for node in part), (), None) for part in nodes
    )
