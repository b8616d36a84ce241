"""Data frames, and what is said where their libraries are missing."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

import plx
from plx.answer.named import Estimate
from plx.answer.result import QueryResult, Result
from plx.extras import EXTRAS
from plx.infer.inference import Inference

ROOT = Path(__file__).resolve().parents[2]
TEXT = """
type Person = {anna, bob}
type Odd = {1, "1", red}
random smokes(Person)
random odd: Odd
random level(kind: Person): 0..1
query smokes(x) for x in Person
query odd
query level(anna)
query count(smokes(x) for x in Person) as n
query map
query logz
"""


@pytest.fixture(scope="module", params=["exact", "gibbs"])
def result(request: pytest.FixtureRequest) -> Result:
    return plx.run(TEXT, method=request.param, seed=1)


def test_a_wide_frame_has_a_row_for_each_query(result: Result) -> None:
    pytest.importorskip("pandas")
    frame = result.to_pandas("wide")
    assert frame["query"].tolist() == [query.name for query in result]
    assert frame["Person"].tolist()[:2] == ["anna", "bob"]
    assert frame["kind_"].tolist()[3] == "anna"
    for (_, row), query in zip(frame.iterrows(), result, strict=True):
        if query.kind == "probability":
            assert (row["p"], row["mcse"]) == (query.probability, query.mcse)
        if query.moments is not None:
            moments = (query.mean, query.mean_mcse, query.sd, query.sd_mcse)
            assert tuple(row[["mean", "mean_mcse", "sd", "sd_mcse"]]) == moments
    odd = frame.iloc[2]
    assert [odd[f"p({e.text})"] for e in result["odd"].estimates] == [e.p for e in result["odd"].estimates]
    assert [odd[f"mcse({e.text})"] for e in result["odd"].estimates] == [
        e.mcse for e in result["odd"].estimates
    ]
    assert str(frame.dtypes["p"]) == "float64" and str(frame.dtypes["line"]) == "Int64"


def test_polars_frames_have_the_rows_of_pandas(result: Result) -> None:
    polars = pytest.importorskip("polars")
    pytest.importorskip("pandas")
    for form in ("long", "wide"):
        ours, theirs = result.to_polars(form), result.to_pandas(form)
        assert ours.height == len(theirs)
        for name in ("query", "line", "p", "mcse", "mean", "sd_mcse", "converged"):
            expected = [None if x != x or x is None else x for x in theirs[name].astype(object)]
            assert ours[name].to_list() == expected
    long = result.to_polars()
    odd = long.filter(polars.col("query") == "odd")
    assert odd["value"].to_list() == ["1", '"1"', "red"]
    assert odd["number"].to_list() == [1.0, None, None]


def test_another_form_is_a_fault_of_the_call(result: Result) -> None:
    with pytest.raises(plx.CallError, match="long or wide"):
        result.to_pandas("broad")  # type: ignore[arg-type]


def test_a_wide_frame_has_a_bound() -> None:
    estimates = tuple(Estimate(str(k), str(k), 0.0) for k in range(5000))
    queries = tuple(QueryResult(f"q{i}", f"q{i}", "distribution", 1, estimates) for i in range(2000))
    with pytest.raises(plx.CallError, match="20,000,000 cells"):
        Result("p", queries, Inference("exact", "", ())).to_pandas("wide")


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_missing_library_is_told_how_to_install(
    name: str, result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=re.escape(f"pip install 'plx[{name}]'")) as caught:
        getattr(result, f"to_{name}")()
    assert isinstance(caught.value, plx.PlxError)


def test_every_extra_that_is_named_exists_and_brings_its_library() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for library, extra in EXTRAS.items():
        assert any(item.startswith(library) for item in extras[extra])
