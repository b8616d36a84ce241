"""The sum over all worlds as a rational number."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from plx import deadline
from plx.check.program import Program
from plx.firstorder.counters import CountersOf
from plx.firstorder.elements import Universe
from plx.firstorder.exact.base import ExactBase, ExactRules
from plx.firstorder.exact.cells import ExactCells, Weights
from plx.firstorder.exact.integers import Integer, integer
from plx.firstorder.exact.ratio import odds
from plx.firstorder.exact.turns import ExactTurns
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.rules import read_rules
from plx.firstorder.totals import Totals, rule_totals
from plx.infer.counting.compositions import compositions
from plx.weights import Number

_MOST = 200_000
"""Histograms."""

Histogram = tuple[int, ...]
Start = dict[tuple[Histogram, tuple[int, ...]], Integer]
"""The weight of all ways to have so many elements in each cell, and so large totals."""


def exact_sum(program: Program, types: Sequence[str], numbers: Mapping[str, Number]) -> Fraction:
    """The sum over all worlds. Raises NotLiftableError, and NotRationalError for a weight that is none."""
    rules = read_rules(program, Universe.of(program, types), numbers, ExactRules)
    base = ExactBase(rules)
    totals = rule_totals(base)
    counting = any(part.counts and part.variables for part in rules.parts)
    counters = CountersOf(base) if counting else None
    weights = Weights(base, totals, counters)
    alone = odds(base.alone).tolist()
    return sum((alone[g] * _one(weights, g) for g in range(base.states) if alone[g]), Fraction(0))


def _one(weights: Weights, g: int) -> Fraction:
    """The sum at a joint state of what is about no element."""
    cells = weights.cells(g)
    total = Fraction(0)
    by_totals = _sums(weights, cells, _start(weights, cells))
    ruled = _ruled(weights.totals, g)
    for value, found in by_totals.items():
        total += ruled[value] * int(found)
    return total / cells.denominator


def _ruled(totals: Totals, g: int) -> dict[tuple[int, ...], Fraction]:
    """The weight that rules give to the joint values of totals."""
    sizes = totals.sizes(range(totals.ruled))
    values = itertools.product(*map(range, sizes))
    return dict(zip(values, odds(totals.weight[g]).tolist(), strict=True))


def _start(weights: Weights, cells: ExactCells) -> Start:
    """The ways to put elements into cells, group by group."""
    base, size = weights.base, len(cells.first)
    nothing = (0,) * size, (0,) * weights.totals.ruled
    found: Start = {nothing: integer(1)}
    for group, count in enumerate(base.count):
        mine = [*_ways(cells, group, count)]
        new: Start = {}
        for (counts, value), weight in found.items():
            deadline.check()
            for more, added, times in mine:
                key = (
                    tuple(a + b for a, b in zip(counts, more, strict=True)),
                    tuple(a + b for a, b in zip(value, added, strict=True)),
                )
                new[key] = new.get(key, 0) + weight * times
            if len(new) > _MOST:
                raise NotLiftableError(
                    f"there are more than {_MOST:,} histograms of cells for exact rationals"
                )
        found = new
    return found


def _ways(cells: ExactCells, group: int, count: int) -> Iterator[tuple[Histogram, tuple[int, ...], Integer]]:
    """How elements of a group may be in cells: counts, what they add to totals, and the weight."""
    own, added = cells.own[group], cells.added[group]
    places = sorted(own)
    if not places:
        return
    if math.comb(count + len(places) - 1, count) > _MOST:
        raise NotLiftableError(f"there are more than {_MOST:,} histograms of cells for exact rationals")
    width = len(next(iter(added.values())))
    for row in compositions(count, len(places)).tolist():
        counts = [0] * len(cells.first)
        weight, left, value = integer(1), count, [0] * width
        for place, k in zip(places, row, strict=True):
            counts[place] = k
            weight *= math.comb(left, k) * own[place] ** k
            left -= k
            value = [a + k * b for a, b in zip(value, added[place], strict=True)]
        yield tuple(counts), tuple(value), weight


def _sums(weights: Weights, cells: ExactCells, start: Start) -> dict[tuple[int, ...], Integer]:
    """The sums by the values of totals."""
    if weights.counters is not None:
        return ExactTurns(weights.counters, cells).sums(start)
    found: dict[tuple[int, ...], Integer] = {}
    for (counts, value), weight in start.items():
        deadline.check()
        found[value] = found.get(value, 0) + weight * _meetings(cells, counts)
    return found


def _meetings(cells: ExactCells, counts: Histogram) -> Integer:
    """The weight of all pairs of elements."""
    found = integer(1)
    there = [cell for cell, count in enumerate(counts) if count]
    for i, c in enumerate(there):
        for d in there[i:]:
            pairs = counts[c] * (counts[c] - 1) // 2 if c == d else counts[c] * counts[d]
            if pairs:
                options = cells.pair.get((c, d), [])
                found *= sum((w for _, _, w in options), integer(0)) ** pairs
    return found
