"""Answers by name: look-up, exports and what people see."""

from __future__ import annotations

import copy
import csv
import dataclasses
import io
import json
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plx
from plx.answer.estimate import name_answers
from plx.answer.lookup import canonical
from plx.answer.named import Estimate, MapWorld, Moments
from plx.answer.numbers import error_text, number_text, probability_text
from plx.answer.result import QueryResult, Result
from plx.graph.model import GroundQuery, Target
from plx.infer.inference import Answer, Inference, World
from tests.models import make_model


def probability(name: str, p: float, **more: object) -> QueryResult:
    estimates = (Estimate(False, "false", 1 - p), Estimate(True, "true", p))
    return QueryResult(name, name, "probability", 3, estimates, **more)  # type: ignore[arg-type]


def distribution(name: str, ps: dict[str, float], **more: object) -> QueryResult:
    estimates = tuple(Estimate(value, value, p, 0.001) for value, p in ps.items())
    return QueryResult(name, name, "distribution", 4, estimates, **more)  # type: ignore[arg-type]


def result_of(*queries: QueryResult, **more: object) -> Result:
    return Result("test", queries, Inference("exact", "small", (), **more))  # type: ignore[arg-type]


COUNT = QueryResult(
    "smokers", "count(smokes(x) for x in P)", "number", 5,
    tuple(Estimate(k, str(k), p) for k, p in enumerate([0.25, 0.5, 0.25])),
    moments=Moments(1.0, 0.5**0.5),
)  # fmt: skip
BEST = MapWorld({"a": True, "b(1)": "red"}, {"a": "true", "b(1)": "red"}, 2.5)
MAP = QueryResult("map", "map", "map", 6, worlds=(BEST,))


# --------------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("p", "mcse", "text"),
    [
        (0.837962, 0.0, "0.837962"),
        (0.8379621, 0.0021, "0.8380"),
        (4.25e-18, 0.0, "4.25e-18"),
        (0.0000321, 0.00001, "3.21e-05"),
        (0.0, 0.0, "0"),
        (1.0, 0.0, "1"),
        (0.0005, 0.0, "0.000500"),
    ],
)
def test_probabilities_keep_their_digits(p: float, mcse: float, text: str) -> None:
    assert probability_text(p, mcse) == text


def test_a_probability_near_one_shows_how_near() -> None:
    assert probability_text(1.0, complement=4.25e-18) == "1 - 4.25e-18"
    assert probability_text(1 - 1e-9) == "1 - 1e-09"


@pytest.mark.parametrize("p", np.logspace(-300, -0.01, 50))
def test_no_positive_probability_prints_as_zero(p: float) -> None:
    assert float(probability_text(p)) == pytest.approx(p, rel=0.01)


def test_errors_and_numbers() -> None:
    assert error_text(0.0) == ""
    assert error_text(0.00214) == "0.0021"
    assert error_text(float("nan")) == "?"
    assert number_text(12.345678, 0.02) == "12.346"
    assert number_text(-np.inf) == "-inf"


# --------------------------------------------------------------------- look-up


@pytest.mark.parametrize(
    "text",
    ["smokes(anna)", " smokes( anna )", 'smokes("anna")', "smokes(anna )"],
)
def test_blanks_and_quotes_do_not_matter(text: str) -> None:
    result = result_of(probability("smokes(anna)", 0.25))
    assert result[text].probability == 0.25
    assert text in result


def test_operators_have_one_spelling() -> None:
    assert canonical("!a & b|c") == canonical("not a and b or c")
    assert canonical("f(x)==y") == canonical("f( x ) = y")
    assert canonical("f(x) != y") != canonical("f(x) = y")
    assert canonical('f("New York")') != canonical("f(New York)")
    assert canonical("a=>b") != canonical("a = > b")


def test_label_and_text_both_find_a_query() -> None:
    result = result_of(COUNT)
    assert result["smokers"] is result["count(smokes(x) for x in P)"]


def test_a_miss_offers_the_nearest_name() -> None:
    with pytest.raises(KeyError, match=r"did you mean `smokes\(anna\)`"):
        result_of(probability("smokes(anna)", 0.5))["smoke(anna)"]


def test_a_shared_name_asks_for_the_text() -> None:
    twice = [dataclasses.replace(probability(f"f({i})", 0.5), name="label") for i in (1, 2)]
    with pytest.raises(KeyError, match=r"`label` names 2 answers.*`f\(1\)`"):
        result_of(*twice)["label"]


def test_the_wrong_kind_of_question_is_said() -> None:
    result = result_of(distribution("f", {"x": 0.5, "y": 0.5}), MAP)
    for name in ("probability", "mean", "sd", "mean_mcse", "sd_mcse"):
        with pytest.raises(AttributeError, match=r"`f` is no .*: use \.distribution"):
            getattr(result["f"], name)
    for name in ("assignment", "log_weight"):
        with pytest.raises(AttributeError, match="query map"):
            getattr(result["f"], name)
    with pytest.raises(AttributeError, match=r"use \.assignment"):
        _ = result["map"].mean
    assert result["map"].assignment["b(1)"] == "red"
    assert result["map"].log_weight == 2.5


# ---------------------------------------------------------------------- exports


def test_json_has_the_documented_keys() -> None:
    result = result_of(
        probability("a", 0.25), distribution("f", {"x": 0.1, "y": 0.9}), COUNT, MAP, seed=7, log_z=1.5
    )
    data = json.loads(result.to_json())
    assert data == result.to_dict()
    assert list(data)[:6] == ["program", "method", "seed", "converged", "log_z", "queries"]
    assert (data["program"], data["method"], data["seed"], data["converged"], data["log_z"]) == (
        "test", "exact", 7, True, 1.5,
    )  # fmt: skip
    keys = ["name", "line", "kind", "values", "mean", "sd", "assignment", "log_weight", "ess", "rhat"]
    assert all(list(query)[:10] == keys for query in data["queries"])
    a, f, count, best = data["queries"]
    assert a["values"] == {"false": {"p": 0.75, "mcse": 0.0}, "true": {"p": 0.25, "mcse": 0.0}}
    assert f["values"]["y"] == {"p": 0.9, "mcse": 0.001}
    assert (count["mean"], count["values"]["1"]["p"]) == (1.0, 0.5)
    assert (best["assignment"], best["log_weight"]) == ({"a": True, "b(1)": "red"}, 2.5)


def test_json_never_holds_nan_or_infinity() -> None:
    odd = probability("a", 0.5, ess=float("nan"), rhat=float("inf"), converged=False)
    data = json.loads(result_of(odd, log_z=float("-inf")).to_json(), parse_constant=pytest.fail)
    assert data["log_z"] is None
    assert data["queries"][0]["rhat"] is None


def test_csv_has_one_row_per_value() -> None:
    rows = list(csv.DictReader(io.StringIO(result_of(COUNT, MAP).to_csv())))
    assert [row["p"] for row in rows[:3]] == ["0.25", "0.5", "0.25"]
    assert rows[3]["mean"] == "1.0"
    assert [row["value"] for row in rows[5:]] == ["a = true", "b(1) = red"]


def test_pandas_and_html_hold_every_query() -> None:
    result = result_of(probability("a<b", 0.25), COUNT)
    frame = result.to_pandas()
    assert list(frame["query"].unique()) == ["a<b", "smokers"]
    assert frame.loc[frame["text"] == "true", "p"].item() == 0.25
    assert "a&lt;b" in result._repr_html_()


def test_pandas_is_imported_only_when_asked_for() -> None:
    code = "import sys, plx.answer.result, plx.answer.export; assert 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("form", ["repr", "html", "json", "csv", "frame", "dict"])
def test_every_form_marks_what_has_not_converged(form: str) -> None:
    result = result_of(probability("a", 0.5, converged=False), probability("b", 0.5))
    assert not result.converged
    if form == "json":
        assert [query["converged"] for query in json.loads(result.to_json())["queries"]] == [False, True]
    elif form == "dict":
        assert "1 of 2 answers" in result.to_dict()["notes"][0]
    elif form == "csv":
        assert [row["converged"] for row in csv.DictReader(io.StringIO(result.to_csv()))] == ["false"] * 2 + [
            "true"
        ] * 2
    elif form == "frame":
        assert list(result.to_pandas()["converged"]) == [False, False, True, True]
    else:
        assert "not converged" in (repr(result) if form == "repr" else result._repr_html_())


def test_an_interrupted_run_is_marked() -> None:
    result = result_of(probability("a", 0.5), status="interrupted")
    assert not result.converged
    assert "interrupted: these are the answers so far" in repr(result)


def test_many_values_show_the_likeliest_in_order() -> None:
    ps = {f"v{i}": 0.001 for i in range(30)} | {"v17": 0.5, "v3": 0.4}
    text = repr(result_of(distribution("f", ps)))
    assert text.index("v3 ") < text.index("v17")
    assert "18 more values" in text


def test_of_many_values_those_that_are_impossible_have_no_rows() -> None:
    text = repr(result_of(distribution("f", {f"v{i}": 0.5 * (i < 2) for i in range(30)})))
    assert text.index("v0 ") < text.index("v1 ") < text.index("28 more values")
    assert "v2" not in text


def test_a_table_of_very_many_answers_is_cut_and_says_so() -> None:
    result = result_of(*(probability(f"f({i})", 0.5) for i in range(520)))
    assert "f(479)" in repr(result) and "f(500)" in repr(result) and "f(519)" in repr(result)
    assert "f(480)" not in repr(result) and "f(499)" not in repr(result)
    assert "20 more of 520 answers" in repr(result)
    assert len(result.to_dict()["queries"]) == 520


# ------------------------------------------------------- from inference to names


def test_names_take_the_place_of_nodes() -> None:
    model = make_model([2, 3], [([0, 1], [[0, 1, 2], [0, 0, 0]])])
    targets = model.queries[0].targets + model.queries[1].targets
    joint = GroundQuery("joint", "(x(0), x(1))", "(x(0), x(1))", targets, (), None)
    best = GroundQuery("map", "map", "map", (), (), None)
    queries = (*model.queries, joint, best)
    model = dataclasses.replace(model, queries=queries, constant_weight=model.values.id(10))
    answers = [
        Answer(p=np.array([0.4, 0.6]), mcse=np.zeros(2)),
        Answer(p=np.array([0.2, 0.3, 0.5]), mcse=np.zeros(3)),
        Answer(p=np.arange(6) / 15, mcse=np.zeros(6)),
        Answer(worlds=(World(np.array([0, 2], dtype=np.int32), 2.0),)),
    ]
    a, b, pair, world = name_answers(model, answers)
    assert a.probability == 0.6
    assert b.distribution == {0: 0.2, 1: 0.3, 2: 0.5}
    assert pair.distribution[True, 1] == pytest.approx(4 / 15)
    assert [estimate.text for estimate in pair.estimates[:2]] == ["(false, 0)", "(false, 1)"]
    assert world.assignment == {"x(0)": False, "x(1)": 2}
    assert world.log_weight == 12.0


def test_a_decided_truth_still_has_both_values() -> None:
    model = make_model([2], [([0], [0, 1])])
    decided = GroundQuery("probability", "x(0)", "x(0)", (Target(-1, np.array([1])),), (), None)
    model = dataclasses.replace(model, queries=(decided,))
    (answer,) = name_answers(model, [Answer(p=np.ones(1), mcse=np.zeros(1))])
    assert answer.distribution == {False: 0.0, True: 1.0}
    assert repr(answer) == "<x(0): 1>"


# ------------------------------------------------------------------- large numbers


@pytest.mark.parametrize("method", ["exact", "gibbs", "lifted"])
@pytest.mark.parametrize("unit", ["1e306", "1e-306", "1e200", "1"])
def test_a_mean_in_any_unit_has_its_error_in_that_unit(method: str, unit: str) -> None:
    """Squares of large doubles overflow; and two queries about one unknown have errors of their own."""
    text = f"random a: 0..3\nweight 0.5: a = 1\nquery a + 0\nquery a * {unit}"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, other = plx.run(text, method=method, seed=1, samples=3000).queries
    assert one.mean is not None and one.sd is not None and one.mean_mcse is not None
    for a, b in ((one.mean, other.mean), (one.sd, other.sd), (one.mean_mcse, other.mean_mcse)):
        assert b == pytest.approx(a * float(unit), rel=1e-9)
    assert (one.mean_mcse > 0) is (one.sd_mcse > 0) is (method != "exact")


def test_a_mean_past_the_doubles_is_refused_with_its_place() -> None:
    model = plx.compile("random a: 0..3\nquery a * 1e400 > 2\nquery a * 1e400")
    with pytest.raises(plx.PlxError, match="too large for a mean") as caught:
        model.run()
    assert caught.value.diagnostics[0].span.line == 3
    assert plx.run("random a: 0..3\nquery a * 1e400 > 1e400").queries[0].probability == pytest.approx(0.5)


LONG = "1" + "0" * 400 + "7"


@pytest.mark.parametrize("command", [["run"], ["ground"], ["ground", "--dump"], ["symmetries"], ["check"]])
def test_long_numbers_do_not_fill_the_screen(tmp_path: Path, command: list[str]) -> None:
    program = tmp_path / "long.plx"
    program.write_text(
        f"random a: 0..3\nrandom b: {{{LONG}, {LONG}1}}\nweight log({LONG}): a = 2\n"
        f"query a * {LONG} > 5\nquery b = {LONG}\nquery map\nquery a = 1 given b = {LONG}\n"
        f"query (a, b)\nweight 0: a + {LONG} > b\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "plx", *command, str(program)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    shown = [line for line in (done.stdout + done.stderr).splitlines() if " | " not in line]
    assert not any("0" * 61 in line for line in shown)
    assert done.stdout


def test_exports_keep_long_numbers_whole() -> None:
    result = plx.run(f"random b: {{{LONG}, 2}}\nquery b = {LONG}\nquery map")
    assert LONG in result.to_json() or LONG in result.to_csv()


# ----------------------------------------------------------------------- look-up


def test_answers_by_position() -> None:
    result = result_of(probability("a", 0.25), distribution("s(1)", {"x": 1.0}), COUNT)
    assert result[0] is result.queries[0] and result[-1] is result["smokers"]
    assert result[np.int64(1)] is result["s(1)"]
    assert result[1:] == result.queries[1:]


@pytest.mark.parametrize(
    ("look", "error", "message"),
    [
        (lambda r: r[3], IndexError, "there is no answer 3: this result has 2 answers"),
        (lambda r: r[1.5], TypeError, r'by name or position, not by float: result\["a"\]'),
        (lambda r: r["a", "b"], TypeError, "by name or position, not by tuple"),
        (lambda r: r["s"], KeyError, r"did you mean `s\(1\)`"),
        (lambda r: r["nope"], KeyError, "no query `nope` among the 2"),
        (lambda r: r.probability, AttributeError, r'each answer has its own, as result\["a"\].probability'),
        (lambda r: r.worlds, AttributeError, "each answer has its own"),
        (lambda r: r.map, AttributeError, "a result has no `map`$"),
    ],
)
def test_what_is_not_there_is_said_in_words(look: Any, error: type[Exception], message: str) -> None:
    result = result_of(probability("a", 0.25), distribution("s(1)", {"x": 1.0}))
    with pytest.raises(error, match=message):
        look(result)
    assert copy.deepcopy(result) == pickle.loads(pickle.dumps(result)) == result
