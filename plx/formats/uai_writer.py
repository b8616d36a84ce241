"""A ground model → the UAI format, for other tools; `read_uai` gives the names back."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from decimal import Context
from typing import Final, NamedTuple

import numpy as np

from plx import weights
from plx.errors import Diagnostic, PlxError
from plx.graph.model import FactorGraph, GroundModel
from plx.values import FARTHEST, FloatArray, IntArray
from plx.weights import LARGEST_EXPONENT

_LARGEST: Final = 1 << 22
"""Factors with more entries than this are not written."""

_DIGITS: Final = Context(prec=17)


class UaiText(NamedTuple):
    """A UAI file: its text, and the log weight to add to the log Z that other tools compute from it."""

    text: str
    log_scale: float


def write_uai(model: GroundModel) -> UaiText:
    """The free variables and factors of a model as a MARKOV network.

    Every table is scaled so that its largest entry is 1: no weight overflows, and none is lost that
    could be told from 0. Names and states stand in comments, observed unknowns too. Counts are
    expanded; raises PlxError for a factor of more than 2²² entries, and for weights that are too far apart.
    """
    graph = model.graph
    if abs(model.log_constant) >= FARTHEST:
        raise PlxError(Diagnostic("the log weights of all worlds are past the range of doubles"))
    lines = [*_comments(model), "MARKOV", str(graph.n_variables), _row(graph.card[: graph.n_variables])]
    scopes, tables, log_scale = [str(graph.n_factors)], [], model.log_constant
    for variables, top, entries in scaled_tables(model):
        log_scale += top
        scopes.append(_row([len(variables), *variables]))
        tables.append(f"\n{len(entries)}\n{_row(entries)}")
    return UaiText("\n".join([*lines, *scopes, *tables]) + "\n", log_scale)


def scaled_tables(model: GroundModel) -> Iterator[tuple[list[int], float, list[str]]]:
    """For each factor its variables, the log of its largest entry, and its entries as decimals, the largest
    1, in C order. Raises PlxError as `write_uai`."""
    for factor in range(model.graph.n_factors):
        variables, table = _expand(model, factor)
        top = float(table.max())
        _check_range(model, factor, table - top)
        yield variables, top, _entries(table.ravel() - top)


def _check_range(model: GroundModel, factor: int, logs: FloatArray) -> None:
    lowest = float(logs[logs > -math.inf].min(initial=0.0))
    if lowest < -LARGEST_EXPONENT * math.log(10):
        rule = model.rules[int(model.graph.rule_of[factor])]
        message = f"the log weights of `{rule.text}` are too far apart for a UAI file"
        raise PlxError(Diagnostic(message, rule.span, "state what must hold with `require`"))


def _comments(model: GroundModel) -> Iterator[str]:
    atoms, values = model.atoms, model.values
    for atom in np.flatnonzero(atoms.node < 0):
        yield f"c observed: {atoms.name(int(atom))} = {atoms.value_name(int(atoms.fixed[atom]))}"
    for node, atom in enumerate(atoms.atom_of):
        states = [_state(values[int(value)]) for value in atoms.states(node)]
        yield f"c plx {json.dumps([atoms.name(int(atom)), *states], ensure_ascii=False)}"


def _state(value: str | bool | weights.Number) -> str | bool | int:
    return value if isinstance(value, str | bool | int) else weights.text(value)


def _row(items: Iterable[object]) -> str:
    return " ".join(map(str, items))


def _entries(logs: FloatArray) -> list[str]:
    """exp of numbers ≤ 0 as decimals; what doubles would round to 0 keeps its exponent."""
    text = {
        x: "0" if x == -math.inf else str(_DIGITS.exp(_DIGITS.create_decimal_from_float(x)))
        for x in set(logs.tolist())
    }
    return [text[x] for x in logs.tolist()]


def _expand(model: GroundModel, factor: int) -> tuple[list[int], FloatArray]:
    """The variables under a factor, and its log potentials over them."""
    graph = model.graph
    variables: set[int] = set()
    _collect(graph, graph.scope_of(factor).tolist(), variables)
    scope = sorted(variables)
    shape = [int(graph.card[v]) for v in scope]
    if math.prod(shape) > _LARGEST:
        rule = model.rules[int(graph.rule_of[factor])]
        message = f"`{rule.text}` couples {len(scope)} unknowns: its table is too large for a UAI file"
        raise PlxError(Diagnostic(message, rule.span))
    place = {v: axis for axis, v in enumerate(scope)}
    states = tuple(_states(graph, int(node), place) for node in graph.scope_of(factor))
    return scope, np.broadcast_to(graph.table_values(factor)[states], shape)


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
