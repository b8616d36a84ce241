"""The sum over all worlds as a rational number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial

from plx import deadline
from plx.check.program import Program
from plx.firstorder.counters import CountersOf
from plx.firstorder.elements import Universe
from plx.firstorder.exact.base import ExactBase, ExactRules
from plx.firstorder.exact.cells import ExactCells, Weights
from plx.firstorder.exact.integers import Integer, integer, low_bits, power
from plx.firstorder.exact.ordered import ExactOrder, ruled_odds
from plx.firstorder.exact.ratio import odds
from plx.firstorder.exact.turns import ExactTurns
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.rules import read_rules
from plx.firstorder.totals import Totals, rule_totals
from plx.infer.counting.compositions import compositions
from plx.weights import Number

_MOST = 200_000
"""Histograms."""

_MOST_BITS = 100_000_000
"""Of a sum where pairs are counted."""

Histogram = tuple[int, ...]
Start = dict[tuple[Histogram, tuple[int, ...]], Integer]
"""The weight of all ways to have so many elements in each cell, and so large totals."""


def exact_sum(program: Program, types: Sequence[str], numbers: Mapping[str, Number]) -> Fraction:
    """The sum over all worlds. Raises NotLiftableError, and NotRationalError for a weight that is none."""
    rules = read_rules(program, Universe.of(program, types), numbers, ExactRules)
    base = ExactBase(rules)
    totals = rule_totals(base)
    counting = any(part.counts and part.variables for part in rules.parts)
    _refuse(base, totals, counting)
    one: Callable[[int], Fraction]
    if base.before:
        one = ExactOrder(base, totals).sum
    else:
        one = partial(_one, Weights(base, totals, CountersOf(base) if counting else None))
    alone = odds(base.alone).tolist()
    return sum((alone[g] * one(g) for g in range(base.states) if alone[g]), Fraction(0))


def _refuse(base: ExactBase, totals: Totals, counting: bool) -> None:
    """Raises NotLiftableError for what is not counted together."""
    pairs = totals.ruled_of_pairs
    if (counting or pairs) and (base.before or base.rules.successor is not None):
        raise NotLiftableError("rules with counts ask for the order of members", base.rules.ordered)
    if counting and pairs:
        raise NotLiftableError("members count each other, and pairs are counted too")
    if len(pairs) > 1:
        raise NotLiftableError("several different counts of pairs are asked for together")


def _one(weights: Weights, g: int) -> Fraction:
    """The sum at a joint state of what is about no element."""
    if weights.number is not None:
        return _of_pairs(weights, weights.number, g)
    cells = weights.cells(g)
    ruled = ruled_odds(weights.totals, g)
    by_totals = _sums(weights, cells, _start(weights, cells))
    return sum((ruled[value] * int(found) for value, found in by_totals.items()), Fraction(0)) / (
        cells.denominator
    )


def _of_pairs(weights: Weights, number: int, g: int) -> Fraction:
    """The sum where pairs are counted. No coefficient is larger than the sum of all worlds."""
    cells = weights.cells(g)
    whole = sum(_sums(weights, cells, _start(weights, cells)).values(), integer(0))
    bits = int(whole).bit_length() + 1
    ruled = {value: one for value, one in ruled_odds(weights.totals, g).items() if one}
    most = max((value[number] for value in ruled), default=0) + 1
    if bits * most > _MOST_BITS:
        raise NotLiftableError(f"counts of pairs are polynomials of {bits * most:,} bits")
    cells = weights.cells(g, bits)
    limit = None if most > weights.totals.all[number].most else bits * most
    by_totals = _sums(weights, cells, _start(weights, cells, limit), limit)
    total, digit = Fraction(0), (1 << bits) - 1
    for value, odds_of_value in ruled.items():
        found = by_totals.get(value[:number] + value[number + 1 :])
        if found is not None:
            total += odds_of_value * (int(found) >> bits * value[number] & digit)
    return total / cells.denominator


def _start(weights: Weights, cells: ExactCells, limit: int | None = None) -> Start:
    """The ways to put elements into cells, group by group. ``limit``: bits beyond which nothing is kept."""
    base, size = weights.base, len(cells.first)
    nothing = (0,) * size, (0,) * len(weights.of_elements)
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
                new[key] = new.get(key, 0) + low_bits(weight * times, limit)
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


def _sums(
    weights: Weights, cells: ExactCells, start: Start, limit: int | None = None
) -> dict[tuple[int, ...], Integer]:
    """The sums by the values of totals."""
    if weights.counters is not None:
        return ExactTurns(weights.counters, cells).sums(start)
    found: dict[tuple[int, ...], Integer] = {}
    for (counts, value), weight in start.items():
        deadline.check()
        found[value] = found.get(value, 0) + low_bits(weight * _meetings(cells, counts, limit), limit)
    return found


def _meetings(cells: ExactCells, counts: Histogram, limit: int | None) -> Integer:
    """The weight of all pairs of elements."""
    found = integer(1)
    there = [cell for cell, count in enumerate(counts) if count]
    for i, c in enumerate(there):
        for d in there[i:]:
            pairs = counts[c] * (counts[c] - 1) // 2 if c == d else counts[c] * counts[d]
            if pairs:
                options = cells.pair.get((c, d), [])
                both = sum((w for _, _, w in options), integer(0))
                found = low_bits(found * power(both, pairs, cells.bits, limit), limit)
    return found
