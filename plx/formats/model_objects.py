"""Networks that pgmpy and pyAgrum hold in memory, Bayesian and Markov, known by what they can be asked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from plx.errors import CallError, Diagnostic
from plx.formats.evidence import read_pairs
from plx.formats.network import Network, ObservedNetwork, Table
from plx.formats.numbers import log_id
from plx.graph.model import AtomBlock
from plx.values import Values


def read_pgmpy(model: Any, evidence: Mapping[str, object]) -> ObservedNetwork:
    """The tables of a model with ``get_cpds`` or ``get_factors``, and observed states by name.

    A float is read as the decimal that Python shows. Raises CallError for another object and for entries
    that are no weights, PlxError for evidence on what is not there.
    """
    found = getattr(model, "get_cpds", None) or getattr(model, "get_factors", None)
    if found is None:
        message = (
            f"a network of pgmpy has `get_cpds` or `get_factors`, and {type(model).__name__} has neither"
        )
        raise CallError(Diagnostic(message))
    tables = [
        _Factor(
            [str(name) for name in factor.variables],
            [[str(state) for state in factor.state_names[name]] for name in factor.variables],
            factor.values,
        )
        for factor in found()
    ]
    network = _network(tables, bayesian=hasattr(model, "get_cpds"))
    return ObservedNetwork(network, read_pairs(network, evidence))


def read_pyagrum(model: Any, evidence: Mapping[str, object]) -> ObservedNetwork:
    """The tables of a ``BayesNet`` (by ``cpt``) or ``MarkovRandomField`` (by ``factors``), and observed
    states by name. Raises as `read_pgmpy`."""
    bayesian = hasattr(model, "cpt")
    if hasattr(model, "utility") or not (bayesian or hasattr(model, "factor")):
        message = f"a Bayesian or Markov network of pyAgrum is needed, and this is a {type(model).__name__}"
        raise CallError(Diagnostic(message))
    found = map(model.cpt, model.nodes()) if bayesian else map(model.factor, model.factors())
    factors = [
        # An array of pyAgrum has the first variable, which is the child, as its last axis.
        _Factor([str(name) for name in tensor.names], _labels(model, tensor), np.asarray(tensor.toarray()).T)
        for tensor in found
    ]
    network = _network(factors, bayesian)
    return ObservedNetwork(network, read_pairs(network, evidence))


def _labels(model: Any, tensor: Any) -> list[list[str]]:
    variable = getattr(model, "variableFromName", model.variable)
    return [[str(label) for label in variable(name).labels()] for name in tensor.names]


@dataclass(frozen=True)
class _Factor:
    """A table over variables, with the states of each; that of a Bayesian network has the child first."""

    names: list[str]
    states: list[list[str]]
    values: Any


def _network(factors: list[_Factor], bayesian: bool) -> Network:
    values = Values()
    states: dict[str, list[str]] = {}
    tables = []
    for factor in factors:
        names = factor.names
        for name, mine in zip(names, factor.states, strict=True):
            if states.setdefault(name, mine) != mine:
                raise CallError(
                    Diagnostic(f"`{name}` has other states in another table, or in another order")
                )
        order = [*range(1, len(names)), 0] if bayesian else range(len(names))  # the child comes last
        entries = np.asarray(factor.values, dtype=float).transpose(order)
        text = f"table of {', '.join(names)}"
        tables.append(([names[i] for i in order], _ids(values, entries.ravel().tolist(), text), text))
    place = {name: number for number, name in enumerate(states)}
    empty = np.zeros((1, 0), dtype=np.int64)
    return Network(
        values,
        tuple(AtomBlock(name, empty, number) for name, number in place.items()),
        tuple(values.ids(listed) for listed in states.values()),
        tuple(
            Table(
                np.array([place[name] for name in scope]), ids, text, None, "random" if bayesian else "factor"
            )
            for scope, ids, text in tables
        ),
    )


def _ids(values: Values, entries: list[float], text: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    for entry in entries:
        if not 0 <= entry < math.inf:
            raise CallError(Diagnostic(f"{text}: the entry {entry} is no weight ≥ 0"))
    known = {entry: log_id(values, Fraction(repr(entry))) for entry in set(entries)}
    return np.array([known[entry] for entry in entries], dtype=np.int64)
