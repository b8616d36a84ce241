"""A model with interchangeable values merged, as a model of its own that answers the same queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from plx.graph.model import Atoms, GroundModel, GroundQuery, Target
from plx.graph.node_map import NodeMap, nodes_of
from plx.graph.queries import QueryBlock, each_part, singles
from plx.graph.ragged import starts
from plx.graph.rows import BoolArray
from plx.graph.subgraph import below
from plx.graph.tables import total_weight
from plx.graph.worlds import input_owner
from plx.lift.kernels import split_classes
from plx.lift.quotient import Quotient, reduce, weighted
from plx.sequences import joined
from plx.values import FloatArray, IntArray, Values
from plx.weights import log


@dataclass(frozen=True)
class Reduced:
    """``model`` has one state per class of interchangeable values, weighted by the size of the class.

    Its distribution is that of the original model, summed over the values of each class. Its queries are
    those of the original model, over classes; `spread` turns their answers back. ``nodes`` says what became
    of each original node.
    """

    original: GroundModel
    model: GroundModel
    quotient: Quotient
    nodes: NodeMap

    @property
    def is_smaller(self) -> bool:
        """Whether anything was merged."""
        return len(self.quotient.multiplicity) < len(self.quotient.state)

    def state_map(self, node: int) -> tuple[IntArray, IntArray]:
        """For each state of an original node its state in ``model``, and how many share that.

        Where the node is gone, the state is 0 and a share of 0 says that it is impossible.
        """
        states = np.arange(self.original.graph.card[node])
        if node < self.original.graph.n_variables:
            quotient = self.quotient
            pair = self.start[node] + states
            reduced = quotient.state[pair]
            return reduced - quotient.start[node], quotient.multiplicity[reduced]
        if self.nodes.node[node] < 0:
            return np.zeros_like(states), (states == self.nodes.state[node]).astype(np.int64)
        return states, np.ones_like(states)

    def spread(self, query: GroundQuery, p: FloatArray) -> FloatArray:
        """The distribution of a query's free nodes, from that of its nodes in ``model``, both in C order."""
        nodes = [target.node for target in query.targets if target.node >= 0]
        where = self.nodes.node
        left = [int(self.model.graph.card[where[n]]) for n in nodes if where[n] >= 0]
        maps = [self.state_map(node) for node in nodes]
        share: FloatArray = np.ones(())
        for _, count in maps:
            share = np.multiply.outer(share, np.divide(1.0, count, out=np.zeros(len(count)), where=count > 0))
        index = [
            state if where[n] >= 0 else np.zeros_like(state)
            for n, (state, _) in zip(nodes, maps, strict=True)
        ]
        shape = iter(left)
        full = [next(shape) if where[n] >= 0 else 1 for n in nodes]
        out: FloatArray = p.reshape(full)[np.ix_(*index)] * share
        return out.ravel()

    @cached_property
    def start(self) -> IntArray:
        """The first pair of each variable of the original model [V + 1]."""
        return starts(self.original.graph.card[: self.original.graph.n_variables])


def reduced_model(model: GroundModel) -> Reduced:
    """Merge interchangeable values, as far as no query tells them apart."""
    graph = model.graph
    read = nodes_of(model.queries)
    asked = read[read >= graph.n_variables].tolist()
    quotient = reduce(model.values, graph, query_labels(model), keep=asked)
    kept = quotient.nodes.node[asked]
    assembly = weighted(model.values, quotient, kept[kept >= quotient.graph.n_variables].tolist())
    nodes = quotient.nodes.then(assembly.nodes)
    constants = [model.constant_weight, quotient.constant_weight, assembly.constant_weight]
    constants.append(_idle_weight(model.values, quotient))
    representatives = _representatives(model, quotient)
    inner = replace(
        model,
        graph=assembly.graph,
        atoms=_atoms(model, nodes.node, representatives),
        queries=_queries(model.queries, representatives, nodes),
        constant_weight=total_weight(model.values, np.array(constants)),
    )
    return Reduced(model, inner, quotient, nodes)


def _idle_weight(values: Values, quotient: Quotient) -> int:
    """The log of the number of values that stand behind the variables of one reduced state, an id."""
    idle = quotient.start[:-1][np.diff(quotient.start) == 1]
    behind, count = np.unique(quotient.multiplicity[idle], return_counts=True)
    return total_weight(values, values.ids(log(n) for n in behind.tolist()), count)


def query_labels(model: GroundModel) -> IntArray:
    """Labels of the pairs [Σ card] that differ where a query's answer may."""
    graph = model.graph
    card = graph.card[: graph.n_variables].astype(np.int64)
    start = starts(card)
    label = np.zeros(start[-1], dtype=np.int64)
    edge = np.flatnonzero(_below_queries(model))
    edge = edge[graph.input_node[edge] < graph.n_variables]
    split_classes(
        label,
        start,
        graph.input_node[edge].astype(np.int64),
        graph.contribution_start[graph.input_contribution[edge]].astype(np.int64),
        graph.contribution.astype(np.int64),
    )
    for _, query in singles(model.queries):
        nodes = [t.node for t in query.targets if 0 <= t.node < graph.n_variables]
        for node in {n for n in nodes if nodes.count(n) > 1}:  # asked together with itself
            label[start[node] : start[node + 1]] = np.arange(card[node])
    return label


def _below_queries(model: GroundModel) -> BoolArray:
    """Which inputs of derived nodes the queries read, Boolean [E]."""
    graph = model.graph
    read = below(graph, nodes_of(model.queries))[graph.n_variables :]
    return read[input_owner(graph)]


class _Firsts(NamedTuple):
    """The first original state in each reduced state, those of variable v from ``start[v]`` on."""

    state: IntArray
    start: IntArray  # [V + 1]

    @property
    def counts(self) -> IntArray:
        """How many states each variable has left, shape (V,)."""
        return np.diff(self.start)

    def of(self, variable: int) -> IntArray:
        """Those of a variable."""
        return self.state[self.start[variable] : self.start[variable + 1]]


def _representatives(model: GroundModel, quotient: Quotient) -> _Firsts:
    card = model.graph.card[: model.graph.n_variables].astype(np.int64)
    first = quotient.members[starts(quotient.multiplicity)[:-1]]
    count = np.diff(quotient.start)
    return _Firsts(first - np.repeat(starts(card)[:-1], count), quotient.start)


def _atoms(model: GroundModel, node: IntArray, representatives: _Firsts) -> Atoms:
    """The same atoms; the domain of a reduced variable is one value of each class."""
    atoms, graph = model.atoms, model.graph
    domains = list(atoms.domains)
    known = {ids.tobytes(): i for i, ids in enumerate(domains)}
    domain, fixed, where = atoms.domain.copy(), atoms.fixed.copy(), atoms.node.copy()
    where[atoms.atom_of] = node[: graph.n_variables]
    for i in np.flatnonzero(representatives.counts != graph.card[: graph.n_variables]).tolist():
        states = representatives.of(i)
        ids, atom = atoms.states(i)[states], atoms.atom_of[i]
        if len(ids) == 1:
            fixed[atom] = ids[0]
        else:
            number = known.setdefault(ids.tobytes(), len(domains))
            domains += [ids] if number == len(domains) else []
            domain[atom] = number
    return replace(
        atoms,
        node=where,
        fixed=fixed,
        domain=domain,
        domains=tuple(domains),
        atom_of=atoms.atom_of[node[: graph.n_variables] >= 0],
    )


def _queries(
    queries: Sequence[GroundQuery], representatives: _Firsts, nodes: NodeMap
) -> Sequence[GroundQuery]:
    """Queries over classes of values. Where a block asks about values of classes, its instances differ."""
    count = representatives.counts

    def single(_: int, query: GroundQuery) -> GroundQuery:
        return replace(query, targets=tuple(_target(t, representatives, nodes) for t in query.targets))

    def block(at: slice, several: QueryBlock) -> Sequence[GroundQuery]:
        size = np.array([len(form.labels) for form in several.forms])[several.form]
        variable = (several.node >= 0) & (several.node < len(count))
        if (count[several.node[variable]] == size[variable]).all():
            return nodes.block(several)
        return tuple(single(i, query) for i, query in enumerate(several, at.start))

    return joined(each_part(queries, block, single))


def _target(target: Target, representatives: _Firsts, nodes: NodeMap) -> Target:
    """A target over classes of values."""
    n = target.node
    if n < 0:
        return target
    labels = target.labels[representatives.of(n)] if n < len(representatives.counts) else target.labels
    return nodes.target(replace(target, labels=labels))
