"""A wide derived node as a tree of partial sums.

The inputs are merged pairwise, along an elimination tree of the rest of the model, so that the
sums pass through the junction tree without widening it more than they must. Two partial sums are
one state where no completion tells them apart (`exists` needs two states, ``count >= 2`` three),
as in a minimal automaton.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plx import deadline
from plx.infer.exact.elimination_order import find_order, follow_order
from plx.infer.exact.network_builder import NetworkBuilder, without
from plx.values import IntArray


@dataclass(frozen=True, eq=False)
class _PartialSum:
    """A node that carries a partial sum: an input, or the merge of two parts.

    ``sums`` are what the states of an input contribute, or all sums that a merge can reach.
    """

    sums: IntArray
    leaf: int = -1
    left: _PartialSum | None = None
    right: _PartialSum | None = None
    place: tuple[int, int] = (0, 0)


class PartialSums:
    """Splits wide derived nodes, each along the same elimination tree.

    Args:
        builder: has the functions of all other derived nodes.
        wide: the derived nodes to split, in order.
        in_order: the tree is that of the elimination of the nodes in order.
    """

    def __init__(self, builder: NetworkBuilder, wide: IntArray, in_order: bool = False) -> None:
        self._builder = builder
        outputs = [builder.output(int(d)) for d in wide]
        rest = without(builder.network(), np.array(outputs))
        tree = follow_order(rest, np.arange(rest.n_nodes)) if in_order else find_order(rest)
        apart = set(outputs)
        reached = [v for v in tree.order.tolist() if v not in apart]
        # A search that gave up leaves nodes over: they stand last, and the plan will not fit anyway.
        left = sorted(set(range(len(builder.card))) - apart - set(reached))
        self._place = {v: place for place, v in enumerate([*reached, *left, *outputs])}
        self._parent = dict.fromkeys(self._place, -1)
        for v, p in zip(tree.order.tolist(), tree.parent.tolist(), strict=True):
            if p >= 0:
                self._parent[v] = int(tree.order[p])
        self._eliminated: list[tuple[int, int, int, int]] = [
            (place, 1, 0, v) for v, place in self._place.items()
        ]
        self._merges: dict[tuple[bytes, bytes, bytes, bool, bool], tuple[int, IntArray, IntArray]] = {}

    def guide(self) -> IntArray:
        """The elimination order of the tree, with each partial sum where it has been used up."""
        return np.array([v for *_, v in sorted(self._eliminated)], dtype=np.int64)

    def split(self, derived: int) -> None:
        """Add the partial sums of one derived node, and their functions."""
        root = self._merge_all(*self._builder.inputs(derived))
        output = self._builder.graph.output_map(derived).astype(np.int64)
        self._number(root, output[root.sums], self._builder.output(derived), derived)

    def _merge_all(self, nodes: list[int], vectors: list[IntArray]) -> _PartialSum:
        """Merge along the tree: at each node what comes from below, then the node's own part."""
        own = {v: _PartialSum(vector, leaf=v) for v, vector in zip(nodes, vectors, strict=True)}
        waiting: dict[int, list[_PartialSum]] = {}
        total: _PartialSum | None = None
        for v in self._union_of_paths(nodes):
            deadline.check()
            parts = waiting.pop(v, []) + ([own[v]] if v in own else [])
            merged = parts[0]
            for part in parts[1:]:
                merged = _merge(merged, part, self._moment(v, part))
            if self._parent[v] >= 0:
                waiting.setdefault(self._parent[v], []).append(merged)
            else:
                total = merged if total is None else _merge(total, merged, self._moment(v, merged))
        assert total is not None
        return total

    def _moment(self, v: int, part: _PartialSum) -> tuple[int, int]:
        """When the parts of a merge are used up: before v if v is a part, else after."""
        return self._place[v], 0 if part.leaf == v or self._parent[v] >= 0 else 2

    def _union_of_paths(self, nodes: list[int]) -> list[int]:
        seen: set[int] = set()
        for v in nodes:
            while v >= 0 and v not in seen:
                seen.add(v)
                v = self._parent[v]
        return sorted(seen, key=self._place.__getitem__)

    def _number(self, root: _PartialSum, classes: IntArray, node: int, derived: int) -> None:
        """From the root down: number the states of the parts, and add the functions that merge them.

        ``classes[i]`` is the state of ``node`` when the sum is ``root.sums[i]``.
        """
        found: list[tuple[tuple[int, int, int], int]] = []
        stack = [(root, classes, node)]
        while stack:
            deadline.check()
            part, classes, node = stack.pop()
            if part.left is None or part.right is None:
                continue
            table, left_class, right_class = self._merge_table(part, classes)
            left, right = self._node(part.left, left_class), self._node(part.right, right_class)
            found.append(((left, right, node), table))
            for child, number, ids in ((part.left, left, left_class), (part.right, right, right_class)):
                if child.leaf < 0:
                    self._eliminated.append((*part.place, len(self._eliminated), number))
                    stack.append((child, ids, number))
        for family, table in reversed(found):
            self._builder.add_function(family, table, derived)

    def _node(self, part: _PartialSum, classes: IntArray) -> int:
        return part.leaf if part.leaf >= 0 else self._builder.add_node(int(classes.max()) + 1)

    def _merge_table(self, part: _PartialSum, classes: IntArray) -> tuple[int, IntArray, IntArray]:
        """The function of a merge, and the states of its two parts per sum of theirs."""
        assert part.left is not None and part.right is not None
        left, right = part.left, part.right
        key = (classes.tobytes(), left.sums.tobytes(), right.sums.tobytes(), left.leaf >= 0, right.leaf >= 0)
        if key not in self._merges:
            both = classes[np.searchsorted(part.sums, left.sums[:, None] + right.sums)]
            rows, left_class = _distinct(both, left.leaf >= 0)
            columns, right_class = _distinct(both.T, right.leaf >= 0)
            table = self._builder.store(np.ascontiguousarray(both[np.ix_(rows, columns)]))
            self._merges[key] = (table, left_class, right_class)
        return self._merges[key]


def _merge(left: _PartialSum, right: _PartialSum, place: tuple[int, int]) -> _PartialSum:
    return _PartialSum(np.unique(left.sums[:, None] + right.sums), left=left, right=right, place=place)


def _distinct(rows: IntArray, all_distinct: bool) -> tuple[IntArray, IntArray]:
    """One row of each kind, and the kind of each row."""
    count = len(rows)
    if all_distinct or len(np.unique(rows[:, 0])) == count:
        return np.arange(count), np.arange(count)
    _, first, kind = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, kind.ravel()
