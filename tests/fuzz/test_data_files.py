"""Damaged files of data that are no text: SQLite, Parquet and Feather."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

import plx
from plx.errors import PlxError

PEOPLE = ["anna", "bob", "van Dyke, Cleo"]


def _sqlite(path: Path) -> None:
    with closing(sqlite3.connect(path)) as base:
        base.execute("create table t(P text)")
        base.executemany("insert into t values (?)", [(name,) for name in PEOPLE])
        base.commit()


def _parquet(path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"P": PEOPLE}), path)


def _feather(path: Path) -> None:
    arrow, feather = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.feather")
    feather.write_feather(arrow.table({"P": PEOPLE}), path)


def damaged(content: bytes, random: Random) -> bytes:
    """A file that is cut short, or of which some bytes differ."""
    if random.random() < 0.3:
        return content[: random.randrange(len(content))]
    changed = bytearray(content)
    for _ in range(random.choice((1, 3, 10, 100))):
        # Most of what a database file holds is zeros: aim at what says something.
        places = (
            [at for at, byte in enumerate(content) if byte] if random.random() < 0.7 else range(len(content))
        )
        changed[random.choice(places)] = random.randrange(256)
    return bytes(changed)


@pytest.mark.parametrize(
    ("name", "write", "count"),
    [
        ("t.db", _sqlite, 20),
        ("t.parquet", _parquet, 40),
        ("t.feather", _feather, 40),
    ],
)
def test_damaged_files_are_read_or_refused_in_words(
    tmp_path: Path, name: str, write: Callable[[Path], None], count: int
) -> None:
    write(tmp_path / name)
    content = (tmp_path / name).read_bytes()
    text = f'type P from "{tmp_path / name}"\nrandom f(P)\nquery f(x) for x in P'
    assert len(plx.compile(text).ground.queries) == 3
    outcomes = set()
    for number in range(count):
        (tmp_path / name).write_bytes(damaged(content, Random(f"{name} {number}")))
        try:
            plx.compile(text)
            outcomes.add("read")
        except PlxError as error:
            assert name in str(error) or "P" in str(error), number
            outcomes.add("refused")
    assert "refused" in outcomes
