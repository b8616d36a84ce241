"""Answers as arrays with an axis for each slot, compared with the answers found by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import plx
from plx.answer.grid import grids
from plx.answer.named import Estimate
from plx.answer.result import QueryResult, Result
from plx.infer.inference import Inference

WORLD = """
type Person = {anna, bob, cleo}
type Colour = {red, green, blue}
type Hue(x: Person) = {anna: {red, green}, bob: {green, blue}, cleo: {red, blue}}
random colour(Person): Colour
random hue(x: Person): Hue(x)
random smokes(x: Person)
random meets(Person, Person)
random level(who: Person): 0..3
weight 0.7: colour(x) = red            for x in Person
weight 1.2: hue(x) = blue              for x in Person
weight 0.4: smokes(x)                  for x in Person
weight -1: meets(x, y)                 for x, y in Person if x != y
weight 0.3: smokes(x) & level(x) > 1   for x in Person
define likes(x: Person, c: Colour) = colour(x) = c
"""


def answered(queries: str, **options: object) -> Result:
    return plx.run(WORLD + queries, **options)  # type: ignore[arg-type]


def test_an_axis_for_each_slot_by_its_name_or_its_type() -> None:
    result = answered("query meets(x, y) for x, y in Person if x != y\nquery smokes(x) for x in Person")
    found = result.grid("meets")
    assert list(found.coordinates) == ["Person", "Person2"]
    assert list(result.grid("smokes").coordinates) == ["x"]
    people = found.coordinates["Person"]
    for i, x in enumerate(people):
        for j, y in enumerate(found.coordinates["Person2"]):
            if x == y:
                assert np.isnan(result.array("meets")[i, j])
                assert not found.arrays["converged"][i, j]
            else:
                assert result.array("meets")[i, j] == result[f"meets({x}, {y})"].probability
                assert result.array("meets", "mcse")[i, j] == 0.0


def test_queries_about_single_unknowns_fill_one_array() -> None:
    result = answered("query smokes(bob)\nquery smokes(anna)\nquery smokes(bob)")
    assert result.grid("smokes").coordinates == {"x": ("bob", "anna")}
    assert result.array("smokes").shape == (2,)


def test_a_distribution_has_its_values_along_the_last_axis() -> None:
    result = answered("query colour(x) for x in Person\nquery hue(x) for x in Person")
    found = result.grid("colour")
    assert found.coordinates["value"] == ("red", "green", "blue")
    for person, row in zip(found.coordinates["Person"], found.arrays["estimate"], strict=True):
        assert (
            dict(zip(found.coordinates["value"], row, strict=True))
            == result[f"colour({person})"].distribution
        )
    hue = result.grid("hue")
    impossible = hue.arrays["estimate"][0, hue.coordinates["value"].index("blue")]
    assert impossible == 0.0  # no value of hue(anna)
    assert np.allclose(hue.arrays["estimate"].sum(axis=-1), 1.0)


def test_numbers_have_their_moments() -> None:
    result = answered(
        "query count(likes(x, c) for x in Person) as fans for c in Colour\nquery level(x) for x in Person"
    )
    fans = result.grid("fans")
    for i, colour in enumerate(fans.coordinates["c"]):
        one = result[f"fans({colour})"]
        assert (fans.arrays["estimate"][i], fans.arrays["mcse"][i]) == (one.mean, one.mean_mcse)
        assert (fans.arrays["sd"][i], fans.arrays["sd_mcse"][i]) == (one.sd, one.sd_mcse)
    levels = result.array("level", "mean")
    assert levels == pytest.approx(result.array("level") @ np.arange(4))


def test_sampled_answers_bring_their_standard_errors() -> None:
    result = answered("query smokes(x) for x in Person", method="gibbs", seed=1)
    found = result.grid("smokes").arrays
    assert [q.mcse for q in result] == found["mcse"].tolist()
    assert [q.ess for q in result] == found["ess"].tolist()
    assert [q.rhat for q in result] == found["rhat"].tolist()
    assert (found["mcse"] > 0).all()


def test_a_formula_is_found_by_its_define_or_its_text() -> None:
    result = answered("query likes(x, red) for x in Person\nquery smokes(anna) & smokes(bob)")
    assert result.array("likes").shape == (3,)
    assert result.array("smokes(anna) and smokes(bob)").shape == ()


@pytest.mark.parametrize(
    ("queries", "term", "words"),
    [
        ("query smokes(x) for x in Person", "smoke", "did you mean `smokes`"),
        (
            "query likes(x, red) for x in Person\nquery likes(x, blue) for x in Person",
            "likes",
            "two answers at one",
        ),
        (
            "query likes(x, red) for x in Person\nquery likes(x, c) for x in Person, c in Colour",
            "likes",
            "name one of the queries with `as`",
        ),
        ("query map", "map", "no query is about `map`"),
    ],
)
def test_what_is_no_array_is_refused_in_words(queries: str, term: str, words: str) -> None:
    with pytest.raises(KeyError, match=words):
        answered(queries).array(term)


def test_an_unknown_array_names_those_there_are() -> None:
    with pytest.raises(KeyError, match=r"no `error`: there are estimate, mcse"):
        answered("query smokes(anna)").array("smokes", "error")


def test_all_grids_hold_all_answers() -> None:
    result = answered(
        "query likes(x, red) for x in Person\nquery likes(anna, blue)\nquery smokes(bob)\nquery map"
    )
    names = [query.name for query in result]
    assert [found.term for found in grids(result)] == [*names[:4], "smokes"]


def test_what_is_given_belongs_to_the_term() -> None:
    result = answered(
        "query smokes(x) for x in Person\nquery smokes(x) for x, y in Person if x < y given smokes(y)"
    )
    assert result.array("smokes").shape == (3,)
    found = result.grid("smokes given smokes(y)")
    assert found.coordinates == {"x": ("anna", "bob"), "y": ("bob", "cleo")}
    assert found.arrays["estimate"][0, 1] == result["smokes(anna) given smokes(cleo)"].probability


def test_one_and_true_stay_two_values() -> None:
    result = plx.run(
        "type T = {1, true}\nrandom x(T): T\nweight 1: x(t) = true for t in T\nquery x(t) for t in T"
    )
    found = result.grid("x")
    assert found.arrays["estimate"].shape == (2, 2)
    assert list(map(type, found.coordinates["value"])) == [int, bool]


def test_what_there_was_no_time_for_is_absent() -> None:
    late = QueryResult(
        "smokes(bob)", "smokes(bob)", "probability", 1, term="smokes", slots={"x": "bob"}, converged=False
    )
    found = QueryResult(
        "smokes(anna)", "smokes(anna)", "probability", 1,
        (Estimate(False, "false", 0.25), Estimate(True, "true", 0.75)), term="smokes", slots={"x": "anna"},
    )  # fmt: skip
    result = Result("test", (late, found), Inference("exact", "", ()))
    estimate, mcse = result.array("smokes"), result.array("smokes", "mcse")
    assert np.isnan(estimate[0]) and np.isnan(mcse[0])
    assert (estimate[1], mcse[1]) == (0.75, 0.0)
    assert result.array("smokes", "converged").tolist() == [False, True]


# ------------------------------------------------------------ unknowns whose values are numbers


@pytest.mark.parametrize("method", ["gibbs", "lifted", "mcsat", "nec"])
def test_the_moments_of_unknowns_are_within_their_errors(method: str) -> None:
    queries = "query level(anna)\nquery level(bob) given smokes(bob)"
    exact, sampled = answered(queries), answered(queries, method=method, seed=2, accuracy=0.01)
    for truth, found in zip(exact, sampled, strict=True):
        values = np.array(list(truth.distribution))
        p = np.array(list(truth.distribution.values()))
        assert truth.mean == pytest.approx(values @ p)
        assert truth.sd == pytest.approx(np.sqrt((values - truth.mean) ** 2 @ p))
        assert (truth.mean_mcse, truth.sd_mcse) == (0.0, 0.0)
        assert found.mean_mcse > 0 and found.sd_mcse > 0
        assert abs(found.mean - truth.mean) < 4 * found.mean_mcse
        assert found.sd is not None and truth.sd is not None
        assert abs(found.sd - truth.sd) < 4 * found.sd_mcse


def refuses(attribute: Callable[[QueryResult], object], query: QueryResult) -> None:
    with pytest.raises(AttributeError, match="is no number"):
        attribute(query)


def test_unknowns_of_which_some_values_are_no_numbers_have_no_moments() -> None:
    result = plx.run("type T = {1, 2, many}\nrandom x: T\nquery x\nrandom y: {1, true}\nquery y")
    for query in result:
        refuses(lambda q: q.mean, query)
        refuses(lambda q: q.quantile(0.5), query)
