"""Operators on columns: joint tables where they are small, derived nodes where they are not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from plx.errors import Diagnostic, PlxError
from plx.graph.rows import AnyInt, BoolArray, unique_keys, unique_rows
from plx.ground.columns import Column, CounterBlock, Part, TableBlock, gathered
from plx.ground.counters import Counters
from plx.ground.evaluate import Evaluator
from plx.ground.limits import TABLE_LIMIT, TRUTH_TABLE_LIMIT
from plx.source import Span
from plx.values import TRUE, IntArray

OWN = 1 << 30
"""Added to the node of the unknown that a `random` rule is about, to tell it from what it depends on."""


class OwnUnknownError(Exception):
    """The unknown that a `random` rule is about would disappear in a derived node: its table is too large."""


Unary = Callable[[IntArray], IntArray]
Binary = Callable[[IntArray, IntArray], IntArray]


class Algebra:
    """Combines columns over the nodes of one model."""

    def __init__(self, evaluator: Evaluator, counters: Counters, table_limit: int = TABLE_LIMIT) -> None:
        self.evaluator = evaluator
        self.counters = counters
        self.table_limit = table_limit

    def unary(self, function: Unary, column: Column) -> Column:
        """A function of value ids at every instance."""
        fixed = column.fixed.copy()
        known = fixed >= 0
        fixed[known] = function(fixed[known])
        return gathered(fixed, [_mapped(part, function) for part in column.parts])

    def binary(self, function: Binary, a: Column, b: Column, span: Span, op: str = "") -> Column:
        """A function of two columns. ``op`` names comparisons, which stay small over large domains."""
        a = self.settle(a, b.fixed < 0, raws_only=True)
        b = self.settle(b, a.fixed < 0, raws_only=True)
        fixed = np.full(a.n, -1, dtype=np.int64)
        both = (a.fixed >= 0) & (b.fixed >= 0)
        fixed[both] = function(a.fixed[both], b.fixed[both])
        out: list[Part] = []
        part_b, position_b = b.locate()
        for x in (*a.parts, *_constant(a.fixed, ~both)):
            for i, pick in _groups(part_b[x.rows]):
                left = x if pick is None else x.take(pick)
                rows = left.rows
                (right,) = _constant(b.fixed, rows) if i < 0 else (_beside(b.parts[i], rows, position_b),)
                out += self._meet(function, left, right, fixed, span, op)
        return gathered(fixed, out)

    def settle(self, column: Column, rows: BoolArray | None = None, raws_only: bool = False) -> Column:
        """Replace raw sums, and tables over several nodes, by tables over one derived node.

        ``rows`` is a mask of the instances where this is needed; all of them without it.
        """
        out: list[Part] = []
        for part in column.parts:
            if isinstance(part, TableBlock) and (raws_only or len(part.cards) == 1):
                out.append(part)
                continue
            wanted = np.ones(len(part.rows), dtype=bool) if rows is None else rows[part.rows]
            out.append(part.take(np.flatnonzero(~wanted)))
            out += self._nodes(self.as_raw(part.take(np.flatnonzero(wanted))))
        return gathered(column.fixed, out)

    def as_raw(self, part: Part) -> CounterBlock:
        """A block as a function of the flat index of its scope's states."""
        if isinstance(part, CounterBlock):
            return part
        if len(part.rows) and int(part.scope.max()) >= OWN:
            raise OwnUnknownError
        first, inverse = unique_rows(part.scope)
        vectors, stride = [], math.prod(part.cards)
        for card in part.cards:
            stride //= card
            vectors.append(self.counters.vectors.id(stride * np.arange(card)))
        k = len(part.cards)
        raw = self.counters.add_raw(
            np.full(len(first), k), part.scope[first].ravel(), np.tile(np.array(vectors), len(first))
        )
        return CounterBlock(part.rows, raw[inverse], part.table, list(part.tables))

    def one_state_per_value(self, column: Column) -> Column:
        """Every instance as a table over one node that has each value once."""
        return self._on_one_node(column, _has_repeats)

    def one_true_state(self, column: Column) -> Column:
        """Every instance of a formula as a table over one node that is true in one state."""
        return self._on_one_node(column, lambda tables: (tables == TRUE).sum(axis=1) != 1)

    def _on_one_node(self, column: Column, is_bad: Callable[[IntArray], BoolArray]) -> Column:
        settled = self.settle(column)
        out: list[Part] = []
        for part in settled.parts:
            assert isinstance(part, TableBlock)
            bad = is_bad(part.tables)[part.table]
            out.append(part.take(np.flatnonzero(~bad)))
            out += self._nodes(self.as_raw(part.take(np.flatnonzero(bad))))
        return gathered(settled.fixed, out)

    def _nodes(self, part: CounterBlock) -> list[Part]:
        """One derived node per distinct raw sum and table; blocks by the number of its states."""
        if not len(part.rows):
            return []
        states = [self._states(table) for table in part.tables]
        first, inverse = unique_rows(np.stack([part.raw, part.table], axis=1))
        table = part.table[first]
        card = np.array([len(values) for values, _ in states], dtype=np.int64)
        maps = np.array([self.counters.output_map(number) for _, number in states], dtype=np.int64)
        node = self.counters.add_nodes(part.raw[first], maps[table], card[table])[inverse]
        out: list[Part] = []
        for c in np.unique(card[table]):
            pick = np.flatnonzero(card[part.table] == c)
            used, number = unique_keys(part.table[pick])
            tables = np.stack([states[t][0] for t in part.table[pick][used]])
            out.append(TableBlock(part.rows[pick], node[pick][:, None], number, tables, (int(c),)))
        return out

    def _states(self, table: IntArray) -> tuple[IntArray, IntArray]:
        """The distinct values of a table in increasing order, and the position of each entry's."""
        values, inverse = np.unique(table, return_inverse=True)
        floats = self.evaluator.values.floats(values)
        order = np.lexsort((values, floats))
        if (floats[order][1:] == floats[order][:-1]).any() and not np.isnan(floats).any():
            order = np.argsort(self.evaluator.arithmetic.dense_ranks("<", values))  # doubles that tie
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return values[order], rank[inverse.ravel()]

    # --------------------------------------------------------------- two parts

    def _meet(self, function: Binary, x: Part, y: Part, fixed: IntArray, span: Span, op: str) -> list[Part]:
        """The parts of the function at instances whose values stand in x and y, row by row."""
        if isinstance(x, CounterBlock) or isinstance(y, CounterBlock):
            return [_raw_with_constant(function, x, y)]
        out: list[Part] = []
        codes = _coincidences(x.scope, y.scope)
        for code, pick in _groups(codes):
            axes = _joint_axes(len(x.cards), len(y.cards), code)
            left, right = (x, y) if pick is None else (x.take(pick), y.take(pick))
            out += self._join(function, left, right, axes, fixed, span, op)
        return out

    def _join(
        self,
        function: Binary,
        x: TableBlock,
        y: TableBlock,
        axes: list[int],
        fixed: IntArray,
        span: Span,
        op: str,
    ) -> list[Part]:
        """The joint tables; ``axes`` tells the axis of each node of y's scope."""
        fresh = [j for j, axis in enumerate(axes) if axis >= len(x.cards)]
        cards = (*x.cards, *(y.cards[j] for j in fresh))
        entries = math.prod(cards)
        small = (
            entries <= self.table_limit or len(cards) == 1
        )  # a table over one node is no larger than the node
        if not small:
            if _is_reducible(x) or _is_reducible(y):
                return self._on_nodes(function, x, y, fixed, span, op)
            if op:
                return [self._compare(op, x, y, span)]
            if entries > TRUTH_TABLE_LIMIT:
                raise PlxError(_too_large(entries, span))
        pairs, table = unique_keys(x.table * len(y.tables) + y.table)
        left = x.tables[x.table[pairs]][:, _positions(cards, x.cards, range(len(x.cards)))]
        right = y.tables[y.table[pairs]][:, _positions(cards, y.cards, axes)]
        scope = np.concatenate([x.scope, y.scope[:, fresh]], axis=1)
        block = TableBlock(x.rows, scope, table, function(left, right), cards)
        return [block] if small else self._nodes(self.as_raw(block))

    def _on_nodes(
        self, function: Binary, x: TableBlock, y: TableBlock, fixed: IntArray, span: Span, op: str
    ) -> list[Part]:
        """Replace both sides by single nodes with one state per value, then try again."""
        unknown = np.full(len(x.rows), -1, dtype=np.int64)
        local = np.arange(len(x.rows))
        a = self.one_state_per_value(Column(unknown, (replace(x, rows=local),)))
        b = self.one_state_per_value(Column(unknown, (replace(y, rows=local),)))
        joined = self.binary(function, a, b, span, op)
        fixed[x.rows] = joined.fixed
        return [replace(part, rows=x.rows[part.rows]) for part in joined.parts]

    def _compare(self, op: str, x: TableBlock, y: TableBlock, span: Span) -> CounterBlock:
        """A comparison over two large domains: the sign of a difference of ranks."""
        ranks = self.evaluator.arithmetic.dense_ranks(
            op, np.concatenate([x.tables.ravel(), y.tables.ravel()])
        )
        left = ranks[: x.tables.size].reshape(x.tables.shape)
        right = ranks[x.tables.size :].reshape(y.tables.shape)
        top = int(ranks.max())
        store = self.counters.vectors
        vectors = np.stack(
            [
                np.array([store.id(t) for t in left])[x.table],
                np.array([store.id(top - t) for t in right])[y.table],
            ],
            axis=1,
        )
        scope = np.concatenate([x.scope, y.scope], axis=1)
        raw = self.counters.add_raw(np.full(len(x.rows), 2), scope.ravel(), vectors.ravel())
        numbers = self.evaluator.arithmetic.integers(np.arange(2 * top + 1))
        sign = self.evaluator.binary(op, numbers, numbers[top : top + 1], span)
        return CounterBlock(x.rows, raw, np.zeros(len(x.rows), dtype=np.int64), [sign])


def _beside(part: Part, rows: IntArray, position: IntArray) -> Part:
    """The part at some of its instances."""
    return part if np.array_equal(part.rows, rows) else part.take(position[rows])


def _is_reducible(block: TableBlock) -> bool:
    return len(block.cards) > 1 or bool(_has_repeats(block.tables).any())


def _has_repeats(tables: IntArray) -> BoolArray:
    ordered = np.sort(tables, axis=1)
    repeats: BoolArray = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    return repeats


def _mapped(part: Part, function: Unary) -> Part:
    if isinstance(part, CounterBlock):
        return replace(part, tables=[function(table) for table in part.tables])
    return replace(part, tables=function(part.tables))


def _constant(fixed: IntArray, where: IntArray | BoolArray) -> tuple[TableBlock, ...]:
    """The fixed values at some instances (a mask or numbers) as a table over no nodes."""
    is_mask = where.dtype == np.bool_
    rows: IntArray = np.flatnonzero(where & (fixed >= 0)) if is_mask else where.astype(np.int64)
    if not len(rows):
        return ()
    first, table = unique_keys(fixed[rows])
    return (
        TableBlock(rows, np.empty((len(rows), 0), dtype=np.int32), table, fixed[rows][first][:, None], ()),
    )


def _raw_with_constant(function: Binary, x: Part, y: Part) -> CounterBlock:
    """A function of a raw sum and a fixed value."""
    m = len(y.tables)
    pairs, table = unique_keys(x.table * m + y.table)
    pieces = zip(x.table[pairs], y.table[pairs], strict=True)
    tables = [function(*np.broadcast_arrays(x.tables[i], y.tables[j])) for i, j in pieces]
    raw = x.raw if isinstance(x, CounterBlock) else y.raw  # type: ignore[union-attr]
    return CounterBlock(x.rows, raw, table, tables)


def _groups(keys: IntArray) -> Iterator[tuple[int, IntArray | None]]:
    """Every distinct key with the positions where it stands; None for all positions."""
    if len(keys) and int(keys.min()) == int(keys.max()):
        yield int(keys[0]), None
        return
    first, inverse = unique_keys(keys)
    for i, position in enumerate(first):
        yield int(keys[position]), np.flatnonzero(inverse == i)


def _coincidences(x: AnyInt, y: AnyInt) -> IntArray:
    """Which nodes of x's scopes stand in y's scopes: digits in base k_x + 1, one per node of y.

    A digit is 1 + the node's place in x's scope, or 0.
    """
    k = x.shape[1]
    codes = np.zeros(len(x), dtype=np.int64)
    for j in range(y.shape[1]):
        codes *= k + 1
        for i in range(k):
            codes += (i + 1) * (x[:, i] == y[:, j])
    return codes


def _joint_axes(k_x: int, k_y: int, code: int) -> list[int]:
    """The axis of each node of y's scope in the joint table."""
    digits = []
    for _ in range(k_y):
        code, digit = divmod(code, k_x + 1)
        digits.append(digit)
    axes, fresh = [], k_x
    for digit in reversed(digits):
        axes.append(digit - 1 if digit else fresh)
        fresh += not digit
    return axes


def _positions(cards: Sequence[int], part_cards: Sequence[int], axes: Sequence[int]) -> IntArray:
    """For every entry of a joint table the entry of the part's table that belongs to it."""
    index = np.zeros(cards, dtype=np.int64)
    stride = 1
    for card, axis in zip(reversed(part_cards), reversed(axes), strict=True):
        shape = [1] * len(cards)
        shape[axis] = card
        index += stride * np.arange(card).reshape(shape)
        stride *= card
    return index.ravel()


def _too_large(entries: int, span: Span) -> Diagnostic:
    return Diagnostic(
        f"this needs a table of {entries:,} entries; the limit is {TRUTH_TABLE_LIMIT:,}",
        span,
        hint="only +, - and comparisons work between unknowns with so many values",
    )
