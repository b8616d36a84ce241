"""A network of a foreign format → a program of plx that gives the same answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from plx import weights
from plx.formats.build import build
from plx.formats.ground_writer import write_ground
from plx.formats.network import Network, ObservedNetwork, Table
from plx.formats.plx_names import PlxNames, key, number, type_name
from plx.values import IMPOSSIBLE, IntArray


def write_plx(observed: ObservedNetwork) -> str:
    """A program with a `random` and its distribution for every variable, the evidence, and a query for each
    unobserved variable.

    A table with rows that do not sum to 1 exactly stays a `factor`. What is no Bayesian network with names is
    written factor by factor. Raises PlxError as `build`.
    """
    network = observed.network
    if not _is_bayesian(network):
        tables = replace(observed, network=replace(network, clauses=()))
        return write_ground(build(tables), network.clauses)
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
        self.plx = PlxNames()
        self.names = [self.plx.new(block.name) for block in self.network.blocks]
        self.types: dict[tuple[str, ...], str] = {}
        for variable, name in enumerate(self.names):
            states = self._states(variable)
            if states not in self.types:
                self.types[states] = self.plx.new(type_name(states) or f"{name[:1].upper()}{name[1:]}_state")

    def lines(self) -> Iterator[str]:
        """The program, line by line."""
        for states, name in self.types.items():
            yield f"type {name} = {{{', '.join(map(self.plx.symbol, states))}}}"
        tables = {int(table.scope[-1]): table for table in self.network.tables}
        for variable, block in enumerate(self.network.blocks):
            yield ""
            if block.name != self.names[variable]:
                yield f"# {block.name}"
            yield from self._variable(variable, tables[variable])
        yield ""
        for item in self.observed.evidence.observed:
            state = self._states(item.variable)[item.state]
            yield f"observe {self.names[item.variable]} = {self.plx.symbol(state)}"
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
                f"{self.plx.symbol(state)}: {number(chance)}"
                for state, chance in zip(self._states(variable), rows[0], strict=True)
            )
            yield f"{declared} ~ {{{', '.join(entries)}}}"
        else:
            param = self.plx.new(f"p_{self.names[variable]}")
            yield from self._param(param, table)
            parents = ", ".join(self.names[int(parent)] for parent in table.scope[:-1])
            yield f"{declared} ~ {param}({parents})"

    def _factor(self, table: Table) -> Iterator[str]:
        names = [self.names[int(variable)] for variable in table.scope]
        param = self.plx.new(f"p_{names[-1]}")
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
            given = [self.plx.symbol(each[int(at)]) for each, at in zip(states, places, strict=False)]
            entries = [
                f"{key([*given, self.plx.symbol(state)])}: {number(chance)}"
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


def _exp(value: object) -> Fraction:
    return Fraction(weights.exp(value))  # type: ignore[arg-type]
