"""Derived nodes in canonical form: fixed inputs absorbed, equal nodes merged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from plx.graph.model import FactorGraph, Int32Array
from plx.graph.ragged import neighbours, owners, segments, starts
from plx.graph.rows import BoolArray, unique_keys, unique_rows
from plx.values import IntArray


class DerivedNodes(NamedTuple):
    """Derived nodes as flat arrays, as in FactorGraph: node ``V + d`` for d in 0 … D-1."""

    card: Int32Array  # [D]
    input_start: IntArray  # [D + 1]
    input_node: Int32Array  # [E]
    input_contribution: Int32Array  # [E]
    contribution_start: IntArray  # [K + 1]
    contribution: Int32Array
    output_of: Int32Array  # [D]
    output_start: IntArray  # [M + 1]
    output: Int32Array


NO_DERIVED = DerivedNodes(
    *(np.zeros(n, dtype=t) for n, t in zip((0, 1, 0, 0, 1, 0, 0, 1, 0), "iqiiqiiqi", strict=True))
)


def derived_of(graph: FactorGraph) -> DerivedNodes:
    """The derived nodes of a graph."""
    parts = {name: getattr(graph, name) for name in DerivedNodes._fields if name != "card"}
    return DerivedNodes(card=graph.card[graph.n_variables :], **parts)


@dataclass
class VectorStore:
    """Distinct integer vectors, numbered."""

    vectors: list[IntArray] = field(default_factory=list)
    _seen: dict[bytes, int] = field(default_factory=dict)

    def id(self, vector: IntArray) -> int:
        """The number of a vector, new if it has not been seen."""
        key = np.ascontiguousarray(vector, dtype=np.int64).tobytes()
        found = self._seen.setdefault(key, len(self.vectors))
        if found == len(self.vectors):
            self.vectors.append(np.asarray(vector, dtype=np.int64))
        return found

    def flat(self) -> tuple[IntArray, Int32Array]:
        """The start of each vector and all of them one after the other."""
        joined = np.concatenate([*self.vectors, np.empty(0, dtype=np.int64)])
        return starts(np.array([len(v) for v in self.vectors], dtype=np.int64)), joined.astype(np.int32)


class Simplified(NamedTuple):
    """``node[i]``: the node that stands for old node i (old numbers); ``state[i]``: its only state, or -1."""

    node: IntArray
    state: IntArray
    derived: DerivedNodes

    @property
    def moved(self) -> bool:
        """Whether some node is represented by another one."""
        return bool((self.node != np.arange(len(self.node))).any())


def simplify(n_variables: int, derived: DerivedNodes, state: IntArray) -> Simplified:
    """Derived nodes with fixed inputs absorbed and equal ones merged.

    ``state`` [V] holds the state of a fixed variable, -1 elsewhere. Merged and constant nodes keep
    their place in ``derived``; nothing refers to them any more. Inputs are sorted by node, no node
    is an input twice, contribution vectors start from 0, output maps end at the largest sum.
    """
    work = _Work(n_variables, derived, state)
    while work.run():
        pass
    return Simplified(work.node, work.state, work.result())


class _Work:
    def __init__(self, n_variables: int, derived: DerivedNodes, state: IntArray) -> None:
        self.n_variables = n_variables
        n = len(derived.output_of)
        self.node = np.arange(n_variables + n, dtype=np.int64)
        self.state = np.concatenate([state, np.full(n, -1, dtype=np.int64)])
        self.card = derived.card
        self.vectors, self.maps = VectorStore(), VectorStore()
        vector = _intern_all(self.vectors, derived.contribution, derived.contribution_start)
        output = _intern_all(self.maps, derived.output, derived.output_start)
        self.owner = owners(derived.input_start)
        self.input = derived.input_node.astype(np.int64)
        self.vector = vector[derived.input_contribution]
        self.output = output[derived.output_of]

    def run(self) -> bool:
        """One pass over all levels; whether anything became smaller, so that another may help."""
        before = self._size()
        self._resolve()
        level = self._levels()
        for depth in range(1, int(level.max(initial=0)) + 1):
            self._absorb(np.flatnonzero(level == depth))
            self._merge(np.flatnonzero((level == depth) & self._is_live()))
        self._resolve()
        return len(level) > 0 and self._size() < before

    def result(self) -> DerivedNodes:
        order = np.argsort(self.owner, kind="stable")
        contribution_start, contribution = self.vectors.flat()
        output_start, output = self.maps.flat()
        return DerivedNodes(
            card=self.card,
            input_start=starts(np.bincount(self.owner, minlength=len(self.output))),
            input_node=self.input[order].astype(np.int32),
            input_contribution=self.vector[order].astype(np.int32),
            contribution_start=contribution_start,
            contribution=contribution,
            output_of=self.output.astype(np.int32),
            output_start=output_start,
            output=output,
        )

    def _is_live(self) -> BoolArray:
        own = np.arange(self.n_variables, len(self.node))
        live: BoolArray = (self.node[own] == own) & (self.state[own] < 0)
        return live

    def _resolve(self) -> None:
        """Follow representatives to the end."""
        while (self.node[self.node] != self.node).any():
            self.node = self.node[self.node]
        self.state = self.state[self.node]

    def _size(self) -> int:
        """Nodes and inputs that count."""
        live = self._is_live()
        return int(live.sum() + live[self.owner].sum())

    def _levels(self) -> IntArray:
        """0 for what is merged or fixed; else one more than the largest level of an input."""
        live = self._is_live()
        level = live.astype(np.int64)
        source = self.input - self.n_variables
        inner = (source >= 0) & live[self.owner]
        while True:
            grown = level.copy()
            np.maximum.at(grown, self.owner[inner], level[source[inner]] + 1)
            if (grown == level).all():
                return level
            level = grown

    def _absorb(self, which: IntArray) -> None:
        """Rewrite the inputs of these nodes: representatives, no fixed ones, no repeats."""
        mine = np.zeros(len(self.output), dtype=bool)
        mine[which] = True
        rows = mine[self.owner]
        owner, vector = self.owner[rows], self.vector[rows]
        node = self.node[self.input[rows]]
        offset = np.zeros(len(self.output), dtype=np.int64)
        fixed = self.state[node]
        np.add.at(offset, owner, self._at_state(vector, fixed))
        free = fixed < 0
        owner, node, vector = self._join(owner[free], node[free], vector[free])
        vector, base, top = self._from_zero(vector)
        np.add.at(offset, owner, base)
        used = top > 0
        largest = np.bincount(owner, weights=top, minlength=len(self.output)).astype(np.int64)
        self.owner = np.concatenate([self.owner[~rows], owner[used]])
        self.input = np.concatenate([self.input[~rows], node[used]])
        self.vector = np.concatenate([self.vector[~rows], vector[used]])
        self._cut_maps(which, offset[which], largest[which])

    def _at_state(self, vector: IntArray, state: IntArray) -> IntArray:
        """The contribution of inputs fixed at a state; 0 where the state is -1."""
        first, inverse = unique_rows(np.stack([vector, state], axis=1))
        pairs = zip(vector[first], state[first], strict=True)
        found = [0 if s < 0 else int(self.vectors.vectors[v][s]) for v, s in pairs]
        return np.array(found, dtype=np.int64)[inverse]

    def _join(self, owner: IntArray, node: IntArray, vector: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Sort by owner and node; add the vectors of a node that is an input twice."""
        while True:
            keys = owner * len(self.node) + node
            if (keys[1:] <= keys[:-1]).any():
                order = np.argsort(keys, kind="stable")
                owner, node, vector = owner[order], node[order], vector[order]
            same = (owner[1:] == owner[:-1]) & (node[1:] == node[:-1])
            if not same.any():
                return owner, node, vector
            left, kept = neighbours(same)
            vector[left] = self._sums(vector[left], vector[left + 1])
            owner, node, vector = owner[kept], node[kept], vector[kept]

    def _sums(self, a: IntArray, b: IntArray) -> IntArray:
        first, inverse = unique_rows(np.stack([a, b], axis=1))
        stored = self.vectors.vectors
        found = [self.vectors.id(stored[i] + stored[j]) for i, j in zip(a[first], b[first], strict=True)]
        return np.array(found, dtype=np.int64)[inverse]

    def _from_zero(self, vector: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Vectors less their smallest entry, that entry, and the largest entry that is left."""
        first, inverse = unique_keys(vector)
        stored = [self.vectors.vectors[v] for v in vector[first]]
        new = np.array([self.vectors.id(v - v.min()) for v in stored], dtype=np.int64)
        base = np.array([v.min() for v in stored], dtype=np.int64)
        top = np.array([v.max() - v.min() for v in stored], dtype=np.int64)
        return new[inverse], base[inverse], top[inverse]

    def _cut_maps(self, which: IntArray, offset: IntArray, largest: IntArray) -> None:
        """Output maps over the sums that can occur; nodes whose map is constant become fixed."""
        first, inverse = unique_rows(np.stack([self.output[which], offset, largest], axis=1))
        cut = [
            self.maps.vectors[self.output[d]][o : o + n + 1]
            for d, o, n in zip(which[first], offset[first], largest[first], strict=True)
        ]
        self.output[which] = np.array([self.maps.id(m) for m in cut], dtype=np.int64)[inverse]
        constant = np.array([m[0] if (m == m[0]).all() else -1 for m in cut], dtype=np.int64)
        self.state[self.n_variables + which] = constant[inverse]

    def _merge(self, which: IntArray) -> None:
        """Point equal nodes at the first of them, and identities at their input."""
        rows = np.zeros(len(self.output), dtype=bool)
        rows[which] = True
        entries = np.flatnonzero(rows[self.owner])
        entries = entries[np.argsort(self.owner[entries], kind="stable")]
        count = np.bincount(self.owner[entries], minlength=len(self.output))[which]
        start = starts(count)[:-1]
        for fan_in in np.unique(count):
            group = count == fan_in
            mine = entries[segments(start[group], count[group])].reshape(-1, fan_in)
            nodes = which[group]
            whole = np.stack([self.output[nodes], self.card[nodes]], axis=1)  # equal states, equal tables
            content = np.concatenate([self.input[mine], self.vector[mine], whole], axis=1)
            first, inverse = unique_rows(content)
            self.node[self.n_variables + nodes] = self.n_variables + nodes[first][inverse]
            if fan_in == 1:
                self._alias(nodes, self.input[mine[:, 0]], self.vector[mine[:, 0]])

    def _alias(self, nodes: IntArray, source: IntArray, vector: IntArray) -> None:
        """A node that repeats the state of its only input is that input."""
        first, inverse = unique_rows(np.stack([vector, self.output[nodes], self.card[nodes]], axis=1))
        same = []
        for v, d in zip(vector[first], nodes[first], strict=True):
            composed = self.maps.vectors[self.output[d]][self.vectors.vectors[v]]
            same.append(len(composed) == self.card[d] and (composed == np.arange(self.card[d])).all())
        alias = np.array(same, dtype=bool)[inverse]
        self.node[self.n_variables + nodes[alias]] = source[alias]


def _intern_all(store: VectorStore, flat: Int32Array, start: IntArray) -> IntArray:
    vectors = np.split(flat.astype(np.int64), start[1:-1]) if len(start) > 1 else []
    return np.array([store.id(vector) for vector in vectors], dtype=np.int64)
