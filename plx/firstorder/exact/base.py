"""Rules whose log weights are exact, and what they say of elements."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from plx.firstorder.base import Base
from plx.firstorder.exact.ratio import ObjectArray, Ratio, odds
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.whole import WholeRules, refuse_order
from plx.graph.learned import ids_with
from plx.values import IMPOSSIBLE, IntArray, Value, distinct
from plx.weights import exponential


def _ratio(value: Value) -> Ratio:
    assert not isinstance(value, str | bool)
    return Ratio(exponential(value))


class ExactRules(WholeRules):
    """Rules by exact log weights, `Ratio`; 0 and -inf may stand for themselves."""

    dtype: ClassVar[type] = object
    long: ClassVar[type] = object

    def logs(self, weights: IntArray) -> ObjectArray:  # type: ignore[override]
        """Log weights by their ids. Raises NotRationalError where one is no log of a rational number."""
        values = self.evaluator.values
        ids = ids_with(values, weights, self.numbers) if self.numbers else weights
        known = distinct(ids.ravel())
        table = np.empty(len(known), dtype=object)
        table[:] = [-np.inf if one == IMPOSSIBLE else _ratio(values[one]) for one in known.tolist()]
        found: ObjectArray = table[np.searchsorted(known, ids)]
        return found


class ExactBase(Base):
    """Elements and pairs of them, with exact weights; facts may set all of them apart."""

    least_alike: ClassVar[bool] = False

    def _pairs(self) -> dict[tuple[int, int], npt.NDArray[Any]]:
        refuse_order(self)
        found = {}
        for a in range(self.kinds):
            for b in range(a, self.kinds):
                mine, others = self.samples[a], self.samples[b]
                if a != b or len(mine) > 1:
                    found[a, b] = self.units.pair(mine[0], others[-1])[..., 0]
                if a == b and len(mine) > 1:
                    weights = odds(found[a, b])
                    if not np.array_equal(weights, weights.transpose(0, 2, 1)):
                        raise NotLiftableError("rules depend on the order of members", self.rules.ordered)
        return found
