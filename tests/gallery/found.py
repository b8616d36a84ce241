"""What a program of the gallery must answer, worked out apart from plx."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum, log

from tests.use.expected import Answers

World = dict[str, object]


@dataclass(frozen=True)
class Found:
    """Answers, log Z, the log weight of a most probable world; None for what is not asked."""

    answers: Answers
    log_z: float | None = None
    best: float | None = None


def truth(p: float) -> dict[str, float]:
    return {"true": p, "false": 1 - p}


def spread(p: Mapping[object, float]) -> dict[str, float]:
    """Normalised, by the text of the values."""
    total = fsum(p.values())
    return {str(value): weight / total for value, weight in p.items()}


class Worlds:
    """Worlds listed one by one, each with its log weight."""

    def __init__(self, worlds: Iterable[tuple[World, float]]) -> None:
        self.listed = list(worlds)

    @property
    def log_z(self) -> float:
        return log(fsum(exp(weight) for _, weight in self.listed))

    @property
    def best(self) -> float:
        return max(weight for _, weight in self.listed)

    def given(self, holds: Callable[[World], bool]) -> Worlds:
        return Worlds((world, weight) for world, weight in self.listed if holds(world))

    def of(self, value: Callable[[World], object]) -> dict[str, float]:
        """The distribution of a value."""
        total: dict[object, float] = {}
        for world, weight in self.listed:
            found = value(world)
            total[found] = total.get(found, 0.0) + exp(weight)
        return spread(total)

    def where(self, holds: Callable[[World], bool]) -> dict[str, float]:
        """Whether something holds."""
        return truth(fsum(exp(w) for world, w in self.listed if holds(world)) / exp(self.log_z))

    def each(self, name: str) -> Answers:
        """The distribution of every unknown, as answers to ``name(…)``."""
        unknowns = self.listed[0][0]
        return {f"{name}({x})": self.of(lambda world, x=x: world[x]) for x in unknowns}  # type: ignore[misc]


def assignments(domains: Mapping[str, Sequence[object]]) -> Iterator[World]:
    for values in itertools.product(*domains.values()):
        yield dict(zip(domains, values, strict=True))
