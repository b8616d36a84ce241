"""Clusters: unknowns that hard rules tie, directly or through others; alike ones found together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plx.graph.components import components
from plx.graph.isomorphic import Runs, equal_parts
from plx.graph.model import FactorGraph
from plx.graph.ragged import owners, ranks
from plx.graph.subgraph import subgraph
from plx.graph.worlds import input_owner
from plx.infer.problem import Parts
from plx.values import IntArray


@dataclass(frozen=True)
class Alike:
    """Clusters that differ in the numbers of their nodes only: ``graph`` is the one of any of them alone.

    Row i of ``variables`` [clusters, V of graph] names the variables of cluster i.
    """

    graph: FactorGraph
    variables: IntArray


def clusters(parts: Parts) -> list[Alike]:
    """The clusters of a graph, by likeness."""
    sub, variables = parts.hard_part
    label = components(sub, np.ones(sub.n_derived, dtype=bool))
    n = int(label.max(initial=-1)) + 1
    factors = Runs.by_owner(np.arange(sub.n_factors), label[sub.scope[sub.scope_start[:-1]]], n)
    own = Runs.by_owner(np.arange(sub.n_variables), label[: sub.n_variables], n)
    out = []
    for alike in equal_parts(_runs(sub, label, n), np.arange(n)):
        part, _ = subgraph(sub, factors.rows(alike[:1])[0])
        out.append(Alike(part, variables[own.rows(alike)]))
    return out


def _runs(sub: FactorGraph, label: IntArray, n: int) -> list[Runs]:
    """All that a cluster is, with its nodes numbered from 0."""
    local = ranks(label, n)
    derived = label[sub.n_variables :]
    entry = derived[input_owner(sub)]
    factor = label[sub.scope[sub.scope_start[:-1]]]
    scope = factor[owners(sub.scope_start)]
    return [
        Runs.by_owner(sub.card, label, n),
        Runs.by_owner(np.diff(sub.input_start), derived, n),
        Runs.by_owner(local[sub.input_node], entry, n),
        Runs.by_owner(sub.input_contribution, entry, n),
        Runs.by_owner(sub.output_of, derived, n),
        Runs.by_owner(np.diff(sub.scope_start), factor, n),
        Runs.by_owner(sub.table_of, factor, n),
        Runs.by_owner(local[sub.scope], scope, n),
    ]
