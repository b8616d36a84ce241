"""Conditionals that depend only on how many of some conditions hold.

Given what else it reads, a factor often does one of two things to an unknown: a clause either holds anyway,
or asks for some of its states. Where the states of the others that tell which are a product of literals
(in state k, not in state k), that is a *condition*. Conditions that push the same way, or the opposite way,
need only be counted, so that the table of an unknown with hundreds of factors stays small, and one with
few factors becomes tiny.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph
from plx.graph.ragged import segments
from plx.graph.rows import equal_rows, unique_rows
from plx.graph.sizes import joint_states
from plx.infer.gibbs.markov_blanket import Structure
from plx.values import FloatArray, IntArray

FEW = 8
"""Up to so many thresholds are chosen from rather than looked up."""

_PATTERNS = 1 << 12
"""With more kinds of terms than this, hardly any two push the same way."""

_OPERANDS = 3
_STATES = 1 << 12
"""A term over more unknowns, or with more joint states of them, is not looked at."""

_CLASSES = 1 << 12
"""Kinds of unknowns that are looked at."""

_TINY = 64
"""A table of so few configurations is not counted for one unknown alone: that takes longer than it saves."""

_MANY = 6
"""Finding one threshold is a small part of an update that reads more unknowns than this."""

_PRODUCT = 2
"""Literals of a product."""

_DIGITS, _DECIMALS = 12, 10
"""Effects that agree to so many digits are one, and log conditionals that agree to so many decimals."""

_READ, _READ_PRODUCT, _LOOK_UP = 1, 2, 5
"""What steps cost, per chain, to one another."""


@dataclass(frozen=True)
class CountCondition:
    """What a kind of term does: entries of the table for each state where it holds, and where not.

    ``literals`` are (position among the operands, k or ~k); None: it does the same always.
    """

    holds: IntArray
    fails: IntArray
    literals: tuple[tuple[int, int], ...] | None
    direction: tuple[float, ...]
    """The effect on the log conditional, up to a constant, or its opposite; whichever begins above 0."""
    sign: int
    """1: it pushes in that direction, -1: in the other, 0: nowhere."""

    @staticmethod
    def of(
        table: FloatArray, holds: IntArray, fails: IntArray, literals: tuple[tuple[int, int], ...] | None
    ) -> CountCondition:
        rounded = _rounded(_effect(table, holds, fails))
        lead = next((x for x in rounded if x), 0.0)
        sign = (lead > 0) - (lead < 0)
        return CountCondition(holds, fails, literals, tuple(sign * x for x in rounded), sign)

    @property
    def cost(self) -> int:
        """What reading it costs."""
        reads = len(self.literals or ()) if self.sign else 0
        return (0, _READ, _READ_PRODUCT)[reads]


@dataclass(frozen=True)
class CountTable:
    """A table over counts: where no condition holds, ``times[i]`` terms read the entries ``fails[i]``.

    Digit j of a configuration, less ``least[j]``, is how often the change from entries ``low[j]`` to
    ``high[j]`` is added.
    """

    fails: IntArray  # [kinds, card]
    times: IntArray  # [kinds]
    low: tuple[IntArray, ...]  # of shape (card,)
    high: tuple[IntArray, ...]
    radix: tuple[int, ...]
    least: tuple[int, ...]

    @property
    def planes(self) -> int:
        """Thresholds of each configuration."""
        return max(1, int(self.fails.shape[1]) - 1)

    @property
    def configurations(self) -> int:
        return math.prod(self.radix)

    def log_conditional(self, table: FloatArray) -> FloatArray:
        """Unnormalised log conditionals, shape (card, configurations), from log potentials."""
        out = np.repeat((self.times @ table[self.fails])[:, None], self.configurations, axis=1)
        digits = np.unravel_index(np.arange(self.configurations), self.radix) if self.radix else ()
        for j, digit in enumerate(digits):
            out += _effect(table, self.high[j], self.low[j])[:, None] * (digit - self.least[j])
        return out


@dataclass(frozen=True)
class ByCounts:
    """Unknowns whose index is ``offset`` + Σ stride · state of readers + Σ step of products that hold."""

    variable: IntArray
    table: IntArray  # [len(variable)] position in tables
    offset: IntArray  # [len(variable)]
    reader_variable: IntArray
    reader_row: IntArray
    reader_stride: IntArray
    product_variable: IntArray
    product_row: IntArray  # [products, 2]
    product_value: IntArray  # [products, 2]
    product_step: IntArray


class CountTables:
    """The tables over counts that there are, and the conditions of kinds of terms that were looked at."""

    def __init__(self, graph: FactorGraph) -> None:
        self._graph = graph
        self.tables: list[CountTable] = []
        self._known: dict[object, int] = {}
        self._conditions: dict[tuple[int, ...], CountCondition | None] = {}

    def place(self, table: CountTable) -> int:
        """The position of a table among those there are; one with the same numbers will do."""
        log = table.log_conditional(self._graph.table)
        key = (table.radix, table.least, (np.round(log - log[0], _DECIMALS) + 0.0).tobytes())
        if key not in self._known:
            self._known[key] = len(self.tables)
            self.tables.append(table)
        return self._known[key]

    def condition(self, own: IntArray, strides: IntArray, cards: IntArray) -> CountCondition | None:
        """The condition of a term, of which ``own`` are the unknown's card, the first entry and stride."""
        key = (*own.tolist(), *strides.tolist(), *cards.tolist())
        if key not in self._conditions:
            card, entry, stride = own.tolist()
            entries = entry + stride * np.arange(card)
            self._conditions[key] = _condition(self._graph.table, entries, strides, cards)
        return self._conditions[key]


def by_counts(
    graph: FactorGraph, s: Structure, plain: IntArray, readers: IntArray, most: IntArray, there: CountTables
) -> ByCounts:
    """The unknowns of a portion that are better off with a table over counts, which become part of ``there``.

    ``plain`` [n] is the number of configurations of a table over the joint states of all that is read, 0
    where that is too large, and ``readers`` [n] how many unknowns those are; tables over counts have at
    most ``most`` [n] thresholds.
    """
    build = _CountTableBuilder(graph, s, there)
    variables = _candidates(graph, s, plain, readers)
    if len(variables):
        pattern, conditions = _patterns(graph, s, variables, there)
        unknown = np.array([condition is None for condition in conditions])
        variables = np.setdiff1d(variables, s.term_variable[(pattern >= 0) & unknown[pattern]])
        for members, terms in islice(_alike(s, variables, pattern), _CLASSES):
            if len(members) == 1 and 0 < plain[members[0]] <= _TINY:
                continue
            kinds, times = np.unique(pattern[terms[0]], return_counts=True)
            known = [condition for p in kinds if (condition := conditions[p])]
            table, stride = _table(known, times)
            cost = sum(c.cost * n for c, n in zip(known, times.tolist(), strict=True))
            cost += _choice(table.configurations) * table.planes
            worth = (plain[members] == 0) | (_cost(plain, readers, table.planes)[members] > cost)
            if table.configurations * table.planes <= most[members[0]] and worth.all():
                build.add(members, np.split(terms, np.cumsum(times)[:-1], axis=1), known, table, stride)
    return build.finish()


def _cost(plain: IntArray, readers: IntArray, planes: int) -> IntArray:
    """What an update with a table over joint states costs."""
    cost: IntArray = _READ * readers + np.where(plain > FEW, _LOOK_UP, _choice(FEW)) * planes
    return cost


def _choice(size: int) -> int:
    """What finding one of so many thresholds costs."""
    return _LOOK_UP if size > FEW else (3 if size > FEW // 2 else 1)


def _candidates(graph: FactorGraph, s: Structure, plain: IntArray, readers: IntArray) -> IntArray:
    """Unknowns without derived nodes above them whose terms read few unknowns each, and no derived node.

    Those that read many, each by a term of its own, from a table that fits, have little to gain.
    """
    n = len(s.card)
    operands = np.bincount(s.operand_term, minlength=len(s.term_variable))
    wanted = (plain == 0) | (plain > FEW)
    wanted[s.pair_variable] = False
    wanted[s.term_variable[operands > _OPERANDS]] = False
    wanted[s.term_variable[s.operand_term[s.operand_row >= graph.n_variables]]] = False
    wanted &= np.bincount(s.term_variable, minlength=n) > 0
    reading = np.bincount(s.term_variable[operands > 0], minlength=n)
    wanted[(plain > 0) & (readers > _MANY) & (reading >= readers)] = False
    return np.flatnonzero(wanted)


def _patterns(
    graph: FactorGraph, s: Structure, variables: IntArray, there: CountTables
) -> tuple[IntArray, list[CountCondition | None]]:
    """The kind of every term [terms], -1 for terms of other unknowns, and what each kind does."""
    mine = np.zeros(len(s.card), dtype=bool)
    mine[variables] = True
    operands = np.bincount(s.operand_term, minlength=len(s.term_variable))
    begin = np.cumsum(operands) - operands
    pattern = np.full(len(s.term_variable), -1, dtype=np.int64)
    conditions: list[CountCondition | None] = []
    for size in range(_OPERANDS + 1):
        terms = np.flatnonzero(mine[s.term_variable] & (operands == size))
        at = begin[terms][:, None] + np.arange(size)
        cards = graph.card[s.operand_row[at]].astype(np.int64)
        own = np.stack([s.card[s.term_variable[terms]], s.term_entry[terms], s.term_stride[terms]], axis=1)
        kinds, kind = unique_rows(np.column_stack([own, s.operand_stride[at], cards]).astype(np.int64))
        pattern[terms] = len(conditions) + kind
        known = len(conditions) + len(kinds) <= _PATTERNS
        for i in kinds.tolist():
            conditions.append(there.condition(own[i], s.operand_stride[at[i]], cards[i]) if known else None)
    return pattern, conditions


def _condition(
    table: FloatArray, entries: IntArray, strides: IntArray, cards: IntArray
) -> CountCondition | None:
    """The condition of a term, if it has one: ``entries`` [card] are those for all others in state 0."""
    if joint_states(cards) > _STATES:
        return None
    digits = np.indices(cards.tolist()).reshape(len(cards), int(cards.prod()))
    at = entries + (strides @ digits)[:, None]
    values = table[at]
    if not np.isfinite(values).all():
        return None
    holds = (values != values[0]).any(axis=1)
    if not holds.any():
        return CountCondition.of(table, at[0], at[0], None)
    other = int(np.flatnonzero(holds)[0])
    if (values[holds] != values[other]).any():
        return None
    for side, yes, no in ((holds, other, 0), (~holds, 0, other)):
        literals = _literals(side, digits, cards)
        if literals is not None:
            return CountCondition.of(table, at[yes], at[no], literals)
    return None


def _literals(
    holds: npt.NDArray[np.bool_], digits: IntArray, cards: IntArray
) -> tuple[tuple[int, int], ...] | None:
    """The one or two literals that hold together just where ``holds``, if there are such."""
    found: list[tuple[int, int]] = []
    box = np.ones(len(holds), dtype=bool)
    for position, card in enumerate(cards.tolist()):
        allowed = np.bincount(digits[position][holds], minlength=card) > 0
        box &= allowed[digits[position]]
        if allowed.all():
            continue
        if allowed.sum() == 1:
            found.append((position, int(allowed.argmax())))
        elif allowed.sum() == card - 1:
            found.append((position, ~int(allowed.argmin())))
        else:
            return None
    return tuple(found) if len(found) <= _PRODUCT and (box == holds).all() else None


def _alike(s: Structure, variables: IntArray, pattern: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Unknowns with the same kinds of terms, and their terms [members, terms] in the order of kinds."""
    start = np.searchsorted(s.term_variable, variables)
    count = np.searchsorted(s.term_variable, variables, side="right") - start
    for size in np.unique(count).tolist():
        members = np.flatnonzero(count == size)
        terms = segments(start[members], count[members]).reshape(-1, size)
        terms = np.take_along_axis(terms, np.argsort(pattern[terms], axis=1, kind="stable"), axis=1)
        for part in equal_rows(pattern[terms]):
            yield variables[members[part]], terms[part]


class _CountTableBuilder:
    """Readers and products of a portion as they are found."""

    def __init__(self, graph: FactorGraph, s: Structure, there: CountTables) -> None:
        self.graph, self.s, self.there = graph, s, there
        operands = np.bincount(s.operand_term, minlength=len(s.term_variable))
        self.begin = np.cumsum(operands) - operands
        self.placed: list[IntArray] = []  # variable, table, offset
        self.readers: list[IntArray] = []  # variable, row, stride
        self.products: list[IntArray] = []  # variable, two rows, two values, step

    def add(
        self,
        members: IntArray,
        terms: Sequence[IntArray],
        conditions: Sequence[CountCondition],
        table: CountTable,
        stride: dict[tuple[float, ...], int],
    ) -> None:
        """Have unknowns read a table; ``terms[i]`` [members, any] are those with ``conditions[i]``."""
        offset = sum(map(operator.mul, table.least, stride.values()))
        for part, condition in zip(terms, conditions, strict=True):
            if condition.sign and condition.literals:
                step = condition.sign * stride[condition.direction]
                offset += self._read(members, part, condition.literals, step)
        column = np.full(len(members), self.there.place(table))
        self.placed.append(np.stack([members, column, np.full(len(members), offset)], axis=1))

    def _read(
        self, members: IntArray, terms: IntArray, literals: tuple[tuple[int, int], ...], step: int
    ) -> int:
        """Have the conditions of terms read: a Boolean by its state, all else as products.

        Returns what is added to the index always.
        """
        owner = np.repeat(members, terms.shape[1])
        rows = [self.s.operand_row[self.begin[terms.ravel()] + position] for position, _ in literals]
        values = [value for _, value in literals]
        if len(rows) == 1 and (self.graph.card[rows[0]] == 2).all():
            one = values[0] in (1, ~0)
            strides = np.full(len(owner), step if one else -step)
            self.readers.append(np.stack([owner, rows[0], strides], axis=1))
            return 0 if one else step * terms.shape[1]
        rows, values = (2 * rows)[:2], (2 * values)[:2]
        columns = [owner, *rows, *(np.full(len(owner), x) for x in (*values, step))]
        self.products.append(np.stack(columns, axis=1))
        return 0

    def finish(self) -> ByCounts:
        placed, readers, products = (
            np.concatenate([np.empty((0, width), dtype=np.int64), *parts])
            for width, parts in ((3, self.placed), (3, self.readers), (6, self.products))
        )
        return ByCounts(
            variable=placed[:, 0],
            table=placed[:, 1],
            offset=placed[:, 2],
            reader_variable=readers[:, 0],
            reader_row=readers[:, 1],
            reader_stride=readers[:, 2],
            product_variable=products[:, 0],
            product_row=products[:, 1:3],
            product_value=products[:, 3:5],
            product_step=products[:, 5],
        )


def _table(
    conditions: Sequence[CountCondition], times: IntArray
) -> tuple[CountTable, dict[tuple[float, ...], int]]:
    """The table over counts of what pushes in each direction, and the step in it that each push makes."""
    up: Counter[tuple[float, ...]] = Counter()
    down: Counter[tuple[float, ...]] = Counter()
    ends: dict[tuple[float, ...], tuple[IntArray, IntArray]] = {}
    for condition, n in zip(conditions, times.tolist(), strict=True):
        if condition.sign:
            (up if condition.sign > 0 else down)[condition.direction] += n
            pair = (condition.fails, condition.holds)[:: condition.sign]
            ends.setdefault(condition.direction, (pair[0], pair[1]))
    radix = tuple(up[name] + down[name] + 1 for name in ends)
    stride = {name: math.prod(radix[j + 1 :]) for j, name in enumerate(ends)}
    table = CountTable(
        np.stack([condition.fails for condition in conditions]),
        times,
        tuple(low for low, _ in ends.values()),
        tuple(high for _, high in ends.values()),
        radix,
        tuple(down[name] for name in ends),
    )
    return table, stride


def _effect(table: FloatArray, high: IntArray, low: IntArray) -> FloatArray:
    """The change from some entries to others, that for state 0 taken off; shape (card,)."""
    change = table[high] - table[low]
    return np.asarray(change - change[0])


def _rounded(values: FloatArray) -> tuple[float, ...]:
    return tuple(float(f"{x:.{_DIGITS}e}") for x in values.ravel().tolist())
