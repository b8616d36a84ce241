"""The numbers that are learned, over all worlds, and what is known of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from plx.check.program import LearnInfo, Prior, Program
from plx.source import Span
from plx.syntax import ast
from plx.values import Value
from plx.weights import shown


@dataclass(frozen=True, eq=False)
class Learned:
    """One number: ``key`` is its index in the table of the ``learn`` statement that declares it.

    ``formula`` is what it weighs, where the program was translated and the number has no name of its own;
    ``origin`` is its declaration there, in the text of the other language.
    """

    name: str
    key: tuple[Value, ...]
    labels: tuple[str, ...]
    prior: Prior
    start: float
    node: ast.LearnDecl
    formula: str = ""
    origin: ast.LearnDecl | None = None

    @property
    def span(self) -> Span:
        """Where it is declared."""
        return self.node.name.span


def numbers_of(programs: Iterable[Program]) -> list[Learned]:
    """The learned numbers of several worlds of one program, each once, by declaration."""
    by_statement: dict[str, dict[str, Learned]] = {}
    for program in programs:
        for info in program.learned:
            known = by_statement.setdefault(info.name, {})
            for one in _of(program, info):
                known.setdefault(one.name, one)
    return [one for known in by_statement.values() for one in known.values()]


def _of(program: Program, info: LearnInfo) -> Iterable[Learned]:
    starts = np.zeros(len(info.names)) if info.start is None else program.values.floats(info.start)
    for name, row, start in zip(info.names, info.index.tolist(), starts.tolist(), strict=True):
        key = tuple(program.values[i] for i in row)
        yield Learned(name, key, info.labels, info.prior, start, info.node)


def prior_text(prior: Prior) -> str:
    """As the program would write it."""
    if prior.kind == "flat":
        return "flat"
    return f"{prior.kind}({shown(prior.mean)}, {shown(prior.scale)})"
