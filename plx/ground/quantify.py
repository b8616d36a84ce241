"""Aggregates over random elements: small ones as tables, large ones as sums over nodes."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from plx.errors import Diagnostic, PlxError
from plx.graph.ragged import neighbours
from plx.graph.rows import BoolArray, unique_keys, unique_rows
from plx.ground.algebra import Algebra
from plx.ground.columns import (
    Column,
    CounterBlock,
    Part,
    TableBlock,
    concatenate,
    gathered,
    possible_values,
)
from plx.ground.limits import EXPAND_LIMIT, TRUTH_TABLE_LIMIT
from plx.source import Span
from plx.values import FALSE, IMPOSSIBLE, TRUE, ZERO, IntArray
from plx.weights import Number, add, compare, div, mul, neg, sub


class Quantifier:
    """Reduces columns of elements to columns of their owners."""

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra
        self.evaluator = algebra.evaluator
        self.values = algebra.evaluator.values

    def reduce(self, kind: str, n: int, owner: IntArray, elements: Column, span: Span) -> Column:
        """An aggregate of the elements of each owner 0 … n-1 (owners increasing)."""
        if kind == "alldifferent":
            once, owner = self.at_most_once(n, owner, elements, span)
            return self.reduce("forall", n, owner, once, span)
        if kind == "product":
            return self._product(n, owner, elements, span)
        if kind == "forall":
            some = self.reduce("exists", n, owner, self._negated(elements), span)
            return self._negated(some)
        if kind == "count":
            one = self.values.id(1)
            elements = self.algebra.unary(lambda ids: np.where(ids == TRUE, one, ZERO), elements)
        return (
            self._exists(n, owner, elements, span)
            if kind == "exists"
            else self._sum(n, owner, elements, span)
        )

    def at_most_once(self, n: int, owner: IntArray, elements: Column, span: Span) -> tuple[Column, IntArray]:
        """What ``alldifferent`` of the elements of each owner 0 … n-1 is the conjunction of.

        A formula for each value that several elements of an owner can take, which says that at most one
        of them does, and the owner of each formula (increasing). Where there are as many values as elements,
        one takes each: this follows, and who looks for worlds need not find it out. The size of all formulas
        is linear in the values of all elements. An owner with fewer values than elements has a false one.
        """
        element, value = possible_values(elements)
        first, group = unique_rows(np.stack([owner[element], value], axis=1))
        owner_of = owner[element[first]]
        spare = np.bincount(owner_of, minlength=n) - np.bincount(owner, minlength=n)
        shared = (np.bincount(group, minlength=len(first)) > 1) | (spare[owner_of] == 0)
        shared &= spare[owner_of] >= 0
        kept = np.flatnonzero(shared[group])
        kept = kept[np.argsort(group[kept], kind="stable")]
        taken = self.algebra.binary(
            lambda x, y: self.evaluator.binary("=", x, y, span),
            elements.take(element[kept]),
            Column(value[kept]),
            span,
        )
        number = np.cumsum(shared) - 1
        count = self.reduce("count", int(shared.sum()), number[group[kept]], taken, span)
        one = self.values.id(1)
        least = np.where(spare[owner_of[shared]] == 0, one, ZERO)
        once = self.algebra.binary(
            lambda x, y: np.where((x == one) | ((x == ZERO) & (y == ZERO)), TRUE, FALSE),
            count,
            Column(least),
            span,
        )
        never = np.flatnonzero(spare < 0)
        owners = np.concatenate([owner_of[shared], never])
        order = np.argsort(owners, kind="stable")
        both = concatenate([once, Column(np.full(len(never), FALSE, dtype=np.int64))])
        return both.take(order), owners[order]

    def _negated(self, column: Column) -> Column:
        return self.algebra.unary(lambda ids: TRUE - ids + FALSE, column)

    def _exists(self, n: int, owner: IntArray, elements: Column, span: Span) -> Column:
        fixed = np.full(n, FALSE, dtype=np.int64)
        fixed[owner[elements.fixed == TRUE]] = TRUE
        live = np.flatnonzero((elements.fixed < 0) & (fixed[owner] == FALSE))
        fixed[owner[live]] = -1
        some = self._live("or", n, owner[live], elements.take(live), span)
        return replace(some, fixed=np.where(fixed < 0, some.fixed, fixed))

    def _sum(self, n: int, owner: IntArray, elements: Column, span: Span) -> Column:
        known = elements.fixed >= 0
        base = self.evaluator.sum_by(owner[known], elements.fixed[known], n, span)
        live = np.flatnonzero(~known)
        rest = self._live("+", n, owner[live], elements.take(live), span)
        rest = replace(rest, fixed=np.where((rest.fixed < 0) & ~_has(n, owner[live]), ZERO, rest.fixed))
        return self._plus(rest, Column(base), span)

    def _product(self, n: int, owner: IntArray, elements: Column, span: Span) -> Column:
        """Numbers from 0 on: multiplied in tables while these are small, else by a sum of logs."""
        logs = self.algebra.unary(lambda ids: self._logs(ids, span), elements)
        small = self._is_small(n, owner, elements, self.algebra.table_limit)
        if not small.all():
            return self._from_logs(n, owner, elements, logs, span)
        known = elements.fixed >= 0
        base = self.evaluator.fold_by("*", owner[known], elements.fixed[known], n, span)
        live = np.flatnonzero(~known)
        owners, folded = self._fold("*", owner[live], elements.take(live), span)
        fixed = np.full(n, self.values.id(1), dtype=np.int64)
        fixed[owners] = folded.fixed
        rest = Column(fixed, tuple(replace(part, rows=owners[part.rows]) for part in folded.parts))
        return self.algebra.binary(
            lambda x, y: self.evaluator.binary("*", x, y, span), rest, Column(base), span
        )

    def _from_logs(self, n: int, owner: IntArray, elements: Column, logs: Column, span: Span) -> Column:
        """exp Σ log, or 0 where some element is 0."""
        total = self._sum(n, owner, logs, span)
        product = self.algebra.unary(lambda ids: self.evaluator.unary("exp", ids, span), total)
        zero = self.algebra.unary(lambda ids: (ids == ZERO).astype(np.int64), elements)
        none = self._negated(self._exists(n, owner, zero, span))
        one = self.algebra.unary(lambda ids: self.evaluator.unary("indicator", ids, span), none)
        return self.algebra.binary(lambda x, y: self.evaluator.binary("*", x, y, span), product, one, span)

    def _logs(self, ids: IntArray, span: Span) -> IntArray:
        """The logs of numbers; 0, for which there is none, for 0."""
        known = ids != ZERO
        out = np.full(ids.shape, ZERO, dtype=np.int64)
        out[known] = self.evaluator.unary("log", ids[known], span)
        return out

    def _plus(self, a: Column, b: Column, span: Span) -> Column:
        return self.algebra.binary(lambda x, y: self.evaluator.binary("+", x, y, span), a, b, span)

    def _live(self, op: str, n: int, owner: IntArray, elements: Column, span: Span) -> Column:
        """Elements that are all random. Owners without elements get no value (-1, in no part)."""
        small = self._is_small(n, owner, elements)[owner]
        folded = self._fold(op, owner[small], elements.take(np.flatnonzero(small)), span)
        counted = self._count(op, owner[~small], elements.take(np.flatnonzero(~small)), span)
        fixed = np.full(n, -1, dtype=np.int64)
        parts: list[Part] = []
        for owners, column in (folded, counted):
            fixed[owners] = column.fixed
            parts += [replace(part, rows=owners[part.rows]) for part in column.parts]
        return gathered(fixed, parts)

    # ------------------------------------------------------------ small: tables

    def _is_small(self, n: int, owner: IntArray, elements: Column, limit: int = EXPAND_LIMIT) -> BoolArray:
        """Owners with one element, or whose nodes have few joint states; Booleans [n]."""
        bits = np.zeros(n)
        owners, nodes, sizes = [], [], []
        for part in elements.parts:
            mine = owner[part.rows]
            if isinstance(part, CounterBlock):
                bits[mine] = np.inf
                continue
            owners.append(np.repeat(mine, len(part.cards)))
            nodes.append(part.scope.ravel().astype(np.int64))
            sizes.append(np.tile(np.log2(part.cards), len(part.rows)))
        if owners:
            owned = np.concatenate(owners)
            first, _ = unique_rows(np.stack([owned, np.concatenate(nodes)], axis=1))
            bits += np.bincount(owned[first], weights=np.concatenate(sizes)[first], minlength=n)
        return (np.bincount(owner, minlength=n) <= 1) | (bits <= math.log2(limit) + 1e-9)

    def _fold(self, op: str, owner: IntArray, elements: Column, span: Span) -> tuple[IntArray, Column]:
        """Combine neighbours until one element per owner is left; the owners and their columns."""
        while (same := owner[1:] == owner[:-1]).any():
            left, kept = neighbours(same)
            joined = self.algebra.binary(
                lambda x, y: self.evaluator.binary(op, x, y, span),
                elements.take(left),
                elements.take(left + 1),
                span,
            )
            owner = owner[kept]
            kept[left] = False
            alone = np.flatnonzero(kept)
            order = np.argsort(np.concatenate([left, alone]), kind="stable")
            elements = concatenate([joined, elements.take(alone)]).take(order)
        return owner, elements

    # ------------------------------------------------------------- large: sums

    def _count(self, op: str, owner: IntArray, elements: Column, span: Span) -> tuple[IntArray, Column]:
        """Raw sums over single nodes: a 0/1 contribution per element, or its number in a common unit."""
        first, local = unique_keys(owner)
        owners, n = owner[first], len(first)
        settled = self.algebra.settle(elements)
        blocks = [part for part in settled.parts if isinstance(part, TableBlock)]
        unit: Number = 1
        if op == "+":
            _require_finite(blocks, span)
            unit = self._unit([block.tables for block in blocks], span)
        vector = np.zeros(len(owner), dtype=np.int64)
        node = np.zeros(len(owner), dtype=np.int64)
        top = np.zeros(len(owner), dtype=np.int64)
        base = np.full(len(owner), ZERO, dtype=np.int64)
        for block in blocks:
            shifted = [self._contributions(op, table, unit, span) for table in block.tables]
            ids = np.array([self.algebra.counters.vectors.id(v) for v, _ in shifted], dtype=np.int64)
            vector[block.rows] = ids[block.table]
            node[block.rows] = block.scope[:, 0]
            top[block.rows] = np.array([v.max() for v, _ in shifted], dtype=np.int64)[block.table]
            base[block.rows] = np.array([low for _, low in shifted], dtype=np.int64)[block.table]
        raw = self.algebra.counters.add_raw(np.bincount(local, minlength=n), node, vector)
        total = np.bincount(local, weights=top, minlength=n).astype(np.int64)
        bases = self.evaluator.sum_by(local, base, n, span) if op == "+" else np.zeros(n, dtype=np.int64)
        distinct, table = unique_rows(np.stack([total, bases], axis=1))
        tables = [self._table(op, int(total[i]), int(bases[i]), unit, span) for i in distinct]
        parts = [CounterBlock(np.arange(n), raw, table, tables)] if n else []
        return owners, gathered(np.full(n, -1, dtype=np.int64), parts)

    def _contributions(self, op: str, table: IntArray, unit: Number, span: Span) -> tuple[IntArray, int]:
        """What each state adds, in units, from 0; and the id of the smallest number."""
        if op == "or":
            return (table == TRUE).astype(np.int64), ZERO
        numbers: list[Number] = [self.values[int(i)] for i in table]  # type: ignore[misc]
        steps = [div(sub(x, numbers[0]), unit) for x in numbers]
        low = min(steps)  # type: ignore[type-var]
        smallest = numbers[steps.index(low)]
        units = [int(sub(s, low)) for s in steps]  # type: ignore[arg-type]
        if max(units) >= TRUTH_TABLE_LIMIT:
            raise PlxError(_too_many(max(units) + 1, span))
        return np.array(units, dtype=np.int64), self.values.id(smallest)

    def _unit(self, tables: list[IntArray], span: Span) -> Number:
        """The largest number of which all differences inside every table are whole multiples."""
        scale: Number | None = None
        ratios = [Fraction(0)]
        for table in (row for block in tables for row in block):
            numbers: list[Number] = [self.values[int(i)] for i in np.unique(table)]  # type: ignore[misc]
            for other in numbers[1:]:
                step = sub(other, numbers[0])
                scale = step if scale is None else scale
                ratio = div(step, scale)
                if not isinstance(ratio, int | Fraction):
                    raise PlxError(_no_unit(span))
                ratios.append(Fraction(ratio))
        if scale is None:
            return 1
        bottom = math.lcm(*(r.denominator for r in ratios))
        unit = mul(Fraction(math.gcd(*(int(r * bottom) for r in ratios)), bottom), scale)
        return unit if compare(unit, 0) > 0 else neg(unit)

    def _table(self, op: str, top: int, base: int, unit: Number, span: Span) -> IntArray:
        """The value of every sum 0 … top."""
        if top >= TRUTH_TABLE_LIMIT:
            raise PlxError(_too_many(top + 1, span))
        if op == "or":
            return np.append(FALSE, np.full(top, TRUE)).astype(np.int64)
        start = self.values[base]
        if isinstance(start, int) and isinstance(unit, int) and abs(start) + unit * top < 2**63:
            return self.evaluator.arithmetic.integers(start + unit * np.arange(top + 1))
        return self.values.ids(add(start, mul(unit, s)) for s in range(top + 1))  # type: ignore[arg-type]


def _require_finite(blocks: list[TableBlock], span: Span) -> None:
    if any((block.tables == IMPOSSIBLE).any() for block in blocks):
        hint = "a `factor` that is a plain sum of logs, not a function of one, may have log(0) in it"
        raise PlxError(Diagnostic("this sum has the logarithm of 0 in it", span, hint))


def _has(n: int, owner: IntArray) -> BoolArray:
    found: BoolArray = np.bincount(owner, minlength=n) > 0
    return found


def _no_unit(span: Span) -> Diagnostic:
    return Diagnostic(
        "this sum adds numbers that have no common unit (such as log(2) and 1) over too many unknowns",
        span,
        hint="use rational numbers, or split the sum into one `factor` per term",
    )


def _too_many(count: int, span: Span) -> Diagnostic:
    size = f"{count:,}" if count < 10**30 else f"about 10^{math.log10(count):.0f}"
    return Diagnostic(f"this sum can take {size} values; the limit is {TRUTH_TABLE_LIMIT:,}", span)
