"""Ids of values: many integers by a table as one by one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plx import values as module
from plx.values import Values

near = st.integers(-9, 9) | st.integers(95, 105) | st.sampled_from([-(2**40), 2**40])


@given(st.lists(st.lists(near, max_size=9) | st.sampled_from([["a"], [True], [Fraction(1, 2)]])), st.data())
def test_integers_have_one_id_however_they_come(batches: list[list[object]], data: st.DataObject) -> None:
    values, one_by_one = Values(), Values()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MANY", data.draw(st.integers(1, 4)))
        for batch in batches:
            wanted = [one_by_one.id(value) for value in batch]  # type: ignore[arg-type]
            whole = set(map(type, batch)) <= {int} and data.draw(st.booleans())
            ids = values.ids_of_integers(np.array(batch, dtype=np.int64)) if whole else values.ids(batch)  # type: ignore[arg-type]
            assert ids.tolist() == wanted
            every = np.arange(len(values))
            assert values.floats(every).tolist() == pytest.approx(
                one_by_one.floats(every).tolist(), nan_ok=True
            )
    assert values.take(range(len(values))) == one_by_one.take(range(len(values)))
