"""Results that are written and read back, and pickled, are what they were."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plx
from plx.answer.named import Estimate, MapWorld, Moments
from plx.answer.result import QueryResult, Result
from plx.infer.inference import Inference

TEXT = """
type Person = {anna, "New York", "true", "1"}
type Odd = {1, "1", true, "true", 0.5, 1/3}
random smokes(Person)
random odd(Person): Odd
random level: 0..3
weight log(2): smokes(x) for x in Person
weight 1/3: odd(x) = 1/3 for x in Person
query smokes(x) for x in Person
query odd(x) for x in Person
query (odd(anna), smokes(anna))
query sum(0.1 * (odd(x) = 0.5) for x in Person) as total
query level
query map 2
query logz
query smokes(anna) given odd(anna) = 1/3
"""

RUNS: list[dict[str, object]] = [
    {"method": "exact"},
    {"method": "gibbs", "seed": 1, "samples": 2000},
    {"method": "lifted", "seed": 2, "seconds": 0.0},
]


@pytest.fixture(scope="module", params=range(len(RUNS)))
def result(request: pytest.FixtureRequest) -> Result:
    return plx.run(TEXT, **RUNS[request.param])


def same(a: Result, b: Result) -> None:
    assert a == b
    assert repr(a) == repr(b)
    assert a.to_json() == b.to_json()
    assert a.to_csv() == b.to_csv()
    assert (a.notes, a.status, a.seed, a.converged) == (b.notes, b.status, b.seed, b.converged)
    assert a.inference.advice == b.inference.advice
    for one, other in zip(a, b, strict=True):
        for x, y in zip(one.estimates, other.estimates, strict=True):
            assert repr(x) == repr(y)  # True and 1 are equal, and print apart
        assert one.slots == other.slots and one.term == other.term
    assert a.array("odd").tolist() == b.array("odd").tolist()


def test_json_keeps_all(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(result.to_json(), encoding="utf-8")
    same(result, Result.load(path))


def test_parquet_keeps_all(result: Result, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    result.to_parquet(tmp_path / "r.parquet")
    same(result, plx.Result.load(str(tmp_path / "r.parquet")))


def test_parquet_is_a_table_for_others(result: Result, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    result.to_parquet(tmp_path / "r.parquet")
    rows = parquet.read_table(tmp_path / "r.parquet").to_pylist()
    assert len(rows) == len(result.to_pandas())
    odd = [row for row in rows if row["query"] == "odd(anna)"]
    assert [row["value"] for row in odd] == [e.text for e in result["odd(anna)"].estimates]
    assert [row["number"] for row in odd] == [1.0, None, None, None, 0.5, pytest.approx(1 / 3)]
    assert all(row["mcse"] is not None for row in rows if row["p"] is not None)


def test_what_was_not_answered_stays_unanswered(tmp_path: Path) -> None:
    late = QueryResult("a", "a", "probability", 1, converged=False, term="a")
    unsure = QueryResult(
        "b",
        "b",
        "number",
        2,
        (Estimate(1, "1", 1.0, float("inf")),),
        Moments(1.0, None, float("inf"), 0.0),
        term="b",
    )
    best = QueryResult(
        "map", "map", "map", 3, worlds=(MapWorld({"a": "x y"}, {"a": '"x y"'}, 1.5, False, 2.0),)
    )
    one = Result(
        "p", (late, unsure, best), Inference("gibbs", "why", (), status="interrupted", notes=("a note",))
    )
    path = tmp_path / "r.json"
    path.write_text(one.to_json())
    again = Result.load(path)
    assert again == one and repr(again) == repr(one) and again.notes == ("a note",)
    assert not again["a"].answered


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"PAR1",
        b"PAR1xxxxPAR1",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"queries": [1]}',
        b"a,b\n1,2",
    ],
)
def test_what_is_no_result_is_refused_in_words(content: bytes, tmp_path: Path) -> None:
    if content.startswith(b"PAR1"):
        pytest.importorskip("pyarrow")
    path = tmp_path / "broken"
    path.write_bytes(content)
    with pytest.raises(plx.PlxError, match="holds no result of plx"):
        Result.load(path)


_DAMAGED = json.loads(
    plx.run("random x\nrandom n: 0..2\nquery x\nquery n\nquery map\nquery (x, n)").to_json()
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_damaged_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    damaged = json.loads(json.dumps(_DAMAGED))
    place = damaged
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
            place = place[key]
            continue
        break
    if data.draw(st.booleans()):
        del place[key]
    else:
        place[key] = data.draw(st.sampled_from([None, [], {}, "x", -1, 1e400, True, [[1]]]))
    path = tmp_path_factory.mktemp("damaged") / "r.json"
    path.write_text(json.dumps(damaged))
    try:
        repr(Result.load(path))
    except plx.PlxError as error:
        assert "holds no result" in str(error)


def test_a_missing_file_is_an_oserror(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Result.load(tmp_path / "none.json")


# ---------------------------------------------------------------- pickles


def test_results_pickle(result: Result) -> None:
    same(result, pickle.loads(pickle.dumps(result)))


def test_models_pickle_before_and_after_they_are_run() -> None:
    model = plx.compile(TEXT)
    fresh = pickle.loads(pickle.dumps(model))
    expected = model.run(method="exact")
    assert fresh.run(method="exact") == expected
    assert pickle.loads(pickle.dumps(model)).run(method="exact") == expected


def test_networks_and_symmetries_pickle() -> None:
    model = plx.load("tests/formats/small/ring.json")
    assert pickle.loads(pickle.dumps(model)).run(method="exact") == model.run(method="exact")
    found = model.symmetries()
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("query x", {}),
        ("random x\nrequire x\nobserve !x", {}),
        ("random x\nquery x", {"chains": 0}),
    ],
)
def test_errors_pickle(text: str, options: dict[str, object]) -> None:
    with pytest.raises(plx.PlxError) as caught:
        plx.run(text, **options)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value)
    assert str(again) == str(caught.value)
    assert again.diagnostics == caught.value.diagnostics


def test_interruptions_pickle(result: Result) -> None:
    assert pickle.loads(pickle.dumps(plx.Interrupted(result))).result == result
