"""Whether a program is answered without grounding it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from plx.check.program import Program
from plx.errors import PlxError
from plx.firstorder.limits import (
    GROUND_FIRST,
    GROUNDING_PER_BYTE,
    LEAST_GROUND,
    MOST_LOG,
    SECONDS_EACH,
    SECONDS_PER_BYTE,
)
from plx.firstorder.plan import FirstOrderPlan, first_order
from plx.firstorder.refusal import NotLiftableError
from plx.ground.budget import RuleSize, measure
from plx.ground.evaluate import Evaluator
from plx.ground.limits import MAX_GROUND
from plx.ground.tasks import split
from plx.weights import Number


@dataclass(frozen=True, eq=False)
class FirstOrderWay:
    """A program, and what grounding it and not grounding it would take; each is worked out when first needed.

    ``seconds`` is how long an answer may take, None without limit.
    """

    program: Program
    numbers: Mapping[str, Number]
    seconds: float | None = None

    @cached_property
    def sizes(self) -> tuple[RuleSize, ...]:
        """The size of every rule if it were grounded. Raises PlxError where an expression has no value."""
        evaluator = Evaluator(self.program)
        tasks = [t for i, rule in enumerate(self.program.rules) for t in split(i, rule, evaluator.terms)]
        return measure(evaluator, tasks, MAX_GROUND)

    @property
    def is_small(self) -> bool:
        """Whether grounding costs next to nothing, so that other exact ways are looked at first."""
        try:
            return sum(size.bytes for size in self.sizes) <= GROUND_FIRST
        except PlxError:  # which grounding says better
            return True

    @property
    def grounding_seconds(self) -> float:
        """About how long grounding takes; infinite where it is refused."""
        try:
            if any(size.instances > MAX_GROUND for size in self.sizes):
                return math.inf
            return sum(size.bytes for size in self.sizes) * GROUNDING_PER_BYTE
        except PlxError:
            return math.inf

    @property
    def is_cheaper(self) -> bool:
        """Whether it is answered before another exact way of a small program would be planned."""
        try:
            size = sum(size.bytes for size in self.sizes)
        except PlxError:  # which grounding says better
            return False
        if size <= LEAST_GROUND or isinstance(self.plan, NotLiftableError):
            return False
        distant = self.plan.answers.base.largest > MOST_LOG  # which the factor graph takes apart
        return not distant and self.cost() * SECONDS_EACH < size * SECONDS_PER_BYTE

    @cached_property
    def plan(self) -> FirstOrderPlan | NotLiftableError:
        """The plan, or what stands in its way. Raises NoWorldError where no world is possible."""
        found = first_order(self.program, numbers=self.numbers)
        if isinstance(found, FirstOrderPlan) and self.seconds is not None:
            needed = found.operations * SECONDS_EACH
            if needed > self.seconds / 2:
                return NotLiftableError(f"{found.operations:,.0f} additions take about {needed:,.0f} seconds")
        return found

    def cost(self) -> float:
        """About how many numbers are added; infinite where it cannot be taken."""
        return math.inf if isinstance(self.plan, NotLiftableError) else self.plan.operations

    @property
    def words(self) -> str:
        """How it is answered, or what stands in the way."""
        return self.refusal if isinstance(self.plan, NotLiftableError) else self.plan.reason

    @property
    def refusal(self) -> str:
        """What stands in the way, in words; empty where nothing does."""
        return f"first-order counting: {self.plan.words}" if isinstance(self.plan, NotLiftableError) else ""
