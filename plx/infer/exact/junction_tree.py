"""A junction tree with numbers: propagation, and the joint distributions of targets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from plx.graph.ragged import entries_of, owners, starts
from plx.infer.exact.elimination_order import Skeleton, first_place
from plx.infer.exact.plain_tables import plain_tables
from plx.infer.interrupts import waited
from plx.infer.kernels.junction_tree import Tree, collect, distribute, row_strides
from plx.infer.kernels.plain_junction_tree import collect_plain, distribute_plain
from plx.infer.kernels.tree_covariance import covariance
from plx.values import FloatArray, IntArray


class ImpossibleError(ValueError):
    """Every state has probability 0."""


class EntryStatistics(NamedTuple):
    """K statistics of the entries of a network's ``table``: of entry i row ``rows[i]`` of a sparse matrix."""

    rows: IntArray
    start: IntArray  # [R + 1]
    number: IntArray  # column by column of each row
    coefficient: FloatArray
    size: int  # K


_PLAIN_OPERATIONS = 3e7
"""Trees that take so many operations are propagated in plain numbers, where these hold."""

_MOST_KEPT = 2_000_000
"""Messages of more numbers than this are not kept from one run to the next."""


@dataclass(frozen=True)
class Beliefs:
    """log Z, and the joint distributions that were asked for: flat in C order, one after the other."""

    log_z: float
    flat: FloatArray
    start: IntArray  # [joints + 1]

    @cached_property
    def joints(self) -> list[FloatArray]:
        """The joint distributions, each flat in C order."""
        return np.split(self.flat, self.start[1:-1]) if len(self.start) > 1 else []


def propagate(skeleton: Skeleton, scopes: Sequence[tuple[int, ...]] = ()) -> Beliefs:
    """Both passes over the tree of a complete order.

    Args:
        skeleton: the tree.
        scopes: distinct nodes that share a clique, for each joint distribution wanted.

    Raises:
        Impossible: the model has no state of positive probability.
    """
    return Propagation(skeleton, scopes).run(skeleton.network.table)


class _Passes(NamedTuple):
    """What two passes left: messages to the roots and back, room for a clique, scales, and joints."""

    tables: FloatArray
    inward: FloatArray
    outward: FloatArray
    room: FloatArray
    scale: FloatArray
    joint: FloatArray


class Propagation:
    """A tree made ready to be propagated as often as its tables change; arguments as of `propagate`.

    ``runs`` is how often that is to be expected.
    """

    def __init__(self, skeleton: Skeleton, scopes: Sequence[tuple[int, ...]] = (), runs: int = 1) -> None:
        self._skeleton, self._runs = skeleton, runs
        self.tree = assemble(skeleton)
        self._last: _Passes | None = None
        self._reading = _Reading(skeleton, self.tree, scopes, runs) if scopes else None

    def run(self, tables: FloatArray) -> Beliefs:
        """log Z and the joint distributions for these tables of the network, of the shape of its ``table``.

        Raises Impossible.
        """
        large = self._runs == 1 and self._skeleton.operations >= _PLAIN_OPERATIONS
        if large and (plain := self._plainly(tables)) is not None:
            return plain
        if self._reading is None:
            scale = self._collected(tables)[2]
            return Beliefs(math.fsum(scale * self._times), np.empty(0), np.zeros(1, dtype=np.int64))
        passes = self._passes(tables)
        return Beliefs(math.fsum(passes.scale * self._times), passes.joint, self._reading.start)

    def inward(self, tables: FloatArray) -> FloatArray:
        """Tables, and the messages to the roots, each but for a constant. Raises Impossible."""
        return self._collected(tables)[0]

    def covariance(self, tables: FloatArray, statistics: EntryStatistics) -> FloatArray:
        """The covariance of the sums of K statistics, shape (K, K), at these tables, as those of `run`.

        Only factors that ``scopes`` name have statistics.

        Raises Impossible.
        """
        tree, passes = self.tree, self._passes(tables)
        if self._reading is None:
            return np.zeros((statistics.size, statistics.size))
        both = np.concatenate([tables, passes.inward, passes.outward])
        outward, room = len(tables) + len(passes.inward), passes.room
        out = np.zeros((statistics.size, statistics.size))
        mean = np.zeros((int(tree.message_start[-1]), statistics.size))
        rows, start, number, coefficient = statistics[:4]
        made = covariance.sized(self._skeleton.operations * statistics.size, self._runs)
        times = self._times.astype(np.float64)
        waited(
            lambda stop: made(
                tree, both, outward, rows, start, number, coefficient, times, room, mean, out, stop
            ),
            tree.entry_start[-1] * statistics.size,
        )
        return out + np.tril(out, -1).T

    @property
    def n_messages(self) -> int:
        """How many entries all messages have."""
        return int(self.tree.message_start[-1])

    @property
    def _times(self) -> IntArray:
        """How many copies of each clique there are."""
        return self._skeleton.network.times[self._skeleton.order]

    def _passes(self, tables: FloatArray) -> _Passes:
        """Both passes for these tables; kept, as the covariance is often asked for next."""
        if self._last is not None and np.array_equal(self._last.tables, tables):
            return self._last
        data, room, scale = self._collected(tables)
        inward = data[len(tables) :].copy()
        joint = self._reading.read(data, room, scale) if self._reading else np.empty(0)
        passes = _Passes(tables, inward, data[len(tables) :], room, scale, joint)
        self._last = passes if self._runs > 1 and len(inward) <= _MOST_KEPT else None
        return passes

    def _plainly(self, tables: FloatArray) -> Beliefs | None:
        """As `run`, in plain numbers; None where these might become too small."""
        tree, found = self.tree, plain_tables(self.tree, tables)
        if found is None:
            return None
        scale = np.zeros(len(tree.parent))
        inward = collect_plain.sized(self._skeleton.operations)
        done = waited(
            lambda stop: inward(tree, found.data, len(tables), found.item_least, scale, stop),
            tree.entry_start[-1],
        )
        if done < 0:
            return None
        if not done:
            raise ImpossibleError
        log_z = math.fsum((scale + found.shift) * self._times)
        if self._reading is None:
            return Beliefs(log_z, np.empty(0), np.zeros(1, dtype=np.int64))
        return Beliefs(log_z, self._reading.read_plain(found.data, scale), self._reading.start)

    def _collected(self, tables: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What the pass to the roots leaves: tables and messages, room for a clique, scales."""
        tree = self.tree
        data = np.concatenate([tables, np.empty(tree.message_start[-1])])
        table = np.empty(np.diff(tree.entry_start).max(initial=1))
        scale = np.zeros(len(tree.parent))
        inward = collect.sized(self._skeleton.operations, self._runs)
        if not waited(lambda stop: inward(tree, data, len(tables), table, scale, stop), tree.entry_start[-1]):
            raise ImpossibleError
        return data, table, scale


class _Reading:
    """The pass from the roots to the leaves, which answers the scopes."""

    def __init__(self, skeleton: Skeleton, tree: Tree, scopes: Sequence[tuple[int, ...]], runs: int) -> None:
        card = skeleton.network.card
        clique = np.array(
            [skeleton.smallest[s[0]] if len(s) == 1 else skeleton.home(s) for s in scopes], dtype=np.int64
        )
        links = _Links(skeleton, tree.stride)
        node = np.array([v for scope in scopes for v in scope], dtype=np.int64)
        link = links.add(clique, starts([len(scope) for scope in scopes]), node)
        self.start = starts([math.prod(card[list(scope)].tolist()) for scope in scopes])
        by_clique = np.argsort(clique, kind="stable")
        first = starts(np.bincount(clique, minlength=len(tree.parent)))
        self._order = (first, link[by_clique], self.start[by_clique])
        self._tree = tree._replace(stride=links.strides)
        self._skeleton, self._runs = skeleton, runs

    def read(self, data: FloatArray, table: FloatArray, scale: FloatArray) -> FloatArray:
        """The joint distributions, one after the other, from what the pass to the roots left."""
        out, messages = np.zeros(self.start[-1]), len(self._skeleton.network.table)
        outward = distribute.sized(self._skeleton.operations, self._runs)
        waited(
            lambda stop: outward(self._tree, data, messages, table, scale, *self._order, out, stop),
            self._tree.entry_start[-1],
        )
        return self._normalised(out)

    def read_plain(self, data: FloatArray, scale: FloatArray) -> FloatArray:
        """As `read`, from what the pass in plain numbers left."""
        out, messages = np.zeros(self.start[-1]), len(self._skeleton.network.table)
        outward = distribute_plain.sized(self._skeleton.operations)
        waited(
            lambda stop: outward(self._tree, data, messages, scale, *self._order, out, stop),
            self._tree.entry_start[-1],
        )
        return self._normalised(out)

    def _normalised(self, out: FloatArray) -> FloatArray:
        return np.asarray(out / np.repeat(np.add.reduceat(out, self.start[:-1]), np.diff(self.start)))


def assemble(skeleton: Skeleton) -> Tree:
    """The flat arrays of a tree: sizes, and strides from every factor, function and message."""
    network, start = skeleton.network, skeleton.axis_start
    cliques = np.arange(len(skeleton.order))
    links = _Links(skeleton)
    kept = np.flatnonzero(skeleton.message_base)
    kept_start = starts(np.add.reduceat(skeleton.message_base, start[:-1]))
    own_link = links.add(cliques, kept_start, skeleton.axis[kept])
    parent_link = links.add(np.maximum(skeleton.parent, 0), kept_start, skeleton.axis[kept])
    home = first_place(network.scope_start, network.scope, skeleton.place)
    factor_link = links.add(home, network.scope_start, network.scope)
    families, owner = entries_of(network.family_start, skeleton.function_of)
    output = network.family_start[skeleton.function_of + 1] - 1
    inputs = families != output[owner]
    input_start = starts(np.bincount(owner[inputs], minlength=len(output)))
    derived_link = links.add(skeleton.clique_of, input_start, network.family[families[inputs]])
    derived_axis = skeleton.locate(skeleton.clique_of, network.family[output])
    message_start = starts(_whole(skeleton.message_bits))
    children = np.flatnonzero(skeleton.parent >= 0)
    gathers = np.concatenate([home, skeleton.parent[children]])
    by_clique = np.argsort(gathers, kind="stable")
    sender = np.concatenate([np.full(len(home), -1), children])
    source = np.concatenate([network.table_at, len(network.table) + message_start[children]])
    return Tree(
        axis_start=start,
        axis_card=network.card[skeleton.axis],
        axis_base=skeleton.base,
        entry_start=starts(_whole(skeleton.bits)),
        derived_start=starts(np.bincount(skeleton.clique_of, minlength=len(cliques))),
        derived_axis=derived_axis - start[skeleton.clique_of],
        derived_map=network.map_at[skeleton.function_of],
        derived_link=derived_link,
        map=network.map,
        item_start=starts(np.bincount(gathers, minlength=len(cliques))),
        item_source=source[by_clique],
        item_link=np.concatenate([factor_link, parent_link[children]])[by_clique],
        item_child=sender[by_clique],
        parent=skeleton.parent,
        message_start=message_start,
        own_link=own_link,
        parent_link=parent_link,
        stride=links.strides,
    )


class _Links:
    """Rows of strides, one per axis of a clique; ``strides`` are those added so far."""

    def __init__(self, skeleton: Skeleton, strides: IntArray | None = None) -> None:
        self._skeleton = skeleton
        self.strides = np.empty(0, dtype=np.int64) if strides is None else strides

    def add(self, clique: IntArray, start: IntArray, node: IntArray) -> IntArray:
        """Links from cliques to tables over rows of nodes (in C order); where each begins."""
        skeleton = self._skeleton
        table_stride = row_strides.sized(len(start) + len(node))(start, skeleton.network.card[node])
        at = starts(np.diff(skeleton.axis_start)[clique])
        fresh = np.zeros(at[-1], dtype=np.int64)
        owner = owners(start)
        axis = skeleton.locate(clique[owner], node) - skeleton.axis_start[clique[owner]]
        fresh[at[owner] + axis] = table_stride
        link = at[:-1] + len(self.strides)
        self.strides = np.concatenate([self.strides, fresh])
        return link


def _whole(bits: FloatArray) -> IntArray:
    return np.rint(2.0**bits).astype(np.int64)
