"""What a run is asked for, what it reports while it works, and what stops it."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Real
from operator import index
from typing import Any, Protocol

import numpy as np

from plx.errors import CallError, Diagnostic, did_you_mean
from plx.numerals import shortened


@dataclass(frozen=True)
class Progress:
    """One report. ``done`` is a fraction of the way to the limit or to the accuracy asked for.

    ``error`` is the largest standard error so far; None before there is one.
    """

    phase: str
    done: float
    seconds: float
    error: float | None = None


LOADING = "loading kernels, which are compiled once"
"""The first phase of every run; it takes seconds only where the kernels are not compiled yet."""

Report = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Report nothing."""


class Keeper(Protocol):
    """What keeps a run while it goes on, so that another process can go on with it."""

    def keep(self, run: Any, ended: bool) -> None:
        """Note where a run stands between batches, or where it ends."""


class Cluster(Protocol):
    """Other processes that move chains, and find parts of exact answers."""

    def spread(self, sampler: Any, chains: Any, count: int) -> Any:
        """So many chains (`plx.infer.chains.InParts`) of a sampler, moved by the others."""

    def each(self, work: Callable[[Any], Any], given: Sequence[Any]) -> list[Any]:
        """What work makes of each of these, in this order. Raises what it raises, and OutOfTimeError at the
        deadline."""


@dataclass(frozen=True)
class Options:
    """How to run. ``samples`` counts draws over all chains; ``seconds`` is wall-clock time; ``draws``
    worlds of each chain are kept.

    ``threads`` never changes an answer. Chains that would count very many states are fewer, unless they are
    ``fixed``, as those asked for are. ``refused`` says why ways looked at before do not fit. ``resumed`` is a
    run (`plx.infer.mcmc.batches.Run`) to go on with, or None. Pickled options are without who looks on.
    """

    seed: int = 0
    chains: int = 64
    fixed: bool = True
    samples: int | None = None
    seconds: float | None = 60.0
    accuracy: float = 0.005
    rhat: float = 1.01
    draws: int | None = None
    threads: int | None = None
    progress: Report = silent
    refused: tuple[str, ...] = ()
    keeper: Keeper | None = None
    resumed: Any = None
    cluster: Cluster | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"progress": silent, "keeper": None, "resumed": None, "cluster": None}


@dataclass
class Clock:
    """Wall-clock time since it was made."""

    start: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.start

    def __getstate__(self) -> float:
        return self.seconds

    def __setstate__(self, seconds: float) -> None:
        self.start = time.perf_counter() - seconds


@dataclass(frozen=True)
class _Rule:
    """What the value of an option may be; ``usual`` is what to do for want of a better one."""

    words: str
    usual: str
    whole: bool = True
    least: float = 1
    above: bool = False  # more than `least`, not just as much

    def value(self, given: object) -> int | float:
        """The value as a plain number. Raises ValueError if it is none, or out of range."""
        if isinstance(given, bool | np.bool_):
            raise ValueError
        number = self._number(given)
        if not self.least <= number < math.inf or (self.above and number == self.least):
            raise ValueError
        return number

    def _number(self, given: object) -> int | float:
        try:
            if self.whole:
                return index(given)  # type: ignore[arg-type]
            return float(given) if isinstance(given, Real) else math.nan
        except (TypeError, OverflowError):
            raise ValueError from None


_RULES = {
    "n": _Rule("a whole number, 1 or more", "it is how many worlds to draw"),
    "seed": _Rule("a whole number, 0 or more", "leave it out to have one drawn", least=0),
    "chains": _Rule("a whole number, 1 or more", "leave it out if in doubt"),
    "samples": _Rule("a whole number, 1 or more", "leave it out to go on until the accuracy is met"),
    "draws": _Rule("a whole number, 1 or more", "leave it out to keep no worlds"),
    "workers": _Rule("a whole number, 1 or more", "leave it out to stay in one process"),
    "lanes": _Rule("a whole number, 1 or more", "leave it out if in doubt"),
    "seconds": _Rule("a number of seconds, 0 or more", "leave it out if in doubt", whole=False, least=0),
    "accuracy": _Rule("a number above 0", "0.005 is usual", whole=False, least=0, above=True),
}


def run_options(
    method: str,
    *,
    seed: int | None,
    chains: int | None,
    samples: int | None,
    seconds: float | None,
    accuracy: float,
    draws: int | None = None,
) -> Options:
    """The options of a run; what is None is as usual for the method, a seed is drawn.

    Raises CallError with every value that makes no sense.
    """
    given = {"seed": seed, "chains": chains, "samples": samples, "seconds": seconds, "draws": draws}
    told = checked(accuracy=accuracy, **{name: value for name, value in given.items() if value is not None})
    usual = {
        "seed": drawn_seed(),
        "seconds": Options.seconds if samples is None and method != "exact" else None,
    }
    return Options(fixed=chains is not None, **usual | told)


def drawn_seed() -> int:
    """A seed of 32 bits, never the same twice but by chance."""
    return int.from_bytes(os.urandom(4), "little")


def checked(**given: object) -> dict[str, Any]:
    """The values of numeric options as plain numbers. Raises CallError with all that make no sense."""
    found: dict[str, Any] = {}
    problems = []
    for name, value in given.items():
        try:
            found[name] = _RULES[name].value(value)
        except ValueError:
            problems.append(_mistake(name, value))
    if problems:
        raise CallError(problems)
    return found


def _mistake(name: str, value: object) -> Diagnostic:
    rule = _RULES[name]
    hint = rule.usual
    if rule.whole and isinstance(value, float) and value.is_integer():
        hint = f"write {value:.0f}"
    elif isinstance(value, str) and value.strip().replace(".", "", 1).isdecimal():
        hint = f"without quotes: {value.strip()}"
    return Diagnostic(f"`{name}` is {rule.words}, not {shortened(repr(value))}", hint=hint)


def check_choice(what: str, value: object, choices: Sequence[str]) -> None:
    """Look whether a value is one of several words. Raises CallError, with the nearest, if it is not."""
    if value not in choices:
        hint = did_you_mean(str(value), choices) or f"there are {', '.join(choices)}"
        raise CallError(Diagnostic(f"there is no {what} `{value}`", hint=hint))
