"""log Z by a circuit that is compiled once: against enumeration, junction trees, and known maxima."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise, permutations
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import plx
from plx.errors import NoWorldError
from plx.infer.circuit.compiled import Compilation
from plx.infer.circuit.compiler_process import installed
from plx.infer.circuit.reweighed import ReweighedCircuit
from plx.infer.exact.junction_tree import ImpossibleError
from plx.infer.exact_plan import GaveUpError, Refusal
from plx.learn import log_z
from plx.learn.likelihood import Likelihood, differences
from plx.learn.log_z import LogZ, TooWideError
from tests.learn.programs import at, learning, log_likelihood
from tests.learn.test_gradients import numbers, spread, world_of

few = settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)


@contextmanager
def circuits_alone() -> Iterator[None]:
    """No tree fits, nothing can be counted, and rules need not be hard."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_z, "elimination", lambda _: Refusal(lambda: "none here", np.inf))
        patch.setattr(log_z, "_counted", lambda *_: None)
        patch.setattr(log_z, "is_ruled", lambda _: True)
        yield


def check(text: str, weights: np.ndarray) -> None:
    """The likelihood is that of enumeration; its slopes and curvature are those of a junction tree."""
    try:
        world, names = world_of(plx.compile(at(text, weights)))
    except NoWorldError:
        return
    where = spread(weights, names)
    for model in (world.free, world.seen):
        tree = LogZ(model, names)
        with circuits_alone():
            circuit = LogZ(model, names)
        try:
            value, expected = tree(where)
        except ImpossibleError:
            with pytest.raises(ImpossibleError):
                circuit(where)
            continue
        assert circuit.is_compiled or not model.graph.n_variables
        other, moved = circuit(where)
        assert other == pytest.approx(value, abs=1e-9)
        assert moved == pytest.approx(expected, abs=1e-9)
        assert circuit.covariance(where) == pytest.approx(tree.covariance(where), abs=1e-9)
    with circuits_alone():
        objective = Likelihood([world], names)
    try:
        found = objective(where)[0]
    except ImpossibleError:
        return
    assert found == pytest.approx(log_likelihood(at(text, weights)), abs=1e-9)


@few
@given(learning(), numbers)
def test_values_slopes_and_curvature_are_those_of_enumeration_and_trees(
    text: str, weights: np.ndarray
) -> None:
    check(text, weights)


OPEN = """
type T = 1..4
random up(T)
learn one = <one>
learn two = <two>
learn each(T) = <each>
require count(up(x) for x in T) <= 1
require up(1) <=> !up(2)
weight one: count(up(x) for x in T) = 1
weight two: up(x) | up(y) for x, y in T if x < y
weight each(x): up(x) for x in T
weight one - two: up(1)
observe up(1)
"""


@pytest.mark.parametrize("weights", [(0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (-60.0, 25.0, 0.5)])
def test_no_number_is_lost_for_what_it_is_now(weights: tuple[float, float, float]) -> None:
    """A learned 0 beside what is impossible is no hard rule; equal numbers stay apart."""
    check(OPEN, np.array(weights))


def permuted(n: int) -> str:
    """Permutations, of which two of n points that stay where they are were seen."""
    seen = [1, 2, *range(4, n + 1), 3]
    return f"""
    type R = 1..{n}
    random put(R): R
    learn fixed ~ flat
    require alldifferent(put(r) for r in R)
    weight fixed: put(r) = r for r in R
    """ + "".join(f"observe put({r}) = {value}\n" for r, value in enumerate(seen, 1))


def fixed_points(n: int, weight: float) -> tuple[float, float]:
    """log Z and the expected fixed points, from how many permutations of n have so many (rencontres)."""
    still = [sum((-1) ** j * factorial(k) // factorial(j) for j in range(k + 1)) for k in range(n + 1)]
    terms = np.array([comb(n, k) * still[n - k] * np.exp(weight * k) for k in range(n + 1)])
    return float(np.log(terms.sum())), float(terms @ np.arange(n + 1) / terms.sum())


def root(rising: Callable[[float], float]) -> float:
    low, high = -20.0, 20.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return low


@pytest.fixture
def without_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_z, "_counted", lambda *_: None)


@pytest.mark.usefixtures("without_counting")
def test_a_weight_of_permutations_that_are_dear_to_trees_is_the_known_one() -> None:
    n = 9
    model = plx.compile(permuted(n))
    world, names = world_of(model)
    found = LogZ(world.free, names)
    assert found.is_compiled
    for weight in (-2.0, 0.0, 3.0):
        value, expected = fixed_points(n, weight)
        assert found(np.array([weight]))[0] == pytest.approx(value, abs=1e-9)
        assert found(np.array([weight]))[1] == pytest.approx([expected], abs=1e-9)
    fit = model.learn(objective="likelihood")
    best = root(lambda w: fixed_points(n, w)[1] - 2)
    assert fit.reason == "converged" and fit["fixed"].value == pytest.approx(best, abs=1e-6)
    assert fit.log_likelihood == pytest.approx(2 * best - fixed_points(n, best)[0], abs=1e-9)


QUEENS = """
type R = 1..8
random put(R): R
learn near ~ flat
learn low ~ flat
require alldifferent(put(r) for r in R)
require alldifferent(put(r) + r for r in R)
require alldifferent(put(r) - r for r in R)
weight near: abs(put(r) - put(r + 1)) = 2 for r in R if r < 8
weight low: put(r) <= 4 for r in R if r <= 4
"""


@pytest.mark.parametrize("by_d4", [False, True])
def test_weights_on_queens_have_the_slopes_of_their_solutions(
    by_d4: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by_d4:
        if not installed():
            pytest.skip("d4 is not installed")
        monkeypatch.setattr(Compilation, "ended_at_once", lambda _: False)
    else:
        monkeypatch.setattr("plx.infer.circuit.compiled.installed", lambda: False)
    model = plx.compile(QUEENS + "observe put(1) = 1\n")
    world, names = world_of(model)
    with circuits_alone():
        found = LogZ(world.free, names)
    counts = []
    for put in permutations(range(1, 9)):
        if len({v + r for r, v in enumerate(put)}) == len({v - r for r, v in enumerate(put)}) == 8:
            near = sum(abs(a - b) == 2 for a, b in pairwise(put))
            counts.append({"near": near, "low": sum(v <= 4 for v in put[:4])})
    table = np.array([[one[name] for name in names] for one in counts], dtype=np.float64)
    where = np.array([0.7, -1.3])
    terms = np.exp(table @ where)
    shares = terms / terms.sum()
    value, expected = found(where)
    assert value == pytest.approx(np.log(terms.sum()), abs=1e-9)
    assert expected == pytest.approx(shares @ table, abs=1e-9)
    centred = table - shares @ table
    assert found.covariance(where) == pytest.approx((centred.T * shares) @ centred, abs=1e-9)


PARTITION = """
type P = 1..8
random same(P, P)
learn close ~ flat
require same(x, x) for x in P
require same(x, y) => same(y, x) for x, y in P
require same(x, y) & same(y, z) => same(x, z) for x, y, z in P
weight close: same(x, y) for x, y in P if x < y
""" + "".join(
    f"observe {'' if (x - 1) // 3 == (y - 1) // 3 else '!'}same({x}, {y})\n"
    for x in range(1, 9)
    for y in range(1, 9)
)


def blocks(n: int, weight: float) -> tuple[float, float]:
    """The sum over partitions of n of the weights of their pairs, and of these times the pairs."""
    total, pairs = [1.0], [0.0]
    for m in range(1, n + 1):
        terms = [(comb(m - 1, k - 1) * np.exp(weight * comb(k, 2)), k) for k in range(1, m + 1)]
        total.append(sum(t * total[m - k] for t, k in terms))
        pairs.append(sum(t * (pairs[m - k] + comb(k, 2) * total[m - k]) for t, k in terms))
    return total[n], pairs[n]


def test_a_weight_of_partitions_is_the_known_one() -> None:
    fit = plx.compile(PARTITION).learn(objective="likelihood")
    best = root(lambda w: blocks(8, w)[1] / blocks(8, w)[0] - 7)
    assert fit.reason == "converged" and fit["close"].value == pytest.approx(best, abs=1e-6)
    assert fit.log_likelihood == pytest.approx(7 * best - np.log(blocks(8, best)[0]), abs=1e-9)


@pytest.mark.usefixtures("without_counting")
def test_the_curvature_is_that_of_the_slopes_where_it_is_found_by_differences(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, names = world_of(plx.compile(permuted(9)))
    objective = Likelihood([world], names)
    assert objective.cheap
    where = np.array([0.4])
    second = differences(lambda w: objective(w)[1], where)
    assert objective.information(where) == pytest.approx(second, rel=1e-6)
    monkeypatch.setattr(log_z, "_MOST_SLOPES", 0)
    assert not Likelihood([world], names).cheap


@pytest.mark.usefixtures("without_counting")
def test_what_does_not_end_in_time_or_gets_too_large_is_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    model = plx.compile(permuted(5))
    world, names = world_of(model)
    with circuits_alone(), pytest.raises(TooWideError):
        LogZ(world.free, names, compiling=0.0)

    def gives_up(*_: object) -> ReweighedCircuit:
        raise GaveUpError("too many edges")

    monkeypatch.setattr(log_z, "reweighed", gives_up)
    with circuits_alone(), pytest.raises(plx.PlxError, match="out of reach: no world"):
        model.learn(objective="likelihood")
