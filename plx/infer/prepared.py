"""A model made ready for inference: what no query needs is left out, and exact ways are looked for once."""

from __future__ import annotations

from functools import cached_property

from plx.graph.barren import without_barren
from plx.graph.model import GroundModel
from plx.infer.exact_choice import ExactWays
from plx.infer.options import Report, silent
from plx.infer.problem import Problem


class Prepared:
    """A model as inference takes it on, and its exact ways; each is worked out when it is first needed, and
    once, however often the model is tried.

    The model's queries have no ``given``: conditioning comes before.
    """

    def __init__(self, model: GroundModel, report: Report = silent) -> None:
        self._model, self._report = model, report

    @cached_property
    def needed(self) -> GroundModel:
        """The model without the unknowns that its queries do not need."""
        return without_barren(self._model)

    @cached_property
    def problem(self) -> Problem:
        """What is to be answered: doubles hold its weights."""
        from plx.infer.hard.distant import without_distant

        return Problem(without_distant(self.needed))

    @cached_property
    def ways(self) -> ExactWays:
        """The exact ways to answer it."""
        return ExactWays(self.problem, self._report)

    @cached_property
    def drawing_ways(self) -> ExactWays:
        """The exact ways to draw worlds of it: whole ones, whatever is asked."""
        return ExactWays(self.problem.asking(()), self._report, drawing=True)
