"""A component of a symmetric core whose tables hold terms → log Σ over its joint count vectors, as a term."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from plx import deadline
from plx.infer.counting.compositions import log_multinomial, pairs_within
from plx.infer.counting.families import NONE
from plx.infer.counting.histograms import Component
from plx.infer.counting.symmetric_core import Coupling
from plx.infer.counting.terms import NEVER, ZERO, LogSum, Terms
from plx.values import FloatArray, IntArray

_MOST_NUMBERS = 2.0**25
"""How often each term is added in each count vector is written down in at most so many numbers: 256 MB."""

_NONE: IntArray = np.empty(0, dtype=np.int64)

Part = tuple[int, IntArray]
"""A term, and how often it is added, broadcastable over the count vectors."""


def counted_term(component: Component, terms: Terms) -> int | None:
    """The logarithm of the sum over all count vectors; None if they are too many."""
    if component.log2_vectors > math.log2(_MOST_NUMBERS):
        return None
    shape = [len(component.counts[i]) for i in component.families]
    columns: dict[int, list[IntArray]] = {}
    for term, times in _parts(component):
        for item, n in ((NEVER, 1),) if term == NEVER else terms.items(term):
            columns.setdefault(item, []).append(times * n)
    if math.prod(shape) * (len(columns) + 1) > _MOST_NUMBERS:
        return None
    constant: FloatArray = np.zeros(shape)
    for i in component.families:
        constant = constant + component.along(i, log_multinomial(component.counts[i]))
    possible = np.ones(shape, dtype=bool)
    for times in columns.pop(NEVER, []):
        possible &= times == 0
    kept = np.flatnonzero(possible)
    row, added, often = [_NONE], [_NONE], [_NONE.astype(np.float64)]
    for item, parts in columns.items():
        total = np.zeros(shape, dtype=np.int64)
        for part in parts:
            total += part
        mine = total.ravel()[kept]
        at = np.flatnonzero(mine)
        row.append(at)
        added.append(np.full(len(at), item, dtype=np.int64))
        often.append(mine[at].astype(np.float64))
    entries = (np.concatenate(row), np.concatenate(added), np.concatenate(often))
    return terms.add(LogSum(constant.ravel()[kept], *entries))


def _parts(component: Component) -> Iterator[Part]:
    """All that is added to the count vectors, but for multiplicities."""
    for i in component.families:
        yield from _within(component, i)
    for (i, j), labels in component.core.between.items():
        if i in component.counts and (labels != NONE).any():
            yield from _across(component, i, j, labels)
    for coupling in component.couplings:
        yield from _coupled(component, coupling)


def _by_term(table: FloatArray) -> Iterator[tuple[int, IntArray]]:
    """The terms of a table that are not 0, and where each stands, as 0 and 1."""
    for term in np.unique(table).astype(np.int64).tolist():
        if term != ZERO:
            yield term, (table == term).astype(np.int64)


def _within(component: Component, i: int) -> Iterator[Part]:
    """The factors of a block alone, and those between two blocks of a family."""
    core, family = component.core, component.core.families[i]
    counts, states = component.counts[i], component.states[i]
    for p in range(len(family.inner)):
        deadline.check()
        unary = core.unary[i][p]
        own = [] if unary is None else [unary[states[:, p]]]
        for q in range(p + 1, len(family.inner)):
            if family.inner[p, q] != NONE:
                own.append(core.label(family.inner[p, q])[states[:, p], states[:, q]])
        for table in own:
            for term, there in _by_term(table):
                yield term, component.along(i, counts @ there)
    if len(family.members) > 1 and (family.outer != NONE).any():
        s, t, times = pairs_within(counts)
        for table in _meeting(component, i, i, family.outer):
            for term, there in _by_term(table[s, t]):
                yield term, component.along(i, times @ there)


def _across(component: Component, i: int, j: int, labels: IntArray) -> Iterator[Part]:
    """What blocks of two families add to each other."""
    for table in _meeting(component, i, j, labels):
        for term, there in _by_term(table):
            times = component.counts[i] @ there @ component.counts[j].T
            shape = [1] * len(component.families)
            shape[component.families.index(i)], shape[component.families.index(j)] = times.shape
            if component.families.index(i) > component.families.index(j):
                times = times.T
            yield term, times.reshape(shape)


def _meeting(component: Component, i: int, j: int, labels: IntArray) -> Iterator[FloatArray]:
    """The tables of a block of family i in state s and one of family j in state t, each as [s, t]."""
    for p, q in np.argwhere(labels != NONE):
        deadline.check()
        table = component.core.label(labels[p, q])
        yield table[np.ix_(component.states[i][:, p], component.states[j][:, q])]


def _coupled(component: Component, coupling: Coupling) -> Iterator[Part]:
    index = tuple(component.counter_states[node] for node in coupling.counters)
    if coupling.cell is None:
        for term, there in _by_term(coupling.table):
            yield term, there[index]
        return
    i, p = coupling.cell
    rows = component.along(i, np.arange(len(component.counts[i])))
    for term, there in _by_term(coupling.table[component.states[i][:, p]]):
        flat = component.counts[i] @ there.reshape(len(there), -1)
        yield term, flat.reshape(-1, *there.shape[1:])[(rows, *index)]
