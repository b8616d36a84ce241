"""Objectives, their gradients and their second derivatives, against an interpreter that enumerates worlds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import plx
from plx import learning as learning_
from plx.errors import NoWorldError, PlxError
from plx.graph.components import components
from plx.infer.problem import Parts
from plx.learn.likelihood import Likelihood, differences
from plx.learn.numbers import numbers_of
from plx.learn.pseudo import Pseudo
from plx.learn.worlds import World
from tests.learn.programs import at, interpreted, learning, log_likelihood, slopes
from tests.oracle import log_sum

few = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
numbers = st.lists(st.integers(-8, 8).map(lambda k: k / 4), min_size=3, max_size=3).map(np.array)


def world_of(model: plx.Model, given_: tuple[str, ...] = ()) -> tuple[World, list[str]]:
    names = [one.name for one in numbers_of([model.origin.program])]
    return learning_.world_of(model.origin, given_), names


def spread(weights: np.ndarray, names: list[str]) -> np.ndarray:
    """The values of one, two and all of each, in the order of the names."""
    value = {"one": weights[0], "two": weights[1]}
    return np.array([value.get(name, weights[2]) for name in names])


@few
@given(learning(), numbers)
def test_likelihoods_and_gradients_are_those_of_enumeration(text: str, weights: np.ndarray) -> None:
    try:
        world, names = world_of(plx.compile(at(text, weights)))
    except NoWorldError:
        return
    objective = Likelihood([world], names)
    value, gradient = objective(spread(weights, names))
    assert value == pytest.approx(log_likelihood(at(text, weights)), abs=1e-9)
    summed = np.array([*gradient[:2], gradient[2:].sum()])
    truth = slopes(lambda w: log_likelihood(at(text, w)), weights)
    assert summed == pytest.approx(truth, abs=1e-6, rel=1e-6)
    where = spread(weights, names)
    second = differences(lambda w: objective(w)[1], where)
    assert objective.cheap and objective.information(where) == pytest.approx(second, abs=1e-5, rel=1e-6)


@few
@given(learning(), numbers)
def test_a_program_with_starts_runs_as_if_they_were_written_out(text: str, weights: np.ndarray) -> None:
    program = at(text, weights) + "query logz\n"
    try:
        found = plx.run(program, method="exact").log_z
    except PlxError:
        return
    (truth,) = interpreted(program).answers().log_z
    assert found == pytest.approx(truth, abs=1e-9)


def complete(text: str, choose) -> tuple[str, dict] | None:
    """A program with one of its possible worlds observed in place of what it observes; None without any."""
    kept = "\n".join(s for s in text.splitlines() if not s.startswith("observe"))
    meaning = interpreted(at(kept, np.zeros(3)))
    worlds = [dict(meaning.world) for log_weight in meaning.worlds() if log_weight > -np.inf]
    if not worlds:
        return None
    state = choose(worlds)
    facts = []
    for atom, value in state.items():
        left = shown(atom)
        if isinstance(value, bool):
            facts.append(f"observe {left}" if value else f"observe !{left}")
        else:
            facts.append(f"observe {left} = {value}")
    return kept + "\n" + "\n".join(facts) + "\n", state


def shown(atom: tuple) -> str:
    name, index = atom
    return f"{name}({', '.join(map(str, index))})" if index else name


def log_pseudo_likelihood(text: str, state: dict) -> float:
    """By the book: every block against all joint states of it, the others as they are."""
    kept = "\n".join(s for s in text.splitlines() if not s.startswith("observe"))
    meaning = interpreted(kept)
    total = 0.0
    for block in blocks(kept, list(meaning.atoms)):
        logs = {}
        for values in product(*(meaning.atoms[atom] for atom in block)):
            meaning.world = {**state, **dict(zip(block, values, strict=True))}
            logs[values] = meaning.log_weight()
        total += logs[tuple(state[atom] for atom in block)] - log_sum(list(logs.values()))
    return total


def blocks(text: str, atoms: list) -> list[list]:
    """The atoms that hard rules of the grounded program tie, and each of the others by itself."""
    model = plx.compile(text).origin.unfitted(())
    part, variables = Parts(model.graph).hard_part
    label = components(part, np.ones(part.n_derived, dtype=bool))
    rest = {shown(atom): atom for atom in atoms}
    found: dict[int, list] = {}
    for v, cluster in zip(variables.tolist(), label[: part.n_variables].tolist(), strict=True):
        found.setdefault(cluster, []).append(rest.pop(model.atoms.name(int(model.atoms.atom_of[v]))))
    return [*found.values(), *([atom] for atom in rest.values())]


@few
@given(learning(), numbers, st.randoms(use_true_random=False))
def test_pseudo_likelihoods_are_those_of_enumeration(text: str, weights: np.ndarray, random) -> None:
    found = complete(text, random.choice)
    if found is None:
        return
    text, state = found
    world, names = world_of(plx.compile(at(text, weights)))
    objective = Pseudo([world], names)
    value, gradient = objective(spread(weights, names))
    assert value == pytest.approx(log_pseudo_likelihood(at(text, weights), state), abs=1e-9)
    summed = np.array([*gradient[:2], gradient[2:].sum()])
    truth = slopes(lambda w: log_pseudo_likelihood(at(text, w), state), weights)
    assert summed == pytest.approx(truth, abs=1e-6, rel=1e-6)
    second = differences(lambda w: objective(w)[1], spread(weights, names))
    assert objective.information(spread(weights, names)) == pytest.approx(second, abs=1e-5)


SMOKERS = """
type Person = {anna, bob, carl, dave}
relation friends(Person, Person) = {(anna, bob), (bob, carl), (carl, dave)}
random smokes(Person)
random ill(Person)
learn base = 0
learn peer = 0
weight base: smokes(x) for x in Person
weight peer: smokes(x) <=> smokes(y) for (x, y) in friends
weight peer / 2: smokes(x) => ill(x) for x in Person
"""


def test_information_is_the_covariance_of_the_statistics_less_that_given_what_was_seen() -> None:
    model = plx.compile(SMOKERS + "observe smokes(anna) observe ill(bob)")
    world, names = world_of(model)
    weights = np.array([0.3, -0.7])
    found = Likelihood([world], names).information(weights)
    text = SMOKERS.replace("base = 0", "base = 0.3").replace("peer = 0", "peer = -0.7")

    def covariance(program: str) -> np.ndarray:
        meaning = interpreted(program)
        rows = []
        for log_weight in meaning.worlds():
            w = meaning.world
            smokes = {i[0]: v for (name, i), v in w.items() if name == "smokes"}
            ill = {i[0]: v for (name, i), v in w.items() if name == "ill"}
            same = sum(
                smokes[a] == smokes[b] for a, b in (("anna", "bob"), ("bob", "carl"), ("carl", "dave"))
            )
            rows.append(
                (log_weight, sum(smokes.values()), same + sum(not smokes[x] or ill[x] for x in ill) / 2)
            )
        table = np.array(rows)
        p = np.exp(table[:, 0] - np.logaddexp.reduce(table[:, 0]))
        mean = p @ table[:, 1:]
        return (table[:, 1:] - mean).T @ ((table[:, 1:] - mean) * p[:, None])

    truth = covariance(text) - covariance(text + "observe smokes(anna) observe ill(bob)")
    assert found == pytest.approx(truth, abs=1e-6)


def test_copies_of_a_world_are_solved_once() -> None:
    model = plx.compile(SMOKERS + "observe smokes(anna)")
    worlds = [world_of(model)[0], world_of(plx.compile(SMOKERS + "observe smokes(anna)"))[0]]
    objective = Likelihood(worlds, ["base", "peer"])
    assert objective._seen._times == [2]
    one = Likelihood(worlds[:1], ["base", "peer"])
    weights = np.array([0.4, -0.2])
    assert objective(weights)[0] == pytest.approx(2 * one(weights)[0])


CHOICE = """
type P = 1..3
type V = 1..5
random at(P, V)
learn a
weight a * v: at(p, v) for p in P, v in V
require count(at(p, v) for v in V) = 1 for p in P
observe at = {(1, 2), (2, 2), (3, 5), else: false}
"""


def test_blocks_under_a_hard_rule_are_one_conditional() -> None:
    """Exactly one v for each p: the pseudo-likelihood is that of a choice, and is the likelihood."""
    world, names = world_of(plx.compile(CHOICE))
    found, exact = Pseudo([world], names), Likelihood([world], names)
    w = np.array([0.3])
    truth = sum(0.3 * v - np.logaddexp.reduce(0.3 * np.arange(1, 6)) for v in (2, 2, 5))
    assert found(w)[0] == pytest.approx(truth) == exact(w)[0]
    assert found(w)[1] == pytest.approx(exact(w)[1]) and found.n_groups == 2


def test_equal_conditionals_are_kept_once() -> None:
    people = ", ".join(f"p{i}" for i in range(200))
    text = f"type P = {{{people}}} random f(P) learn a weight a: f(x) for x in P "
    text += "observe f = {p1, p2, p3, else: false}"
    world, names = world_of(plx.compile(text))
    assert Pseudo([world], names).n_groups == 2
