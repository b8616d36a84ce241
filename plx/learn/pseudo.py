"""The log pseudo-likelihood of complete worlds: Σ over unknowns of log P(value | all others) (Besag 1975).

A conditional depends on an unknown only by how the statistics differ between its states. Unknowns for which
these differences are equal have equal conditionals, so each is kept once with its number of occurrences: in a
relational program they are few, however many unknowns there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from plx.graph.isomorphic import Runs, equal_parts
from plx.graph.learned import statistics
from plx.graph.model import FactorGraph, Int32Array
from plx.graph.ragged import entries_of, owners, starts
from plx.graph.rows import unique_keys
from plx.graph.worlds import derived_depth, derived_totals, input_owner, node_states, scope_strides
from plx.learn.worlds import World
from plx.values import FloatArray, IntArray


class Changes(NamedTuple):
    """What n flips of single variables change: entries of factors' tables, before and after."""

    flip: IntArray
    before: IntArray
    after: IntArray


class Pseudo:
    """The log pseudo-likelihood over K numbers, as groups of equal conditionals."""

    name = "pseudo-likelihood"
    concave = True

    def __init__(self, worlds: Sequence[World], names: Sequence[str]) -> None:
        self.size = len(names)
        groups: dict[bytes, tuple[FloatArray, FloatArray]] = {}
        number: dict[bytes, int] = {}
        counts: list[tuple[int, int, int]] = []
        self._observed = np.zeros(self.size)
        for w, world in enumerate(worlds):
            self._observed += _observed(world, names)
            for difference, constant, times in conditionals(world, names):
                key = difference.tobytes() + constant.tobytes()
                groups.setdefault(key, (difference, constant))
                counts.append((w, number.setdefault(key, len(number)), times))
        most = max((len(constant) for _, constant in groups.values()), default=0)
        self._difference = np.zeros((len(groups), most, self.size))
        self._constant = np.full((len(groups), most), -np.inf)
        for g, (difference, constant) in enumerate(groups.values()):
            self._difference[g, : len(constant)] = difference
            self._constant[g, : len(constant)] = constant
        self._by_world = np.zeros((len(worlds), len(groups)))
        for w, g, times in counts:
            self._by_world[w, g] += times
        self._times = self._by_world.sum(axis=0)

    @property
    def n_groups(self) -> int:
        """How many conditionals differ."""
        return len(self._times)

    def observed(self, weights: FloatArray) -> FloatArray:
        """The statistics of the worlds, shape (K,)."""
        return self._observed

    def __call__(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """The log pseudo-likelihood and its gradient."""
        chances, log_sums = self._chances(weights)
        gradient = -np.einsum("g,gs,gsk->k", self._times, chances, self._difference)
        return float(-self._times @ log_sums), gradient

    def information(self, weights: FloatArray) -> FloatArray:
        """The negative second derivatives, shape (K, K)."""
        chances, _ = self._chances(weights)
        mean = np.einsum("gs,gsk->gk", chances, self._difference)
        weighted = self._difference * (chances * self._times[:, None])[:, :, None]
        square = np.tensordot(weighted, self._difference, axes=([0, 1], [0, 1]))
        return square - (mean * self._times[:, None]).T @ mean  # type: ignore[no-any-return]

    def spread(self, weights: FloatArray) -> FloatArray:
        """The sum over worlds of the squares of their gradients, shape (K, K)."""
        chances, _ = self._chances(weights)
        gradients = self._by_world @ np.einsum("gs,gsk->gk", chances, self._difference)
        return gradients.T @ gradients  # type: ignore[no-any-return]

    def _chances(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """P(other state) in each conditional, and −log P(observed state)."""
        logs = self._difference @ weights + self._constant
        top = np.maximum(logs.max(axis=1, initial=0.0), 0.0)
        powers = np.exp(logs - top[:, None])
        total = powers.sum(axis=1) + np.exp(-top)
        return powers / total[:, None], top + np.log(total)


class Apart(Pseudo):
    """The log-likelihood of complete worlds whose unknowns do not depend on each other: it is the same."""

    name = "likelihood"


def _observed(world: World, names: Sequence[str]) -> FloatArray:
    table, rows = statistics(world.seen.values, np.array([world.seen.constant_weight]), names)
    return table.expected(np.bincount(rows, minlength=len(table.constant)).astype(np.float64))


def conditionals(world: World, names: Sequence[str]) -> list[tuple[FloatArray, FloatArray, int]]:
    """The distinct conditionals of a complete world, and how many unknowns have each.

    Of each: by how much the statistics (S, K) and the rest (S,) of the S other states exceed those of the
    observed one; -inf for a state that hard rules exclude.
    """
    graph, states = world.free.graph, world.states
    table, rows = statistics(world.free.values, graph.weight, names)
    variable, changes = flips(graph, states)
    after, before = rows[changes.after], rows[changes.before]
    differs = after != before
    flip, code = changes.flip[differs], after[differs] * len(table.constant) + before[differs]
    order = np.lexsort((code, flip))
    flip, code = flip[order], code[order]
    first = starts(np.bincount(variable, minlength=graph.n_variables))
    runs = [
        Runs.by_owner(graph.card[: graph.n_variables], np.arange(graph.n_variables), graph.n_variables),
        Runs.by_owner(flip - first[variable[flip]], variable[flip], graph.n_variables),
        Runs.by_owner(code, variable[flip], graph.n_variables),
    ]
    begin = starts(np.bincount(flip, minlength=len(variable)))
    out = []
    for alike in equal_parts(runs, np.arange(graph.n_variables)):
        mine = np.arange(first[alike[0]], first[alike[0] + 1])
        at, owner = entries_of(begin, mine)
        pairs = np.stack(np.divmod(code[at], len(table.constant)), axis=1).ravel()
        signs = np.tile([1.0, -1.0], len(at))
        run = 2 * starts(np.bincount(owner, minlength=len(mine)))
        difference, constant = table.combined(run, pairs, signs)
        out.append((difference, constant, len(alike)))
    return out


def flips(graph: FactorGraph, states: IntArray) -> tuple[IntArray, Changes]:
    """Every variable put into each of its other states, one at a time: the variable of each flip, by variable
    and state, and all table entries that differ."""
    cards = graph.card[: graph.n_variables].astype(np.int64)
    variable = np.repeat(np.arange(graph.n_variables), cards - 1)
    rank = np.arange(len(variable)) - np.repeat(starts(cards - 1)[:-1], cards - 1)
    state = rank + (rank >= states[variable])
    nodes = node_states(graph, states[:, None])
    flip, node, new = np.arange(len(variable)), variable, state
    for level in range(1, int(derived_depth(graph).max(initial=0)) + 1):
        more = _derived_changes(graph, nodes, (flip, node, new), level)
        flip, node, new = (np.concatenate(pair) for pair in zip((flip, node, new), more, strict=True))
    by_node = np.argsort(graph.scope, kind="stable")
    first = starts(np.bincount(graph.scope, minlength=graph.n_nodes))
    at, change = entries_of(first, node)
    entry = by_node[at]
    moved = scope_strides(graph)[entry] * (new - nodes[node, 0])[change]
    factor = owners(graph.scope_start)[entry]
    which, inverse = unique_keys(flip[change] * graph.n_factors + factor)
    shift = np.bincount(inverse, moved, len(which)).astype(np.int64)
    held = graph.table_start[graph.table_of] + np.bincount(
        owners(graph.scope_start), scope_strides(graph) * nodes[graph.scope, 0], graph.n_factors
    ).astype(np.int64)
    before = held[factor[which]]
    return variable, Changes(flip[change][which], before, before + shift)


def _derived_changes(
    graph: FactorGraph, nodes: Int32Array, changed: tuple[IntArray, IntArray, IntArray], level: int
) -> tuple[IntArray, IntArray, IntArray]:
    """The flips that change derived nodes of a depth, these nodes, and their new states."""
    flip, node, new = changed
    owner = input_owner(graph)
    deep = np.flatnonzero(derived_depth(graph)[owner] == level)
    by_node = deep[np.argsort(graph.input_node[deep], kind="stable")]
    first = starts(np.bincount(graph.input_node[deep], minlength=graph.n_nodes))
    at, change = entries_of(first, node)
    entry = by_node[at]
    vector = graph.contribution_start[graph.input_contribution[entry]]
    moved = (
        graph.contribution[vector + new[change]].astype(np.int64)
        - graph.contribution[vector + nodes[node[change], 0]]
    )
    which, inverse = unique_keys(flip[change] * max(graph.n_derived, 1) + owner[entry])
    shift = np.bincount(inverse, moved, len(which)).astype(np.int64)
    derived = owner[entry][which]
    total = derived_totals(graph, nodes, derived)[:, 0] + shift if len(which) else shift
    state = graph.output[graph.output_start[graph.output_of[derived]] + total].astype(np.int64)
    kept = state != nodes[graph.n_variables + derived, 0]
    return flip[change][which][kept], graph.n_variables + derived[kept], state[kept]
