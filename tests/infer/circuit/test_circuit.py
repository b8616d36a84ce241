"""Circuits: what they are made of, and their answers against enumeration and known integers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from plx.api import compile as compile_model
from plx.errors import PlxError
from plx.graph.model import GroundModel, GroundQuery
from plx.graph.worlds import log_weights, node_states
from plx.infer.circuit import compiled as compiled_module
from plx.infer.circuit.compiled import Compilation, CompiledCircuit, compiled
from plx.infer.circuit.exclusive import in_pairs
from plx.infer.circuit.plan import circuit_plan
from plx.infer.exact.junction_tree import ImpossibleError
from plx.infer.exact_plan import GaveUpError
from plx.infer.exact_scores import sums_of
from plx.infer.infer import infer
from plx.infer.options import Options
from plx.infer.problem import Problem
from tests.infer.test_exact_choice import coupled
from tests.models import log_z, make_model, random_model

NONE = np.empty(0, dtype=np.int64)


@pytest.fixture(autouse=True)
def uncounted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models are compiled, not counted."""
    monkeypatch.setattr("plx.infer.circuit.plan.installed", lambda: False)


def random_circuits(count: int) -> list[tuple[GroundModel, CompiledCircuit]]:
    """Random models with hard rules, counts and wide domains that have a world, and their circuits."""
    out = []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        model = random_model(rng, variables=5, factors=6, derived=2, max_card=4, hard=0.4)
        if log_z(model.graph) > -math.inf:
            out.append((model, compiled(model.graph, NONE)))
    return out


def worlds_of(model: GroundModel) -> tuple[np.ndarray, np.ndarray]:
    """All worlds as columns, and their log weights."""
    cards = model.graph.card[: model.graph.n_variables].tolist()
    states = np.array(list(itertools.product(*map(range, cards))), dtype=np.int32).T
    return states, log_weights(model.graph, node_states(model.graph, states))


def test_circuits_are_smooth_decomposable_and_deterministic() -> None:
    """Parts of a product share no node, terms of a sum have the same nodes and no world in common."""
    for _, made in random_circuits(40):
        circuit, owner = made.circuit, np.repeat(np.arange(made.network.n_nodes), made.network.card)
        nodes = [frozenset([int(node)]) for node in owner]
        pairs = [frozenset([state]) for state in range(len(owner))]
        for i in range(len(circuit.log)):
            children = circuit.child[circuit.start[i] : circuit.start[i + 1]]
            scopes = [nodes[child] for child in children]
            union = frozenset[int]().union(*scopes)
            if circuit.is_sum[i]:
                assert all(scope == union for scope in scopes)
                pairs.append(frozenset[int]().union(*(pairs[child] for child in children)))
                for a, b in itertools.combinations([pairs[child] for child in children], 2):
                    assert any(
                        not {s for s in a if owner[s] == node} & {s for s in b if owner[s] == node}
                        for node in union
                    )
            else:
                assert sum(map(len, scopes)) == len(union)
                pairs.append(frozenset[int]().union(*(pairs[child] for child in children)))
            nodes.append(union)
        assert nodes[made.root] == frozenset(range(made.network.n_nodes))


def test_circuits_weigh_every_world_as_enumeration_does() -> None:
    for model, made in random_circuits(40):
        _, logs = worlds_of(model)
        assert made.log_sum == pytest.approx(np.logaddexp.reduce(logs), abs=1e-9)


def test_the_best_worlds_are_those_of_enumeration() -> None:
    for model, made in random_circuits(25):
        _, logs = worlds_of(model)
        best, weights = made.best(7)
        possible = np.sort(logs[logs > -math.inf])[::-1][:7]
        np.testing.assert_allclose(weights, possible, atol=1e-9)
        states = best[:, made.network.node[: model.graph.n_variables]].T.astype(np.int32)
        np.testing.assert_allclose(
            log_weights(model.graph, node_states(model.graph, states)), weights, atol=1e-9
        )
        assert len({tuple(world) for world in states.T}) == len(possible)


def test_worlds_are_drawn_by_their_weights() -> None:
    count = 4_000
    for model, made in random_circuits(4):
        states, logs = worlds_of(model)
        p = np.exp(logs - np.logaddexp.reduce(logs))
        drawn = made.draw(count, np.random.default_rng(7))[:, made.network.node[: model.graph.n_variables]]
        assert (made.draw(5, np.random.default_rng(7)) == made.draw(5, np.random.default_rng(7))).all()
        index = {tuple(world): i for i, world in enumerate(states.T.tolist())}
        seen = np.bincount([index[tuple(world)] for world in drawn.tolist()], minlength=len(p))
        assert not seen[p == 0].any()
        error = np.sqrt(p * (1 - p) / count)
        assert (np.abs(seen / count - p) < 5 * error + 1e-4).all()


COLOURS = """
    type Node = 1..9
    random colour(Node): 1..4
    require colour(i) != colour(i + 1) for i in Node if i < 9
    require colour(1) != colour(9)
    query logz
"""
DERANGEMENTS = """
    type P = 1..7
    random to(P): P
    require alldifferent(to(x) for x in P)
    require to(x) != x for x in P
    query logz
"""
LATIN = """
    type N = 1..4
    random cell(N, N): N
    require cell(i, j) != cell(i, k) for i, j, k in N if j < k
    require cell(j, i) != cell(k, i) for i, j, k in N if j < k
    query logz
"""
QUEENS = """
    type Line = 1..6
    random row(column: Line): Line
    require alldifferent(row(c) for c in Line)
    require alldifferent(row(c) + c for c in Line)
    require alldifferent(row(c) - c for c in Line)
    query logz
"""
PARTITIONS = """
    type Record = 1..6
    random same(Record, Record)
    require same(i, i) for i in Record
    require same(i, j) <=> same(j, i) for i in Record, j in Record if i < j
    require same(i, j) & same(j, k) => same(i, k) for i, j, k in Record
    query logz
"""
OFFICE = """
    type P = 1..5
    random in_office(P, day: 1..3)
    require count(in_office(x, d) for x in P) <= 1 for d in 1..3
    require count(in_office(x, d) for d in 1..3) <= 2 for x in P
    query logz
"""
COUNTS = {
    "at most one in the office on each of 3 days, no one on all: 6^3 - 5": (OFFICE, 6**3 - 5),
    "colourings of a ring: 3^9 - 3": (COLOURS, 3**9 - 3),
    "derangements of 7": (DERANGEMENTS, 1854),
    "latin squares of 4": (LATIN, 576),
    "queens on 6 by 6": (QUEENS, 4),
    "partitions of 6: a Bell number": (PARTITIONS, 203),
}


@pytest.mark.parametrize("what", COUNTS)
def test_known_numbers_of_worlds_are_counted(what: str) -> None:
    text, count = COUNTS[what]
    plan = circuit_plan(Problem(compile_model(text).ground))
    assert plan is not None
    found = plan.run()
    assert found.log_z == pytest.approx(math.log(count), abs=1e-9)
    assert "compiled to a circuit of " in found.reason and " edge" in found.reason


def random_exclusive(rng: np.random.Generator) -> GroundModel:
    """Unknowns of four states, few of which may be alike, with weights; and one that counts them."""
    kinds = {i: rng.integers(0, 4, size=4).tolist() for i in range(5)}
    rules = "".join(
        f"require count(x(i) in {{{', '.join(map(str, rng.choice(3, size=2, replace=False) + 1))}}}"
        f" for i in I) <= 1\n"
        for _ in range(2)
    )
    weights = "".join(f"weight {kinds[i][v] / 4}: x({i + 1}) = {v + 1}\n" for i in range(5) for v in range(4))
    text = f"type I = 1..5\nrandom x(I): 1..4\n{rules}{weights}require count(x(i) = 1 for i in I) = 1\n"
    return compile_model(f"{text}query x(1)\nquery count(x(i) = 2 for i in I)\nquery logz").ground


def test_rules_of_at_most_one_say_the_same_as_pairs() -> None:
    for seed in range(4):
        model = random_exclusive(np.random.default_rng(seed))
        plan = circuit_plan(Problem(model))
        assert plan is not None
        found, exact = plan.run(), infer(model, "exact")
        assert found.log_z == pytest.approx(exact.log_z, abs=1e-9)
        for mine, other in zip(found.answers, exact.answers, strict=True):
            np.testing.assert_allclose(mine.p, other.p, atol=1e-9)


def test_permutations_are_pairs_alone() -> None:
    model = compile_model(DERANGEMENTS).ground
    network = in_pairs(model.graph, NONE)
    assert network.n_functions == 0 and network.n_nodes == 7


def test_map_and_sums_come_of_one_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    once: Callable[..., Compilation] = compiled_module.Compilation
    monkeypatch.setattr("plx.infer.circuit.plan.Compilation", lambda *a: calls.append(a) or once(*a))
    model = compile_model(
        """
        type P = 1..5
        random to(P): P
        require alldifferent(to(x) for x in P)
        weight x * y / 3: to(x) = y for x, y in P
        query to(1)
        query map 2
        query logz
        """
    ).ground
    plan = circuit_plan(Problem(model))
    assert plan is not None
    found = plan.run()
    worlds = found.answers[1].worlds
    assert len(calls) == 1 and [round(world.log_weight * 3) for world in worlds] == [55, 54]
    assert worlds[0].optimal and "proven best, by the circuit" in found.notes[0]
    assert sums_of(model).unit != 1.0  # the circuit was compiled in thirds


def test_weights_of_thousands_of_orders_of_magnitude_are_summed() -> None:
    """An odd number of five unknowns hold, each with weight 1 or e^-12000."""
    parity = [[[0, -math.inf], [-math.inf, 0]], [[-math.inf, 0], [0, -math.inf]]]
    scopes = [(0, 1, 5), (5, 2, 6), (6, 3, 7)]
    weights = [([v], [0, -12000]) for v in range(5)]
    model = make_model(
        [2] * 8, [*((s, parity) for s in scopes), *weights, ([4, 7], [[-math.inf, 0], [0, -math.inf]])]
    )
    made = compiled(model.graph, NONE)
    assert made.log_sum == pytest.approx(math.log(5) - 12000, abs=1e-9)
    assert made.joint((4,))[1] == pytest.approx(0.2, abs=1e-12)


def test_nodes_that_are_functions_of_one_another_are_compiled_as_one() -> None:
    """Two chains of permuted copies, tied at the end: answers are those of enumeration."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        factors: list[tuple[list[int], object]] = []
        for a, b in ((0, 1), (2, 1), (3, 4), (1, 4), (0, 2)):
            table = np.where(np.eye(3)[rng.permutation(3)] > 0, rng.integers(-2, 3), -math.inf)
            soft = rng.integers(-2, 3, size=(3, 3)).astype(float)
            factors.append(([a, b], table if (a, b) not in ((1, 4), (0, 2)) else soft))
        factors.append(([0, 5], rng.integers(-2, 3, size=(3, 3)).astype(float)))
        whole = [
            (scope, [[w if w == -math.inf else int(w) for w in row] for row in np.asarray(table)])
            for scope, table in factors
        ]
        model = make_model([3] * 6, whole)
        made = compiled(model.graph, NONE)
        assert len(made.merged.state) == 3
        states, logs = worlds_of(model)
        p = np.exp(logs - np.logaddexp.reduce(logs))
        for nodes in ((2,), (0, 1), (4, 2, 5), (3, 4)):
            place = np.ravel_multi_index(tuple(states[list(nodes)]), [3] * len(nodes))
            np.testing.assert_allclose(made.joint(nodes), np.bincount(place, p, 3 ** len(nodes)), atol=1e-12)
        best, weights = made.best(2)
        np.testing.assert_allclose(
            log_weights(model.graph, node_states(model.graph, best.T.astype(np.int32))), weights
        )


def test_no_world_is_told_from_rules_that_only_search_finds_to_clash() -> None:
    """Three unknowns of two states, pairwise different: no table alone rules anything out."""
    apart = [[-math.inf, 0], [0, -math.inf]]
    with pytest.raises(ImpossibleError):
        compiled(make_model([2] * 3, [([0, 1], apart), ([1, 2], apart), ([0, 2], apart)]).graph, NONE)


def hard_and_coupled() -> GroundModel:
    """A model that neither elimination nor a circuit of a few edges answers."""
    model = coupled(40)
    table = [[[0, 0], [0, -math.inf]], [[0, 0], [0, 0]]]
    factors = [([i, i + 1, i + 2], table) for i in range(38)]
    pairs = [([i, j], [[(i * j) % 7, 0], [0, 1]]) for i in range(40) for j in range(i + 1, 40)]
    return replace(make_model([2] * 40, [*factors, *pairs]), queries=model.queries[:1])


def test_a_circuit_that_gets_too_large_is_given_up_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_module, "EDGES", 2_000)
    model = hard_and_coupled()
    plan = circuit_plan(Problem(model))
    assert plan is not None
    with pytest.raises(GaveUpError, match="more than 2,000 edges"):
        plan.run()
    sampled = infer(model, "auto", Options(seed=1, samples=1_000))
    assert any("compiling a circuit was given up" in note for note in sampled.notes)
    with pytest.raises(PlxError, match="exact inference is out of reach") as refused:
        infer(model, "exact")
    assert "compiling a circuit was given up" in str(refused.value)


def test_joint_queries_that_take_too_many_passes_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    (_, made), *_ = random_circuits(3)
    monkeypatch.setattr(compiled_module, "READS", float(len(made.circuit.child)))
    assert made.joint((0,)).sum() == pytest.approx(1)
    with pytest.raises(GaveUpError, match="too many passes"):
        made.joint((0, 1))


def test_models_without_rules_and_counts_are_left_to_elimination() -> None:
    assert circuit_plan(Problem(make_model([2, 2], [([0, 1], [[1, 0], [0, 2]])]))) is None


def test_only_a_map_query_needs_no_joint() -> None:
    """The plan fills `map` in, and leaves other answers as they are."""
    model = make_model([3, 3], [([0, 1], [[2, 0, -math.inf], [0, 1, 0], [0, 0, 3]])])
    query = GroundQuery("map", "map", "map", (), (), None, best=2)
    plan = circuit_plan(Problem(replace(model, queries=(query,))))
    assert plan is not None
    assert [world.log_weight for world in plan.run().answers[0].worlds] == [3.0, 2.0]
