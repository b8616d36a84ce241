"""Groups, orbits and value classes against the definition, over all variable-value permutations."""

from __future__ import annotations

import itertools
import math
import re
import sys
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from plx.graph.model import GroundModel
from plx.lift import automorphism
from plx.lift.automorphism import Automorphisms, installed
from plx.lift.find import find_symmetry
from plx.lift.normal import normalise
from plx.lift.quotient import reduce, weighted
from plx.lift.swaps import value_classes
from plx.lift.symmetry import Kind, Symmetry
from plx.weights import add, log
from tests.benchmarks.models import complete, curriculum, potts, ring
from tests.lift import brute
from tests.models import all_states, log_weights, log_z, make_model, marginal, random_model


@pytest.fixture(params=["pynauty", "pybliss"])
def solver(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which solvers did the work: only pynauty where it is installed, only pybliss where it is not."""
    if request.param == "pybliss":
        monkeypatch.setitem(sys.modules, "pynauty", None)
    elif not installed():
        pytest.skip("needs the extra plx[nauty]")
    used: list[str] = []
    for name in ("_with_pynauty", "_with_pybliss"):
        monkeypatch.setattr(automorphism, name, watched(name, used))
    return used


def watched(name: str, used: list[str]) -> Callable[..., Automorphisms]:
    real = getattr(automorphism, name)

    def call(*arguments: object) -> Automorphisms:
        used.append(name)
        found: Automorphisms = real(*arguments)
        return found

    return call


def small(seed: int) -> GroundModel:
    """Few distinct weights, unequal domains, derived nodes in most, hard zeros in every third."""
    rng = np.random.default_rng(seed)
    return random_model(
        rng,
        variables=int(rng.integers(3, 5)),
        factors=int(rng.integers(2, 6)),
        derived=int(rng.integers(0, 3)),
        hard=0.1 if seed % 3 == 0 else 0.0,
        weights=(0, 0, 1) if seed % 2 else (0, 1, -1),
    )


def images(symmetry: Symmetry) -> list[tuple[int, ...]]:
    """All generators in full."""
    out = []
    for points, moved in symmetry.generators():
        image = np.arange(symmetry.group.degree)
        image[points] = moved
        out.append(tuple(image.tolist()))
    return out


def move(start: np.ndarray, image: np.ndarray, states: np.ndarray) -> np.ndarray:
    """States [S, V] with every pair (variable, state) replaced by its image."""
    variable = np.repeat(np.arange(len(start) - 1), np.diff(start))
    out = np.empty_like(states)
    for v in range(states.shape[1]):
        pair = image[start[v] + states[:, v]]
        out[np.arange(len(states)), variable[pair]] = pair - start[variable[pair]]
    return out


def first_of(labels: np.ndarray) -> list[int]:
    return [int(np.flatnonzero(labels == label)[0]) for label in labels]


def cyclic(rng: np.random.Generator, flipped: bool) -> GroundModel:
    """Unknowns on a ring, coupled at some distances, in a random order, some with exchanged values.

    Twins and components explain nothing here, so that the solver is asked.
    """
    n = int(rng.integers(4, 7))
    name, flip = rng.permutation(n), rng.integers(0, 2, n) * flipped
    factors = [([int(name[i])], [[1, 0], [0, 1]][flip[i]]) for i in range(n) if rng.random() < 0.5]
    for distance in rng.choice(range(1, n // 2 + 1), int(rng.integers(1, 3)), replace=False):
        coupling = rng.choice([-1, 1, 2], (2, 2))
        for i in range(n):
            j = (i + int(distance)) % n
            shuffled = coupling[np.ix_([flip[i], 1 - flip[i]], [flip[j], 1 - flip[j]])]
            factors.append(([int(name[i]), int(name[j])], shuffled.tolist()))
    return make_model([2] * n, factors)


@pytest.mark.parametrize("kind", ["variable", "vv"])
def test_groups_are_right_whichever_solver_is_installed(
    kind: Kind, solver: list[str], request: pytest.FixtureRequest
) -> None:
    asked = 0
    for seed in range(40):
        model = cyclic(np.random.default_rng(seed), flipped=kind == "vv")
        booleans = range(model.graph.n_variables)
        everything = set(brute.symmetries(model, booleans if kind == "variable" else ()))
        solver.clear()
        symmetry = find_symmetry(model, kind)
        asked += bool(solver)
        assert set(solver) <= {f"_with_{request.node.callspec.params['solver']}"}
        assert symmetry.order == len(everything), seed
        assert first_of(symmetry.orbits) == brute.orbits(list(everything), int(symmetry.start[-1])), seed
        assert set(images(symmetry)) <= everything, seed
    assert asked > 5


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("kind", ["variable", "vv"])
@pytest.mark.parametrize("block", range(4))
def test_order_and_orbits_equal_brute_force(kind: Kind, block: int) -> None:
    for seed in range(40 * block, 40 * block + 40):
        model = small(seed)
        graph = model.graph
        booleans = [v for v in range(graph.n_variables) if graph.card[v] == 2]
        everything = set(brute.symmetries(model, booleans if kind == "variable" else ()))
        symmetry = find_symmetry(model, kind)
        assert symmetry.order == len(everything), seed
        assert first_of(symmetry.orbits) == brute.orbits(list(everything), int(symmetry.start[-1])), seed
        assert set(images(symmetry)) <= everything, seed


def test_generators_keep_the_log_weight_of_every_state() -> None:
    for seed in range(200, 260):
        model = random_model(np.random.default_rng(seed), variables=6, derived=2, weights=(0, 0, 0, 1))
        states = all_states(model.graph)
        before = log_weights(model.graph, states)
        for kind in ("variable", "vv"):
            symmetry = find_symmetry(model, kind)
            for image in images(symmetry):
                after = log_weights(model.graph, move(symmetry.start, np.array(image), states))
                np.testing.assert_allclose(after, before, atol=1e-12)


def test_nec_generators_keep_the_log_weight_of_every_reduced_state() -> None:
    moved = 0
    for seed in range(120):
        model = small(seed)
        symmetry = find_symmetry(model, "nec")
        quotient = symmetry.quotient
        start = quotient.start
        n = len(start) - 1
        representative = np.empty(start[-1], dtype=np.int64)
        representative[quotient.state[::-1]] = np.arange(len(quotient.state))[::-1]
        states = np.array(list(itertools.product(*(range(c) for c in np.diff(start)))))

        def weights(
            states: np.ndarray,
            model: GroundModel = model,
            representative: np.ndarray = representative,
            symmetry: Symmetry = symmetry,
        ) -> np.ndarray:
            n = states.shape[1]
            whole = representative[symmetry.quotient.start[:-1] + states] - symmetry.start[:n]
            return log_weights(model.graph, whole)

        assert states.shape[1] == n
        for image in images(symmetry):
            moved += 1
            after = weights(move(start, np.array(image), states))
            np.testing.assert_allclose(after, weights(states), atol=1e-12)
    assert moved > 30


def test_value_classes_equal_the_definition() -> None:
    for seed in range(150):
        model = small(seed)
        normal = normalise(model.values, model.graph)
        found = value_classes(normal, np.zeros(int(normal.card[: normal.n_variables].sum())))
        assert found.tolist() == brute.value_classes(model), seed


def test_reduced_and_weighted_model_has_the_same_partition_function() -> None:
    for seed in range(150):
        model = small(seed)
        pairs = int(model.graph.card[: model.graph.n_variables].sum())
        quotient = reduce(model.values, model.graph, np.zeros(pairs))
        reduced = weighted(model.values, quotient)
        idle = np.flatnonzero(np.diff(quotient.start) == 1)
        constants = np.array([reduced.constant_weight, quotient.constant_weight])
        constant = float(model.values.floats(constants).sum())
        constant += np.log(quotient.multiplicity[quotient.start[idle]]).sum()
        total = log_z(reduced.graph) if reduced.graph.n_variables else 0.0
        assert total + constant == pytest.approx(log_z(model.graph), abs=1e-9)


def test_random_elements_are_uniform_and_cover_the_group() -> None:
    for seed in (1, 5, 8, 12, 17, 22, 30, 41):
        model = small(seed)
        everything = set(brute.symmetries(model))
        symmetry = find_symmetry(model, "vv")
        if len(everything) > 50:
            continue
        rng = np.random.default_rng(seed)
        draws = 200 * len(everything)
        counts: dict[tuple[int, ...], int] = {}
        for _ in range(draws):
            image = tuple(symmetry.group.random(rng).tolist())
            counts[image] = counts.get(image, 0) + 1
        assert set(counts) == everything
        assert all(abs(c - 200) < 5 * math.sqrt(200) for c in counts.values())


# ------------------------------------------------------------------ the examples of the paper


def test_g1_exchanges_a_true_with_b_false() -> None:
    model = make_model([2, 2], [([0, 1], [[1, 0], [1, 1]]), ([0, 1], [[2, 2], [0, 2]])])
    assert find_symmetry(model, "variable").order == 1
    symmetry = find_symmetry(model, "vv")
    assert images(symmetry) == [(3, 2, 1, 0)]  # (a,0)↔(b,1), (a,1)↔(b,0)


def test_g2_has_two_orbits_of_states() -> None:
    model = make_model([2, 2], [([0, 1], [[1, 2], [2, 1]])])
    symmetry = find_symmetry(model, "vv")
    assert symmetry.order == 4
    assert orbits_of_states(symmetry, model) == [{(0, 0), (1, 1)}, {(0, 1), (1, 0)}]


def test_g3_has_the_value_class_and_the_orbits_of_the_paper() -> None:
    model = make_model([2, 3], [([0], [0, 1]), ([1], [0, 1, 1])])
    assert find_symmetry(model, "variable").order == 2
    assert find_symmetry(model, "vv").order == 2
    symmetry = find_symmetry(model, "nec")
    assert symmetry.order == 2
    assert [(v, states.tolist()) for v, states in symmetry.value_classes] == [(1, [1, 2])]
    assert orbits_of_states(symmetry, model) == [
        {(0, 0)},
        {(0, 1), (0, 2), (1, 0)},
        {(1, 1), (1, 2)},
    ]


def orbits_of_states(symmetry: Symmetry, model: GroundModel) -> list[set[tuple[int, ...]]]:
    """Orbits of states of the model; under ``nec``, states whose reduced states lie in one orbit."""
    quotient, n = symmetry.quotient, len(symmetry.start) - 1
    label: dict[tuple[int, ...], tuple[int, ...]] = {}
    group = [np.arange(symmetry.group.degree)]
    for g in group:
        for image in images(symmetry):
            product = np.array(image)[g]
            if not any((product == h).all() for h in group):
                group.append(product)
    for state in map(tuple, all_states(model.graph).tolist()):
        point = np.array([symmetry.start[v] + state[v] for v in range(n)])
        if symmetry.kind == "nec":
            point = quotient.state[point]
        label[state] = min(tuple(sorted(g[point].tolist())) for g in group)
    found: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for state, key in label.items():
        found.setdefault(key, set()).add(state)
    return sorted(found.values(), key=sorted)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [6, 10, 40])
def test_renamed_ring_keeps_its_group(n: int, seed: int) -> None:
    model = ring(n, seed)
    assert find_symmetry(model, "vv").order == n
    assert find_symmetry(ring(n, None), "variable").order == n // 2


def test_renamed_ring_of_some_size_has_no_variable_symmetry() -> None:
    assert find_symmetry(ring(100, 3), "variable").order == 1


# ----------------------------------------------------------------------------- structure


def test_people_in_a_complete_graph_are_interchangeable() -> None:
    symmetry = find_symmetry(complete(40), "vv")
    assert symmetry.order == math.factorial(40)
    assert [layer.is_symmetric for layer in symmetry.group.layers] == [True]


def test_blocks_of_several_unknowns_are_interchangeable() -> None:
    """People with two unknowns each, all tied pairwise through the first: one layer over blocks."""
    n = 9
    factors: list[tuple[list[int], object]] = [([2 * i, 2 * i + 1], [[0, 1], [2, 5]]) for i in range(n)]
    factors += [([2 * i, 2 * j], [[0, 0], [0, 3]]) for j in range(n) for i in range(j)]
    symmetry = find_symmetry(make_model([2] * (2 * n), factors), "vv")
    assert symmetry.order == math.factorial(n)
    assert [layer.points.shape for layer in symmetry.group.layers] == [(1, n, 4)]


def test_magnet_without_field_also_flips() -> None:
    n = 7
    model = make_model([2] * n, [([i, j], [[1, 0], [0, 1]]) for j in range(n) for i in range(j)])
    assert find_symmetry(model, "vv").order == 2 * math.factorial(n)
    assert find_symmetry(model, "variable").order == math.factorial(n)


def test_tied_students_make_a_wreath_product() -> None:
    symmetry = find_symmetry(curriculum(5, (2, 3, 3)), "vv")
    one = math.factorial(2) * math.factorial(3) ** 2 * 2
    assert symmetry.order == one**5 * math.factorial(5)
    assert find_symmetry(curriculum(5, (2, 3, 3)), "nec").order == math.factorial(3) ** 5 * math.factorial(5)


def test_potts_grid_has_the_square_and_the_colours() -> None:
    assert find_symmetry(potts(4), "vv").order == 8 * 6
    assert find_symmetry(potts(4), "nec").order == 8 * 6


def test_coupled_bits_flip_together_and_have_no_value_class() -> None:
    symmetry = find_symmetry(make_model([2, 2], [([0, 1], [[0, 1], [1, 0]])]), "nec")
    assert symmetry.value_classes == ()
    assert symmetry.order == 4


def test_a_swap_may_exchange_equal_features() -> None:
    """w: (X=1 ∨ Y=1) and w: (X=2 ∨ Y=1), as one table and as clauses over many unknowns."""
    clause = [[int(x == v or y == 1) for y in (0, 1)] for v in (1, 2) for x in (0, 1, 2)]
    model = make_model([3, 2], [([0, 1], clause[:3]), ([0, 1], clause[3:])])
    assert [s.tolist() for _, s in find_symmetry(model).value_classes] == [[1, 2]]
    many = 9
    exists = [0] + [1] * (many + 1)
    literals = [(i, [0, 1]) for i in range(1, many + 1)]
    derived = [([(0, [int(x == v) for x in (0, 1, 2)]), *literals], exists) for v in (1, 2)]
    top = many + 1
    model = make_model([3] + [2] * many, [([top], [0, 1]), ([top + 1], [0, 1])], derived)
    assert [s.tolist() for _, s in find_symmetry(model).value_classes] == [[1, 2]]
    model = make_model([3] + [2] * many, [([top], [0, 1]), ([top + 1], [0, 2])], derived)
    assert find_symmetry(model).value_classes == ()


def test_values_that_only_alike_nodes_tell_apart_are_merged() -> None:
    """Swapping values of X permutes nodes that weigh the same; a swap of Y's values alone does not."""
    exists = [0] + [1] * 12
    many = [(i, [0, 1]) for i in range(2, 12)]
    derived = [([(0, [int(x == v) for x in range(4)]), (1, [int(y == w) for y in range(3)]), *many], exists)
               for v, w in ((1, 1), (2, 2), (3, 1), (0, 2))]  # fmt: skip
    factors = [([12 + d], [0, 1]) for d in range(4)]
    model = make_model([4, 3] + [2] * 10, factors, derived)
    pairs = int(model.graph.card[:12].sum())
    quotient = reduce(model.values, model.graph, np.zeros(pairs))
    assert np.diff(quotient.start).tolist() == [2, 3] + [2] * 10
    merged = weighted(model.values, quotient)
    constant = model.values.logs(np.array([merged.constant_weight]))[0]
    assert log_z(merged.graph) + constant == pytest.approx(log_z(model.graph), abs=1e-12)
    summed = np.bincount(quotient.state[:4], weights=marginal(model.graph, [0]))
    np.testing.assert_allclose(marginal(merged.graph, [0]), summed, atol=1e-12)


def test_long_counts_are_interchangeable_in_their_literals() -> None:
    n = 30
    count = [([(i, [0, 1]) for i in range(n)], list(range(n + 1)))]
    weights = [k * k for k in range(n + 1)]
    symmetry = find_symmetry(make_model([2] * n, [([n], weights)], count), "vv")
    assert symmetry.order == math.factorial(n)


def test_counting_the_false_ones_is_the_same_count() -> None:
    """A weight that is the same from both ends is kept when every literal is flipped."""
    n = 12
    count = [([(i, [0, 1]) for i in range(n)], list(range(n + 1)))]
    weights = [min(k, n - k) ** 2 for k in range(n + 1)]
    symmetry = find_symmetry(make_model([2] * n, [([n], weights)], count), "vv")
    assert symmetry.order == 2 * math.factorial(n)


# --------------------------------------------------------------------------- exact weights


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (Fraction(1, 10) + Fraction(2, 10), Fraction(3, 10), True),
        (Fraction(3, 10), Fraction("0.3000000001"), False),
        (Fraction(10**30), Fraction(10**30 + 1), False),
    ],
)
def test_weights_are_compared_exactly(left: Fraction, right: Fraction, same: bool) -> None:
    model = make_model([2, 2], [([0], [0, left]), ([1], [0, right])])
    assert find_symmetry(model, "variable").order == (2 if same else 1)


def test_logs_of_products_are_one_colour() -> None:
    model = make_model([2, 2], [([0], [0, 1]), ([1], [0, 2])])
    graph, values = model.graph, model.values
    weight = graph.weight.copy()
    weight[weight == values.id(1)] = values.id(add(log(2), log(3)))
    weight[weight == values.id(2)] = values.id(log(6))
    changed = GroundModel(graph._replace(weight=weight), model.atoms, values, model.rules, model.queries)
    assert find_symmetry(changed, "variable").order == 2


# ------------------------------------------------------------------- many blocks, no time


def test_friends_are_permuted_together_with_people() -> None:
    """A symmetric group that acts on pairs of people too, next to what friends(x, x) may do on their own."""
    n = 12
    people = list(range(n))
    node = {(x, y): n + x * n + y for x in people for y in people}
    factors: list[tuple[list[int], object]] = [([x], [0, 2]) for x in people]
    for x, y in itertools.permutations(people, 2):
        factors.append(([x, y, node[x, y]], [[[0, 0], [0, 0]], [[1, 0], [1, 1]]]))
    symmetry = find_symmetry(make_model([2] * (n + n * n), factors), "vv")
    assert symmetry.order == math.factorial(n) * math.factorial(n) * 2**n
    unordered = [f for f in factors[n:] if f[0][0] > f[0][1]]
    symmetry = find_symmetry(make_model([2] * (n + n * n), factors[:n] + unordered), "vv")
    idle = n * n - n * (n - 1) // 2
    assert symmetry.order == math.factorial(idle) * 2**idle


def test_without_time_no_symmetry_is_found_and_that_is_said() -> None:
    symmetry = find_symmetry(potts(6), "vv", seconds=-1.0)
    assert symmetry.order == 1
    assert len(symmetry.notes) == 1 and "seconds" in symmetry.notes[0]


def test_a_graph_past_memory_leaves_the_model_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plx.lift.coloring.LARGEST_GRAPH", 100)
    symmetry = find_symmetry(potts(6), "vv")
    assert symmetry.order == 1
    assert "memory" in symmetry.notes[0]


def test_symmetries_by_name_and_as_a_sympy_group() -> None:
    import plx

    model = plx.compile(
        """
        type Student = s1..s4
        type Area = {theory, systems}
        type Course(Area) = {theory: {logic, sets}, systems: {os, db, nets}}
        random passed(s: Student, a: Area): {fail} | Course(a)
        weight -1: passed(s, a) = fail for s in Student, a in Area
        weight 0.5: passed(s, theory) != fail & passed(s, systems) != fail for s in Student
        observe passed(s1, theory) = logic
        query passed(s2, theory)
        """
    )
    found = model.symmetries("vv")
    assert found.order == math.factorial(3) * (2 * 6) ** 3 * 6
    assert ("passed(s2, theory)", ("logic", "sets")) in found.value_classes
    assert any("3 interchangeable blocks (s2, s3, s4) of 2 unknowns" in line for line in found.structure)
    assert found.to_sympy().order() == found.order
    reduced = model.symmetries("nec")
    assert reduced.order == math.factorial(3) * 2**3
    assert any("{os, db, nets}" in cycle for cycle in reduced.generators)
    assert reduced.to_dict(most=2)["order"] == reduced.order
    with pytest.raises(plx.PlxError, match="no kind of symmetry"):
        model.symmetries("all")  # type: ignore[arg-type]


def test_coloured_graphs_can_be_drawn() -> None:
    import xml.etree.ElementTree as ET

    import plx
    from plx.lift.draw import draw

    model = make_model([2, 3], [([0, 1], [[0, 1, 1], [2, 0, 0]])])
    svg = ET.fromstring(draw(model, "vv", "svg"))
    assert sum(part.tag.endswith("ellipse") for part in svg) == 5
    assert "ellipse: a value of an unknown" in "".join(svg.itertext())
    assert svg.findtext("{*}title") == "variable-value symmetries: 9 vertices"
    fills = [part.get("fill") for part in svg if part.get("fill")]
    assert fills and all(re.fullmatch("#[0-9a-f]{6}", fill or "") for fill in fills)
    dot = draw(model, "nec", "dot")
    assert dot.count("shape=ellipse") == 4 and "labelloc=t" in dot and "hsl" not in dot
    with pytest.raises(plx.PlxError, match="at most"):
        draw(ring(300), "vv", "svg")


def test_orders_of_any_length_are_exact_and_readable() -> None:
    from plx.lift.describe import describe, order_text

    assert order_text(720) == "720"
    assert order_text(math.factorial(15)) == "1,307,674,368,000 (about 10^12.1)"
    assert order_text(math.factorial(1000)) == "about 10^2,567.6"
    model = curriculum(2000, (2, 3))
    data = describe(find_symmetry(model, "vv"), model).to_dict(most=1)
    assert len(data["order"]) > 5000
    assert int(data["order"][-3:]) == 0
