"""Answers to queries from sums over histograms.

What a query mentions of its elements depends on the rest of the world through their cells alone. So its
distribution is that of these cells, times what is known of each element given its cell, and of what two share
given both of theirs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plx.check.program import BOOLEAN, Expr, RandomTerm
from plx.firstorder.base import Base
from plx.firstorder.limits import MOST_JOINT
from plx.firstorder.local import Table, states_of
from plx.firstorder.ordered import OrderedSums
from plx.firstorder.questions import Pattern
from plx.firstorder.refusal import NotLiftableError, shown
from plx.firstorder.sums import Means, Sums
from plx.firstorder.totals import Totals, counted
from plx.values import TRUE, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Found:
    """The distribution of a query's targets: their value ids, and probabilities in C order; the log of
    the sum over the worlds in which what is given holds."""

    labels: tuple[IntArray, ...]
    p: FloatArray
    log_z: float


class Answers:
    """The answers to patterns of queries."""

    def __init__(self, sums: Sums | OrderedSums) -> None:
        self.sums = sums
        self.structure = sums.structure
        self.base = sums.structure.base
        self.totals = sums.structure.totals

    @cached_property
    def means(self) -> list[Means]:
        """The sums over histograms, and means of counts, at every joint state of what is about no element."""
        assert isinstance(self.sums, Sums)
        return [self.sums.means(g) for g in range(self.base.states)]

    @cached_property
    def log_z(self) -> float:
        """The log of the sum over all worlds."""
        sums = self.sums
        one = [sums.log_sum(g) if sums.by_polynomials else self.means[g].log_sum for g in self._globals]
        logs = self.base.alone + np.array(one)
        return float(np.logaddexp.reduce(logs))

    @property
    def _globals(self) -> range:
        return range(self.base.states)

    def operations(self, patterns: int) -> float:
        """About how many numbers are added for so many patterns of queries."""
        if not isinstance(self.sums, Sums):
            return (2 + patterns) * self.sums.histograms
        return 4 * self.sums.histograms + (1 + patterns * max(self.structure.cells)) * self.sums.elimination

    @property
    def words(self) -> str:
        """How the sum is done."""
        return self.sums.words

    def answer(self, pattern: Pattern) -> Found:
        """The distribution that a query asks for. Raises NotLiftableError where it is too large."""
        return _CellJoint(self, pattern).found()

    def cells(self, groups: Sequence[int], numbers: Sequence[int]) -> FloatArray:
        """Logs [G, m, …, T] of probabilities: of cells of different elements of groups, and of totals."""
        base, structure = self.base, self.structure
        shape = [structure.cells[base.kind[group]] for group in groups]
        size = math.prod(structure.totals.sizes(numbers))
        if base.states * math.prod(shape) * size > MOST_JOINT:
            raise NotLiftableError("a query asks for too large a joint distribution")
        out = np.full((base.states, *shape, size), -np.inf)
        for g in range(base.states):
            if len(groups) <= 2 and not numbers and not self.sums.by_polynomials:
                out[g] = self._from_means(g, groups, shape) + (
                    base.alone[g] + self.means[g].log_sum - self.log_z
                )
                continue
            if len(groups) == 1 and not numbers and isinstance(self.sums, OrderedSums):
                one = self.sums.marginals(g)
                if one is not None:
                    out[g] = one[groups[0]][:, None] + (base.alone[g] - self.log_z)
                    continue
            for cells in itertools.product(*map(range, shape)):
                fixed = [*zip(groups, cells, strict=True)]
                if all(np.isfinite(structure.groups[a].own[g, c]) for a, c in fixed):
                    out[(g, *cells)] = self.sums.log_sums(g, fixed, numbers) + (base.alone[g] - self.log_z)
        return out

    def _from_means(self, g: int, groups: Sequence[int], shape: Sequence[int]) -> FloatArray:
        means, count = self.means[g], self.base.count
        p = np.ones(shape)
        if len(groups) == 1:
            (a,) = groups
            p = np.array([means.mean(a, c) for c in range(shape[0])]) / count[a]
        elif len(groups) == 2:
            a, b = groups
            pairs = count[a] * (count[b] - (a == b))
            for c, d in itertools.product(*map(range, shape)):
                p[c, d] = means.product((a, c), (b, d)) / pairs
        with np.errstate(divide="ignore"):
            logs: FloatArray = np.log(np.maximum(p, 0.0))
        return logs[..., None]


class Joint:
    """The joint distribution of what one query mentions: axes [G, cells of each element, shared of each pair,
    T]. How likely each joint state is is left to those who inherit."""

    def __init__(self, base: Base, totals: Totals, pattern: Pattern, log_z: float) -> None:
        self.base, self.totals, self.pattern, self.log_z = base, totals, pattern, log_z
        self.elements = pattern.elements
        self.units = base.asked(self.elements)
        self.local = self.units.local
        self.distinct = list(dict.fromkeys(pattern.numbers))
        self.asked = [self._tables(target) for target in pattern.query.targets]
        self.given = [self._tables(fact) for fact in pattern.given]
        nodes = {node for tables in (*self.asked, *self.given) for table in tables for node in table.nodes}
        about = [self.local.nodes[node].elements for node in nodes]
        self.pairs = sorted(
            {tuple(sorted(found, key=self.elements.index)) for found in about if len(found) == 2},
            key=lambda pair: [self.elements.index(e) for e in pair],
        )

    def found(self) -> Found:
        logs, where = self.logs()  # less log Z, so that little is rounded off
        with np.errstate(divide="ignore"):
            for tables in self.given:
                logs = logs + np.log((self._values(tables, where) == TRUE).astype(np.float64))
        total = float(np.logaddexp.reduce(logs, axis=None))
        if total == -np.inf:
            return Found((), np.empty(0), total)
        labels, codes = [], np.zeros((1,) * logs.ndim, dtype=np.int64)
        for target, tables in zip(self.pattern.query.targets, self.asked, strict=True):
            domain, place = self._labels(target, self._values(tables, where))
            labels.append(domain)
            codes = codes * len(domain) + place
        size = math.prod(len(domain) for domain in labels)
        p = np.exp(logs - total)
        codes = np.broadcast_to(codes, p.shape)
        shares = np.bincount(codes.ravel(), p.ravel(), minlength=size).astype(np.float64)
        return Found(tuple(labels), shares, self.log_z + total)

    def logs(self) -> tuple[FloatArray, dict[int, IntArray]]:
        """The logs of the probabilities of all states, and the state of every node along its axis."""
        raise NotImplementedError

    def refuse_large(self, size: float) -> None:
        """Raises NotLiftableError for a query about too many joint states."""
        if size > MOST_JOINT:
            span = self.pattern.query.span
            raise NotLiftableError(
                f"{shown(span)} is about {size:,.0f} joint states (at most {MOST_JOINT:,} are taken)", span
            )

    def where(self, shared: Sequence[list[int]]) -> dict[int, IntArray]:
        """The state of every node along its axis; ``shared`` are the nodes of each pair."""
        states = [self.units.cells(element)[1] for element in self.elements]
        axes = 2 + len(self.elements) + len(self.pairs)
        where = {
            node: column.reshape(column.shape + (1,) * (axes - column.ndim))
            for node, column in self.units.axes(states).items()
        }
        for place, nodes in enumerate(shared, start=1 + len(self.elements)):
            for node, column in states_of(self.local, nodes)[1].items():
                where[node] = column.reshape([-1 if axis == place else 1 for axis in range(axes)])
        return where

    def _tables(self, expr: Expr) -> list[Table]:
        """The value ids of an expression, one table for each joint value of the totals."""
        pattern = self.pattern
        body, rows = counted(
            self.totals, expr, pattern.aggregates, pattern.numbers, self.distinct,
            pattern.env,
        )  # fmt: skip
        found: list[Table | None] = [None] * rows.n
        for row, table in self.local.columns(body, rows):
            found[row] = table
        return [table for table in found if table is not None]

    def _values(self, tables: Sequence[Table], where: dict[int, IntArray]) -> IntArray:
        """Value ids along all axes."""
        axes = 2 + len(self.elements) + len(self.pairs)
        parts = []
        for table in tables:
            ids = np.asarray(table.at(where)) if table.nodes else table.entries
            parts.append(np.broadcast_to(ids, ids.shape if ids.ndim else (1,) * axes))
        shape = np.broadcast_shapes(*(part.shape for part in parts))
        return np.concatenate([np.broadcast_to(part, shape) for part in parts], axis=-1)

    def _labels(self, target: Expr, ids: IntArray) -> tuple[IntArray, IntArray]:
        """The values that a target may have, and the place of each value among them."""
        values = self.local.evaluator.values
        if isinstance(target, RandomTerm):
            atom = int(self.local.formulas.atom(target, self.pattern.env)[0])
            domain = self.local.atoms.domains[int(self.local.atoms.domain[atom])]
        elif np.isin(ids, BOOLEAN).all():
            domain = BOOLEAN
        else:
            domain = np.unique(ids)
            domain = domain[np.argsort(values.floats(domain), kind="stable")]
        order = np.argsort(domain)
        return domain, order[np.searchsorted(domain, ids, sorter=order)]


class _CellJoint(Joint):
    """The joint distribution of what a query mentions, from that of the cells of its elements."""

    def __init__(self, answers: Answers, pattern: Pattern) -> None:
        super().__init__(answers.base, answers.totals, pattern, answers.log_z)
        self.answers = answers

    def logs(self) -> tuple[FloatArray, dict[int, IntArray]]:
        base, structure, count = self.base, self.answers.structure, len(self.elements)
        groups = [base.group(element) for element in self.elements]
        by_cell = self.answers.cells(groups, self.distinct)
        sizes = [self.units.cells(element)[0] for element in self.elements]
        shared = [self.units.joint(a, b) for a, b in self.pairs]
        wide = math.prod([float(size) for size in (*sizes, *(joint.shape[3] for joint, _ in shared))])
        self.refuse_large(base.states * by_cell.shape[-1] * wide)
        merged = [structure.merged[base.kind[group]] for group in groups]
        logs = by_cell[np.ix_(np.arange(base.states), *merged, np.arange(by_cell.shape[-1]))]
        logs = logs.reshape(*logs.shape[:-1], *[1] * len(self.pairs), logs.shape[-1])
        axes = logs.ndim
        for i, (element, group) in enumerate(zip(self.elements, groups, strict=True)):
            own = self.units.own(element)
            rest = structure.merge(base.kind[group], own)[:, merged[i]]
            logs = logs + spread(_difference(own, rest), (0, 1 + i), axes)
        for i, ((a, b), (joint, _)) in enumerate(zip(self.pairs, shared, strict=True)):
            places = (0, 1 + self.elements.index(a), 1 + self.elements.index(b), 1 + count + i)
            whole = np.logaddexp.reduce(joint, axis=3, keepdims=True)
            logs = logs + spread(_difference(joint, whole), places, axes)
        return logs, self.where([nodes for _, nodes in shared])


def _difference(logs: FloatArray, whole: FloatArray) -> FloatArray:
    """Logs of shares; -inf where there is nothing to share."""
    with np.errstate(invalid="ignore"):
        found: FloatArray = np.where(np.isfinite(logs), logs - whole, -np.inf)
    return found


def spread(logs: FloatArray, places: Sequence[int], axes: int) -> FloatArray:
    """An array whose axes stand at some places, increasing, among so many."""
    shape = [1] * axes
    for place, size in zip(places, logs.shape, strict=True):
        shape[place] = size
    return logs.reshape(shape)
