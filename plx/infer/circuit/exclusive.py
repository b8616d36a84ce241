"""Rules that at most one of many holds, taken apart into pairs.

`alldifferent(row(c) + c for c in Line)` is one count for each value. Partial sums of these make many small
functions; as pairs, all rules about two unknowns are one table, and what it forbids is followed up at once.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph
from plx.graph.ragged import starts
from plx.graph.subgraph import without_factors
from plx.infer.circuit.limits import PAIRS
from plx.infer.exact.network import Network
from plx.infer.exact.split import split
from plx.values import FloatArray, IntArray

Counts = dict[int, IntArray]
"""What each state of the inputs of a sum counts."""

Forbidden = dict[tuple[int, ...], npt.NDArray[np.bool_]]
"""Joint states of one or two nodes that are ruled out."""


def in_pairs(graph: FactorGraph, asked: IntArray) -> Network:
    """The network of a graph (see `split`), in which at most one of many is said of each two of them."""
    forbidden, gone = Forbidden(), list[int]()
    for factor, contributions in _exclusive(graph, asked):
        if len(forbidden) + len(contributions) ** 2 / 2 > PAIRS:
            break
        _forbid(contributions, forbidden)
        gone.append(factor)
    if not gone:
        return split(graph, asked.tolist())
    network = split(without_factors(graph, np.array(gone, dtype=np.int64)), asked.tolist())
    return _with(network, {tuple(network.node[list(nodes)].tolist()): t for nodes, t in forbidden.items()})


def _exclusive(graph: FactorGraph, asked: IntArray) -> list[tuple[int, Counts]]:
    """The factors that pairs say as well, and what each state of their unknowns counts."""
    out, exact = list[tuple[int, Counts]](), dict[tuple[int, ...], list[tuple[int, Counts]]]()
    for factor in _candidates(graph, asked):
        derived = int(graph.scope_of(factor)[0]) - graph.n_variables
        fine = graph.table_values(factor)[graph.output_map(derived)] == 0
        if len(fine) < 3 or not fine[1] or fine[2:].any():
            continue
        counts = _counts(graph, derived)
        if fine[0]:
            out.append((factor, counts))
        else:
            exact.setdefault(tuple(sorted(counts)), []).append((factor, counts))
    for nodes, group in exact.items():
        out += group if _is_permutation(nodes, group) else []
    return out


def _is_permutation(nodes: tuple[int, ...], group: list[tuple[int, Counts]]) -> bool:
    """Whether each of n unknowns has one of n values: if no two have the same, each value is taken."""
    once = all((np.sum([counts[node] for _, counts in group], axis=0) == 1).all() for node in nodes)
    return once and len(nodes) == len(group)


def _candidates(graph: FactorGraph, asked: IntArray) -> list[int]:
    """The factors over one derived node that nothing else is about, with zeros alone or a constant."""
    uses = np.bincount(graph.scope, minlength=graph.n_nodes)
    uses += np.bincount(graph.input_node, minlength=graph.n_nodes)
    uses[asked] += 1
    first = graph.scope[graph.scope_start[:-1]]
    alone = (np.diff(graph.scope_start) == 1) & (first >= graph.n_variables) & (uses[first] == 1)
    return [f for f in np.flatnonzero(alone).tolist() if _is_rule(graph.table_values(f))]


def _is_rule(table: FloatArray) -> bool:
    return bool(((table == 0) | (table == -np.inf)).all() and (table == -np.inf).any())


def _counts(graph: FactorGraph, derived: int) -> Counts:
    total = Counts()
    for node, vector in zip(*graph.inputs_of(derived), strict=True):
        part = graph.contribution_of(int(vector)).astype(np.int64)
        total[int(node)] = total[int(node)] + part if int(node) in total else part
    return total


def _forbid(contributions: Counts, forbidden: Forbidden) -> None:
    for node, part in contributions.items():
        if (part > 1).any():
            forbidden[node,] = forbidden.get((node,), np.zeros(len(part), dtype=bool)) | (part > 1)
    for (a, one), (b, other) in combinations(sorted(contributions.items()), 2):
        both = (one > 0)[:, None] & (other > 0)
        if both.any():
            forbidden[a, b] = forbidden[a, b] | both if (a, b) in forbidden else both


def _with(network: Network, forbidden: Forbidden) -> Network:
    """The network with tables of zeros and ones."""
    tables = [np.where(table, -np.inf, 0.0).ravel() for table in forbidden.values()]
    at = len(network.table) + starts([len(table) for table in tables])[:-1]
    sizes = starts([len(nodes) for nodes in forbidden])
    return network._replace(
        scope_start=np.concatenate([network.scope_start, network.scope_start[-1] + sizes[1:]]),
        scope=np.concatenate([network.scope, np.array([n for nodes in forbidden for n in nodes])]),
        table_at=np.concatenate([network.table_at, at]),
        table=np.concatenate([network.table, *tables]),
    )
