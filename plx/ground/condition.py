"""A `given` made into evidence: nodes fixed, tables sliced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from plx.errors import Diagnostic, NoWorldError
from plx.graph.assemble import (
    Assembly,
    FactorBatch,
    assemble,
    factor_batches,
    reassembled,
    variable_cards,
)
from plx.graph.derived import derived_of
from plx.graph.model import Atoms, FactorGraph, GroundEvidence, GroundModel
from plx.graph.node_map import nodes_of
from plx.graph.queries import each_part
from plx.sequences import joined
from plx.values import IMPOSSIBLE, ZERO, IntArray


def condition(model: GroundModel, given: Sequence[GroundEvidence]) -> GroundModel:
    """The model with nodes fixed at states; its queries lose their ``given``.

    Variables are sliced out of every table; a derived node becomes a hard factor. Nothing is done where
    nothing is given. Raises NoWorldError if a condition can never hold, or if two of them contradict each
    other.
    """
    if not given:
        return model
    graph = model.graph
    for fact in given:
        if fact.node < 0:
            raise NoWorldError(_never(fact))
    fixed = np.full(graph.n_variables, -1, dtype=np.int64)
    for fact in given:
        if fact.node < graph.n_variables:
            if fixed[fact.node] not in (-1, fact.state):
                raise NoWorldError(_never(fact))
            fixed[fact.node] = fact.state
    hard = [_hard(graph, fact) for fact in given if fact.node >= graph.n_variables]
    queries = joined(
        each_part(model.queries, lambda _, block: block, lambda _, query: replace(query, given=()))
    )
    assembly = assemble(
        model.values,
        variable_cards(graph),
        [*factor_batches(graph), *hard],
        derived_of(graph),
        fixed,
        nodes_of(queries),
    )
    found = reassembled(replace(model, queries=queries), assembly)
    if found.constant_weight == IMPOSSIBLE:
        raise NoWorldError(_never(given[0]))
    return replace(found, atoms=_observed(model.atoms, fixed, assembly))


def _hard(graph: FactorGraph, fact: GroundEvidence) -> FactorBatch:
    """The factor that allows one state of a node."""
    table = np.full((1, int(graph.card[fact.node])), IMPOSSIBLE, dtype=np.int64)
    table[0, fact.state] = ZERO
    return FactorBatch(np.array([[fact.node]]), np.zeros(1, dtype=np.int64), table)


def _observed(atoms: Atoms, fixed: IntArray, assembly: Assembly) -> Atoms:
    """The atoms, those of the fixed variables marked as observed."""
    values = atoms.fixed.copy()
    for variable in np.flatnonzero(fixed >= 0):
        values[atoms.atom_of[variable]] = atoms.states(int(variable))[fixed[variable]]
    return replace(assembly.nodes.atoms(atoms, assembly.graph.n_variables), fixed=values)


def _never(fact: GroundEvidence) -> Diagnostic:
    return Diagnostic(
        "this `given` has probability 0",
        fact.span,
        hint="the program and its observations exclude it",
    )
