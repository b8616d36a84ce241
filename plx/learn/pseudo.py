"""The log pseudo-likelihood of complete worlds: Σ over unknowns of log P(value | all others) (Besag 1975).

Unknowns that hard rules tie are one block, with a conditional over the joint states that these rules leave. A
conditional depends on a block only by how the statistics differ between its states. Blocks for which these
differences are equal have equal conditionals, so each is kept once with its number of occurrences: in a
relational program they are few, however many unknowns there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from plx.graph.isomorphic import Runs, equal_parts
from plx.graph.learned import statistics
from plx.graph.ragged import entries_of, starts
from plx.learn.blocks import moves
from plx.learn.changes import changes
from plx.learn.log_z import MOST_AT_ONCE
from plx.learn.worlds import World
from plx.values import FloatArray

Conditional = tuple[FloatArray, FloatArray, int]


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
            for difference, constant, times in _kept(world, tuple(names)):
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
        self.cheap = self.size <= MOST_AT_ONCE

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


_KNOWN: WeakKeyDictionary[World, tuple[tuple[str, ...], list[Conditional]]] = WeakKeyDictionary()


def _kept(world: World, names: tuple[str, ...]) -> list[Conditional]:
    """The conditionals of a world, worked out once: cross-validation asks for them again and again."""
    if world not in _KNOWN or _KNOWN[world][0] != names:
        _KNOWN[world] = names, conditionals(world, names)
    return _KNOWN[world][1]


def keep(world: World, names: Sequence[str], found: list[Conditional]) -> None:
    """Take over the conditionals of a world from where they were worked out."""
    _KNOWN[world] = tuple(names), found


def conditionals(world: World, names: Sequence[str]) -> list[Conditional]:
    """The distinct conditionals of a complete world, and how many blocks have each.

    Of each: by how much the statistics (S, K) and the rest (S,) of the S other states exceed those of the
    observed one. Raises PlxError as `moves`.
    """
    graph, put = world.free.graph, moves(world)
    table, rows = statistics(world.free.values, graph.weight, names)
    found = changes(graph, world.states, put)
    after, before = rows[found.after], rows[found.before]
    differs = after != before
    move, code = found.move[differs], after[differs] * len(table.constant) + before[differs]
    order = np.lexsort((code, move))
    move, code = move[order], code[order]
    size = np.bincount(put.block, minlength=put.n_blocks)
    first = starts(size)
    runs = [
        Runs.by_owner(size, np.arange(put.n_blocks), put.n_blocks),
        Runs.by_owner(move - first[put.block[move]], put.block[move], put.n_blocks),
        Runs.by_owner(code, put.block[move], put.n_blocks),
    ]
    begin = starts(np.bincount(move, minlength=len(put.block)))
    kinds = equal_parts(runs, np.arange(put.n_blocks))
    block = np.array([alike[0] for alike in kinds], dtype=np.int64)
    mine, _ = entries_of(first, block)
    at, owner = entries_of(begin, mine)
    pairs = np.stack(np.divmod(code[at], len(table.constant)), axis=1).ravel()
    signs = np.tile([1.0, -1.0], len(at))
    run = 2 * starts(np.bincount(owner, minlength=len(mine)))
    difference, constant = table.combined(run, pairs, signs)
    split = np.cumsum(size[block])[:-1]
    return list(zip(np.split(difference, split), np.split(constant, split), map(len, kinds), strict=True))
