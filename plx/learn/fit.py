"""Worlds and priors → a fit: the numbers that make the worlds most likely, and how sure that is."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from plx.errors import CallError, Diagnostic, PlxError
from plx.infer.exact.junction_tree import ImpossibleError
from plx.infer.limits import TRYING, USUAL_TRYING
from plx.infer.options import Progress, Report, check_choice
from plx.learn.doubts import doubts
from plx.learn.likelihood import Likelihood
from plx.learn.log_z import TooWideError
from plx.learn.maximise import INTERRUPTED, OUT_OF_TIME, Maximum, maximise
from plx.learn.numbers import Learned
from plx.learn.others import require_complete
from plx.learn.priors import Priors
from plx.learn.pseudo import Apart, Pseudo, keep
from plx.learn.solved import SolvedHere, Workers
from plx.learn.worlds import World
from plx.values import FloatArray

OBJECTIVES: Final = ("auto", "likelihood", "stochastic", "pseudo")

_STARTS_IF_HIDDEN = 5
"""Where values are hidden there may be several maxima, so that the search starts anew so often."""

_HERE = "the likelihood is too large to be summed, and its draws stayed in one process"

_MOST_NUMBERS = 2000
"""The most numbers that are learned at once: their information matrix is worked with whole."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """K numbers as arrays: values, standard errors, and their statistics, observed and expected.

    An error is 0 where a Laplace prior holds a number at its mean.
    """

    names: tuple[str, ...]
    value: FloatArray
    error: FloatArray
    observed: FloatArray
    expected: FloatArray


@dataclass(frozen=True, eq=False)
class Found:
    """What a fit found; ``path`` holds the penalised objective of each step of the best search."""

    objective: str
    estimates: Estimates
    log_likelihood: float
    path: tuple[float, ...]
    converged: bool
    reason: str
    n_worlds: int
    n_observed: int
    n_hidden: int
    seconds: float
    notes: tuple[str, ...]


def fit(
    worlds: Sequence[World],
    learned: Sequence[Learned],
    objective: str = "auto",
    starts: int | None = None,
    seed: int = 0,
    report: Report | None = None,
    seconds: float | None = None,
    workers: Workers | None = None,
) -> Found:
    """The numbers at the maximum of the penalised objective over some worlds.

    ``learned`` are the numbers of all worlds; after so many ``seconds`` the best so far comes back.
    ``workers`` look at worlds instead of this process, to the same numbers; draws stay in it. Raises PlxError
    where nothing was observed, where the objective does not fit the worlds; CallError for an objective that
    there is not.
    """
    begin = time.perf_counter()
    check_choice("objective", objective, OBJECTIVES)
    if starts is not None and starts < 1:
        raise CallError(Diagnostic(f"starts is at least 1, this is {starts}"))
    names = [one.name for one in learned]
    _check(worlds, learned)
    chosen = (
        None
        if objective == "stochastic"
        else _objective(worlds, names, objective, workers, _compiling(objective, seconds))
    )
    priors = Priors.of([one.prior for one in learned])
    start = np.array([one.start for one in learned])

    def told(step: int, value: float) -> None:
        if report:
            phase = f"learning, step {step}: {value:.6g}"
            report(Progress(phase, 0.0, time.perf_counter() - begin))

    def left() -> float | None:
        return None if seconds is None else max(0.0, begin + seconds - time.perf_counter())

    if chosen is None:
        drawn = _simulated(worlds, names, priors, _around(start, starts or 1, seed), seed, told, begin, left)
        return drawn if workers is None else replace(drawn, notes=(*drawn.notes, _HERE))
    several = starts or (1 if chosen.concave else _STARTS_IF_HIDDEN)
    try:
        found = _searches(chosen, priors, _around(start, several, seed), told, left)
    except ImpossibleError:
        raise PlxError(Diagnostic("no world of the program is possible")) from None
    best = max(found, key=lambda one: one.value)
    open_ = doubts(chosen, priors, best.weights, best.information, names)
    notes = [*_spread(found), *open_.notes]
    estimates, more = _estimates(chosen, priors, best, names, len(worlds))
    estimates.error[open_.undecided] = np.inf
    return Found(
        chosen.name,
        estimates,
        chosen(best.weights)[0],
        best.path,
        best.converged and not open_.endless,
        "a number runs off to infinity" if open_.endless else best.reason,
        len(worlds),
        sum(world.n_observed for world in worlds),
        sum(len(world.hidden) for world in worlds),
        time.perf_counter() - begin,
        (*notes, *more),
    )


def _check(worlds: Sequence[World], learned: Sequence[Learned]) -> None:
    if not learned:
        hint = "declare a number that data decide: `learn w`, `weight w: smokes(x) for x in Person`"
        raise PlxError(Diagnostic("the program has nothing to learn", hint=hint))
    if len(learned) > _MOST_NUMBERS:
        message = f"{len(learned):,} numbers are to be learned; at most {_MOST_NUMBERS:,} are"
        raise PlxError(Diagnostic(message, learned[0].span))
    for i, world in enumerate(worlds, start=1):
        if not world.n_observed:
            which = f"in world {i} " if len(worlds) > 1 else ""
            hint = 'give what was seen: `observe smokes from "seen.csv" else false`, --world FOLDER'
            if (world.free.atoms.fixed >= 0).any():
                hint = (
                    "all that is observed is given (--given), and what is given is not predicted: give less"
                )
            raise PlxError(Diagnostic(f"nothing is observed {which}of what is predicted", hint=hint))


def _compiling(objective: str, seconds: float | None) -> float:
    """The seconds in which circuits may be compiled: draws are the other choice, unless the likelihood alone
    is wanted."""
    if seconds is not None:
        return TRYING * seconds
    return math.inf if objective == "likelihood" else USUAL_TRYING


def _objective(
    worlds: Sequence[World], names: Sequence[str], objective: str, workers: Workers | None, compiling: float
) -> Likelihood | Pseudo | None:
    """What is maximised; None for a likelihood that only draws tell of."""
    if objective != "pseudo":
        if all(world.is_apart for world in worlds):
            _look_at(worlds, names, workers)
            return Apart(worlds, names)
        try:
            return Likelihood(worlds, names, SolvedHere if workers is None else workers.solved, compiling)
        except TooWideError:
            if objective == "likelihood":
                hint = "learn by --objective stochastic or pseudo, or condition on more (--given)"
                message = (
                    "the likelihood is out of reach: no world has a small junction tree, or can be counted"
                    " or compiled"
                )
                raise PlxError(Diagnostic(message, hint=hint)) from None
            return None
    return _pseudo(worlds, names, workers)


def _pseudo(worlds: Sequence[World], names: Sequence[str], workers: Workers | None = None) -> Pseudo:
    for world in worlds:
        require_complete(world)
    _look_at(worlds, names, workers)
    return Pseudo(worlds, names)


def _look_at(worlds: Sequence[World], names: Sequence[str], workers: Workers | None) -> None:
    """Have workers, where there are some, find the conditionals of several worlds."""
    if workers is not None and len(worlds) > 1:
        for world, found in zip(worlds, workers.conditionals(worlds, names), strict=True):
            keep(world, names, found)


def _simulated(
    worlds: Sequence[World],
    names: Sequence[str],
    priors: Priors,
    starts: Sequence[FloatArray],
    seed: int,
    told: Callable[[int, float], None],
    begin: float,
    left: Callable[[], float | None],
) -> Found:
    """The maximum of the likelihood by draws, first from that of the pseudo-likelihood if there is one.

    Nothing ranks where searches end: it counts whether they end at the same numbers.
    """
    from plx.learn.stochastic import NAME, Stochastic, compared

    notes, endless, undecided = list[str](), False, list[int]()
    try:
        rough = _pseudo(worlds, names)
    except PlxError:
        pass
    else:
        near = maximise(rough, priors, starts[0], seconds=left())
        open_ = doubts(rough, priors, near.weights, near.information, names)
        starts = [near.weights, *starts[1:]]
        notes, endless, undecided = open_
    lanes = Stochastic(worlds, names, seed)
    found = compared([lanes.search(priors, at, told, left()) for at in starts])
    found.error[undecided] = np.inf
    return Found(
        NAME,
        Estimates(tuple(names), found.weights, found.error, found.observed, found.expected),
        math.nan,
        found.path,
        found.converged and not endless,
        "a number runs off to infinity" if endless else found.reason,
        len(worlds),
        sum(world.n_observed for world in worlds),
        sum(len(world.hidden) for world in worlds),
        time.perf_counter() - begin,
        (*notes, *found.notes),
    )


def _searches(
    objective: Likelihood | Pseudo,
    priors: Priors,
    starts: Sequence[FloatArray],
    told: Callable[[int, float], None],
    left: Callable[[], float | None],
) -> list[Maximum]:
    """A search from each start; Ctrl-C and the end of the time end the one and all after it."""
    found: list[Maximum] = []
    for at in starts:
        found.append(maximise(objective, priors, at, told, left()))
        if found[-1].reason in (INTERRUPTED, OUT_OF_TIME):
            break
    return found


def _around(start: FloatArray, count: int, seed: int) -> list[FloatArray]:
    """The start, and others around it."""
    random = np.random.default_rng(seed)
    return [start, *(start + random.normal(size=len(start)) for _ in range(count - 1))]


def _spread(found: Sequence[Maximum]) -> list[str]:
    if len(found) < 2:
        return []
    values = sorted(one.value for one in found)
    same = sum(value > values[-1] - 1e-4 for value in values)
    return [
        f"values are hidden, so there may be several maxima: {same} of {len(found)} searches ended at the"
        f" best, the worst {values[-1] - values[0]:.3g} below it"
    ]


def _estimates(
    objective: Likelihood | Pseudo, priors: Priors, best: Maximum, names: Sequence[str], n_worlds: int
) -> tuple[Estimates, list[str]]:
    """Standard errors from the curvature, or from the spread of the pseudo-likelihoods of many worlds."""
    at_mean = (priors.slope > 0) & (best.weights == priors.mean)
    free = np.flatnonzero(~at_mean)
    curvature = (best.information + np.diag(priors.precision))[np.ix_(free, free)]
    inverse = np.linalg.pinv(curvature, rcond=1e-12, hermitian=True)
    notes = []
    if objective.name == Pseudo.name:
        assert isinstance(objective, Pseudo)
        if n_worlds >= 2 * len(names) + 10:
            inverse = inverse @ objective.spread(best.weights)[np.ix_(free, free)] @ inverse
        else:
            notes.append(
                "standard errors are from the curvature of the pseudo-likelihood: too small where unknowns"
                " depend on each other (many worlds would tell by how much)"
            )
    error = np.zeros(len(names))
    error[free] = np.sqrt(np.maximum(np.diag(inverse), 0.0))
    open_ = np.diag(inverse) <= 0
    error[free[open_]] = np.inf
    if at_mean.any():
        notes.append("numbers without a standard error are held at their mean by their Laplace prior")
    observed = objective.observed(best.weights)
    expected = observed - objective(best.weights)[1]
    return Estimates(tuple(names), best.weights, error, observed, expected), notes
