"""The values of answers: typed, none lost, each printed as a program would write it."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plx
from plx.answer.keys import keyed

ALIKE: dict[str, Any] = {
    "0": 0, "1": 1, "true": True, "false": False, '"0"': "0", '"1"': "1", '"true"': "true",
    '"false"': "false", "2": 2, "a": "a", '"New York"': "New York",
}  # fmt: skip
"""Values as a program writes them and as Python knows them; Python takes some of them for equal."""

members = st.lists(st.sampled_from(sorted(ALIKE)), min_size=1, max_size=6, unique=True)


def weighed(texts: list[str], name: str = "x") -> tuple[str, list[float]]:
    """A program whose unknown has these values, and the probability of each."""
    rules = "\n".join(f"weight {k}/4: {name} = {text}" for k, text in enumerate(texts))
    total = sum(math.exp(k / 4) for k in range(len(texts)))
    shares = [math.exp(k / 4) / total for k in range(len(texts))]
    return f"random {name}: {{{', '.join(texts)}}}\n{rules}\n", shares


@settings(max_examples=40, deadline=None)
@given(members)
def test_every_value_has_a_key_of_its_own(texts: list[str]) -> None:
    program, shares = weighed(texts)
    found = plx.run(program + "query x")["x"].distribution
    kept = texts if set(texts) != {"true"} and set(texts) != {"false"} else ["false", "true"]
    assert len(found) == len(kept) and sum(found.values()) == pytest.approx(1)
    for text, share in zip(texts, shares, strict=True):
        assert found[ALIKE[text]] == pytest.approx(share)
        assert ALIKE[text] in found and found.get(ALIKE[text]) == found[ALIKE[text]]
    assert sum(dict(found).values()) == pytest.approx(1)
    assert pickle.loads(pickle.dumps(found)) == found == found.copy()
    assert [repr(key) for key in found] == [repr(ALIKE[text]) for text in kept] or len(found) == 2


@settings(max_examples=15, deadline=None)
@given(members, members)
def test_joint_values_have_keys_of_their_own(first: list[str], second: list[str]) -> None:
    (one, p), (two, q) = weighed(first), weighed(second, "y")
    found = plx.run(one + two + "query (x, y)")[0].distribution
    assert sum(found.values()) == pytest.approx(1) == pytest.approx(sum(dict(found).values()))
    for (a, share), (b, other) in itertools.product(zip(first, p, strict=True), zip(second, q, strict=True)):
        assert found[ALIKE[a], ALIKE[b]] == pytest.approx(share * other)


@settings(max_examples=15, deadline=None)
@given(members)
def test_worlds_are_told_apart_in_every_form(texts: list[str]) -> None:
    program, _ = weighed(texts)
    result = plx.run(program + f"query map {len(texts)}")
    worlds = result[0].worlds
    best_first = [ALIKE[text] for text in reversed(texts)]
    assert [repr(world.assignment["x"]) for world in worlds] == [repr(value) for value in best_first]
    lines = [line.split()[-1:] for line in repr(result).splitlines() if line.lstrip().startswith("x ")]
    assert len(set(map(tuple, lines))) == len(texts)
    rows = [row["value"] for row in csv.DictReader(io.StringIO(result.to_csv())) if row["value"]]
    assert rows == [f"x = {text}" for text in reversed(texts)]
    listed = [world["assignment"]["x"] for world in json.loads(result.to_json())["queries"][0]["worlds"]]
    assert list(map(repr, listed)) == list(map(repr, best_first))


def test_a_truth_value_beside_numbers_is_a_bool_to_its_reader() -> None:
    found = plx.run('type T = {1, "1", true, "true"}\nrandom x: T\nquery x')["x"].distribution
    assert found == {1: 0.25, "1": 0.25, "true": 0.25} | found and len(found) == 4
    truth = next(key for key in found if type(key) is not int and key == True)  # noqa: E712
    assert bool(truth) and truth == np.True_ and truth != 1 and truth != "true" and repr(truth) == "True"
    with pytest.raises(KeyError):
        found[False]
    assert found.get(0, "none") == "none" and (True, 1) not in found


def test_where_no_number_stands_beside_them_truth_values_are_bools() -> None:
    found = plx.run("random a\nrandom x: {true, b}\nquery a\nquery x\nquery (a, x)")
    assert type(found["a"].distribution) is dict and found["a"].distribution == {False: 0.5, True: 0.5}
    assert found["x"].distribution == {True: 0.5, "b": 0.5}
    assert found[2].distribution[False, "b"] == pytest.approx(0.25)


def test_numbers_that_no_double_tells_apart_are_one_key() -> None:
    found = plx.run("random x: 0..2\nquery 1 + x * 1e-30")[0]
    assert len(found.estimates) == 3
    assert found.distribution == {1: pytest.approx(1.0)}
    assert keyed([1, 1.0, 2], [0.25, 0.5, 0.25]) == {1: 0.75, 2: 0.25}


@pytest.mark.parametrize("method", ["exact", "gibbs", "lifted"])
@pytest.mark.parametrize(
    "seen", ["observe x = 2", "observe x != 1 & x != 3", "require x = 2", "observe x in {2}", "given"]
)
@pytest.mark.parametrize("around", ["", "random y: 1..3\nweight 1: x = y\n"])
def test_what_evidence_excludes_has_its_key(method: str, seen: str, around: str) -> None:
    rule, given = ("", " given x = 2") if seen == "given" else (seen, "")
    text = (
        f"random x: 1..3\nrandom a\n{around}{rule}\nquery x{given}\nquery (a, x){given}\nquery x = 2{given}"
    )
    one, joint, formula = plx.run(text, method=method, seed=1, samples=4000)
    assert list(one.distribution) == [1, 2, 3]
    assert list(one.distribution.values()) == pytest.approx([0, 1, 0], abs=1e-3)
    assert list(joint.distribution) == list(itertools.product([False, True], [1, 2, 3]))
    assert sum(joint.distribution.values()) == pytest.approx(1)
    assert list(formula.distribution) == [False, True]


def test_a_domain_that_depends_on_the_index_is_that_of_the_index() -> None:
    text = "type L = 1..3\nrandom f(n: L): 0..n\nobserve f(2) = 1\nquery f(n) for n in L\nquery (f(1), f(2))"
    *each, joint = plx.run(text)
    assert [list(query.distribution) for query in each] == [[0, 1], [0, 1, 2], [0, 1, 2, 3]]
    assert joint.distribution[1, 1] == pytest.approx(0.5) and joint.distribution[1, 2] == 0.0
    assert len(joint.distribution) == 6


def test_a_huge_joint_lists_what_is_possible() -> None:
    text = "type T = 1..9\nrandom f(T): 0..9\nobserve f(t) = 1 for t in T if t > 1\n"
    found = plx.run(text + f"query ({', '.join(f'f({t})' for t in range(1, 10))})")[0].distribution
    assert found == {(x, *[1] * 8): pytest.approx(0.1) for x in range(10)}


def test_a_frame_has_typed_columns() -> None:
    text = 'type T = {1, "1", true, a}\nrandom x: T\nrandom b\nrandom n: 0..2\nweight 1: b\n'
    text += "query x\nquery b\nquery n + 0.5\nquery (b, n)\nquery map\nquery logz"
    frame = plx.run(text).to_pandas()
    numbers = ["p", "mcse", "mean", "sd", "log_weight", "log_z", "ess", "rhat"]
    assert all(pd.api.types.is_float_dtype(frame[name]) for name in numbers)
    assert pd.api.types.is_integer_dtype(frame["line"]) and frame["converged"].dtype == bool
    values = {
        name: [repr(v) for v in part["value"] if v is not None] for name, part in frame.groupby("query")
    }
    assert values["x"] == ["1", "'1'", "True", "'a'"]
    assert values["b"] == ["False", "True"]
    assert values["n + 0.5"] == ["0.5", "1.5", "2.5"]
    assert values["(b, n)"][0] == "(False, 0)"
    assert list(frame.loc[frame["query"] == "x", "text"]) == ["1", '"1"', "true", "a"]
    world = frame[(frame["query"] == "map") & frame["unknown"].notna()]
    assert dict(zip(world["unknown"], world["value"], strict=True)) == plx.run(text)["map"].assignment
    assert frame["p"].sum() == pytest.approx(4) and frame["mean"].sum() == pytest.approx(1.5)


def test_an_empty_frame_has_the_same_columns() -> None:
    none, some = plx.run("random a").to_pandas(), plx.run("random a\nquery a").to_pandas()
    assert list(none.columns) == list(some.columns) and dict(none.dtypes) == dict(some.dtypes)


# -------------------------------------------------------------------- equality


def test_results_are_equal_where_their_answers_are() -> None:
    model = plx.compile("random a\nrandom f: 1..3\nweight 1: a\nquery a\nquery f\nquery f + 0\nquery map")
    first, again, other = model.run(), model.run(), plx.run("random a\nquery a")
    assert first == first and first == again and hash(first) == hash(again)
    assert first != other and first != 3
    assert len({first, again, other}) == 2
    assert first[0] == again[0] and first[3] == again[3] and hash(first[3]) == hash(again[3])
    one, two = (model.run(method="gibbs", seed=seed, samples=640) for seed in (1, 2))
    assert one != two and one == model.run(method="gibbs", seed=1, samples=640)


ARRAYS = "type T = {a, b}\nrandom f(T)\nweight 1: f(a)\nquery f(a)"


@pytest.mark.parametrize(
    "of",
    [
        lambda model: model,
        lambda model: model.ground,
        lambda model: model.ground.atoms,
        lambda model: model.ground.queries[0],
        lambda model: model.origin,
        lambda model: model.symmetries(),
        lambda model: model.run().inference,
        lambda model: model.run().inference.answers[0],
        lambda model: plx.compare(model, ["gibbs"], seconds=0.01, chains=1),
    ],
)
def test_what_holds_arrays_compares_and_hashes(of: Any) -> None:
    model = plx.compile(ARRAYS)
    one, other = of(model), of(plx.compile(ARRAYS))
    assert one == one
    assert isinstance(one == other, bool)
    assert len({one, one}) == 1
