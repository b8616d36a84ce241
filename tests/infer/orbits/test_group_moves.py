"""Moves along orbits, piece by piece: which way each kind is drawn, and that all ways agree."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from plx.graph.assemble import variable_cards
from plx.graph.ragged import starts
from plx.infer.gibbs.chains import chains_at, no_counts
from plx.infer.kernels.pieces import ARRANGED, EVEN, PROPOSED, UNKNOWNS, VALUES
from plx.infer.orbits import nec, orbital
from plx.infer.orbits.group_moves import chances, moves_of, suffix_polynomials
from plx.infer.problem import Problem
from plx.lift.find import find_symmetry, reduced_group
from plx.lift.group import Group
from plx.lift.layers import Layer, generated, symmetric
from plx.lift.reduced import reduced_model
from plx.lift.schreier_sims import flat, stabiliser_chain
from tests.benchmarks.models import complete, curriculum, ring
from tests.infer.orbits.moving import apply_moves
from tests.models import make_model, random_model

FOUR = np.array([0, 3, 6, 9, 12])
"""Where the points of four unknowns of three values begin."""

TWO = np.arange(0, 14, 2)
"""Where the points of six Boolean unknowns begin."""

CYCLE = np.array([2, 3, 4, 5, 0, 1], dtype=np.int32)
"""The first of three Boolean unknowns goes to the second, and so on."""

TURN = np.array(
    [[2, 3, 4, 5, 0, 1, 8, 9, 10, 11, 6, 7], [3, 2, 1, 0, 5, 4, 8, 9, 6, 7, 10, 11]], dtype=np.int32
)
"""Two permutations of twelve points that move two rings of three Boolean unknowns, and flip some."""

GROUPS: dict[str, tuple[int, np.ndarray, Layer, np.ndarray | None]] = {
    "values of one unknown": (VALUES, FOUR, symmetric(np.array([[3], [5]])), None),
    "three values of one unknown": (VALUES, FOUR, symmetric(np.array([[6], [7], [8]])), None),
    "two unknowns": (UNKNOWNS, FOUR, symmetric(np.array([[0, 1, 2], [6, 7, 8]])), None),
    "blocks of unknowns": (UNKNOWNS, TWO, symmetric(np.arange(12).reshape(3, 4)), None),
    "unknowns whose points are listed otherwise": (
        UNKNOWNS,
        FOUR,
        symmetric(np.array([[2, 0, 1], [5, 3, 4], [11, 9, 10]])),
        None,
    ),
    "unknowns that change names": (EVEN, FOUR, symmetric(np.array([[0, 1, 2], [4, 5, 3]])), None),
    "colours": (EVEN, FOUR, symmetric(np.arange(12).reshape(4, 3).T.copy()), None),
    "some colours": (EVEN, FOUR, symmetric(np.array([[0, 3, 6], [2, 5, 8]])), None),
    "a ring": (EVEN, TWO, generated(np.arange(2, 8), CYCLE[None], 3), None),
    "values, with weights": (ARRANGED, FOUR, symmetric(np.array([[3], [4], [5]])), np.log([1.0, 2, 3] * 4)),
    "Booleans, with weights": (
        ARRANGED,
        TWO,
        symmetric(np.arange(12).reshape(6, 2)),
        np.log(np.arange(1.0, 13)),
    ),
    "blocks, with weights": (
        ARRANGED,
        TWO,
        symmetric(np.arange(12).reshape(3, 4)),
        np.log(np.arange(1.0, 13)),
    ),
    "a ring, with weights": (
        PROPOSED,
        TWO,
        generated(np.arange(6), CYCLE[None], 3),
        np.log(np.arange(1.0, 13)),
    ),
    "rings, one with weights": (
        PROPOSED,
        TWO,
        generated(np.arange(12), TURN, 0),
        np.log([1.0] * 6 + [1, 2, 1, 3, 1, 4]),
    ),
    "a ring of three values, with weights": (
        PROPOSED,
        FOUR,
        generated(np.arange(9), np.array([[4, 3, 5, 6, 8, 7, 1, 0, 2]], dtype=np.int32), 0),
        np.log([1.0, 1, 3, 2, 2, 1, 1, 4, 2, 1, 1, 1]),
    ),
}
"""The kind, where points begin, a layer, and weights."""


def known(name: str) -> tuple[int, np.ndarray, Group, np.ndarray]:
    kind, start, layer, weight = GROUPS[name]
    if layer.order == 0:
        layer = replace(layer, order=stabiliser_chain(layer.generators).order)
    degree = int(start[-1])
    return kind, start, Group(degree, (layer,)), np.zeros(degree) if weight is None else weight


def closure(group: Group) -> list[np.ndarray]:
    """All elements, as the images of points."""
    found = {tuple(range(group.degree))}
    steps = []
    for points, images in group.generators():
        step = np.arange(group.degree)
        step[points] = images
        steps.append(step)
    for g in (front := list(found)):
        for product in (tuple(step[list(g)].tolist()) for step in steps):
            if product not in found:
                found.add(product)
                front.append(product)
    return [np.array(g) for g in found]


def image_of(start: np.ndarray, state: np.ndarray, element: np.ndarray) -> tuple[int, ...]:
    points = np.sort(element[start[:-1] + state])
    return tuple((points - start[:-1]).tolist())


@pytest.mark.parametrize("name", GROUPS)
def test_every_kind_of_piece_draws_its_orbit_in_proportion(name: str) -> None:
    kind, start, group, weight = known(name)
    moves, _ = moves_of(group, start, weight)
    assert moves.batch_kind.tolist() == [kind]
    first = np.array([1, 0, 2, 0] if start is FOUR else [1, 0, 1, 0, 0, 1])
    orbit = sorted({image_of(start, first, g) for g in closure(group)})
    assert len(orbit) > 1
    p = np.exp([weight[start[:-1] + np.array(state)].sum() for state in orbit])
    p /= p.sum()
    times, lanes = 20_000, 2
    state, random = first[:, None].repeat(lanes, 1).astype(np.uint8), np.arange(1, lanes + 2, dtype=np.uint64)
    seen = []
    for _ in range(times):
        if kind not in (ARRANGED, PROPOSED):
            state[:] = first[:, None]  # one uniform element is enough
        apply_moves(moves, np.diff(start), state, random)
        seen.append(state.copy())
    found = dict.fromkeys(orbit, 0)
    for state in map(tuple, np.swapaxes(np.array(seen), 1, 2).reshape(-1, len(first)).tolist()):
        found[state] += 1  # a KeyError for a state that is not of the orbit
    share = np.array(list(found.values())) / (times * lanes)
    # Lanes share elements, and a chain that refuses repeats itself: at least one move in 5 counts.
    fresh = times if kind != PROPOSED else times / 5
    assert (np.abs(share - p) < 5 * np.sqrt(p * (1 - p) / fresh)).all()


@pytest.mark.parametrize("name", GROUPS)
def test_lanes_move_alike_however_they_are_dealt_to_blocks(name: str) -> None:
    """A block of one lane has a way of its own, and all have the same results."""
    _, start, group, weight = known(name)
    moves, _ = moves_of(group, start, weight)
    rng = np.random.default_rng(3)
    card = np.diff(start)
    state = (rng.integers(0, 6, size=(len(card), 33)) % card[:, None]).astype(np.uint8)
    random = rng.integers(2**63, size=34).astype(np.uint64)
    parts = [(slice(lane, lane + 1), np.array([random[lane], random[33]])) for lane in range(33)]
    alone = [(np.ascontiguousarray(state[:, lane]), own) for lane, own in parts]
    for _ in range(20):
        total = apply_moves(moves, card, state, random, 3)
        each = sum(apply_moves(moves, card, block, own, 3) for block, own in alone)
        np.testing.assert_array_equal(np.concatenate([block for block, _ in alone], axis=1), state)
        np.testing.assert_array_equal(each, total)
        assert {int(own[1]) for _, own in alone} == {int(random[33])}


@pytest.mark.parametrize("kind", ["variable", "vv", "nec"])
def test_a_group_found_in_a_model_moves_alike_in_any_blocks(kind: str) -> None:
    seen = set()
    made = [random_model(np.random.default_rng(seed), variables=5, weights=(0, 0, 1)) for seed in range(25)]
    for model in (*made, complete(5), curriculum(3, (2, 3, 4)), ring(12, 1)):
        if kind == "nec":
            quotient = reduced_model(replace(model, queries=())).quotient
            group, _ = reduced_group(model.values, quotient)
            card = variable_cards(quotient.graph).astype(np.int64)
            weight = np.log(quotient.multiplicity[quotient.pair_of()])
        else:
            group, card = find_symmetry(model, kind).group, variable_cards(model.graph).astype(np.int64)  # type: ignore[arg-type]
            weight = np.zeros(group.degree)
        if not group.layers:
            continue
        moves, _ = moves_of(group, starts(card), weight)
        seen |= set(moves.batch_kind.tolist())
        rng = np.random.default_rng(1)
        state = (rng.integers(0, 12, size=(len(card), 4)) % card[:, None]).astype(np.uint8)
        random = rng.integers(2**63, size=5).astype(np.uint64)
        alone = [(state[:, i : i + 1].copy(), np.array([random[i], random[4]])) for i in range(4)]
        apply_moves(moves, card, state, random, 5)
        for block, own in alone:
            apply_moves(moves, card, block, own, 5)
        np.testing.assert_array_equal(np.concatenate([block for block, _ in alone], axis=1), state)
    assert len(seen) >= 3 - (kind == "variable")


def test_counters_follow_moves() -> None:
    """Totals and states of derived nodes after moves are those of the states that the moves led to."""
    changed = 0
    for seed in range(40):
        model = random_model(np.random.default_rng(seed), variables=5, derived=4, weights=(0, 0, 1))
        for init in (orbital.init_orbital, orbital.init_vv, nec.init):
            made = init(Problem(model), seed, 3, 1)
            chains = made.chains if isinstance(made, nec.NecChains) else made
            inner = chains.chains.swept
            if not len(chains.moves.blocks):
                continue
            before = inner.states
            orbital.advance(chains, 0, 3, 0, no_counts(inner)[0][:0])
            fresh = chains_at(inner.plan, inner.states, seed, 1)
            np.testing.assert_array_equal(inner.blocks[0].total, fresh.blocks[0].total)
            np.testing.assert_array_equal(inner.blocks[0].level, fresh.blocks[0].level)
            changed += bool(len(inner.blocks[0].total)) and bool((before != inner.states).any())
    assert changed > 10


def test_a_flat_chain_has_the_same_elements_each_once() -> None:
    for generators in (TURN, CYCLE[None], np.array([[1, 0, 2, 3], [1, 2, 3, 0]], dtype=np.int32)):
        chain = stabiliser_chain(generators)
        level = flat(chain, 1 << 20)
        assert level.order == chain.order and level.longest_word == len(level.base)
        assert flat(chain, 1) is chain
        factors = []
        for at, size in enumerate(level.size.tolist()):
            points = level.orbit[at, 1:size]
            factors.append([np.arange(level.elements.shape[1]), *level.elements[level.via[at, points]]])
            assert (level.elements[level.via[at, points], level.base[at]] == points).all()
        products = set()
        for parts in itertools.product(*factors):
            image = np.arange(level.elements.shape[1])
            for factor in reversed(parts):
                image = factor[image]
            products.add(tuple(image.tolist()))
        group = Group(
            generators.shape[1], (generated(np.arange(generators.shape[1]), generators, chain.order),)
        )
        assert products == {tuple(g.tolist()) for g in closure(group)}
        assert len(products) == chain.order


def test_chances_of_blocks_equal_enumeration() -> None:
    odds = np.array([0.5, 3.0, 1.0, 7.0])
    table = chances(np.log(odds))
    for j, left in itertools.product(range(4), range(5)):
        sets = list(itertools.combinations(range(j, 4), left))
        if not sets:
            continue
        weight = np.array([odds[list(s)].prod() for s in sets])
        assert table[j, left] == pytest.approx(weight[[j in s for s in sets]].sum() / weight.sum(), abs=1e-14)
        if left == 4 - j:
            assert table[j, left] == 1.0
    assert np.isfinite(chances(np.linspace(-700, 700, 40))).all()
    assert suffix_polynomials(np.log(odds)).shape == table.shape


def test_ties_of_exact_weights_are_no_weights() -> None:
    """Pieces whose weights are equal are moved as they are, with nothing to refuse."""
    model = make_model([3, 3], [([0, 1], [[Fraction(1), 0, 0], [0, Fraction(1), 0], [0, 0, Fraction(1)]])])
    symmetry = find_symmetry(model, "vv")
    moves, _ = moves_of(symmetry.group, symmetry.start, np.full(symmetry.group.degree, np.log(3.0)))
    assert len(moves.blocks) and not set(moves.batch_kind.tolist()) & {ARRANGED, PROPOSED}
