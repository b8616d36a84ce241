"""What a file of a foreign format says, before evidence: variables, states and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from plx.errors import Diagnostic
from plx.graph.model import AtomBlock
from plx.numerals import counted
from plx.source import Span
from plx.values import IMPOSSIBLE, ZERO, IntArray, Values


@dataclass(frozen=True, eq=False)
class Table:
    """One factor of a file: ids of exact log weights in C order, the last of the scope fastest.

    ``text`` names it in messages: ``table of x(3), x(5)``. A table of kind ``random`` is the conditional
    distribution of its last variable.
    """

    scope: IntArray  # [k] variables, in the order of the file
    weight: IntArray  # [Π card]
    text: str
    span: Span | None = field(compare=False, repr=False)
    kind: Literal["factor", "random", "weight", "require"] = "factor"


@dataclass(frozen=True, eq=False)
class Clause:
    """``weight`` (an id of the log weight) where some variable is in the set of its literal, else ``fails``.

    Literal i: variable ``scope[i]`` is in one of the states where ``literals[i]`` is 1.
    """

    scope: IntArray  # [k] variables, no two equal
    literals: tuple[IntArray, ...]  # k times [card]
    weight: int
    text: str
    fails: int = ZERO
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def kind(self) -> Literal["weight", "require"]:
        return "require" if self.fails == IMPOSSIBLE else "weight"


@dataclass(frozen=True, eq=False)
class Network:
    """Variables, numbered by the blocks that name them, with the ids of their states.

    ``asks`` is what people want to know of it: all marginals, log Z, or a most probable world. ``numbers``
    are those of the variables in its file; None: 0, 1, 2, …
    """

    values: Values
    blocks: tuple[AtomBlock, ...]
    states: tuple[IntArray, ...]
    tables: tuple[Table, ...]
    clauses: tuple[Clause, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    asks: Literal["marginals", "logz", "map"] = "marginals"
    numbers: tuple[int, ...] | None = None

    @property
    def cards(self) -> list[int]:
        return [len(states) for states in self.states]


@dataclass(frozen=True)
class Observed:
    """A variable that evidence puts in a state."""

    variable: int
    state: int
    span: Span | None = None


@dataclass(frozen=True, eq=False)
class FileEvidence:
    """Evidence on a network: states of variables, and likelihoods as tables over one variable."""

    observed: tuple[Observed, ...] = ()
    likelihoods: tuple[Table, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, eq=False)
class ObservedNetwork:
    """What a model file and the evidence on it say together.

    ``best`` is how many most probable worlds to ask for beside the marginals.
    """

    network: Network
    evidence: FileEvidence = FileEvidence()
    best: int = 0

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What was odd about the files but could be read."""
        return self.network.warnings + self.evidence.warnings

    @property
    def contents(self) -> str:
        """What it holds, counted: ``37 unknowns, 37 factors, 2 observed``."""
        network, observed = self.network, len(self.evidence.observed)
        factors = len(network.tables) + len(network.clauses)
        parts = [counted(len(network.states), "unknown"), counted(factors, "factor")]
        return ", ".join(parts + [f"{observed:,} observed"] * bool(observed))


def numbered(values: Values, numbers: Sequence[int]) -> tuple[AtomBlock, ...]:
    """The block of variables that have numbers for names: ``x(0)``, ``x(1)``, …"""
    return (AtomBlock("x", values.ids(numbers).reshape(-1, 1), 0),)
