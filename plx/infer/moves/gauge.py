"""Names for the states of unknowns under which factors favour that names agree, and how far that succeeds.

A ferromagnet whose up and down were exchanged at some sites is one under other names. Breadth first, each
unknown gets the names that its strongest factor to one that has names asks for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from plx.graph.model import FactorGraph
from plx.graph.rows import BoolArray
from plx.infer.moves.couplings import Ends
from plx.infer.moves.limits import HARD, NAMED
from plx.values import FloatArray, IntArray


@dataclass(frozen=True)
class Gauge:
    """``names`` [M, K]: the name of each state of each mobile variable; those of few states fill their rows.

    ``favoured``: for numbers of states, by how much each factor favours that names agree.
    """

    names: IntArray
    favoured: tuple[tuple[int, FloatArray], ...]

    @property
    def frustrated(self) -> float:
        """The share of all preferences for one name or another that cannot be had at once."""
        said = np.concatenate([np.zeros(0), *(strength for _, strength in self.favoured)])
        whole = float(np.abs(said).sum())
        return float(np.maximum(-said, 0.0).sum()) / whole if whole else 0.0

    def influence(self, beta: float) -> float:
        """By how much all neighbours together change the probabilities of an unknown's states, on average, at
        an inverse temperature. Gibbs sampling mixes fast below 1, or somewhat less (Dobrushin 1970)."""
        return influence(self.favoured, len(self.names), beta)


def influence(favoured: Sequence[tuple[int, FloatArray]], variables: int, beta: float) -> float:
    """As `Gauge.influence`."""
    changed = 0.0
    for size, strength in favoured:
        odds = np.expm1(np.minimum(beta * np.maximum(strength, 0.0), HARD))
        changed += float((odds / (odds + size)).sum())
    return 2 * changed / max(1, variables)


def wished(graph: FactorGraph, found: Ends) -> list[tuple[int, FloatArray]]:
    """For numbers of states, by how much each factor favours what it wants, as far as that is clear."""
    return [(one.want.shape[1], one.strength) for one in _wishes(graph, found)]


@dataclass(frozen=True)
class _Wishes:
    """Factors over two variables of K states each: for each state of the first the one of the second that it
    favours [F, K], and the log weights [F, K, K] less what each end says alone.

    All are clear: each state of the second is favoured by one of the first, more than any other.
    """

    first: IntArray
    second: IntArray
    want: IntArray
    table: FloatArray

    @property
    def strength(self) -> FloatArray:
        """By how much each factor favours what it wants."""
        return _agreement(self.table, self.want)


def gauge(graph: FactorGraph, found: Ends) -> Gauge:
    """Names for the states of mobile variables."""
    card = graph.card[found.mobile].astype(np.int64)
    names = np.tile(np.arange(card.max(initial=1)), (len(card), 1))
    wishes = list(_wishes(graph, found))
    renamed = any((one.want != np.arange(one.want.shape[1])).any() for one in wishes)
    if renamed and sum(len(one.first) for one in wishes) <= NAMED:
        _rename(names, card, wishes)
    return Gauge(names, tuple((one.want.shape[1], _favoured(names, one)) for one in wishes))


def _favoured(names: IntArray, wishes: _Wishes) -> FloatArray:
    """By how much each factor favours that names agree."""
    size = wishes.want.shape[1]
    state = np.argsort(names[wishes.second][:, :size], axis=1)  # of each name
    return _agreement(wishes.table, np.take_along_axis(state, names[wishes.first][:, :size], axis=1))


def _agreement(table: FloatArray, want: IntArray) -> FloatArray:
    """By how much the entries [F, a, want[F, a]] exceed the mean of all others [F]."""
    size = table.shape[1]
    at = np.take_along_axis(table, want[:, :, None], axis=2)[:, :, 0]
    strength: FloatArray = at.sum(axis=1) / max(1, size - 1)
    return strength


def _wishes(graph: FactorGraph, found: Ends) -> Iterator[_Wishes]:
    """The clear wishes, for each number of states."""
    card = graph.card[found.mobile].astype(np.int64)
    pair = np.flatnonzero(found.pairs)
    ends = card[found.first[pair]], card[found.second[pair]]
    for size in np.unique(ends[0][ends[0] == ends[1]]).tolist():
        mine = pair[(ends[0] == size) & (ends[1] == size)]
        axes = graph.table_of[found.factor[mine]], found.first_stride[mine], found.second_stride[mine]
        distinct, of = np.unique(np.stack(axes).astype(np.int64), axis=1, return_inverse=True)
        table = np.stack([_centred(graph, size, *row) for row in distinct.T.tolist()])
        want = table.argmax(axis=2)
        clear = _is_clear(table, want)
        of = of.ravel()
        kept = clear[of]
        mine, of = mine[kept], of[kept]
        yield _Wishes(found.first[mine], found.second[mine], want[of], table[of])


def _centred(graph: FactorGraph, size: int, table: int, stride: int, other: int) -> FloatArray:
    """A table over two of its axes [K, K], averaged over all others, less the means of rows and columns."""
    values = graph.table[graph.table_start[table] : graph.table_start[table + 1]]
    values = np.maximum(values, values.max() - HARD)
    at = np.arange(len(values))
    pair = at // stride % size * size + at // other % size
    mean = (np.bincount(pair, weights=values) / np.bincount(pair)).reshape(size, size)
    centred: FloatArray = mean - mean.mean(axis=0) - mean.mean(axis=1)[:, None] + mean.mean()
    return centred


def _is_clear(table: FloatArray, want: IntArray) -> BoolArray:
    """Where each state of the second is wanted once, by more than any other would be [F]."""
    size = table.shape[1]
    second = np.partition(table, size - 2, axis=2)[:, :, size - 2]
    best = np.take_along_axis(table, want[:, :, None], axis=2)[:, :, 0]
    once = (np.sort(want, axis=1) == np.arange(size)).all(axis=1)
    clear: BoolArray = once & (best > second + 1e-12).all(axis=1)
    return clear


def _rename(names: IntArray, card: IntArray, wishes: list[_Wishes]) -> None:
    """Change names, breadth first, such that what is wanted has the name of what wants it."""
    near: list[list[tuple[float, int, IntArray]]] = [[] for _ in names]
    for one in wishes:
        for a, b, want, strength in zip(
            one.first.tolist(), one.second.tolist(), one.want, one.strength.tolist(), strict=True
        ):
            near[a].append((-strength, b, want))
            near[b].append((-strength, a, np.argsort(want)))
    named = np.zeros(len(names), dtype=bool)
    for root in range(len(names)):
        waiting = deque([root])
        while waiting:
            v = waiting.popleft()
            named[v] = True
            for _, other, want in sorted(near[v], key=lambda edge: edge[:2]):
                if not named[other]:
                    named[other] = True
                    names[other, want] = names[v, : card[v]]
                    waiting.append(other)
