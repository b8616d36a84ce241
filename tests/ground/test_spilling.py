"""Ground models that do not fit into the budget of memory: their arrays are in files without names."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import plx
from plx.graph import room
from plx.graph.model import GroundModel
from plx.graph.room import Room
from plx.ground import budget, grounder
from plx.ground.memory import within

PROGRAM = """type P = 1..60
relation knows(P, P)
random near(P, P)
random far(P)
weight 0.1: near(x, y) => near(y, x) for x, y in P
weight 0.2 * x: far(x) <=> far(y) for (x, y) in knows if x != y
weight 0.3: far(x) and near(x, y) and far(y) for x, y in P if x < y
query far(1)
"""
KNOWS = np.random.default_rng(0).integers(1, 61, (400, 2))


@pytest.fixture
def rooms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Room]:
    """The rooms of all groundings, in which nothing is too small for a file of this folder."""
    made: list[Room] = []

    def make(in_memory: object) -> Room:
        made.append(Room(in_memory=lambda size: made[-1] in allowed))  # type: ignore[arg-type]
        return made[-1]

    allowed: list[Room] = []
    monkeypatch.setattr(grounder, "Room", make)
    monkeypatch.setattr(budget, "_LEAST_MEMORY", 0)
    monkeypatch.setattr(room, "_SMALL", 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return made


def grounded(memory: str | None = None) -> GroundModel:
    with within(memory):
        return plx.compile(PROGRAM, knows=KNOWS).ground


def same(a: GroundModel, b: GroundModel) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a.graph, b.graph, strict=True))


def test_a_model_in_files_is_the_one_in_memory(rooms: list[Room], tmp_path: Path) -> None:
    whole, spilled = grounded(), grounded("200KB")
    assert same(whole, spilled)
    first, second = rooms
    assert not first.spilled and second.spilled > spilled.graph.scope.nbytes
    assert isinstance(_bottom(spilled.graph.scope), np.memmap)
    assert not list(tmp_path.iterdir())  # files have no names, so none can be left


def _bottom(array: np.ndarray) -> object:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


@pytest.mark.parametrize("way", ["reserve", "open"])
def test_a_full_disk_ends_in_words_or_in_memory(
    way: str, rooms: list[Room], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    whole = grounded()
    if way == "reserve" and hasattr(os, "posix_fallocate"):
        monkeypatch.setattr(os, "posix_fallocate", full)
    else:
        monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(plx.PlxError, match=r"neither into memory nor into .*, whose disk is full") as caught:
        grounded("200KB")
    assert "TMPDIR" in str(caught.value)
    monkeypatch.setattr(grounder, "Room", lambda in_memory: Room(in_memory=lambda size: True))
    assert same(whole, grounded("200KB"))


def test_a_disk_that_is_too_small_is_told_before_the_work(
    rooms: list[Room], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=1000))
    with pytest.raises(plx.PlxError, match=r"the limit is .* MB, and 0\.0 MB are free in .*TMPDIR"):
        grounded("200KB")


def test_far_more_than_memory_is_refused(rooms: list[Room]) -> None:
    with pytest.raises(plx.PlxError, match="the limit is"):
        grounded("20KB")
