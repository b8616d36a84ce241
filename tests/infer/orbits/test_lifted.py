"""Estimates and chains that use symmetries, against enumeration: no bias, and the distribution is kept."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from plx.deadline import within
from plx.graph.assemble import variable_cards
from plx.graph.model import GroundModel
from plx.graph.ragged import starts
from plx.infer.gibbs import plain as gibbs
from plx.infer.mcmc.samplers import SAMPLERS
from plx.infer.orbits import lifted, nec, orbital
from plx.infer.orbits.collapse import not_collapsed
from plx.infer.orbits.group_moves import suffix_polynomials
from plx.infer.orbits.leaf_conditionals import leaf_conditionals
from plx.infer.orbits.orbit_averages import orbit_averages
from plx.infer.problem import Problem
from plx.lift.exchangeable_sets import conditional_bernoulli
from plx.lift.find import find_symmetry, no_symmetry, reduced_group
from plx.lift.group import Group
from plx.lift.reduced import reduced_model
from tests.benchmarks.models import curriculum, ring
from tests.benchmarks.variance import MODELS, relative
from tests.infer.estimating import estimates, expectations, with_joint_queries
from tests.infer.orbits.moving import moved_by_kernel
from tests.models import all_states, log_weights, make_model, marginal, random_model


def few_weights(seed: int, max_card: int = 3) -> GroundModel:
    rng = np.random.default_rng(seed)
    model = random_model(
        rng,
        variables=4,
        factors=int(rng.integers(1, 6)),
        derived=int(rng.integers(0, 4)),
        max_card=max_card,
        hard=0.1 if seed % 2 else 0.0,
        weights=(0, 0, 1),
    )
    return with_joint_queries(model, rng)


def lopsided(n: int) -> GroundModel:
    """Interchangeable unknowns, tied pairwise, that favour one value."""
    factors: list[tuple[list[int], object]] = [([v], [0, Fraction(1, 2)]) for v in range(n)]
    factors += [([v, w], [[Fraction(1, 3), 0], [0, Fraction(1, 3)]]) for w in range(n) for v in range(w)]
    return make_model([2] * n, factors)


def curriculum_with_pairs(sizes: tuple[int, ...] = (2, 3, 4)) -> GroundModel:
    """One student, and a Boolean for each two areas in order, as in the published models."""
    factors: list[tuple[list[int], object]] = []
    cards = [n + 1 for n in sizes]
    for a, n in enumerate(sizes):
        factors.append(([a], [Fraction(1, 2)] + [0] * n))
    for a, b in itertools.permutations(range(len(sizes)), 2):
        cards.append(2)
        clause = [
            [[1 if z or not x or not y else 0 for y in range(cards[b])] for x in range(cards[a])]
            for z in (0, 1)
        ]
        factors.append(([len(cards) - 1, a, b], clause))
    return make_model(cards, factors)


# -------------------------------------------------------------------------- estimates


@pytest.mark.parametrize("block", range(4))
def test_answers_of_the_reduced_model_are_those_of_the_model(block: int) -> None:
    smaller = 0
    for seed in range(50 * block, 50 * block + 50):
        model = few_weights(seed)
        reduced = reduced_model(model)
        smaller += reduced.is_smaller
        for query, inner in zip(model.queries, reduced.model.queries, strict=True):
            nodes = [t.node for t in inner.targets if t.node >= 0]
            p = marginal(reduced.model.graph, nodes) if nodes else np.ones(1)
            truth = marginal(model.graph, [t.node for t in query.targets])
            np.testing.assert_allclose(reduced.spread(query, p), truth, atol=1e-12)
    assert smaller > 10


@pytest.mark.parametrize("block", range(4))
def test_averages_have_no_bias(block: int) -> None:
    pooled = 0.0
    for seed in range(50 * block, 50 * block + 50):
        model = few_weights(seed, max_card=4 if seed % 5 == 0 else 3)
        reduced = reduced_model(model)
        found = orbit_averages(
            leaf_conditionals(not_collapsed(model), reduced),
            reduced,
            find_symmetry(reduced.model, "vv"),
            lifted.find_slots(reduced),
        )
        np.testing.assert_allclose(*estimates(model, found), atol=1e-12)
        pooled = max(pooled, float(found.pooled.max()))
    assert pooled > 10


@pytest.mark.parametrize(
    "make", [lambda: curriculum(1, (2, 3, 4)), lambda: curriculum(2, (2, 4)), curriculum_with_pairs]
)
def test_f1_has_no_bias_and_is_taken(make: Callable[[], GroundModel]) -> None:
    model = make()
    queries = make_model(variable_cards(model.graph).tolist(), []).queries
    model = replace(model, queries=queries)
    reduced = reduced_model(model)
    found = lifted.find_slots(reduced)
    assert found
    got = orbit_averages(
        leaf_conditionals(not_collapsed(model), reduced), reduced, find_symmetry(reduced.model, "vv"), found
    )
    np.testing.assert_allclose(*estimates(model, got), atol=1e-12)


def test_naive_averaging_over_the_reduced_group_is_biased_on_g3_and_ours_is_not() -> None:
    model = make_model([2, 3], [([0], [0, 1]), ([1], [0, 1, 1])])
    reduced = reduced_model(model)
    group, _ = reduced_group(model.values, reduced.quotient)
    p = expectations(reduced.model)
    naive = np.array([p[group.orbits == o].mean() for o in group.orbits])
    assert abs(naive - p).max() == pytest.approx(0.057, abs=0.02)
    got = orbit_averages(
        leaf_conditionals(not_collapsed(model), reduced),
        reduced,
        find_symmetry(reduced.model, "vv"),
        lifted.find_slots(reduced),
    )
    np.testing.assert_allclose(*estimates(model, got), atol=1e-12)


def test_occupancy_equals_enumeration() -> None:
    rng = np.random.default_rng(1)
    for n, size in ((1, 1), (2, 1), (2, 2), (5, 2), (6, 3), (8, 1)):
        log_odds = rng.normal(size=n)
        members = np.array(list(itertools.permutations(range(n), size)))
        table = conditional_bernoulli(log_odds, members)
        for k in range(n + 1):
            sets = list(itertools.combinations(range(n), k))
            weight = np.exp([log_odds[list(s)].sum() for s in sets])
            for row, some in enumerate(members.tolist()):
                for state, chosen in enumerate(itertools.product((False, True), repeat=size)):
                    hit = np.array([[i in s for i in some] == list(chosen) for s in sets])
                    expected = weight[hit].sum() / weight.sum()
                    assert table[row, state, k] == pytest.approx(expected, abs=3e-15)
        np.testing.assert_array_equal(
            conditional_bernoulli(log_odds), conditional_bernoulli(log_odds, np.arange(n)[:, None])
        )
        assert suffix_polynomials(log_odds)[0, n] == pytest.approx(log_odds.sum())


def test_estimates_of_a_large_ring_vary_less() -> None:
    model = ring(200, 5)
    model = replace(model, queries=make_model([2] * 200, []).queries[:1])
    spread = {}
    for name in ("gibbs", "lifted"):
        chains = SAMPLERS[name].init(Problem(model), 0, 64, 1)
        SAMPLERS[name].step(chains, 20, 1)
        spread[name] = (SAMPLERS[name].step(chains, 50, 1) / 50).std(axis=0).max()
    assert spread["lifted"] < spread["gibbs"] / 5


@pytest.mark.parametrize("make", [lambda: ring(6, 3), *list(MODELS.values())[1:]])
def test_each_average_has_no_more_variance_than_the_one_before(make: Callable[[], GroundModel]) -> None:
    found = dict(relative(make()))
    steps = ["Gibbs, swap average", "Gibbs, F3 average", "lifted (F1 and F3)"]
    values = [1.0, *(found[step] for step in steps)]
    assert all(b <= a + 1e-9 for a, b in itertools.pairwise(values))
    assert values[-1] < 0.3
    assert values[-1] < min(found["orbital"], found["vv"], found["nec"]) / 1.4


# ----------------------------------------------------------------------------- chains


def elements(group: Group) -> list[np.ndarray]:
    """All elements of a small group, from its generators."""
    found = {tuple(range(group.degree))}
    front = list(found)
    steps = []
    for points, images in group.generators():
        step = np.arange(group.degree)
        step[points] = images
        steps.append(step)
    while front:
        g = np.array(front.pop())
        for step in steps:
            product = tuple(step[g].tolist())
            if product not in found:
                found.add(product)
                front.append(product)
    return [np.array(g) for g in found]


def moved(start: np.ndarray, state: tuple[int, ...], image: np.ndarray) -> tuple[int, ...]:
    variable = np.repeat(np.arange(len(start) - 1), np.diff(start))
    pairs = image[start[:-1] + np.array(state)]
    out = np.empty(len(state), dtype=int)
    out[variable[pairs]] = pairs - start[variable[pairs]]
    return tuple(out.tolist())


def orbit_matrix(
    group: Group, start: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, list[tuple[int, ...]]]:
    """The transition matrix of a uniform proposal from the group, accepted by the weights of pairs."""
    states = list(itertools.product(*(range(c) for c in np.diff(start))))
    number = {state: i for i, state in enumerate(states)}
    out = np.zeros((len(states), len(states)))
    all_ = elements(group)
    total = [weight[start[:-1] + np.array(state)].sum() for state in states]
    for i, state in enumerate(states):
        for g in all_:
            j = number[moved(start, state, g)]
            accept = min(1.0, math.exp(total[j] - total[i]))
            out[i, j] += accept / len(all_)
            out[i, i] += (1 - accept) / len(all_)
    return out, states


@pytest.mark.parametrize("kind", ["variable", "vv"])
def test_a_move_along_the_orbit_keeps_the_distribution(kind: str) -> None:
    looked = 0
    for seed in range(80):
        model = replace(few_weights(seed), queries=())
        symmetry = find_symmetry(model, kind)  # type: ignore[arg-type]
        if not 1 < symmetry.order <= 200:
            continue
        matrix, states = orbit_matrix(symmetry.group, symmetry.start, np.zeros(symmetry.group.degree))
        logs = log_weights(model.graph, np.array(states))
        p = np.exp(logs - np.logaddexp.reduce(logs))
        np.testing.assert_allclose(p @ matrix, p, atol=1e-14)
        looked += 1
    assert looked > 20


def test_weighed_moves_of_every_piece_keep_the_reduced_distribution() -> None:
    looked = 0
    for seed in range(150):
        model = replace(few_weights(seed, max_card=4), queries=())
        reduced = reduced_model(model)
        quotient = reduced.quotient
        if not reduced.model.graph.n_variables:
            continue
        group, _ = reduced_group(model.values, quotient)
        start = starts(variable_cards(quotient.graph))
        weight = np.log(quotient.multiplicity[quotient.pair_of()])
        for factor in group.factors:
            if factor.order > 60:
                continue
            matrix, states = orbit_matrix(factor, start, weight)
            logs = log_weights(reduced.model.graph, np.array(states))
            p = np.exp(logs - np.logaddexp.reduce(logs))
            np.testing.assert_allclose(p @ matrix, p, atol=1e-14)
            looked += np.ptp(weight) > 0
    assert looked > 10


def test_a_fixed_three_cycle_as_proposal_would_not_keep_it() -> None:
    """Why proposals are symmetric: an element and its inverse must be equally likely."""
    weight = np.log([1.0, 2.0, 1.0, 3.0, 1.0, 5.0])
    start = np.array([0, 2, 4, 6])
    cycle = np.array([2, 3, 4, 5, 0, 1])
    states = list(itertools.product((0, 1), repeat=3))
    total = np.array([weight[start[:-1] + np.array(s)].sum() for s in states])
    matrix = np.zeros((8, 8))
    for i, s in enumerate(states):
        j = states.index(moved(start, s, cycle))
        matrix[i, j] += min(1.0, math.exp(total[j] - total[i]))
        matrix[i, i] += 1 - min(1.0, math.exp(total[j] - total[i]))
    p = np.exp(total) / np.exp(total).sum()
    assert abs(p @ matrix - p).max() > 0.01


def shares_of(states: np.ndarray, start: np.ndarray) -> np.ndarray:
    """How often each state occurs among states [variables, n]."""
    shape = tuple(np.diff(start))
    numbers = np.ravel_multi_index(tuple(states), shape)
    return np.bincount(numbers, minlength=int(np.prod(shape))) / len(numbers)


@pytest.mark.parametrize("kind", ["variable", "vv"])
def test_compiled_moves_are_uniform_on_the_orbit(kind: str) -> None:
    """A uniform element takes any state to a uniform one of its orbit: successive states are independent."""
    for seed in (1, 5, 9, 14, 21, 33):
        model = replace(few_weights(seed), queries=())
        symmetry = find_symmetry(model, kind)  # type: ignore[arg-type]
        if symmetry.order > 500:
            continue
        states = all_states(model.graph)
        pair = [tuple(states[seed % 7].tolist()), tuple(states[-1 - seed % 5].tolist())]
        weight = np.zeros(symmetry.group.degree)
        seen = np.array(
            list(moved_by_kernel(symmetry.group, symmetry.start, weight, np.array(pair).T, 20_000))
        )
        orbits = [[moved(symmetry.start, first, g) for g in elements(symmetry.group)] for first in pair]
        for lane, orbit in enumerate(orbits):
            share = shares_of(seen[:, :, lane].T, symmetry.start)
            truth = shares_of(np.array(orbit).T, symmetry.start)
            assert np.abs(share - truth).max() < 5 * math.sqrt(0.25 / 20_000)
        both = Counter(zip(*(map(tuple, seen[:, :, lane].tolist()) for lane in (0, 1)), strict=True))
        truth_of_both = Counter(zip(*orbits, strict=True))
        assert both.keys() <= truth_of_both.keys(), "lanes are moved by the same element"
        if max(np.diff(symmetry.start)) > 2:
            continue  # of more than two values of one unknown, rotations are drawn, not all permutations
        assert both.keys() == truth_of_both.keys()
        for states_of_both, times in truth_of_both.items():
            error = both[states_of_both] / 20_000 - times / len(orbits[0])
            assert abs(error) < 5 * math.sqrt(0.25 / 20_000)


@pytest.mark.parametrize(
    "make", [lambda: curriculum(1, (2, 3, 4)), lambda: curriculum(2, (2, 4)), curriculum_with_pairs]
)
def test_compiled_weighed_moves_draw_the_orbit_in_proportion(make: Callable[[], GroundModel]) -> None:
    model = make()
    quotient = reduced_model(model).quotient
    group, _ = reduced_group(model.values, quotient)
    start = starts(variable_cards(quotient.graph))
    weight = np.log(quotient.multiplicity[quotient.pair_of()])
    first = tuple(i % 2 for i in range(len(start) - 1))
    orbit = list({moved(start, first, g) for g in elements(group)})
    p = np.exp([weight[start[:-1] + np.array(s)].sum() for s in orbit])
    p /= p.sum()
    truth = np.zeros(int(np.prod(np.diff(start))))
    truth[np.ravel_multi_index(tuple(np.array(orbit).T), tuple(np.diff(start)))] = p
    # Whatever the elements are, lanes that have the distribution keep it, and are independent.
    settled = np.array(orbit)[np.random.default_rng(2).choice(len(orbit), p=p, size=20_000)].T
    for states in moved_by_kernel(group, start, weight, settled, 12):
        assert np.abs(shares_of(states, start) - truth).max() < 5 * math.sqrt(0.25 / 20_000)
    # From one state, the whole orbit is visited in proportion.
    same = np.repeat(np.array(first)[:, None], 20, axis=1)
    visited = np.concatenate(list(moved_by_kernel(group, start, weight, same, 20_000)), axis=1)
    assert np.abs(shares_of(visited, start) - truth).max() < 5 * math.sqrt(0.25 / 20_000)


def several(model: GroundModel, n: int) -> GroundModel:
    """n copies of a model side by side."""
    graph, values = model.graph, model.values
    cards = variable_cards(graph).tolist()
    factors: list[tuple[list[int], object]] = []
    for copy in range(n):
        for f in range(graph.n_factors):
            weights = graph.table_weights(f)
            numbers = np.array([values[int(w)] for w in weights.ravel()], dtype=object)
            scope = [int(v) + copy * graph.n_variables for v in graph.scope_of(f)]
            factors.append((scope, numbers.reshape(weights.shape)))
    return make_model(cards * n, factors)


def test_acceptance_does_not_fall_with_the_number_of_students() -> None:
    rates = []
    for students in (1, 20):
        chains = nec.init(Problem(several(curriculum_with_pairs((2, 3, 6)), students)), 0, 32, 1)
        nec.step(chains, 40, 1)
        tried, accepted = chains.chains.accepted.sum(axis=0).tolist()
        assert tried == 32 * 40 * students
        rates.append(accepted / tried)
    assert rates[0] > 0.4
    assert rates[1] == pytest.approx(rates[0], abs=0.1)


def test_models_without_symmetry_are_moved_by_plain_gibbs() -> None:
    model = make_model([2, 2], [([0], [0, 1]), ([1], [0, 2]), ([0, 1], [[3, 0], [0, 5]])])
    ours, plain = orbital.init_vv(Problem(model), 3, 8, 1), gibbs.init(Problem(model), 3, 8, 1)
    np.testing.assert_array_equal(orbital.step(ours, 30, 1), SAMPLERS["gibbs"].step(plain, 30, 1))
    found = lifted.init(Problem(model), 3, 8, 1)
    assert found.sweeps() == 1
    assert len(set(found.symmetry.orbits.tolist())) == len(found.symmetry.orbits) == 4
    assert found.averages is not None
    assert found.averages.pooled.tolist() == [1] * 4
    counts = found.chains.step(30, 1)
    assert found.averages.apply(counts, 30) is counts  # nothing is averaged, so nothing is copied


def test_estimates_that_are_counts_are_those_that_would_be_averaged() -> None:
    names = Counter[bool]()
    for seed in range(60):
        model = few_weights(seed)
        reduced = reduced_model(model)
        leaves = leaf_conditionals(not_collapsed(model), reduced)
        found = orbit_averages(leaves, reduced, no_symmetry(reduced.model, "vv", ""))
        counts = np.arange(3 * problem_states(found.model)).reshape(3, -1).astype(np.int32)
        quick = found.apply(counts, 5)
        names[found.only_counted is None] += 1
        vars(found)["only_counted"] = None
        np.testing.assert_array_equal(quick, found.apply(counts, 5))
    assert min(names[True], names[False]) > 3


def problem_states(model: GroundModel) -> int:
    return int(Problem(model).targets.offset[-1])


def agrees_with_enumeration(model: GroundModel, name: str) -> None:
    chains = SAMPLERS[name].init(Problem(model), 3, 64, 1)
    share = SAMPLERS[name].step(chains, 400, 1) / 400
    truth = np.concatenate([marginal(model.graph, [v]) for v in range(model.graph.n_variables)])
    assert (np.abs(share.mean(axis=0) - truth) < 4.5 * share.std(axis=0, ddof=1) / 8).all()


@pytest.mark.parametrize("name", ["orbital", "vv", "nec", "lifted"])
def test_too_little_memory_is_said_and_answers_stay_right(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("plx.lift.search.Search.run", exhausted)
    model = lopsided(5)
    chains = SAMPLERS[name].init(Problem(model), 3, 8, 1)
    assert any("does not fit in memory" in note for note in chains.notes())
    agrees_with_enumeration(model, name)


def test_too_little_time_is_said_and_answers_stay_right(monkeypatch: pytest.MonkeyPatch) -> None:
    model = lopsided(5)
    assert len(set(lifted.init(Problem(model), 3, 8, 1).symmetry.orbits.tolist())) < 10
    monkeypatch.setattr(lifted, "_LEAST", math.inf)
    chains = lifted.init(Problem(model), 3, 8, 1)
    assert chains.notes() == ("there was no time to search for symmetries",)
    assert len(set(chains.symmetry.orbits.tolist())) == 10
    agrees_with_enumeration(model, "lifted")
    monkeypatch.setattr(lifted, "_SETTING_UP", math.inf)  # not even to sum out leaves
    with within(100.0):
        chains = lifted.init(Problem(model), 3, 8, 1)
    assert chains.averages is chains.pooled() is None
    assert chains.notes() == ("there was no time to search for symmetries",)
    plain = gibbs.init(Problem(model), 3, 8, 1)
    np.testing.assert_array_equal(lifted.step(chains, 30, 1), SAMPLERS["gibbs"].step(plain, 30, 1))
