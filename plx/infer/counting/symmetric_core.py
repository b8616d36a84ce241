"""The symmetric core of a graph: families of interchangeable blocks, and functions of their counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from plx import deadline
from plx.graph.leaves import narrow_factors
from plx.graph.model import FactorGraph
from plx.graph.rows import unique_rows
from plx.graph.subgraph import live_derived
from plx.infer.counting.families import Family, Pairs, find_families
from plx.infer.counting.limits import MOST_COUNTERS
from plx.infer.counting.sum_out import Factors, SummedOut, Tables, sum_out
from plx.values import FloatArray, IntArray


@dataclass(frozen=True)
class Counter:
    """A derived node that treats the members of every family alike.

    ``share[i, p]`` is what each state of cell p of family i contributes; ``inputs`` are other such
    nodes with their contributions.
    """

    node: int
    share: dict[tuple[int, int], IntArray]
    inputs: tuple[tuple[int, IntArray], ...]
    output: IntArray


@dataclass(frozen=True)
class Coupling:
    """A factor over counters, and perhaps over one cell: then it holds for each of its members.

    ``table`` has the cell's axis first, if any.
    """

    cell: tuple[int, int] | None
    counters: tuple[int, ...]
    table: FloatArray


@dataclass(frozen=True)
class SymmetricCore:
    """Families, their log tables, and the functions of their counts.

    ``unary[i][p]`` is the table of cell p of family i, or None; ``own[i]`` [n, w] are the numbers of the
    tables of all of its blocks, -1 for none, where these differ, else None. ``labels`` gives the tables of
    the labels in ``families`` and ``between``. ``family_of``, ``block_of`` and ``column_of`` [V] place a
    variable; -1 where it was summed out.
    """

    graph: FactorGraph
    peeled: SummedOut
    families: list[Family]
    between: dict[tuple[int, int], IntArray]
    unary: list[list[FloatArray | None]]
    own: list[IntArray | None]
    counters: list[Counter]
    couplings: list[Coupling]
    family_of: IntArray
    block_of: IntArray
    column_of: IntArray

    def label(self, label: int) -> FloatArray:
        """The log table of a pair."""
        return self.peeled.tables.tables[label]


def find_core(
    graph: FactorGraph, asked: Iterable[int] = (), tables: Tables | None = None
) -> SymmetricCore | None:
    """The core of a graph, or None if what is left after peeling is not symmetric.

    ``asked`` are derived nodes that should be counters although no factor mentions them. ``tables`` says what
    tables hold: doubles if it is left out.
    """
    search = _search(graph, asked, tables)
    return None if search is None else search.core()


def find_cores(graph: FactorGraph, asked: Iterable[int] = ()) -> Iterator[SymmetricCore]:
    """The core of a graph, and the one up to tables over single unknowns: blocks may differ in these."""
    search = _search(graph, asked, None)
    if search is None:
        return
    core = search.core()
    if core is not None:
        yield core
    if len(np.unique(search.unary)) > 1:
        core = search.core(alike=False)
        if core is not None and any(own is not None for own in core.own):
            yield core


def _search(graph: FactorGraph, asked: Iterable[int], tables: Tables | None) -> _Search | None:
    seeds = np.array(sorted(asked), dtype=np.int64)
    live = np.flatnonzero(live_derived(graph, seeds)) + graph.n_variables
    narrow = narrow_factors(graph)
    if len(live) > MOST_COUNTERS or not _reach(graph, narrow):
        return None
    held = np.zeros(graph.n_variables, dtype=bool)
    coupled = np.repeat(~narrow, np.diff(graph.scope_start))
    for nodes in (graph.scope[coupled], *(graph.inputs_of(int(d) - graph.n_variables)[0] for d in live)):
        held[nodes[nodes < graph.n_variables]] = True
    peeled = sum_out(graph, held, tables)
    if len(peeled.factors.over(3).table):
        return None
    return _Search(graph, peeled, live, np.flatnonzero(~narrow))


def _reach(graph: FactorGraph, narrow: npt.NDArray[np.bool_]) -> bool:
    """Whether every other factor is over counters and at most one variable."""
    sizes = np.diff(graph.scope_start)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    variables = np.bincount(owner[graph.scope < graph.n_variables], minlength=len(sizes))
    return not (~narrow & (variables > 1)).any()


class _Search:
    """Colours what is left by all that must be kept apart, and reads off the families."""

    def __init__(self, graph: FactorGraph, peeled: SummedOut, live: IntArray, wide: IntArray) -> None:
        self.graph, self.peeled, self.live, self.wide = graph, peeled, live, wide
        self.variables = np.flatnonzero(peeled.left)
        self.index = np.full(graph.n_variables, -1, dtype=np.int64)
        self.index[self.variables] = np.arange(len(self.variables))

    def core(self, alike: bool = True) -> SymmetricCore | None:
        """The core; unless ``alike``, blocks may differ in tables over single unknowns."""
        unary = self.unary
        columns = [self.graph.card[self.variables].astype(np.int64), *([unary] if alike else [])]
        shares = [self._share(int(d)) for d in self.live]
        coupled = self._coupled()
        columns += [share for share in shares if share is not None]
        columns += [present for *_, present in coupled]
        if any(share is None for share in shares):
            return None
        pairs = self._pairs()
        found = find_families(unique_rows(np.column_stack(columns))[1], pairs)
        if found is None:
            return None
        families = [Family(self.variables[f.members], f.inner, f.outer) for f in found[0]]
        place = np.full((3, self.graph.n_variables), -1, dtype=np.int64)
        for i, family in enumerate(families):
            block, column = np.indices(family.members.shape)
            place[:, family.members] = np.stack([np.full_like(block, i), block, column])
        lead = [family.members[0] for family in families]
        tables = self.peeled.tables.tables
        return SymmetricCore(
            graph=self.graph,
            peeled=self.peeled,
            families=families,
            between=found[1],
            unary=[[tables[u] if u >= 0 else None for u in unary[self.index[row]]] for row in lead],
            own=[_differing(unary[self.index[family.members]]) for family in families],
            counters=[
                self._counter(int(d), share, lead)
                for d, share in zip(self.live, shares, strict=True)
                if share is not None
            ],
            couplings=[c for entry in coupled for c in self._couplings(*entry, lead)],
            family_of=place[0],
            block_of=place[1],
            column_of=place[2],
        )

    @cached_property
    def unary(self) -> IntArray:
        """The table of the sum of each unknown's own factors, or -1."""
        scope, table = _combine(self.peeled.factors.over(1), self.peeled.tables)
        out = np.full(len(self.variables), -1, dtype=np.int64)
        out[self.index[scope[:, 0]]] = table
        return out

    def _pairs(self) -> Pairs:
        """One label for each pair of unknowns that factors join."""
        factors, tables = self.peeled.factors.over(2), self.peeled.tables
        swap = factors.scope[:, 0] > factors.scope[:, 1]
        turned = _transposed(tables, factors.table)
        scope = np.where(swap[:, None], factors.scope[:, ::-1], factors.scope)
        scope, label = _combine(Factors(scope, np.where(swap, turned[factors.table], factors.table)), tables)
        back = _transposed(tables, label)
        return Pairs(self.index[scope[:, 0]], self.index[scope[:, 1]], label, back)

    def _share(self, node: int) -> IntArray | None:
        """The contribution vector of each unknown to a derived node, or -1; None if one comes twice."""
        inputs, vectors = self.graph.inputs_of(node - self.graph.n_variables)
        mine = inputs < self.graph.n_variables
        if len(np.unique(inputs)) < len(inputs):
            return None
        out = np.full(len(self.variables), -1, dtype=np.int64)
        out[self.index[inputs[mine]]] = vectors[mine]
        return out

    def _coupled(self) -> list[tuple[tuple[int, ...], FloatArray, IntArray]]:
        """Factors with counters, by counters and table: and how many each unknown takes part in."""
        n = self.graph.n_variables
        found: dict[tuple[tuple[int, ...], bool, int], list[int]] = {}
        for f in self.wide.tolist():
            deadline.check()
            scope = self.graph.scope_of(f).tolist()
            counters = tuple(v for v in scope if v >= n)
            table = self.peeled.tables.exact(self.peeled.tables.of(self.graph, f))
            found.setdefault((counters, len(counters) < len(scope), table), []).append(scope[0])
        out = []
        for (counters, one, table), firsts in found.items():
            present = np.zeros(len(self.variables), dtype=np.int64)
            if one:
                np.add.at(present, self.index[firsts], 1)
            out.append((counters, self.peeled.tables.tables[table], present))
        return out

    def _couplings(
        self, counters: tuple[int, ...], table: FloatArray, present: IntArray, lead: list[IntArray]
    ) -> list[Coupling]:
        if not present.any():
            return [Coupling(None, counters, table)]
        return [
            Coupling((i, p), counters, self.peeled.tables.times(table, int(present[self.index[v]])))
            for i, row in enumerate(lead)
            for p, v in enumerate(row.tolist())
            if present[self.index[v]]
        ]

    def _counter(self, node: int, share: IntArray, lead: list[IntArray]) -> Counter:
        graph = self.graph
        inputs, vectors = graph.inputs_of(node - graph.n_variables)
        return Counter(
            node,
            {
                (i, p): graph.contribution_of(int(share[self.index[v]])).astype(np.int64)
                for i, row in enumerate(lead)
                for p, v in enumerate(row.tolist())
                if share[self.index[v]] >= 0
            },
            tuple(
                (int(v), graph.contribution_of(int(k)).astype(np.int64))
                for v, k in zip(inputs, vectors, strict=True)
                if v >= graph.n_variables
            ),
            graph.output_map(node - graph.n_variables).astype(np.int64),
        )


def _differing(rows: IntArray) -> IntArray | None:
    """Rows, or None if all are alike."""
    return rows if (rows != rows[0]).any() else None


def _combine(factors: Factors, tables: Tables) -> tuple[IntArray, IntArray]:
    """Factors over one scope added up: distinct scopes, and the table of each."""
    first, group = unique_rows(factors.scope)
    order = np.lexsort((factors.table, group))
    begin = np.flatnonzero(np.diff(group[order], prepend=-1))
    size = np.diff(np.append(begin, len(order)))
    out = np.empty(len(first), dtype=np.int64)
    for k in np.unique(size):
        mine = np.flatnonzero(size == k)
        members = factors.table[order[begin[mine][:, None] + np.arange(k)]]
        kinds, kind = unique_rows(members)
        sums = [tables.exact(tables.total([tables.tables[t] for t in members[i]])) for i in kinds]
        out[mine] = np.array(sums, dtype=np.int64)[kind]
    return factors.scope[first], out


def _transposed(tables: Tables, used: IntArray) -> IntArray:
    """The id of the transpose of every table over two unknowns that is used, and back; [all tables]."""
    pairs = np.unique(used)
    turned = [tables.exact(tables.tables[t].T) for t in pairs]
    out = np.full(len(tables.tables), -1, dtype=np.int64)
    out[pairs] = turned
    out[turned] = pairs
    return out
