"""A ground model → the UAI format, for other tools; `read_uai` gives the names back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from decimal import Context
from typing import Final, NamedTuple

import numpy as np

from plx.errors import Diagnostic, PlxError
from plx.formats.expand import expanded
from plx.formats.names_file import name_line
from plx.graph.model import GroundModel
from plx.values import FARTHEST, FloatArray
from plx.weights import LARGEST_EXPONENT

_DIGITS: Final = Context(prec=17)


class UaiText(NamedTuple):
    """A UAI file: its text, and the log weight to add to the log Z that other tools compute from it."""

    text: str
    log_scale: float


def write_uai(model: GroundModel, named: bool = True) -> UaiText:
    """The free variables and factors of a model as a MARKOV network.

    Every table is scaled so that its largest entry is 1: no weight overflows, and none is lost that
    could be told from 0. If ``named``, names and states stand in comments, observed unknowns too.
    Counts are expanded; raises PlxError for a factor of more than 2²² entries, and for weights that are too
    far apart.
    """
    graph = model.graph
    if abs(model.log_constant) >= FARTHEST:
        raise PlxError(Diagnostic("the log weights of all worlds are past the range of doubles"))
    comments = _comments(model) if named else ()
    lines = [*comments, "MARKOV", str(graph.n_variables), _row(graph.card[: graph.n_variables])]
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
        variables, states = expanded(model, factor)
        table = model.graph.table_values(factor)[states]
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
    atoms = model.atoms
    for atom in np.flatnonzero(atoms.node < 0):
        yield f"c observed: {atoms.name(int(atom))} = {atoms.value_name(int(atoms.fixed[atom]))}"
    yield from (f"c plx {name_line(model, node)}" for node in range(model.graph.n_variables))


def _row(items: Iterable[object]) -> str:
    return " ".join(map(str, items))


def _entries(logs: FloatArray) -> list[str]:
    """exp of numbers ≤ 0 as decimals; what doubles would round to 0 keeps its exponent."""
    text = {
        x: "0" if x == -math.inf else str(_DIGITS.exp(_DIGITS.create_decimal_from_float(x)))
        for x in set(logs.tolist())
    }
    return [text[x] for x in logs.tolist()]
