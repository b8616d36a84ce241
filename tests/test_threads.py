"""Work that is dealt to threads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plx import threads
from plx.threads import pieces, spread


@given(st.integers(0, 40), st.integers(1, 9), st.integers(1, 4))
def test_each_piece_is_worked_on_once(n: int, size: int, cores: int) -> None:
    done = [0] * n

    def work(part: slice) -> None:
        for i in range(n)[part]:
            done[i] += 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "cores", lambda: cores)
        spread(work, pieces(n, size))
    assert done == [1] * n


@pytest.mark.parametrize("cores", [1, 3])
def test_an_exception_ends_the_work(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "cores", lambda: cores)
    seen = []

    def work(item: int) -> None:
        if item == 5:
            raise KeyError(item)
        if item > 5:
            seen.append(item)

    with pytest.raises(KeyError):
        spread(work, range(100_000))
    assert len(seen) < 99_000
