"""The exact way of docs/adding-an-exact-way.md conforms as those of plx do."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import plx
from plx.errors import CallError
from plx.infer.exact_choice import WAYS
from tests.docs.pages import entry, load, page, save
from tests.infer import test_exact_choice as conformance
from tests.infer import test_exact_draws as drawing

PAGE = page("adding-an-exact-way.md")
NAME = "possible worlds"
SEATS = """
type Person = 1..8
random chair(Person): 1..8
require chair(x) != chair(y) for x, y in Person if x < y
weight (x * y % 7) / 5: chair(x) = y for x, y in Person
query chair(1)
query count(chair(x) > x for x in Person)
query map 2
query logz
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(PAGE, tmp_path_factory.mktemp("way") / "possible_worlds.py")


@pytest.fixture
def entered(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    way = load(file).possible_worlds
    for name, find in eval(entry(PAGE), {"possible_worlds": way}).items():
        monkeypatch.setitem(WAYS, name, find)


@pytest.mark.usefixtures("entered")
@pytest.mark.parametrize(
    "check",
    [
        conformance.agree_with_enumeration,
        conformance.impossible_is_said,
        drawing.worlds_are_drawn_by_their_weights,
    ],
)
def test_it_conforms(check: object) -> None:
    assert callable(check)
    check(NAME)


@pytest.mark.usefixtures("entered")
def test_it_is_taken_where_it_is_cheapest() -> None:
    chairs = np.array(list(itertools.permutations(range(1, 9))))
    logs = (np.arange(1, 9) * chairs % 7 / 5).sum(axis=1)
    p = np.exp(logs - np.logaddexp.reduce(logs))
    result = plx.run(SEATS, method="exact")
    assert result.reason == "40,320 worlds keep all rules over unknowns, and were listed"
    first, above, best, log_z = result
    for chair in range(1, 9):
        assert first.distribution[chair] == pytest.approx(p[chairs[:, 0] == chair].sum())
    assert above.mean == pytest.approx(p @ (chairs > np.arange(1, 9)).sum(axis=1))
    assert [world.log_weight for world in best.worlds] == pytest.approx(np.sort(logs)[:-3:-1])
    assert log_z.log_z == pytest.approx(np.logaddexp.reduce(logs))


@pytest.mark.usefixtures("entered")
def test_too_many_worlds_are_left_to_other_ways() -> None:
    wide = (
        "type P = 1..40\nrandom a(P): 1..3\nweight x * y / 7: a(x) = a(y) for x, y in P if x < y\nquery a(1)"
    )
    with pytest.raises(plx.PlxError, match="out of reach") as refused:
        plx.run(wide, method="exact")
    assert not isinstance(refused.value, CallError)
