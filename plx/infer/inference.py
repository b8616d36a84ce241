"""What inference hands over: counts from a sampler, or exact distributions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from plx.graph.model import GroundModel
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
class Inference:
    """All answers of a run, in the order of ``GroundModel.queries``."""

    method: str
    reason: str
    answers: tuple[Answer, ...]
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
