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
from plx.graph.model import FactorGraph, GroundModel, Int32Array
from plx.graph.node_map import nodes_of
from plx.graph.queries import singles
from plx.graph.ragged import entries_of, owners, starts
from plx.graph.room import PIECE, pieces
from plx.graph.rows import BoolArray, unique_keys, unique_rows
from plx.graph.tables import total_weight
from plx.graph.worlds import input_owner
from plx.values import IMPOSSIBLE, ZERO, FloatArray, IntArray

_ROUNDING = 1e-14
"""Rows of doubles whose sums differ by less, relatively, have one sum."""

_WORTH = 1e-3
"""A large model is put together anew where so large a share of its unknowns can be left out.

That takes 0.2 to 0.3 µs a factor (chains with leaves, and random graphs, of 3 to 5·10^5 factors), a sixth of
what sampling takes to set up. By time alone it pays from some 10^4 sweeps of 64 lanes on, at ten times this
share from 10^3; but the few that go may be what made a model hard, so the share is small.
"""

_SCANS, _FEW = 4, 16
"""Times that scopes are gone through before they are sorted, and how many nodes a piece of them are few."""

_COUNTED = 1 << 24
"""Scope entries that are counted at once."""


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
    least = _WORTH * graph.n_variables if graph.n_factors > PIECE else 1
    if len(found.variable) < least:
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
        self._known: dict[tuple[int, int, int], bool] = {}

    def keys(self, entries: IntArray) -> IntArray:
        """For each of these scope entries the table of its factor, the number of states of its node and its
        stride in the table, shape (entries, 3)."""
        graph, factor = self.graph, factor_of(self.graph, entries)
        end, stride = graph.scope_start[factor + 1], np.ones(len(entries), dtype=np.int64)
        later = entries + 1
        while (inside := later < end).any():
            stride[inside] *= graph.card[graph.scope[later[inside]]]
            later = later + 1
        card = graph.card[graph.scope[entries]].astype(np.int64)
        return np.stack([graph.table_of[factor].astype(np.int64), card, stride], axis=1)

    def of_entries(self, entries: IntArray) -> BoolArray:
        """Whether the factor of each of these scope entries is a distribution of its node."""
        keys = self.keys(entries)
        first, inverse = unique_rows(keys)
        found = np.array([self._is_distribution(*key) for key in keys[first].tolist()], dtype=bool)
        return found[inverse]

    def row(self, table: int, card: int, stride: int) -> IntArray:
        """The first row of the table of an entry: the weight ids of the states of its node."""
        begin = int(self.graph.table_start[table])
        return self.graph.weight[begin : begin + card * stride : stride]

    def _is_distribution(self, table: int, card: int, stride: int) -> bool:
        key = table, card, stride
        if key not in self._known:
            self._known[key] = self._is_constant(*key)
        return self._known[key]

    def _is_constant(self, table: int, card: int, stride: int) -> bool:
        """Whether summing a node out leaves the same number for all states of the others."""
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
    scope = graph.scope if ignored is None else graph.scope[alive[owners(graph.scope_start)]]
    uses = kept.astype(np.int64)
    for begin in range(0, len(scope), _COUNTED):
        uses += np.bincount(scope[begin : begin + _COUNTED], minlength=graph.n_nodes)
    if graph.n_derived:
        owner = input_owner(graph) + graph.n_variables
        uses += np.bincount(graph.input_node[_live(graph, kept, scope)[owner]], minlength=graph.n_nodes)
    mentions = _Mentions(graph)
    waiting = np.ones(graph.n_variables, dtype=bool)
    variables, factors = [], []
    fresh = np.flatnonzero(uses[: graph.n_variables] <= 1)
    while len(fresh):
        fresh = fresh[waiting[fresh]]
        free = fresh[uses[fresh] == 0]
        entries, which = mentions.of(fresh)
        used = alive[factor_of(graph, entries)] & (uses[fresh] == 1)[which]
        entries, which = entries[used], which[used]
        mine = distributions.of_entries(entries)
        entries, which = entries[mine], which[mine]
        gone = factor_of(graph, entries)
        first, _ = unique_keys(gone)  # two leaves of one factor: one takes it along
        gone, which = gone[first], which[first]
        variables += [free, fresh[which]]
        factors += [np.full(len(free), -1, dtype=np.int64), gone]
        waiting[free] = waiting[fresh[which]] = False
        alive[gone] = False
        fresh = _released(graph, uses, gone)
    none = np.empty(0, dtype=np.int64)
    return Leaves(np.concatenate([*variables, none]), np.concatenate([*factors, none]))


class _Mentions:
    """Where the scopes of a graph mention nodes.

    For few nodes of a large graph the scopes are gone through; they are sorted once that is asked often.
    """

    def __init__(self, graph: FactorGraph) -> None:
        self._graph, self._scans = graph, 0
        self._by_node: tuple[IntArray, IntArray] | None = None  # entries, and where those of each node begin

    def of(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """The scope entries of nodes, which are sorted, and which of ``nodes`` each belongs to."""
        graph = self._graph
        few = len(graph.scope) > PIECE and len(nodes) < len(graph.scope) // PIECE * _FEW
        if self._by_node is None and few and self._scans < _SCANS:
            self._scans += 1
            return self._scanned(nodes)
        if self._by_node is None:
            start = starts(np.bincount(graph.scope, minlength=graph.n_nodes))
            self._by_node = np.argsort(graph.scope, kind="stable"), start
        entries, start = self._by_node
        places, which = entries_of(start, nodes)
        return entries[places], which

    def _scanned(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        scope = self._graph.scope
        asked = np.zeros(self._graph.n_nodes, dtype=bool)
        asked[nodes] = True
        found = [part.start + np.flatnonzero(asked[scope[part]]) for part in pieces(len(scope))]
        entries = np.concatenate(found)
        which = np.searchsorted(nodes, scope[entries])
        order = np.argsort(which, kind="stable")
        return entries[order], which[order]


def factor_of(graph: FactorGraph, entries: IntArray) -> IntArray:
    """The factor of each of these scope entries."""
    if 8 * len(entries) > len(graph.scope):
        return owners(graph.scope_start)[entries]
    return np.searchsorted(graph.scope_start, entries, side="right") - 1


def _live(graph: FactorGraph, kept: BoolArray, scope: Int32Array) -> BoolArray:
    """The nodes that are kept, in one of these scopes, or an input of a derived node that is live."""
    live = kept.copy()
    live[scope] = True
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
    keys = distributions.keys(own)
    first, inverse = unique_rows(keys)
    for key, n in zip(keys[first].tolist(), np.bincount(inverse).tolist(), strict=True):
        out.append(values.id(weights.mul(n, _sum_of(model, distributions.row(*key)))))
    return [weight for weight in out if weight != ZERO]


def _sum_of(model: GroundModel, row: IntArray) -> weights.Number:
    """The log of the sum of the exponentials of some weights; 0 where doubles cannot tell it from 0."""
    possible = row[row != IMPOSSIBLE]
    logs = model.values.logs(possible)
    if abs(np.logaddexp.reduce(logs)) <= _ROUNDING:
        return 0
    return weights.log_sum_exp([model.values[int(i)] for i in possible])  # type: ignore[misc]
