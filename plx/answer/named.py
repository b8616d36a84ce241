"""What is printed and exported: answers by name, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from plx.graph.model import GroundRule
from plx.infer.inference import Inference
from plx.sequences import parts

Value = str | bool | int | float
"""A value as Python knows it: symbols are strings, exact numbers become int or float."""

Kind = Literal["probability", "distribution", "joint", "number", "map", "logz"]


@dataclass(frozen=True)
class Estimate:
    """The probability of one value, or of one tuple of values, of a query.

    ``text`` is the value as a program writes it. ``mcse`` is the Monte-Carlo standard error of
    ``p``, 0 where the answer is exact. ``exact`` is ``p`` as a fraction, where that was asked for.
    """

    value: Value | tuple[Value, ...]
    text: str
    p: float
    mcse: float = 0.0
    exact: Fraction | None = None


@dataclass(frozen=True)
class MapWorld:
    """A most probable world: the value of every unknown by name, and its log weight.

    ``texts`` has the same values as a program writes them. ``optimal`` says whether it is proved that
    none weighs more; if not, ``bound`` is an upper bound of the best log weight where one is known.
    """

    assignment: Mapping[str, Value] = field(repr=False, hash=False)
    texts: Mapping[str, str] = field(repr=False, hash=False)
    log_weight: float
    optimal: bool = True
    bound: float | None = None


@dataclass(frozen=True)
class Moments:
    """The mean of a number, its standard deviation and the standard errors of both, 0 if exact.

    ``bulk_ess`` and ``tail_ess`` are effective sizes of the ranks of its draws and of the worse one of its
    5 % and 95 % quantiles (Vehtari et al. 2021); None if exact, or if there are but two values.
    """

    mean: float
    sd: float | None
    mcse: float = 0.0
    sd_mcse: float = 0.0
    bulk_ess: float | None = None
    tail_ess: float | None = None


@dataclass(frozen=True, eq=False)
class Draws:
    """What chains drew of one coordinate of a query; ``codes`` (chains, draws) number its ``values``."""

    codes: npt.NDArray[np.integer] = field(repr=False)
    values: tuple[Value, ...]

    @property
    def kind(self) -> type:
        """What all values are: ``bool``, ``int``, ``float``, or ``str`` for symbols and for mixtures."""
        kinds = set(map(type, self.values))
        if kinds == {int} and max(map(abs, self.values)) >= 2**63:  # type: ignore[arg-type]
            return float
        if kinds <= {int, float}:
            return int if kinds == {int} else float
        return bool if kinds == {bool} else str

    def array(self) -> npt.NDArray[Any]:
        """The values drawn, shape (chains, draws); objects where they are no numbers or truth values."""
        kind = object if self.kind is str else self.kind
        values: npt.NDArray[Any] = np.empty(len(self.values), dtype=kind)
        values[:] = self.values
        drawn: npt.NDArray[Any] = values[self.codes]
        return drawn


@dataclass(frozen=True, eq=False)
class Observed:
    """The unknowns of a random function that are observed: an index by the names of slots, and a value."""

    function: str
    slots: tuple[str, ...]
    index: tuple[tuple[Value, ...], ...]
    values: tuple[Value, ...]


@dataclass(frozen=True)
class NamedAnswer:
    """The fields of a `QueryResult`, which says what they mean: the answer to one query."""

    name: str
    text: str
    kind: Kind
    line: int | None = None
    estimates: tuple[Estimate, ...] = ()
    moments: Moments | None = None
    ess: float | None = None
    rhat: float | None = None
    worlds: tuple[MapWorld, ...] = ()
    log_z: float | None = None
    log_z_mcse: float = 0.0
    converged: bool = True
    term: str = ""
    slots: Mapping[str, Value] = field(default_factory=dict, hash=False)
    drawn: tuple[Draws, ...] = field(default=(), compare=False, repr=False)
    z: Fraction | None = None

    @property
    def answered(self) -> bool:
        """Whether there was time for the query at all."""
        return self.kind == "logz" or bool(self.estimates or self.worlds)

    @property
    def mcse(self) -> float:
        """The Monte-Carlo standard error of what the query asks for: of the probability, of the
        mean of a number, of log Z, the largest over the values of a distribution. 0 for an exact answer."""
        if self.kind == "number":
            return self.moments.mcse if self.moments else 0.0
        if self.kind == "logz":
            return self.log_z_mcse
        return max((estimate.mcse for estimate in self.estimates), default=0.0)


@dataclass(frozen=True)
class Subject:
    """What the queries are about: the program's ``text``, None for a network of another tool, and in words
    what it grounded to. ``own_lines``: the queries stand in this text, so that their lines are its lines."""

    text: str | None
    size: str
    rules: tuple[GroundRule, ...] = ()
    own_lines: bool = True


@dataclass(frozen=True)
class NamedAnswers:
    """The fields of a `Result`, which says what they mean: every answer of a run."""

    program: str
    queries: Sequence[NamedAnswer]
    inference: Inference = field(compare=False)
    observed: tuple[Observed, ...] = field(default=(), compare=False, repr=False)
    subject: Subject | None = field(default=None, compare=False, repr=False)

    @property
    def converged(self) -> bool:
        """Whether every answer met its accuracy."""
        return self.inference.status != "interrupted" and all(map(_have_converged, parts(self.queries)))


def _have_converged(queries: Sequence[NamedAnswer]) -> bool:
    """Whether every answer met its accuracy; arrays of answers say so by one of booleans."""
    converged = getattr(queries, "converged", None)
    return all(query.converged for query in queries) if converged is None else bool(converged.all())
