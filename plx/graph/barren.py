"""Barren nodes: unknowns that nobody asks for and that sum out to a constant (Shachter 1986, *Evaluating
influence diagrams*).

An unknown whose only factor is its own conditional distribution sums to 1 whatever its parents are, and so
does every unknown that only such leaves depend on. Whether a factor is a conditional distribution of one of
its nodes, up to a constant, shows in its table alone. So nothing has to be remembered on the way here, what
evidence or weights have been added to a table counts, and networks of other tools are pruned as well.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from plx import weights
from plx.graph.assemble import assemble, factor_batches, variable_cards
from plx.graph.derived import derived_of
from plx.graph.model import FactorGraph, GroundModel
from plx.graph.node_map import nodes_of
from plx.graph.queries import singles
from plx.graph.ragged import entries_of, owners, starts
from plx.graph.rows import BoolArray, unique_keys, unique_rows
from plx.graph.tables import total_weight
from plx.graph.worlds import input_owner, scope_strides
from plx.values import IMPOSSIBLE, ZERO, FloatArray, IntArray

_ROUNDING = 1e-14
"""Rows of doubles whose sums differ by less, relatively, have one sum."""


class Leaves(NamedTuple):
    """Variables in an order in which each is a leaf once those before it are gone, and the factor that goes
    with each: -1 for none."""

    variable: IntArray
    factor: IntArray


def without_barren(model: GroundModel) -> GroundModel:
    """The model without the unknowns that its queries do not need; the answers are the same.

    A `map` needs all of them.
    """
    if any(query.kind == "map" for _, query in singles(model.queries)):
        return model
    graph = model.graph
    kept = np.zeros(graph.n_nodes, dtype=bool)
    kept[nodes_of(model.queries)] = True
    distributions = Distributions(graph)
    found = leaves(distributions, kept)
    if not len(found.variable):
        return model
    fixed = np.full(graph.n_variables, -1, dtype=np.int64)
    fixed[found.variable] = 0
    rest = np.ones(graph.n_factors, dtype=bool)
    rest[found.factor[found.factor >= 0]] = False
    batches = factor_batches(_some_factors(graph, np.flatnonzero(rest)))
    asked = nodes_of(model.queries)
    assembly = assemble(model.values, variable_cards(graph), batches, derived_of(graph), fixed, asked)
    if assembly.constant_weight == IMPOSSIBLE:  # found out in passing: why is explained by others
        return model
    summed = _constants(model, distributions, found)
    return replace(
        model,
        graph=assembly.graph,
        atoms=assembly.nodes.atoms(model.atoms, assembly.graph.n_variables),
        queries=assembly.nodes.queries(model.queries),
        constant_weight=total_weight(
            model.values, np.array([model.constant_weight, assembly.constant_weight, *summed])
        ),
    )


class Distributions:
    """Of which of its nodes each factor is a conditional distribution, up to a constant.

    It depends on the table and on where in it the node stands, so it is found out once for each of these.
    """

    def __init__(self, graph: FactorGraph) -> None:
        self.graph = graph
        stride = scope_strides(graph)
        card = graph.card[graph.scope].astype(np.int64)
        table = graph.table_of[owners(graph.scope_start)].astype(np.int64)
        self._keys = np.stack([table, card, stride], axis=1)
        first, self.key = unique_rows(self._keys)
        self._first = first
        self._known = np.full(len(first), -1, dtype=np.int8)

    def of_entries(self, entries: IntArray) -> BoolArray:
        """Whether the factor of each of these scope entries is a distribution of its node."""
        keys = self.key[entries]
        for key in np.unique(keys[self._known[keys] < 0]).tolist():
            self._known[key] = self._is_constant(key)
        found: BoolArray = self._known[keys] > 0
        return found

    def row(self, entry: int) -> IntArray:
        """The first row of the table of a scope entry: the weight ids of the states of its node."""
        table, card, stride = self._keys[entry].tolist()
        begin = int(self.graph.table_start[table])
        return self.graph.weight[begin : begin + card * stride : stride]

    def _is_constant(self, key: int) -> bool:
        """Whether summing a node out leaves the same number for all states of the others."""
        table, card, stride = self._keys[self._first[key]].tolist()
        start, end = self.graph.table_start[table : table + 2]
        logs: FloatArray = self.graph.table[start:end].reshape(-1, card, stride)
        top = logs.max()
        if top == -np.inf:
            return False
        sums = np.exp(logs - top).sum(axis=1)
        low, high = float(sums.min()), float(sums.max())
        return low > 0 and high - low <= _ROUNDING * high


def leaves(distributions: Distributions, kept: BoolArray, ignored: BoolArray | None = None) -> Leaves:
    """All variables that can be taken away one after the other, each with the one factor that is its
    distribution or with none; ``kept`` nodes [V + D] stay, ``ignored`` factors [F] are looked through.

    Found layer by layer; what can be taken at all does not depend on the order.
    """
    graph = distributions.graph
    alive = np.ones(graph.n_factors, dtype=bool) if ignored is None else ~ignored
    owner, factor = input_owner(graph) + graph.n_variables, owners(graph.scope_start)
    live_derived = _live(graph, kept, alive)
    uses = kept.astype(np.int64)
    uses += np.bincount(graph.scope[alive[factor]], minlength=graph.n_nodes)
    uses += np.bincount(graph.input_node[live_derived[owner]], minlength=graph.n_nodes)
    by_node = np.argsort(graph.scope, kind="stable")
    start = starts(np.bincount(graph.scope, minlength=graph.n_nodes))
    waiting = np.ones(graph.n_variables, dtype=bool)
    variables, factors = [], []
    fresh = np.flatnonzero(uses[: graph.n_variables] <= 1)
    while len(fresh):
        fresh = fresh[waiting[fresh]]
        free = fresh[uses[fresh] == 0]
        places, which = entries_of(start, fresh)
        entries = by_node[places]
        used = alive[factor[entries]] & (uses[fresh] == 1)[which]
        entries, which = entries[used], which[used]
        mine = distributions.of_entries(entries)
        entries, which = entries[mine], which[mine]
        first, _ = unique_keys(factor[entries])  # two leaves of one factor: one takes it along
        entries, which = entries[first], which[first]
        gone = factor[entries]
        variables += [free, fresh[which]]
        factors += [np.full(len(free), -1, dtype=np.int64), gone]
        waiting[free] = waiting[fresh[which]] = False
        alive[gone] = False
        fresh = _released(graph, uses, gone)
    none = np.empty(0, dtype=np.int64)
    return Leaves(np.concatenate([*variables, none]), np.concatenate([*factors, none]))


def _live(graph: FactorGraph, kept: BoolArray, alive: BoolArray) -> BoolArray:
    """The nodes that are kept, in a factor that is alive, or an input of a derived node that is live."""
    live = kept.copy()
    live[graph.scope[alive[owners(graph.scope_start)]]] = True
    owner = input_owner(graph) + graph.n_variables
    while True:
        reached = graph.input_node[live[owner]]
        if live[reached].all():
            return live
        live[reached] = True


def _released(graph: FactorGraph, uses: IntArray, factors: IntArray) -> IntArray:
    """Take factors out of the counts of uses; the variables that are used at most once then."""
    entries, _ = entries_of(graph.scope_start, factors)
    touched = graph.scope[entries].astype(np.int64)
    found = [touched[:0]]
    while len(touched):
        np.subtract.at(uses, touched, 1)
        touched = np.unique(touched)
        low = touched[uses[touched] <= 1]
        found.append(low[low < graph.n_variables])
        dead = touched[(touched >= graph.n_variables) & (uses[touched] == 0)] - graph.n_variables
        entries, _ = entries_of(graph.input_start, dead)
        touched = graph.input_node[entries].astype(np.int64)
    return np.unique(np.concatenate(found))


def _some_factors(graph: FactorGraph, factors: IntArray) -> FactorGraph:
    """The graph with these factors alone, all nodes as they are."""
    entries, _ = entries_of(graph.scope_start, factors)
    return graph._replace(
        scope_start=starts(np.diff(graph.scope_start)[factors]),
        scope=graph.scope[entries],
        table_of=graph.table_of[factors],
        rule_of=graph.rule_of[factors],
    )


def _constants(model: GroundModel, distributions: Distributions, found: Leaves) -> list[int]:
    """The ids of the logs of what the leaves sum to, exactly: ZERO for a distribution."""
    graph, values = model.graph, model.values
    bare = found.variable[found.factor < 0]
    sizes, times = np.unique(graph.card[bare], return_counts=True)
    out = [
        values.id(weights.mul(int(n), weights.log(int(size)))) for size, n in zip(sizes, times, strict=True)
    ]
    taken = found.factor >= 0
    entries, which = entries_of(graph.scope_start, found.factor[taken])
    own = entries[graph.scope[entries] == found.variable[taken][which]]
    first, inverse = unique_keys(distributions.key[own])
    for entry, n in zip(own[first].tolist(), np.bincount(inverse).tolist(), strict=True):
        out.append(values.id(weights.mul(n, _sum_of(model, distributions.row(entry)))))
    return [weight for weight in out if weight != ZERO]


def _sum_of(model: GroundModel, row: IntArray) -> weights.Number:
    """The log of the sum of the exponentials of some weights; 0 where doubles cannot tell it from 0."""
    possible = row[row != IMPOSSIBLE]
    logs = model.values.logs(possible)
    if abs(np.logaddexp.reduce(logs)) <= _ROUNDING:
        return 0
    return weights.log_sum_exp([model.values[int(i)] for i in possible])  # type: ignore[misc]
