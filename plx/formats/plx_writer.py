"""A Bayesian network of a foreign format → a program of plx that gives the same answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from plx import weights
from plx.errors import Diagnostic, PlxError
from plx.formats.network import Network, ObservedNetwork, Table
from plx.source import Source, Span
from plx.syntax import ast
from plx.syntax.printer import print_expr, quoted
from plx.syntax.words import is_name
from plx.values import IMPOSSIBLE, IntArray

_LONGEST_NAME: Final = 24
"""A type is called by its states where their names together are no longer."""

_NOWHERE: Final = Span(Source("", ""), 0, 0)


def write_plx(observed: ObservedNetwork) -> str:
    """A program with a `random` and its distribution for every variable, the evidence, and a query for each
    unobserved variable.

    A table with rows that do not sum to 1 exactly stays a `factor`. Raises PlxError for what is no Bayesian
    network with names.
    """
    network = observed.network
    if not _is_bayesian(network):
        message = "only Bayesian networks with names, as .bif files hold them, are written as programs"
        raise PlxError(Diagnostic(message))
    return "\n".join(_Writer(observed).lines()) + "\n"


def _is_bayesian(network: Network) -> bool:
    children = sorted(int(table.scope[-1]) for table in network.tables if table.kind == "random")
    named = all(not block.index.shape[1] for block in network.blocks)
    return named and not network.clauses and children == list(range(len(network.states)))


class _Writer:
    """The parts of one program; every name stands for one thing."""

    def __init__(self, observed: ObservedNetwork) -> None:
        self.observed = observed
        self.network = observed.network
        self.taken: set[str] = {"Boolean", "uniform", "softmax", "noisy_or"}
        self.names = [self._new(block.name) for block in self.network.blocks]
        self.types: dict[tuple[str, ...], str] = {}
        for variable, name in enumerate(self.names):
            states = self._states(variable)
            if states not in self.types:
                self.types[states] = self._new(_type_name(states) or f"{name[:1].upper()}{name[1:]}_state")

    def lines(self) -> Iterator[str]:
        """The program, line by line."""
        for states, name in self.types.items():
            yield f"type {name} = {{{', '.join(map(self._symbol, states))}}}"
        tables = {int(table.scope[-1]): table for table in self.network.tables}
        for variable, block in enumerate(self.network.blocks):
            yield ""
            if block.name != self.names[variable]:
                yield f"# {block.name}"
            yield from self._variable(variable, tables[variable])
        yield ""
        for item in self.observed.evidence.observed:
            state = self._states(item.variable)[item.state]
            yield f"observe {self.names[item.variable]} = {self._symbol(state)}"
        for likelihood in self.observed.evidence.likelihoods:
            yield from self._factor(likelihood)
        seen = {item.variable for item in self.observed.evidence.observed}
        yield from (f"query {name}" for variable, name in enumerate(self.names) if variable not in seen)
        if self.observed.best:
            yield f"query map {self.observed.best}"

    def _variable(self, variable: int, table: Table) -> Iterator[str]:
        declared = f"random {self.names[variable]}: {self.types[self._states(variable)]}"
        rows = self._chances(table.weight).reshape(-1, len(self._states(variable)))
        if any(sum(row) != 1 for row in rows.tolist()):
            yield f"{declared}  # the rows of its table do not sum to 1 exactly"
            yield from self._factor(table)
        elif len(table.scope) == 1:
            entries = (
                f"{self._symbol(state)}: {_number(chance)}"
                for state, chance in zip(self._states(variable), rows[0], strict=True)
            )
            yield f"{declared} ~ {{{', '.join(entries)}}}"
        else:
            param = self._new(f"p_{self.names[variable]}")
            yield from self._param(param, table)
            parents = ", ".join(self.names[int(parent)] for parent in table.scope[:-1])
            yield f"{declared} ~ {param}({parents})"

    def _factor(self, table: Table) -> Iterator[str]:
        names = [self.names[int(variable)] for variable in table.scope]
        param = self._new(f"p_{names[-1]}")
        yield from self._param(param, table)
        yield f"factor log({param}({', '.join(names)}))"

    def _param(self, name: str, table: Table) -> Iterator[str]:
        """A table, one row of the last variable a line."""
        states = [self._states(int(variable)) for variable in table.scope]
        rows = self._chances(table.weight).reshape(-1, len(states[-1]))
        yield f"param {name}({', '.join(self.types[each] for each in states)}) = {{"
        shape = [len(each) for each in states[:-1]]
        for i, row in enumerate(rows):
            places = np.unravel_index(i, shape) if shape else ()
            given = [self._symbol(each[int(at)]) for each, at in zip(states, places, strict=False)]
            entries = [
                f"{_key([*given, self._symbol(state)])}: {_number(chance)}"
                for state, chance in zip(states[-1], row, strict=True)
            ]
            yield f"  {', '.join(entries)}{',' if i + 1 < len(rows) else ''}"
        yield "}"

    def _chances(self, ids: IntArray) -> np.ndarray[tuple[int, ...], np.dtype[np.object_]]:
        """The exact numbers whose logs have these ids."""
        values = self.network.values
        known = {int(i): Fraction(0) if i == IMPOSSIBLE else _exp(values[int(i)]) for i in np.unique(ids)}
        return np.array([known[i] for i in ids.tolist()], dtype=object)

    def _states(self, variable: int) -> tuple[str, ...]:
        return tuple(str(self.network.values[int(i)]) for i in self.network.states[variable])

    def _symbol(self, text: str) -> str:
        """A state: in quotes where it is no name, or would be read as something else."""
        plain = is_name(text) and text not in self.taken and text.lower() not in ("true", "false")
        return text if plain else quoted(text)

    def _new(self, wanted: str) -> str:
        """A name of plx that nothing else has, as close to the wanted one as can be."""
        base = re.sub(r"\W", "_", wanted)
        base = base if is_name(base) else f"v_{base}"
        name, number = base, 2
        while name in self.taken:
            name, number = f"{base}_{number}", number + 1
        self.taken.add(name)
        return name


def _exp(value: object) -> Fraction:
    return Fraction(weights.exp(value))  # type: ignore[arg-type]


def _type_name(states: Sequence[str]) -> str | None:
    """``YesNo``, if that is short and a name."""
    name = "".join(state[:1].upper() + state[1:] for state in states)
    return name if len(name) <= _LONGEST_NAME and is_name(name) else None


def _key(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _number(chance: Fraction) -> str:
    return print_expr(ast.Number(chance, span=_NOWHERE))
