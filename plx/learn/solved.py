"""log Z of several ground models, in this process or, by the same numbers, in others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from plx.graph.model import GroundModel
from plx.infer.limits import USUAL_TRYING
from plx.infer.options import Clock
from plx.learn.log_z import LogZ
from plx.learn.pseudo import Conditional
from plx.learn.worlds import World
from plx.values import FloatArray


class Solved(Protocol):
    """What is known of models as functions of K learned numbers; answers are in the order of the models."""

    @property
    def cheap(self) -> bool:
        """Whether covariances take not much longer than log Z."""

    def at(self, weights: FloatArray) -> list[tuple[float, FloatArray]]:
        """log Z and expected statistics, as `LogZ`."""

    def covariances(self, weights: FloatArray) -> list[FloatArray]:
        """The covariances of the statistics, each of shape (K, K)."""


class Workers(Protocol):
    """Other processes that work on worlds."""

    def solved(self, models: Sequence[GroundModel], names: Sequence[str], compiling: float) -> Solved:
        """The models, solved by them; as `SolvedHere`."""

    def conditionals(self, worlds: Sequence[World], names: Sequence[str]) -> list[list[Conditional]]:
        """The conditionals of each world. Raises PlxError as `pseudo.conditionals`."""


class SolvedHere:
    """Models solved in this process. Circuits may take so many seconds to be compiled, all together.

    Raises TooWideError.
    """

    def __init__(
        self, models: Sequence[GroundModel], names: Sequence[str], compiling: float = USUAL_TRYING
    ) -> None:
        self._log_z = list[LogZ]()
        for model in models:
            clock = Clock()
            self._log_z.append(LogZ(model, names, compiling))
            if self._log_z[-1].is_compiled:
                compiling = max(0.0, compiling - clock.seconds)

    @property
    def cheap(self) -> bool:
        """As `Solved`."""
        return all(one.has_covariance for one in self._log_z)

    def at(self, weights: FloatArray) -> list[tuple[float, FloatArray]]:
        """As `Solved`. Raises ImpossibleError where a model has no world."""
        return [one(weights) for one in self._log_z]

    def covariances(self, weights: FloatArray) -> list[FloatArray]:
        """As `Solved`, and raises as `at`."""
        return [one.covariance(weights) for one in self._log_z]
