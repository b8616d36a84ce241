"""Rules whose log weights are exact, and what they say of elements."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from plx.firstorder.base import Base
from plx.firstorder.exact.ratio import ObjectArray, Ratio, odds
from plx.firstorder.whole import WholeRules
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

    def same(self, weights: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
        """Whether two tables of log weights are equal."""
        return np.array_equal(odds(weights), odds(other))
