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
from plx.graph.model import FactorGraph
from plx.graph.ragged import segments
from plx.graph.rows import equal_rows
from plx.graph.worlds import run_strides
from plx.infer.gibbs.count_tables import CountTable, by_counts
from plx.infer.gibbs.limits import ALL_ENTRIES, BY_COUNTS, BY_SEARCH, TABLE_ENTRIES
from plx.infer.gibbs.markov_blanket import DerivedRows, Structure
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
    reader_row: IntArray
    reader_stride: IntArray
    offset: IntArray  # [V]
    product_start: IntArray  # [V + 1]
    product_row: IntArray  # [products, 2]
    product_value: IntArray  # [products, 2]
    product_step: IntArray
    groups: tuple[Group, ...]
    by_counts: tuple[tuple[int, CountTable], ...]  # with the start of each
    size: int


def conditionals(
    graph: FactorGraph, rows: DerivedRows, s: Structure, limit: int = TABLE_ENTRIES
) -> Conditionals:
    """Choose the variables that get tables and group them by shape."""
    n = graph.n_variables
    readers = _readers(graph, rows, s)
    bound = _starts(readers.variable, n)
    with np.errstate(over="ignore"):
        logs = np.bincount(readers.variable, weights=np.log2(readers.radix), minlength=n)
        entries = np.round(np.exp2(np.minimum(logs, 40)) * np.maximum(graph.card[:n] - 1, 1))
    most = np.where(graph.card[:n] > SEARCHED, limit * BY_SEARCH, limit)
    plain = np.where(entries <= most, np.round(np.exp2(np.minimum(logs, 40))), 0).astype(np.int64)
    counted = by_counts(graph, s, plain, np.diff(bound), most * BY_COUNTS)
    plain[counted.variable] = 0
    start = np.full(n, -1, dtype=np.int64)
    groups, size = _group(graph, rows, s, readers, bound, np.flatnonzero(plain), start)
    kept = np.flatnonzero(start[readers.variable] >= 0)
    own_start = _starts(readers.variable[kept], n)
    strides = run_strides(readers.radix[kept], own_start)
    configurations = np.where(start >= 0, plain, 0)
    sizes = np.array([t.configurations * t.planes for t in counted.tables], dtype=np.int64)
    begins = size + np.cumsum(sizes) - sizes
    start[counted.variable] = begins[counted.table]
    held = np.array([table.configurations for table in counted.tables], dtype=np.int64)
    configurations[counted.variable] = held[counted.table]
    owner = np.concatenate([readers.variable[kept], counted.reader_variable])
    row = np.concatenate([readers.row[kept], counted.reader_row])
    order = np.lexsort((row >= n, owner))
    reader_start = _starts(owner[order], n)
    offset = np.zeros(n, dtype=np.int64)
    offset[counted.variable] = counted.offset
    by_variable = np.argsort(counted.product_variable, kind="stable")
    return Conditionals(
        start=start,
        configurations=configurations,
        reader_start=reader_start,
        reader_split=reader_start[:-1]
        + np.bincount(owner, weights=row < n, minlength=n).astype(np.int64) // 2 * 2,
        reader_row=row[order],
        reader_stride=np.concatenate([strides, counted.reader_stride])[order],
        offset=offset,
        product_start=_starts(counted.product_variable[by_variable], n),
        product_row=counted.product_row[by_variable],
        product_value=counted.product_value[by_variable],
        product_step=counted.product_step[by_variable],
        groups=tuple(groups),
        by_counts=tuple(zip(begins.tolist(), counted.tables, strict=True)),
        size=size + int(sizes.sum()),
    )


def _readers(graph: FactorGraph, rows: DerivedRows, s: Structure) -> Readers:
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
    cards = np.concatenate([graph.card[:n], graph.card[rows.node], _output_length(graph, rows)])
    radix = cards[row].astype(np.int64)
    own = np.bincount(s.edge_pair, minlength=len(s.pair_row))
    alone = own == np.diff(graph.input_start)[rows.node - n][s.pair_row]
    # the total of what the variable alone feeds is 0 once that is taken away
    radix[np.isin(key[order], (s.pair_variable * wide + n + d + s.pair_row)[alone])] = 1
    return Readers(variable, row, radix, of_operand)


def _output_length(graph: FactorGraph, rows: DerivedRows) -> IntArray:
    m = graph.output_of[rows.node - graph.n_variables]
    return graph.output_start[m + 1] - graph.output_start[m]


def _starts(sorted_labels: IntArray, n: int) -> IntArray:
    return np.searchsorted(sorted_labels, np.arange(n + 1))


def _group(
    graph: FactorGraph,
    rows: DerivedRows,
    s: Structure,
    readers: Readers,
    bound: IntArray,
    chosen: IntArray,
    start: IntArray,
) -> tuple[list[Group], int]:
    """Fill ``start`` for chosen variables, smallest tables first, until the space is used up."""
    shape, parameters = _tokens(graph, rows, s, readers, bound)
    groups: list[Group] = []
    size = 0
    for same in sorted(equal_rows(lengths(shape, chosen)), key=_first):
        variables = chosen[same]
        token, offset = spelt(shape, variables), spelt(parameters, variables)
        runs = lengths(shape, variables[:1])[0]
        for alike in sorted(equal_rows(token), key=_first):
            radix = token[alike[0]][len(token[0]) - runs[-1] :]
            card, configurations = int(token[alike[0]][0]), int(np.prod(radix))
            each = configurations * max(card - 1, 1)
            tables = sorted(equal_rows(offset[alike]), key=_first)[: max(0, (ALL_ENTRIES - size) // each)]
            if not tables:
                continue
            for i, members in enumerate(tables):
                start[variables[alike[members]]] = size + i * each
            first = np.array([alike[members[0]] for members in tables])
            groups.append(Group(size, token[alike[0]], runs, offset[first], configurations, card))
            size += each * len(tables)
    return groups, size


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
    n = graph.n_variables
    pair_start = _starts(s.pair_variable, n)
    edge_start = np.searchsorted(s.edge_pair, pair_start)
    term_start = _starts(s.term_variable, n)
    operand_start = np.searchsorted(s.operand_term, term_start)
    edges = np.bincount(s.edge_pair, minlength=len(s.pair_row))
    operands = np.bincount(s.operand_term, minlength=len(s.term_entry))
    outputs = _output_length(graph, rows)[s.pair_row]
    output = graph.output_start[graph.output_of[rows.node - n]][s.pair_row]
    shape = [
        Runs(graph.card[:n], np.arange(n + 1)),
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


def summed_terms(c: Conditionals, s: Structure) -> tuple[IntArray, IntArray]:
    """Terms, and operands, of the variables without a table."""
    terms = np.flatnonzero(c.start[s.term_variable] < 0)
    counts = np.bincount(s.operand_term, minlength=len(s.term_entry))
    first = np.cumsum(counts) - counts
    return terms, segments(first[terms], counts[terms])
