"""Conditional distributions as tables of thresholds, shared by variables with the same local structure.

The *readers* of a variable are what its conditional depends on: rows that its factors read, and
the totals (without its own contributions) of the derived nodes that it affects. Where the readers
have few joint configurations, the conditional is tabulated once for all variables whose local
structure is the same but for the numbering of nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plx.graph.isomorphic import Runs, lengths, spelt
from plx.graph.model import FactorGraph, Int32Array
from plx.graph.ragged import starts
from plx.graph.rows import equal_rows
from plx.graph.worlds import run_strides
from plx.infer.gibbs.count_tables import ByCounts, CountTable, CountTables, by_counts
from plx.infer.gibbs.limits import ALL_ENTRIES, BY_COUNTS, BY_SEARCH, TABLE_ENTRIES
from plx.infer.gibbs.markov_blanket import DerivedRows, Structure
from plx.infer.gibbs.portions import Portions
from plx.infer.kernels.choice import SEARCHED
from plx.values import FloatArray, IntArray

_CHUNK = 1 << 21


@dataclass(frozen=True)
class Readers:
    """Distinct readers of each variable in order of first use, sorted by variable."""

    variable: IntArray
    row: IntArray
    radix: IntArray
    of_operand: IntArray  # position among its variable's readers; -1 - position: a candidate state


@dataclass(frozen=True)
class Group:
    """Tables of one shape: all but the offsets into potentials, contributions and outputs is equal."""

    start: int  # of the first table among all thresholds
    tokens: IntArray  # the common shape, see `_tokens`
    lengths: IntArray
    parameters: IntArray  # [tables, offsets]
    configurations: int
    card: int


@dataclass(frozen=True)
class Conditionals:
    """Which variables read tables, and how to fill these."""

    start: IntArray  # [V] -1: no table
    configurations: IntArray  # [V]
    reader_start: IntArray  # [V + 1]
    reader_split: IntArray  # [V] readers before it are variables, an even number of them
    reader_row: Int32Array
    reader_stride: Int32Array
    offset: Int32Array  # [V]
    product_start: IntArray  # [V + 1]
    product_row: Int32Array  # [products, 2]
    product_value: Int32Array  # [products, 2]
    product_step: Int32Array
    groups: tuple[Group, ...]
    by_counts: tuple[tuple[int, CountTable], ...]  # with the start of each
    size: int


class ConditionalTables:
    """Chooses the variables that get tables, portion by portion, and groups them by shape."""

    def __init__(self, graph: FactorGraph, rows: DerivedRows, limit: int = TABLE_ENTRIES) -> None:
        self._graph, self._rows, self._limit = graph, rows, limit
        n = graph.n_variables
        # of variables, and of states and totals of derived nodes
        cards = (graph.card[:n], graph.card[rows.node], _output_length(graph, rows.node))
        self._cards = np.concatenate(cards).astype(np.int32)
        self._groups: list[Group] = []
        self._known: dict[tuple[bytes, bytes], int] = {}
        self._counts = CountTables(graph)
        self._begin: list[int] = []  # of tables over counts
        self._size = 0
        self._found = Portions()

    def add(self, s: Structure) -> IntArray:
        """Where the table of each variable of a portion starts, -1: it has none."""
        graph, n = self._graph, len(s.card)
        readers = _readers(graph, self._rows, s, self._cards)
        bound = _starts(readers.variable, n)
        with np.errstate(over="ignore"):
            logs = np.bincount(readers.variable, weights=np.log2(readers.radix), minlength=n)
            entries = np.round(np.exp2(np.minimum(logs, 40)) * np.maximum(s.card - 1, 1))
        most = np.where(s.card > SEARCHED, self._limit * BY_SEARCH, self._limit)
        plain = np.where(entries <= most, np.round(np.exp2(np.minimum(logs, 40))), 0).astype(np.int64)
        counted = by_counts(graph, s, plain, np.diff(bound), most * BY_COUNTS, self._counts)
        plain[counted.variable] = 0
        start = np.full(n, -1, dtype=np.int64)
        self._group(s, readers, bound, np.flatnonzero(plain), start)
        kept = np.flatnonzero(start[readers.variable] >= 0)
        strides = run_strides(readers.radix[kept], _starts(readers.variable[kept], n))
        configurations = np.where(start >= 0, plain, 0)
        for table in self._counts.tables[len(self._begin) :]:
            self._begin.append(self._size)
            self._size += table.configurations * table.planes
        begins = np.array(self._begin, dtype=np.int64)
        held = np.array([table.configurations for table in self._counts.tables], dtype=np.int64)
        start[counted.variable] = begins[counted.table]
        configurations[counted.variable] = held[counted.table]
        self._keep(readers, kept, strides, counted, start, configurations)
        return start

    def _keep(
        self,
        readers: Readers,
        kept: IntArray,
        strides: IntArray,
        counted: ByCounts,
        start: IntArray,
        configurations: IntArray,
    ) -> None:
        n, n_variables = len(start), self._graph.n_variables
        owner = np.concatenate([readers.variable[kept], counted.reader_variable])
        row = np.concatenate([readers.row[kept], counted.reader_row])
        order = np.argsort(2 * owner + (row >= n_variables), kind="stable")
        offset = np.zeros(n, dtype=np.int64)
        offset[counted.variable] = counted.offset
        by_variable = np.argsort(counted.product_variable, kind="stable")
        self._found.add(
            start=start,
            configurations=configurations,
            readers=np.bincount(owner, minlength=n).astype(np.int32),
            paired=(np.bincount(owner[row < n_variables], minlength=n) // 2 * 2).astype(np.int32),
            reader_row=row[order].astype(np.int32),
            reader_stride=np.concatenate([strides, counted.reader_stride])[order].astype(np.int32),
            offset=offset.astype(np.int32),
            products=np.bincount(counted.product_variable, minlength=n).astype(np.int32),
            product_row=counted.product_row[by_variable].astype(np.int32),
            product_value=counted.product_value[by_variable].astype(np.int32),
            product_step=counted.product_step[by_variable].astype(np.int32),
        )

    def _group(
        self, s: Structure, readers: Readers, bound: IntArray, chosen: IntArray, start: IntArray
    ) -> None:
        """Fill ``start`` for chosen variables, smallest tables first, until the space is used up."""
        shape, parameters = _tokens(self._graph, self._rows, s, readers, bound)
        for same in sorted(equal_rows(lengths(shape, chosen)), key=_first):
            variables = chosen[same]
            token, offset = spelt(shape, variables), spelt(parameters, variables)
            runs = lengths(shape, variables[:1])[0]
            for alike in sorted(equal_rows(token), key=_first):
                self._tabulate(variables[alike], token[alike[0]], runs, offset[alike], start)

    def _tabulate(
        self, variables: IntArray, token: IntArray, runs: IntArray, offset: IntArray, start: IntArray
    ) -> None:
        """Fill ``start`` for variables of one shape; other portions may have tables of theirs already."""
        radix = token[len(token) - runs[-1] :]
        card, configurations = int(token[0]), int(np.prod(radix))
        each, begin = configurations * max(card - 1, 1), self._size
        shape, fresh = np.concatenate([runs, token]).tobytes(), []
        for members in sorted(equal_rows(offset), key=_first):
            key = shape, offset[members[0]].tobytes()
            at = self._known.get(key, -1)
            if at < 0 and self._size + each <= ALL_ENTRIES:
                at = self._known[key] = self._size
                self._size += each
                fresh.append(members[0])
            start[variables[members]] = at
        if fresh:
            self._groups.append(Group(begin, token, runs, offset[np.array(fresh)], configurations, card))

    def finish(self) -> Conditionals:
        """What was found for all variables."""
        found = self._found
        reader_start, product_start = starts(found.all("readers")), starts(found.all("products"))
        return Conditionals(
            start=found.all("start"),
            configurations=found.all("configurations"),
            reader_start=reader_start,
            reader_split=reader_start[:-1] + found.all("paired"),
            reader_row=found.all("reader_row"),
            reader_stride=found.all("reader_stride"),
            offset=found.all("offset"),
            product_start=product_start,
            product_row=found.all("product_row"),
            product_value=found.all("product_value"),
            product_step=found.all("product_step"),
            groups=tuple(self._groups),
            by_counts=tuple(zip(self._begin, self._counts.tables, strict=True)),
            size=self._size,
        )


def _readers(graph: FactorGraph, rows: DerivedRows, s: Structure, cards: Int32Array) -> Readers:
    n, d = graph.n_variables, len(rows.node)
    operand_variable = s.term_variable[s.operand_term]
    plain = np.flatnonzero(s.operand_row < n + 2 * d)
    variable = np.concatenate([s.pair_variable, operand_variable[plain]])
    row = np.concatenate([n + d + s.pair_row, s.operand_row[plain]])
    wide = n + 2 * d
    key, first, inverse = np.unique(variable * wide + row, return_index=True, return_inverse=True)
    order = np.lexsort((first, key // wide))
    variable, row = key[order] // wide, key[order] % wide
    position = np.empty(len(key), dtype=np.int64)
    position[order] = np.arange(len(key)) - np.searchsorted(variable, variable)
    of_operand = n + 2 * d - 1 - s.operand_row
    of_operand[plain] = position[inverse[len(s.pair_variable) :]]
    radix = cards[row].astype(np.int64)
    own = np.bincount(s.edge_pair, minlength=len(s.pair_row))
    derived = rows.node[s.pair_row] - n
    alone = own == graph.input_start[derived + 1] - graph.input_start[derived]
    # the total of what the variable alone feeds is 0 once that is taken away
    radix[np.isin(key[order], (s.pair_variable * wide + n + d + s.pair_row)[alone])] = 1
    return Readers(variable, row, radix, of_operand)


def _output_length(graph: FactorGraph, derived: IntArray) -> IntArray:
    m = graph.output_of[derived - graph.n_variables]
    return graph.output_start[m + 1] - graph.output_start[m]


def _starts(sorted_labels: IntArray, n: int) -> IntArray:
    return np.searchsorted(sorted_labels, np.arange(n + 1))


def _first(alike: IntArray) -> int:
    return int(alike[0])


def _tokens(
    graph: FactorGraph, rows: DerivedRows, s: Structure, readers: Readers, bound: IntArray
) -> tuple[list[Runs], list[Runs]]:
    """The shape of each variable's conditional, and the offsets that fill it in.

    Runs of the shape: card; edges per affected node; output length per affected node; edge
    sources; operands per term; the variable's stride per term; operand readers; operand strides;
    radix per reader. Runs of the parameters: output starts; contribution starts; entries.
    """
    n = len(s.card)
    pair_start = _starts(s.pair_variable, n)
    edge_start = np.searchsorted(s.edge_pair, pair_start)
    term_start = _starts(s.term_variable, n)
    operand_start = np.searchsorted(s.operand_term, term_start)
    edges = np.bincount(s.edge_pair, minlength=len(s.pair_row))
    operands = np.bincount(s.operand_term, minlength=len(s.term_entry))
    above = rows.node[s.pair_row]
    outputs = _output_length(graph, above)
    output = graph.output_start[graph.output_of[above - graph.n_variables]]
    shape = [
        Runs(s.card, np.arange(n + 1)),
        Runs(edges, pair_start),
        Runs(outputs, pair_start),
        Runs(s.edge_source, edge_start),
        Runs(operands, term_start),
        Runs(s.term_stride, term_start),
        Runs(readers.of_operand, operand_start),
        Runs(s.operand_stride, operand_start),
        Runs(readers.radix, bound),
    ]
    offsets = [
        Runs(output, pair_start),
        Runs(s.edge_contribution, edge_start),
        Runs(s.term_entry, term_start),
    ]
    return shape, offsets


def thresholds(c: Conditionals, graph: FactorGraph, bits: int) -> npt.NDArray[np.int32]:
    """All tables filled in: the cumulative probabilities of the states but the last, times 2^bits."""
    out = np.zeros(c.size, dtype=np.int32)
    for start, logs in log_tables(c, graph):
        filled = _cumulative(logs, bits)
        out[start : start + filled.size] = filled.ravel()
    return out


def log_tables(c: Conditionals, graph: FactorGraph) -> Iterator[tuple[int, FloatArray]]:
    """Unnormalised log conditionals of all tables, shape (tables, card, configurations), and where the
    thresholds of each such part begin."""
    for group in c.groups:
        each = group.configurations * max(group.card - 1, 1)
        step = max(1, _CHUNK // (each + group.configurations))
        for first in range(0, len(group.parameters), step):
            logs = _log_conditionals(group, graph, group.parameters[first : first + step])
            yield group.start + first * each, logs
    for start, table in c.by_counts:
        yield start, table.log_conditional(graph.table)[None]


def _cumulative(logs: FloatArray, bits: int) -> npt.NDArray[np.int32]:
    """Thresholds, shape (tables, max(card - 1, 1), configurations), from unnormalised logs."""
    high = logs.max(axis=1, keepdims=True)
    p = np.exp(logs - np.where(np.isfinite(high), high, 0.0))
    total = p.sum(axis=1, keepdims=True)
    share = np.cumsum(p, axis=1) / np.where(total > 0, total, 1.0)
    last = max(logs.shape[1] - 1, 1)
    return np.minimum(np.rint(share[:, :last] * 2.0**bits), 2.0**bits - 1).astype(np.int32)


def _log_conditionals(group: Group, graph: FactorGraph, parameters: IntArray) -> FloatArray:
    """Unnormalised log conditionals, shape (tables, card, configurations)."""
    cuts = np.cumsum(group.lengths)
    _, edges, lengths, sources, operands, strides, readers, steps, radix = np.split(group.tokens, cuts[:-1])
    outputs, contributions, entries = np.split(parameters, np.cumsum([len(edges), len(sources)]), axis=1)
    digits = np.unravel_index(np.arange(group.configurations), tuple(radix)) if len(radix) else ()
    k = np.arange(group.card)[:, None]
    candidates: list[IntArray] = []
    edge = 0
    for a in range(len(edges)):
        total = np.zeros((len(parameters), group.card, group.configurations), dtype=np.int64) + digits[a]
        for e in range(edge, edge + edges[a]):
            state = k if sources[e] < 0 else candidates[sources[e]]
            total += graph.contribution[contributions[:, e, None, None] + state]
        edge += edges[a]
        # configurations past the largest total never occur; any entry will do for them
        candidates.append(graph.output[outputs[:, a, None, None] + np.minimum(total, lengths[a] - 1)])
    out = np.zeros((len(parameters), group.card, group.configurations))
    operand = 0
    for f in range(len(operands)):
        index = entries[:, f, None, None] + k * strides[f]
        for o in range(operand, operand + operands[f]):
            read = readers[o]
            index = index + steps[o] * (digits[read] if read >= 0 else candidates[-1 - read])
        operand += operands[f]
        out += graph.table[index]
    return out
