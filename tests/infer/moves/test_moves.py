"""Cluster moves and forests leave the distribution as it is, move what single updates do not, and say so."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import plx
from plx.deadline import within
from plx.infer.gibbs.chains import chains_at
from plx.infer.gibbs.compiled import CompiledModel, compile_model
from plx.infer.mcmc.pilot import sample_by_choice
from plx.infer.mcmc.samplers import SAMPLERS
from plx.infer.moves.cluster import ClusterMove, cluster_sets, is_coupled
from plx.infer.moves.forest import forest_move, forest_sets, is_tied
from plx.infer.moves.mobile import entries, mobile_set, movable
from plx.infer.moves.moved import Move
from plx.infer.options import Options
from plx.infer.problem import Parts, Problem
from plx.infer.streams import Stream, narrow_states
from tests.infer.moves.leaving import LANES, exact_chains, scores
from tests.models import log_weights, make_model, marginal, random_model


def _cluster_move(plan: CompiledModel) -> Move | None:
    sets = cluster_sets(plan)
    return ClusterMove(sets, plan.graph.table) if sets else None


FINDS = {"clusters": _cluster_move, "forests": forest_move}
every_move = pytest.mark.parametrize("find", FINDS.values(), ids=FINDS)
Find = Callable[[CompiledModel], Move | None]


@every_move
def test_worlds_stay_as_frequent_as_they_are(find: Find) -> None:
    """Random models of up to five states, wide factors, counts and hard rules."""
    found = []
    for seed in range(12):
        model = random_model(
            np.random.default_rng(seed),
            factors=8,
            derived=seed % 2,
            max_card=2 + seed % 4,
            hard=(0, 0.1, 0.3, 0.5)[seed % 4],
        )
        chains, worlds, p = exact_chains(model, seed)
        move = find(chains.plan)
        if move is not None:
            z = scores(model, move, chains, worlds, p)
            found.append(z[p[p > 0] > 1e-3])
    z = np.concatenate(found)
    assert len(found) > 6 and np.abs(z).max() < 4.5 and 0.9 < z.std() < 1.1


def test_what_is_watched_weighs_as_much_as_is_expected_given_the_bonds() -> None:
    """Over many moves, also where the worlds before weighed more or less than usual."""
    found, moved = [], 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        model = random_model(
            rng, factors=8, derived=seed % 2, max_card=2 + seed % 4, hard=0.2 * (seed % 3 == 2)
        )
        chains, _, _ = exact_chains(model, seed)
        sets, random = cluster_sets(chains.plan), narrow_states(3, Stream.CLUSTERS, range(LANES))
        watched = np.where(
            np.isfinite(chains.plan.graph.table), rng.normal(size=chains.plan.graph.table.size), 0
        )
        move = ClusterMove(sets, chains.plan.graph.table, watched)
        for turn in range(4 if sets else 0):
            before = log_weights(model.graph, chains.blocks[0].state.T)
            move(chains.blocks[0], random, turn, excess := np.zeros(LANES))
            for one in (excess, excess * (before - before.mean())):
                found.append(one.mean() / max(1e-12, one.std() / np.sqrt(LANES)))
            moved += int(excess.std() > 0.1)
    z = np.array(found)
    assert moved > 12 and np.abs(z).max() < 4.5 and 0.7 < z[z != 0].std() < 1.3


def _components(n: int, pairs: np.ndarray) -> np.ndarray:
    """The least member of each one's component, shape (n,)."""
    least = np.arange(n)
    while (least[pairs[:, 0]] != least[pairs[:, 1]]).any():
        np.minimum.at(least, pairs[:, 0], least[pairs[:, 1]])
        np.minimum.at(least, pairs[:, 1], least[pairs[:, 0]])
    return least


@pytest.mark.parametrize("card", [2, 3])
@pytest.mark.parametrize("share", [0.3, 0.5, 1.5])
@pytest.mark.parametrize("pulled", [False, True])
def test_what_is_tied_moves_as_one_and_nothing_else_does(card: int, share: float, pulled: bool) -> None:
    """Random graphs of many small components, of a large one and small ones, and of almost one; all is tied.

    Lanes do not depend on each other: as many at once make the same moves as a few.
    """
    rng, n, lanes = np.random.default_rng(7), 300, 64
    pairs = rng.integers(0, n, (int(share * n), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    least = _components(n, pairs)
    tied = [(tuple(pair), 60 * np.eye(card, dtype=int)) for pair in pairs.tolist()]
    pulls = [((0,), [0, 50] + [0] * (card - 2))] if pulled else []
    plan = compile_model(Problem(make_model([card] * n, [*tied, *pulls])))
    (one,) = cluster_sets(plan)
    move = ClusterMove((one,), plan.graph.table)
    block = chains_at(plan, np.zeros((n, lanes), dtype=np.int32), 1, 1).blocks[0]
    random = narrow_states(1, Stream.CLUSTERS, range(lanes))
    few = block.taken(slice(5, 12)), random[:, 5:12].copy()
    went = []
    for turn in range(12):
        before = block.state.copy()
        move(block, random, turn)
        move(*few, turn)
        assert (block.state == block.state[least]).all(), "each component is in one state"
        assert (block.state[:, 5:12] == few[0].state).all()
        went.append(block.state != before)
    mobile = np.isin(np.arange(n), one.arrays.mobile)
    roots = np.flatnonzero((least == np.arange(n)) & mobile & ~((least == least[0]) & pulled))
    where = np.concatenate([w[roots] for w in went], axis=1) if card == 2 else None
    if pulled:
        assert (block.state[least == least[0]] == 1).all(), "it went where it was pulled, and stays there"
    if where is not None:
        z = (where.mean(axis=1) - 0.5) * 2 * np.sqrt(where.shape[1])
        both = (where[:-1] == where[1:]).mean(axis=1)
        pair_z = (both - 0.5) * 2 * np.sqrt(where.shape[1])
        for one_z in (z, pair_z):
            assert np.abs(one_z).max(initial=0) < 4.5 and (len(one_z) < 20 or 0.8 < one_z.std() < 1.2)


def test_renamed_values_move_as_one() -> None:
    """A ring of five unknowns of four states, of which each must be what the one before it is renamed to."""
    rng = np.random.default_rng(3)
    name = [rng.permutation(4) for _ in range(5)]
    tied = [np.where(name[i][:, None] == name[(i + 1) % 5][None], 12, 0) for i in range(5)]
    ring = [((i, (i + 1) % 5) if i < 4 else (4, 0), table) for i, table in enumerate(tied)]
    model = make_model([4] * 5, [*ring, ((0,), [1, 0, 0, 0])])
    truth = marginal(model.graph, [2])
    chains = SAMPLERS["cluster"].init(Problem(model), 1, 64, 1)
    SAMPLERS["cluster"].step(chains, 50, 1)
    share = SAMPLERS["cluster"].step(chains, 400, 1)[:, 8:12] / 400
    assert np.abs(share.mean(axis=0) - truth).max() < 4.5 * share.std(axis=0).max() / 8
    assert share.std(axis=0).max() < 0.1, "each chain is everywhere"


def test_at_most_two_of_a_factor_move_and_every_free_one_in_some_turn() -> None:
    for seed in range(6):
        parts = Parts(random_model(np.random.default_rng(seed), variables=9, factors=12, derived=1).graph)
        free = movable(parts)
        first = mobile_set(parts, free, np.zeros_like(free))
        second = mobile_set(parts, free, ~first)
        for chosen in (first, second):
            assert np.bincount(entries(parts, chosen).factor, minlength=1).max(initial=0) <= 2
            assert not (chosen & ~free).any()
        more = mobile_set(parts, free, first)
        assert (more == first).all(), "none can be added"


def test_forests_have_no_cycles_and_reach_all() -> None:
    side = 5
    pairs = [((v, v + 1), [[1, 0], [0, 1]]) for v in range(side * side) if v % side < side - 1]
    pairs += [((v, v + side), [[1, 0], [0, 1]]) for v in range(side * (side - 1))]
    model = make_model([2] * side * side, pairs)
    sets = forest_sets(Parts(model.graph))
    assert np.any(sets, axis=0).all() and len(sets) == 2
    for chosen in sets:
        inside = [chosen[a] and chosen[b] for (a, b), _ in pairs]
        assert sum(inside) < chosen.sum(), "a forest has fewer pairs than members"
    plan = compile_model(Problem(model))
    move = forest_move(plan)
    assert move is not None and [len(one.member) for one in move.forests] == [int(s.sum()) for s in sets]


def test_extreme_weights_are_left_to_single_updates() -> None:
    """Numbers of forests would be too small."""
    model = make_model([2] * 3, [((0, 1), [[10_000, 0], [0, 10_000]]), ((1, 2), [[1, 0], [0, 1]])])
    assert forest_move(compile_model(Problem(model))) is None
    assert is_coupled(Problem(model)) and not is_tied(Problem(model))


CHAIN = """
type Step = 1..40
random wet(Step)
weight 6: wet(t) <=> wet(t + 1) for t in Step if t < 40
weight 0.5: wet(1)
{more}
query wet(40)
"""


@pytest.mark.parametrize("method", ["cluster", "trees"])
def test_long_strong_chains_converge(method: str) -> None:
    """With evidence at both ends and a soft count, which is conditioned on, in the middle."""
    more = "random far\nobserve wet(7)\nweight 1: far <=> wet(20)"
    exact, found = (
        plx.run(CHAIN.format(more=more), method=name, seed=1, accuracy=0.01) for name in ("exact", method)
    )
    answer = found["wet(40)"]
    assert answer.converged and abs(answer.probability - exact["wet(40)"].probability) < 4 * answer.mcse


@pytest.mark.parametrize("method", ["cluster", "trees"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("random a\nweight 1: a\nquery a", "single updates alone"),
        ("type P = 1..20\nrandom u(P)\nweight 1: count(u(x) for x in P) >= 12\nquery u(1)", "single updates"),
        ("random a\nrandom b\nrequire a | b\nweight 1: a\nquery a", ""),
        ("random a\nweight 1: a", ""),
    ],
)
def test_what_has_no_pairs_runs_the_plain_way_and_says_so(method: str, text: str, said: str) -> None:
    found = plx.run(text, method=method, seed=1, accuracy=0.02)
    exact = plx.run(text, method="exact")
    for answer, truth in zip(found.queries, exact.queries, strict=True):
        assert answer.converged and abs(answer.probability - truth.probability) < 4 * answer.mcse + 1e-9
    assert not said or any(said in note for note in found.inference.notes)


def test_the_choice_takes_clusters_where_chains_are_stuck() -> None:
    text = """
    type Person = 1..60
    random smokes(Person)
    param pull(x: Person, y: Person) = 0.2 + 0.02 * ((x * y) % 7)
    weight pull(x, y): smokes(x) = smokes(y) for x, y in Person if x < y
    weight 1: smokes(1)
    query smokes(3)
    """
    with within(20):
        name, why, _ = sample_by_choice(Problem(plx.compile(text).ground), Options(seed=1, accuracy=0.02))
    assert name == "cluster" and why.startswith("cluster made") and "lifted" in why
