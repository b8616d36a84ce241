"""Factors over counts and other derived nodes, as factors over the variables under them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from plx.errors import Diagnostic, PlxError
from plx.graph.model import FactorGraph, GroundModel
from plx.values import IntArray

LARGEST: Final = 1 << 22
"""Factors with more entries than this are not written."""


def expanded(model: GroundModel, factor: int, form: str = "UAI") -> tuple[list[int], tuple[IntArray, ...]]:
    """The variables under a factor, and where its table has the entries over them.

    With ``table`` over the nodes of the factor, ``table[states]`` is the table over these variables, in
    increasing order. Raises PlxError if it has more than 2²² entries; ``form`` is the kind of file that it
    is for.
    """
    graph = model.graph
    variables: set[int] = set()
    _collect(graph, graph.scope_of(factor).tolist(), variables)
    scope = sorted(variables)
    shape = [int(graph.card[v]) for v in scope]
    if math.prod(shape) > LARGEST:
        rule = model.rules[int(graph.rule_of[factor])]
        message = f"`{rule.text}` couples {len(scope):,} unknowns: its table is too large for a {form} file"
        raise PlxError(Diagnostic(message, rule.span))
    place = {v: axis for axis, v in enumerate(scope)}
    states = [np.broadcast_to(_states(graph, int(node), place), shape) for node in graph.scope_of(factor)]
    return scope, tuple(states)


def _collect(graph: FactorGraph, nodes: Sequence[int], variables: set[int]) -> None:
    for node in nodes:
        if node < graph.n_variables:
            variables.add(node)
        else:
            _collect(graph, graph.inputs_of(node - graph.n_variables)[0].tolist(), variables)


def _states(graph: FactorGraph, node: int, place: dict[int, int]) -> IntArray:
    """The state of a node in every joint state of the variables, by broadcasting over their axes."""
    if node < graph.n_variables:
        shape = [1] * len(place)
        shape[place[node]] = int(graph.card[node])
        return np.arange(graph.card[node], dtype=np.int64).reshape(shape)
    derived = node - graph.n_variables
    total = np.zeros([1] * len(place), dtype=np.int64)
    for source, vector in zip(*graph.inputs_of(derived), strict=True):
        total = total + graph.contribution_of(int(vector))[_states(graph, int(source), place)]
    return graph.output_map(derived)[total].astype(np.int64)
