"""log Z as sums over counts, planned once: against junction trees, and on public folds."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import plx
from plx.errors import NoWorldError
from plx.infer.exact.junction_tree import ImpossibleError
from plx.infer.exact_plan import Refusal
from plx.learn import log_z
from plx.learn.likelihood import Likelihood
from plx.learn.log_z import LogZ, TooWideError
from tests.learn.programs import at, learning
from tests.learn.test_gradients import numbers, spread, world_of
from tests.learn.test_published import DATA, needs_data

few = settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)


def check(text: str, weights: np.ndarray) -> bool:
    """Whether log Z can be counted; if so it and its gradient are those of a junction tree."""
    try:
        world, names = world_of(plx.compile(at(text, weights)))
    except NoWorldError:
        return False
    found = []
    for model in (world.free, world.seen):
        tree = LogZ(model, names)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(log_z, "elimination", lambda _: Refusal(lambda: "none here", np.inf))
            try:
                counted = LogZ(model, names)
            except TooWideError:
                found.append(False)
                continue
        try:
            value, expected = tree(spread(weights, names))
        except ImpossibleError:
            with pytest.raises(ImpossibleError):
                counted(spread(weights, names))
            continue
        other, moved = counted(spread(weights, names))
        assert other == pytest.approx(value, abs=1e-9)
        assert moved == pytest.approx(expected, abs=1e-9)
        second = tree.covariance(spread(weights, names))
        assert counted.covariance(spread(weights, names)) == pytest.approx(second, abs=1e-8)
        found.append(True)
    return all(found)


@few
@given(learning(), numbers)
def test_random_programs_are_counted_as_they_are_eliminated(text: str, weights: np.ndarray) -> None:
    check(text, weights)


PEOPLE = "type P = {p1, p2, p3} type T = {t1, t2} learn one = <one> learn two = <two> learn each = <each>\n"
COUNTED = {
    "pairs": "random f(P) weight one: f(x) <=> f(y) for x, y in P weight two: f(x) for x in P "
    "weight each: f(x) | f(y) for x, y in P",
    "leaves": "random f(P) random g(P, P) weight one: f(x) & g(x, y) => f(y) for x, y in P if x != y "
    "weight two: g(x, y) for x, y in P weight each: f(x) for x in P",
    "split": "random f(P) random g(T, P) random h(T, P) weight one: g(s, x) & !h(t, x) => f(x) "
    "for s, t in T, x in P "
    "weight two: h(t, x) for t in T, x in P weight each: g(s, x) | g(t, x) | f(x) for s, t in T, x in P "
    "weight 1/2: f(x) for x in P",
    "counters": "random f(P) random g factor one * count(f(x) for x in P) "
    "weight two: exists(f(x) for x in P) "
    "weight each: g => count(f(x) for x in P) >= 2 weight -1/3: f(x) & g for x in P",
    "hard": "random f(P) random g(P) require f(x) => g(x) for x in P weight one: f(x) & g(y) for x, y in P "
    "weight two: g(x) for x in P weight each: f(x) <=> f(y) for x, y in P require exists(f(x) for x in P)",
    "alone": "random f(P) random g(P): T weight one: f(x) for x in P weight two: f(p1) weight each: f(p2)",
}


@pytest.mark.parametrize("observed", ["", " observe f(p1)"])
@pytest.mark.parametrize("kind", COUNTED)
def test_what_is_symmetric_is_counted(kind: str, observed: str) -> None:
    for weights in (np.array([0.7, -0.4, 1.3]), np.array([-2.0, 0.5, 0.25])):
        assert check(PEOPLE + COUNTED[kind] + observed, weights)


def test_many_are_counted_where_no_tree_is_small_enough() -> None:
    """300 people, each pair alike or not: log Z is a sum over how many are so."""
    model = plx.compile(
        "type P = 1..300 random f(P) learn a learn b weight a: f(x) for x in P "
        "weight b: f(x) <=> f(y) for x, y in P if x < y"
    )
    k, n = np.arange(301), 300
    ways = np.concatenate([[0.0], np.cumsum(np.log((n + 1 - k[1:]) / k[1:]))])
    same = k * (k - 1) / 2 + (n - k) * (n - k - 1) / 2
    counted = LogZ(model.origin.unfitted(()), ["a", "b"])
    for a, b in ((0.3, 0.01), (-0.8, 0.002)):
        logs = ways + a * k + b * same
        total = np.logaddexp.reduce(logs)
        value, expected = counted(np.array([a, b]))
        p = np.exp(logs - total)
        assert value == pytest.approx(total, abs=1e-9)
        assert expected == pytest.approx([p @ k, p @ same])


def test_what_is_neither_narrow_nor_symmetric_is_refused() -> None:
    model = plx.compile(
        "type N = 1..40 param h(N, N) random f(N) learn a "
        "weight a * h(x, y): f(x) <=> f(y) for x, y in N if x < y",
        h={(x, y): (x * y % 7) / 5 + x / 9 for x in range(1, 41) for y in range(1, 41)},
    )
    with pytest.raises(TooWideError):
        LogZ(model.origin.unfitted(()), ["a"])


WEBKB = """
type T
type C
type P
random project(T, P)
random courseTA(C, P)
random faculty(P)
random courseProf(C, P)
random student(P)
learn w1 learn w2 learn w3 learn w4 learn w5 learn f1 learn f2 learn f3 learn f4 learn f5 learn f6 learn f7
weight w1: project(x, y) for x in T, y in P
weight w2: courseTA(x, y) for x in C, y in P
weight w3: faculty(x) for x in P
weight w4: courseProf(x, y) for x in C, y in P
weight w5: student(x) for x in P
weight f1: !courseTA(x, y) | courseProf(z, y) | student(y) for x, z in C, y in P
weight f2: !project(x, y) | !student(y) | courseProf(z, y) for x in T, z in C, y in P
weight f3: !faculty(x) | !student(x) | courseProf(y, x) for x in P, y in C
weight f4: !project(x, y) | faculty(y) | project(z, y) for x, z in T, y in P
weight f5: !project(x, y) | student(y) for x in T, y in P
weight f6: !courseProf(x, y) | courseTA(x, y) | student(y) for x in C, y in P
weight f7: !courseProf(x, y) | faculty(y) | student(y) for x in C, y in P
"""
SLOTS = {"project": "TP", "courseTA": "CP", "faculty": "P", "courseProf": "CP", "student": "P"}
STATEMENTS = (
    "project",
    "courseTA",
    "faculty",
    "courseProf",
    "student",
    "f1",
    "f2",
    "f3",
    "f4",
    "f5",
    "f6",
    "f7",
)


def fold(k: int) -> dict[str, object]:
    """A fold of WebKB as bindings: what occurs in it, and what is true."""
    members: dict[str, dict[str, None]] = {"P": {}, "C": {}, "T": {}}
    facts: dict[str, list[tuple[str, ...]]] = {name: [] for name in SLOTS}
    for line in (DATA / f"webkb2_fold{k}.db").read_text().splitlines():
        if match := re.fullmatch(r"(\w+)\((.*)\)", line.strip()):
            index = tuple(part.strip() for part in match[2].split(","))
            for slot, value in zip(SLOTS[match[1]], index, strict=True):
                members[slot].setdefault(value)
            facts[match[1]].append(index)
    closed = {name: plx.Else(rows, False) for name, rows in facts.items()}
    return {**{slot: list(found) for slot, found in members.items()}, **closed}


@needs_data
def test_webkb() -> None:
    truth = json.loads((DATA / "expected_mle.json").read_text())["webkb2 folds 1,3,4 -> 2"]
    fit = plx.compile(WEBKB, **fold(1)).learn([fold(k) for k in (1, 3, 4)], objective="likelihood")
    assert fit.converged
    assert fit.log_likelihood == pytest.approx(truth["train_ll"], abs=1e-4)
    assert list(fit.weights.values()) == pytest.approx([truth["weights"][s] for s in STATEMENTS], abs=1e-4)
    model = plx.compile(WEBKB, **fold(2)).with_weights(fit)
    world, _ = world_of(model)
    test = Likelihood([world], list(fit.weights))(np.array(list(fit.weights.values())))[0]
    assert test == pytest.approx(truth["test_ll"], abs=1e-3)
