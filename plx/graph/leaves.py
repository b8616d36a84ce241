"""Leaves: unknowns that few factors mention, all of them within the scope of one.

To sum a leaf out of its factors leaves one factor over the others of that scope. What has the same tables at
the same places is worked on once. Only scopes, cards and the numbers of tables are looked at here, so that
tables may hold exact weights or doubles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph
from plx.graph.ragged import starts
from plx.graph.rows import AnyInt, BoolArray, unique_rows
from plx.values import IntArray

WIDEST = 3
"""Leaves are summed out of factors over at most this many unknowns, …"""

_MOST_FACTORS = 3
"""… and this many of them."""


class LeafFactors(NamedTuple):
    """Some leaves and the factors that they are in; -1 fills rows up."""

    variable: IntArray  # [n]
    factor: IntArray  # [n, 1 to 3], widest first
    scope: IntArray  # [n, WIDEST] of the widest; the variable itself where there is no factor

    def take(self, rows: IntArray) -> LeafFactors:
        """Some of them."""
        return LeafFactors(*(column[rows] for column in self))


class Alike(NamedTuple):
    """n leaves whose factors have the same tables at the same places in the widest scope."""

    leaf: IntArray  # [n]
    widest: IntArray  # [n] the widest factor of each, -1 for none
    others: IntArray  # [n, k], the widest scope without the leaf
    axis: int  # of the leaf in the widest scope
    shape: tuple[int, ...]  # the cards of the widest scope
    factors: tuple[int, ...]  # of the first leaf, widest first
    axes: tuple[tuple[int, ...], ...]  # where the axes of each one's table are in the widest scope

    def laid_out(self, tables: Sequence[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
        """The tables of the factors, each broadcast to the widest scope."""
        out = []
        for table, axes in zip(tables, self.axes, strict=True):
            shape = [n if a in axes else 1 for a, n in enumerate(self.shape)]
            out.append(np.broadcast_to(table.transpose(np.argsort(axes)).reshape(shape), self.shape))
        return out


def narrow_factors(graph: FactorGraph) -> BoolArray:
    """Which factors are over at most `WIDEST` variables and no derived node, shape (F,)."""
    size = np.diff(graph.scope_start)
    top = np.maximum.reduceat(graph.scope, graph.scope_start[:-1]) if len(size) else size
    return np.asarray((size <= WIDEST) & (top < graph.n_variables))


def padded_scopes(graph: FactorGraph, factors: BoolArray) -> IntArray:
    """The scopes of some factors, -1 at the end and throughout for other factors; shape (F, WIDEST)."""
    size = np.where(factors, np.diff(graph.scope_start), 0)
    inside = np.arange(WIDEST) < size[:, None]
    out = np.full(inside.shape, -1, dtype=np.int64)
    out[inside] = graph.scope[np.repeat(factors, np.diff(graph.scope_start))]
    return out


def find_leaves(scope: IntArray, candidate: BoolArray) -> LeafFactors:
    """The leaves among some variables [V] of factors with these scopes [F, WIDEST], filled up with -1."""
    flat = scope.ravel()
    degree = np.bincount(flat + 1, minlength=len(candidate) + 1)[1:]
    variable = np.flatnonzero(candidate & (degree <= _MOST_FACTORS))
    factor = _factors_of(scope, variable, len(candidate))
    whole = _rows(scope, factor[:, 0])
    whole[:, 0] = np.where(factor[:, 0] < 0, variable, whole[:, 0])
    nested = np.ones(len(variable), dtype=bool)
    for narrower in factor.T[1:]:
        inside = _rows(scope, narrower)
        found = (inside[:, :, None] == whole[:, None, :]).any(axis=2) | (inside < 0)
        nested &= found.all(axis=1)
    return LeafFactors(variable, factor, whole).take(np.flatnonzero(nested))


def _factors_of(scope: IntArray, variable: IntArray, n_variables: int) -> IntArray:
    """The factors of some variables, widest first, -1 at the end of a row."""
    row = np.full(n_variables + 1, -1, dtype=np.int64)  # the last is for -1
    row[variable] = np.arange(len(variable))
    entry = np.flatnonzero(row[scope.ravel()] >= 0)
    owner, factor = row[scope.ravel()[entry]], entry // WIDEST
    size = (scope[factor] >= 0).sum(axis=1)
    order = np.argsort(owner * (WIDEST + 1) - size, kind="stable")
    owner, factor = owner[order], factor[order]
    degree = np.bincount(owner, minlength=len(variable))
    out = np.full((len(variable), degree.max(initial=1)), -1, dtype=np.int64)
    out[owner, np.arange(len(owner)) - starts(degree)[owner]] = factor
    return out


def _rows(scope: IntArray, factor: IntArray) -> IntArray:
    """The scopes of factors, -1 throughout for factor -1."""
    if not len(scope):
        return np.full((len(factor), WIDEST), -1, dtype=np.int64)
    out = scope[factor]
    out[factor < 0] = -1
    return out


def alike(leaves: LeafFactors, scope: IntArray, table_of: AnyInt, card: AnyInt) -> Iterator[Alike]:
    """The leaves by what they look like: ``table_of`` [F] are numbers of tables, ``card`` [V] of states."""
    whole = leaves.scope
    place = [_place(_rows(scope, factor), whole) for factor in leaves.factor.T[1:]]
    tables = np.where(leaves.factor >= 0, np.append(table_of, -1)[leaves.factor], -1)
    cards = np.where(whole >= 0, card[whole], 0)
    axis = (whole == leaves.variable[:, None]).argmax(axis=1)
    columns = [tables.T, cards.T, axis[None], *(p.T for p in place)]
    first, kind = unique_rows(np.concatenate(columns).T)
    for i, example in enumerate(first.tolist()):
        rows = np.flatnonzero(kind == i) if len(first) > 1 else slice(None)
        shape = tuple(cards[example][cards[example] > 0].tolist())
        factors = tuple(leaves.factor[example][leaves.factor[example] >= 0].tolist())
        narrower = (tuple(p[example][p[example] >= 0].tolist()) for p in place[: len(factors) - 1])
        yield Alike(
            leaf=leaves.variable[rows],
            widest=leaves.factor[rows, 0],
            others=np.delete(whole[rows, : len(shape)], axis[example], axis=1),
            axis=int(axis[example]),
            shape=shape,
            factors=factors,
            axes=(tuple(range(len(shape))), *narrower)[: len(factors)],
        )


def _place(inside: IntArray, whole: IntArray) -> IntArray:
    """Where the members of scopes stand in wider ones [n, WIDEST], -1 at the end."""
    at = (inside[:, :, None] == whole[:, None, :]).argmax(axis=2)
    return np.where(inside >= 0, at, -1)
