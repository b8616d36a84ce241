"""Worlds that the workers of a crew look at while numbers are learned from them.

Neighbouring worlds are one share, as large for each worker as it has threads; a share is planned once, where
it is looked at. What shares answer is put together in the order of the worlds, so that sums are the same, bit
for bit, for any number of workers. A share that is lost with its worker is sent again, by Dask itself.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from plx.cluster.part import packed
from plx.graph.model import GroundModel
from plx.learn.pseudo import Conditional, conditionals
from plx.learn.solved import Solved, SolvedHere
from plx.learn.worlds import World
from plx.values import FloatArray

if TYPE_CHECKING:
    from plx.cluster.connect import Crew

T = TypeVar("T")


class CrewWorkers:
    """The workers of a crew (`plx.learn.solved.Workers`)."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew

    def solved(self, models: Sequence[GroundModel], names: Sequence[str], compiling: float) -> Solved:
        """The models, solved by the workers; here where nothing is unknown. As `SolvedHere`."""
        if not any(model.graph.n_variables for model in models):
            return SolvedHere(models, names, compiling)
        return _SolvedThere(self._crew, models, names, compiling)

    def conditionals(self, worlds: Sequence[World], names: Sequence[str]) -> list[list[Conditional]]:
        """The conditionals of each world. Raises PlxError as `pseudo.conditionals`."""
        contents = [packed((part, names)) for part in _shares(self._crew, worlds, _world_size)]
        return _joined(self._crew, [self._crew.begun(_conditionals, content) for content in contents])


class _SolvedThere:
    """Models in shares."""

    def __init__(
        self, crew: Crew, models: Sequence[GroundModel], names: Sequence[str], compiling: float
    ) -> None:
        self._crew = crew
        contents = [packed((part, names, compiling)) for part in _shares(crew, models, _size)]
        self._shares = [crew.begun(Share, content) for content in contents]
        self.cheap = all(self._all(Share.cheap))

    def at(self, weights: FloatArray) -> list[tuple[float, FloatArray]]:
        """As `Solved`."""
        return self._all(Share.at, weights)

    def covariances(self, weights: FloatArray) -> list[FloatArray]:
        """As `Solved`."""
        return self._all(Share.covariances, weights)

    def _all(self, what: Callable[..., list[Any]], *given: object) -> list[Any]:
        return _joined(self._crew, [self._crew.begun(what, share, *given) for share in self._shares])


class Share:
    """Some models on a worker. One that moves is planned anew: a plan is many times as large. Raises
    TooWideError."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._solved = SolvedHere(*pickle.loads(content))

    def __reduce__(self) -> tuple[type[Share], tuple[bytes]]:
        return Share, (self._content,)

    def cheap(self) -> list[bool]:
        """Whether covariances are cheap."""
        return [self._solved.cheap]

    def at(self, weights: FloatArray) -> list[tuple[float, FloatArray]]:
        """As `Solved`."""
        return self._solved.at(weights)

    def covariances(self, weights: FloatArray) -> list[FloatArray]:
        """As `Solved`."""
        return self._solved.covariances(weights)


def _conditionals(content: bytes) -> list[list[Conditional]]:
    worlds, names = pickle.loads(content)
    return [conditionals(world, names) for world in worlds]


def _joined(crew: Crew, begun: Sequence[Any]) -> list[Any]:
    return [one for future in begun for one in crew.result(future)]


def _shares(crew: Crew, whole: Sequence[T], size: Callable[[T], int]) -> list[list[T]]:
    """Neighbours in as many parts as there are threads, of about the same sizes; none is empty."""
    count = min(len(whole), sum(crew.workers().values()))
    upto = np.cumsum([size(one) for one in whole])
    ends = np.searchsorted(upto, upto[-1] * np.arange(1, count) / count) + 1
    ends = np.unique([0, *ends.tolist(), len(whole)])
    return [list(whole[a:b]) for a, b in pairwise(ends.tolist())]


def _size(model: GroundModel) -> int:
    return 1 + model.graph.n_variables + model.graph.n_factors


def _world_size(world: World) -> int:
    return _size(world.free)
