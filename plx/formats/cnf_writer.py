"""A ground model → DIMACS: weighted model counting (.cnf), and MaxSAT (.wcnf)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from decimal import Context, Decimal
from typing import Final

import numpy as np

from plx.errors import Diagnostic, PlxError
from plx.formats.cnf_encoding import Encoding
from plx.formats.uai_writer import UaiText
from plx.graph.model import GroundModel
from plx.values import FARTHEST, FloatArray

LARGEST: Final = 1 << 22
"""Files of more clauses than this are not written."""

_DIGITS: Final = Context(prec=17)
_RANGE: Final = 600.0
"""Logs of weights that every tool's doubles hold."""


def write_cnf(model: GroundModel) -> UaiText:
    """The free variables and factors of a model, for weighted model counting as the model counting
    competition has it: the weighted count is the sum over worlds.

    The entries of a factor are divided by the one that stands in it most often. Each other one is the weight
    of a variable that is true just where the factor has this entry; 0 is a clause (Chavira & Darwiche 2008,
    §4). What was divided out is the weight of a variable that is always true. Raises PlxError for a model
    with too many clauses.
    """
    encoding = _encoding(model)
    given: dict[int, float] = {}
    scale = model.log_constant
    for nodes, logs in _factors(model):
        usual = Counter(logs[logs > -math.inf].tolist()).most_common(1)[0][0]
        scale += usual
        for states, log in _entries(logs):
            if log == -math.inf:
                encoding.clauses.append(encoding.unless(nodes, states))
            elif log != usual:
                given[_stands_for(encoding, nodes, states)] = log - usual
    inside = abs(scale) < _RANGE
    if scale and inside:
        given[encoding.true()] = scale
    weights = [
        f"c p weight {literal} {text} 0"
        for which, log in sorted(given.items(), key=lambda item: abs(item[0]))
        for literal, text in ((which, _decimal(log)), (-which, "1"))
    ]
    clauses = [f"{' '.join(map(str, clause))} 0" for clause in encoding.clauses]
    head = ["c t wmc", *_comments(model, encoding), f"p cnf {encoding.variables} {len(clauses)}"]
    return UaiText("\n".join([*head, *weights, *clauses]) + "\n", 0.0 if inside else scale)


def write_wcnf(model: GroundModel) -> UaiText:
    """The free variables and factors of a model as MaxSAT, in the form of 2022: what the clauses cost that
    fail is what the log weight of a world is below the best one that each factor allows by itself.

    Costs are decimals. Raises PlxError as `write_cnf`.
    """
    encoding = _encoding(model)
    soft: list[str] = []
    scale = model.log_constant
    for nodes, logs in _factors(model):
        top = float(logs.max())
        scale += top
        for states, log in _entries(logs):
            clause = encoding.unless(nodes, states)
            if log == -math.inf:
                encoding.clauses.append(clause)
            elif log < top:
                soft.append(f"{_plain(top - log)} {' '.join(map(str, clause))} 0")
    hard = [f"h {' '.join(map(str, clause))} 0" for clause in encoding.clauses]
    return UaiText("\n".join([*_comments(model, encoding), *hard, *soft]) + "\n", scale)


def _encoding(model: GroundModel) -> Encoding:
    """The variables of a model, and the clauses that are in every such file."""
    if abs(model.log_constant) >= FARTHEST:
        raise PlxError(Diagnostic("the log weights of all worlds are past the range of doubles"))
    graph = model.graph
    entries = sum(int(np.prod(graph.card[graph.scope_of(f)], dtype=object)) for f in range(graph.n_factors))
    if entries > LARGEST:
        raise PlxError(Diagnostic(f"the factors have {entries:,} entries: {LARGEST:,} at most are written"))
    return Encoding(graph)


def _factors(model: GroundModel) -> Iterator[tuple[list[int], FloatArray]]:
    """The nodes of each factor, and its log potentials over them. Raises PlxError where none is possible."""
    graph = model.graph
    for factor in range(graph.n_factors):
        logs = graph.table_values(factor)
        if not (logs > -math.inf).any():
            raise PlxError(Diagnostic("no state of the model has a weight above 0"))
        yield graph.scope_of(factor).tolist(), logs


def _entries(logs: FloatArray) -> Iterator[tuple[list[int], float]]:
    """The entries of a table, each with the states it is for."""
    return zip(np.argwhere(np.ones(logs.shape, dtype=bool)).tolist(), logs.ravel().tolist(), strict=True)


def _stands_for(encoding: Encoding, nodes: list[int], states: list[int]) -> int:
    """A literal that is true just where some nodes are in these states: their own, where there is one."""
    literals = [encoding.literals[node][state] for node, state in zip(nodes, states, strict=True)]
    if len(literals) == 1:  # no other factor is over this node alone
        return literals[0]
    new = encoding.new()
    encoding.clauses += [(-new, literal) for literal in literals]
    encoding.clauses.append((new, *(-literal for literal in literals)))
    return new


def _comments(model: GroundModel, encoding: Encoding) -> Iterator[str]:
    """What the variables of unknowns stand for."""
    atoms = model.atoms
    for node, atom in enumerate(atoms.atom_of.tolist()):
        values = atoms.states(node).tolist()
        for literal, value in zip(encoding.literals[node], values, strict=True):
            if literal > 0:
                name = f"{atoms.name(atom)} = {atoms.value_name(value)}"
                yield f"c {literal} is {' '.join(name.split())}"


def _decimal(log: float) -> str:
    return repr(math.exp(log)) if abs(log) < _RANGE else str(_DIGITS.exp(Decimal(log)))


def _plain(number: float) -> str:
    """A number without an exponent, which readers of this format may not know."""
    return format(Decimal(repr(number)), "f").removesuffix(".0")
