"""What inference hands over: counts from a sampler, or exact distributions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, NamedTuple, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from plx.graph.model import GroundModel
from plx.graph.queries import QueryBlock
from plx.sequences import parts
from plx.values import FloatArray, IntArray

Assignment = npt.NDArray[np.int32]
"""The state of every variable, shape (V,)."""

Assignments = npt.NDArray[np.int32]
"""Worlds as columns, shape (V, n)."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Counts of a run, never its states.

    ``counts[b, c, offset[t] : offset[t + 1]]`` are weighted counts of the states of target t in
    batch b of chain c; every batch of every chain holds ``draws`` draws. A target is a tuple of
    nodes; its states are numbered in C order.
    """

    counts: npt.NDArray[np.number]  # [batches, chains, Σ states]
    offset: npt.NDArray[np.int64]  # [targets + 1]
    draws: int
    seconds: float = 0.0
    interrupted: bool = False
    notes: tuple[str, ...] = ()


class Standing(NamedTuple):
    """Where chains stand: ``states(variables)`` are those of a model's variables, shape (variables, chains).

    The model's atoms are those of the original one. Answers are averages over ``orbits`` of its pairs of a
    variable and a state [Σ card], where there are some.
    """

    model: GroundModel
    states: Callable[[IntArray], npt.NDArray[np.integer]]
    orbits: IntArray | None = None


class LogZ(NamedTuple):
    """An estimate of log Z, its Monte-Carlo standard error, and how well it is known.

    ``mixed``: of how many chains the standard error is. ``apart``: what chains that began hot and cold say,
    where they do not agree.
    """

    value: float
    mcse: float
    ess: float
    rhat: float
    mixed: int
    apart: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class World:
    """A complete assignment and its log weight (without the log constant of the model)."""

    states: Assignment
    log_weight: float
    optimal: bool = True
    bound: float | None = None


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer to one ground query, over the joint states of its targets.

    Exact answers have ``mcse`` of zeros and no ``ess`` and ``rhat``. ``bulk_ess`` and ``tail_ess`` are given
    for numbers with three values or more. ``mean``, ``sd`` and their standard errors are given for numbers,
    and for unknowns all of whose values are numbers; ``worlds`` for `map`, ``log_z`` and its standard error
    for `logz`, None where the method has no estimate.
    """

    p: FloatArray = field(default_factory=lambda: np.empty(0))
    mcse: FloatArray = field(default_factory=lambda: np.empty(0))
    mean: float | None = None
    sd: float | None = None
    mean_mcse: float | None = None
    sd_mcse: float | None = None
    ess: float | None = None
    rhat: float | None = None
    bulk_ess: float | None = None
    tail_ess: float | None = None
    worlds: tuple[World, ...] = ()
    log_z: float | None = None
    log_z_mcse: float = 0.0
    converged: bool = True
    states: npt.NDArray[np.unsignedinteger] | None = None
    """Of draws: joint states of the nodes that evidence left open, in C order, shape (chains, draws)."""
    ratios: tuple[Fraction, ...] = ()
    """``p`` as fractions, of `logz` Z itself, where exact rationals were asked for."""


@dataclass(frozen=True, eq=False)
class AnswerBlock(Sequence[Answer]):
    """The answers to a `QueryBlock` as arrays: what an Answer says of instance i, NaN where that is None.

    Its distribution is ``p[begin[i] : begin[i] + size[i]]``.
    """

    begin: IntArray  # [n]
    size: IntArray  # [n]
    p: FloatArray
    mcse: FloatArray
    mean: FloatArray  # [n]
    sd: FloatArray  # [n]
    mean_mcse: FloatArray  # [n]
    sd_mcse: FloatArray  # [n]
    ess: FloatArray  # [n]
    rhat: FloatArray  # [n]
    bulk_ess: FloatArray  # [n]
    tail_ess: FloatArray  # [n]
    converged: npt.NDArray[np.bool_]  # [n]

    @classmethod
    def of(cls, block: QueryBlock, begin: IntArray, p: FloatArray, mcse: FloatArray) -> AnswerBlock:
        """Converged answers of which nothing else is known yet."""
        mean, sd, mean_mcse, sd_mcse, ess, rhat, bulk, tail = np.full((8, len(block)), np.nan)
        sizes = np.array([len(form.labels) for form in block.forms], dtype=np.int64)
        sure = np.ones(len(block), dtype=bool)
        numbers = (mean, sd, mean_mcse, sd_mcse, ess, rhat, bulk, tail)
        return cls(begin, sizes[block.form], p, mcse, *numbers, sure)

    def __len__(self) -> int:
        return len(self.begin)

    @overload
    def __getitem__(self, position: SupportsIndex) -> Answer: ...

    @overload
    def __getitem__(self, position: slice) -> tuple[Answer, ...]: ...

    def __getitem__(self, position: SupportsIndex | slice) -> Answer | tuple[Answer, ...]:
        at = range(len(self))[position]
        return tuple(map(self._one, at)) if isinstance(at, range) else self._one(at)

    def __iter__(self) -> Iterator[Answer]:
        return map(self._one, range(len(self)))

    def _one(self, at: int) -> Answer:
        part = slice(self.begin[at], self.begin[at] + self.size[at])
        return Answer(
            self.p[part],
            self.mcse[part],
            _known(self.mean[at]),
            _known(self.sd[at]),
            _known(self.mean_mcse[at]),
            _known(self.sd_mcse[at]),
            _known(self.ess[at]),
            _known(self.rhat[at]),
            bulk_ess=_known(self.bulk_ess[at]),
            tail_ess=_known(self.tail_ess[at]),
            converged=bool(self.converged[at]),
        )


def _known(x: float) -> float | None:
    return None if np.isnan(x) else float(x)


def measured(answers: Sequence[Answer], name: str) -> FloatArray:
    """One number of every answer, as ``rhat`` [n]; NaN where it is None."""
    found = [
        getattr(part, name)
        if isinstance(part, AnswerBlock)
        else np.array([getattr(answer, name) for answer in part], dtype=np.float64)
        for part in parts(answers)
    ]
    return np.concatenate(found).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Inference:
    """All answers of a run, in the order of ``GroundModel.queries``."""

    method: str
    reason: str
    answers: Sequence[Answer]
    log_z: float | None = None
    log_z_mcse: float = 0.0
    seed: int | None = None
    chains: int | None = None
    draws: int | None = None
    seconds: float = 0.0
    status: Literal["done", "limit", "interrupted"] = "done"
    notes: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    """Why answers have not converged, and what helps."""
    log_weights: FloatArray | None = None
    """Of the world of each draw, shape (chains, draws), where draws are kept."""
    apart: int | None = None
    """Sweeps between two draws."""
    z: Fraction | None = None
    """The sum over all worlds, where exact rationals were asked for."""
