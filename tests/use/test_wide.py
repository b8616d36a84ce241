"""Answers that are arrays: the same as those that are not, and no object before one is looked at."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import plx
from plx import Result
from plx.answer.wide import WideAnswers
from plx.graph.queries import QueryBlock
from plx.ground import queries
from plx.sequences import Joined, inserted, joined, replaced

PROGRAM = """
type Person = {anna, bob, carl, "dora d"}
type Mood = {good, bad, -3}
random smokes(Person)
random mood(Person): Mood
random age(Person): 1..4
observe smokes(bob)
observe mood(carl) = bad
observe mood(anna) != bad
weight 0.7: smokes(x) <=> smokes(y) for x, y in Person
weight 0.5: mood(x) = good & smokes(x) for x in Person
weight 0.2: age(x) > 2 & smokes(x) for x in Person
query smokes(x) for x in Person
query mood(x) for x in Person
query age(x) for x in Person
query age(x) + age(anna) as ages for x in Person
query map
query smokes(x) & smokes(anna) as both for x in Person
query (smokes(anna), smokes(carl))
query smokes(anna) given smokes(carl)
query logz
query smokes(x) <=> smokes(y) for x, y in Person
"""

WAYS = [("exact", None), ("gibbs", 640), ("lifted", 640)]
TERMS = ("smokes", "mood", "age", "ages", "both", "smokes(x) <=> smokes(y)")


def run(method: str, samples: int | None, least: int) -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queries, "WIDE", least)
        return plx.compile(PROGRAM).run(method=method, samples=samples, seed=1)


@pytest.fixture(scope="module", params=WAYS, ids=[name for name, _ in WAYS])
def both(request: pytest.FixtureRequest) -> Iterator[tuple[Result, Result]]:
    yield run(*request.param, 1 << 30), run(*request.param, 1)


def test_wide_answers_are_the_same_answers(both: tuple[Result, Result]) -> None:
    plain, wide = both
    assert isinstance(wide.queries, Joined)
    assert sum(isinstance(part, WideAnswers) for part in wide.queries.parts) == 6
    assert len(plain) == len(wide)
    for a, b in zip(plain, wide, strict=True):
        assert (a.name, a.text, a.kind, a.line, a.term, a.slots, a.converged, a.ess, a.rhat) == (
            b.name, b.text, b.kind, b.line, b.term, b.slots, b.converged, b.ess, b.rhat
        )  # fmt: skip
        assert [(e.value, e.text, e.p, e.mcse) for e in a.estimates] == [
            (e.value, e.text, pytest.approx(e.p), pytest.approx(e.mcse)) for e in b.estimates
        ]
        assert (a.moments is None) == (b.moments is None)
        if a.moments and b.moments:
            assert a.moments.mean == pytest.approx(b.moments.mean)
            assert a.moments.sd == pytest.approx(b.moments.sd)
            assert (a.moments.mcse, a.moments.sd_mcse) == (b.moments.mcse, b.moments.sd_mcse)
    assert (plain.converged, plain.log_z) == (wide.converged, wide.log_z)
    assert plain.notes == wide.notes and plain.inference.advice == wide.inference.advice


def test_tables_and_texts_are_the_same(both: tuple[Result, Result]) -> None:
    plain, wide = both
    assert repr(plain).split("method")[0] == repr(wide).split("method")[0]
    assert [line[:30] for line in plain.to_csv().splitlines()] == [
        line[:30] for line in wide.to_csv().splitlines()
    ]
    assert wide["smokes( anna )"].text == "smokes(anna)" and "both(carl)" in wide
    with pytest.raises(KeyError, match="did you mean"):
        wide["smoke(anna)"]


def test_frames_and_grids_are_the_same(both: tuple[Result, Result]) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    plain, wide = both
    for form in ("long", "wide"):
        pandas.testing.assert_frame_equal(plain.to_pandas(form), wide.to_pandas(form))
    assert plain.to_polars().schema == wide.to_polars().schema
    assert plain.to_polars().null_count().equals(wide.to_polars().null_count())
    assert plain.to_polars()["number"].null_count() > 0 and isinstance(wide.to_polars(), polars.DataFrame)
    for term in TERMS:
        a, b = plain.grid(term), wide.grid(term)
        assert a.coordinates == b.coordinates and list(a.arrays) == list(b.arrays)
        for name, found in a.arrays.items():
            np.testing.assert_allclose(found, b.arrays[name])


def test_parquet_keeps_them(both: tuple[Result, Result], tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for result in both:
        result.to_parquet(tmp_path / "answers.parquet")
        found = Result.load(tmp_path / "answers.parquet")
        assert tuple(found.queries) == tuple(result.queries)
        assert (found.notes, found.log_z, found.method) == (result.notes, result.log_z, result.method)
    table = parquet.read_table(tmp_path / "answers.parquet")
    metadata = table.schema.metadata.items()
    broken = {key: b"PK\x03\x04" if key[-1:].isdigit() else kept for key, kept in metadata}
    parquet.write_table(table.replace_schema_metadata(broken), tmp_path / "damaged.parquet")
    with pytest.raises(plx.PlxError, match="holds no result"):
        Result.load(tmp_path / "damaged.parquet")


@pytest.mark.parametrize("method", ["gibbs", "lifted", "cluster"])
def test_a_run_makes_no_object_per_answer(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "WIDE", 64)
    looked = []
    for kind in (QueryBlock, WideAnswers):
        one = kind._one

        def counted(self, at, one=one):  # type: ignore[no-untyped-def]
            looked.append(at)
            return one(self, at)

        monkeypatch.setattr(kind, "_one", counted)
    text = """
        random f(1..2000)
        weight 1: f(x) <=> f(x + 1) for x in 1..1999
        query f(x) for x in 1..2000
    """
    result = plx.compile(text).run(method=method, samples=64, seed=1)
    monkeypatch.setenv("COLUMNS", "200")
    shown = repr(result)
    assert "1,500 more of 2,000 answers" in shown and "f(2000)" in shown
    result.to_csv(), result.array("f")
    assert len(looked) < 600  # those that the table shows, and a few that are named
    assert result["f(77)"] == result[76] and result[-1].name == "f(2000)"


def test_sequences_are_joined_without_a_copy() -> None:
    items = joined([(1, 2), (3,), [4, 5], (6,)])
    assert isinstance(items, Joined) and [len(part) for part in items.parts] == [3, 2, 1]
    assert list(items) == [1, 2, 3, 4, 5, 6] and items[-2] == 5 and items[1:5:2] == (2, 4)
    assert items == (1, 2, 3, 4, 5, 6) and hash(items) == hash(tuple(items)) and items != (1, 2)
    assert tuple(replaced(items, {1: 20})) == (1, 20, 3, 4, 5, 6)
    assert tuple(inserted(items, {0: 0, 3: 9, 8: 7})) == (0, 1, 2, 9, 3, 4, 5, 6, 7)
    assert joined([(1,), (2,)]) == (1, 2) and joined([]) == ()
    with pytest.raises(IndexError):
        items[6]
