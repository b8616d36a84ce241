"""Clauses, and circuits from compilers that take these: against enumeration, and how compilers may end."""

from __future__ import annotations

import math
import signal
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from plx.deadline import OutOfTimeError, seconds_left, within
from plx.infer.circuit import compiled as compiled_module
from plx.infer.circuit import compiler_process, limited_process, outside
from plx.infer.circuit.clauses import Clauses, clauses_of, cover
from plx.infer.circuit.compiled import CompiledCircuit, compiled
from plx.infer.circuit.compiler_process import compiled_apart, read_dnnf
from plx.infer.circuit.equivalent import equivalent
from plx.infer.circuit.limits import BRANCHINGS, FIRST_BRANCHING
from plx.infer.circuit.outside import smoothed
from plx.infer.circuit.plan import circuit_plan
from plx.infer.circuit.tables import factors_of
from plx.infer.exact.split import split
from plx.infer.exact_plan import GaveUpError
from plx.infer.kernels.circuit import NOTHING, Circuit
from plx.infer.kernels.propagation import Factors
from plx.infer.own_process import Ended
from plx.infer.problem import Problem
from tests.infer.circuit.test_circuit import NONE, hard_and_coupled, worlds_of
from tests.models import log_z, make_model, random_model

needs_d4 = pytest.mark.skipif(not compiler_process.installed(), reason="plx[circuits] is not installed")


def encoded(seed: int) -> tuple[Clauses, Factors, CompiledCircuit]:
    """The clauses of a random model, and the circuit of the search."""
    rng = np.random.default_rng(seed)
    model = random_model(rng, variables=4, factors=5, derived=1, max_card=3, hard=0.4)
    network = equivalent(split(model.graph)).network
    factors, pool, log = factors_of(network, np.zeros(network.n_nodes))
    if log == -math.inf or log_z(model.graph) == -math.inf:
        return encoded(seed + 1000)
    return clauses_of(factors, pool), factors, compiled(model.graph, NONE)


def models(clauses: Clauses) -> list[list[int]]:
    """All models, as literals, by a search that looks at each clause."""
    found: list[list[int]] = []

    def search(literals: list[int]) -> None:
        true = set(literals)
        if any(all(-x in true for x in clause) for clause in clauses.clauses):
            return
        if len(literals) == clauses.propositions:
            found.append(literals)
            return
        for literal in (-len(literals) - 1, len(literals) + 1):
            search([*literals, literal])

    search([])
    return found


def test_every_world_is_one_model_of_its_clauses_and_weighs_as_much() -> None:
    for seed in range(8):
        clauses, factors, circuit = encoded(seed)
        found = models(clauses)
        rows = [[2 * abs(x) + (x < 0) for x in model] for model in found]
        logs = [clauses.log[row].sum() for row in rows]
        assert np.logaddexp.reduce(logs) + circuit.log == pytest.approx(circuit.log_sum, abs=1e-9)
        worlds = {tuple(sorted(s for s in clauses.state[row].tolist() if s >= 0)) for row in rows}
        assert len(worlds) == len(found)
        assert {len(world) for world in worlds} <= {int((factors.card > 1).sum())}


def test_cubes_cover_what_is_wanted_and_nothing_that_is_not_allowed() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        allowed = rng.random((3, 2, 4)) < 0.7
        wanted = allowed & (rng.random(allowed.shape) < 0.5)
        covered = np.zeros_like(wanted)
        for cube in cover(wanted, allowed):
            assert allowed[np.ix_(*cube)].all()
            covered[np.ix_(*cube)] = True
        assert covered[wanted].all()


def dnnf_text(clauses: Clauses) -> str:
    """A d-DNNF as d4 writes it: one term for each model, of an edge with its literals. Where both values of
    the proposition of a node of two states go with the same others, it is left out, as a compiler would."""
    terms = {frozenset(model) for model in models(clauses)}
    for v in np.flatnonzero(clauses.node >= 0).tolist():
        pairs = [t for t in terms if v in t and (t - {v}) | {-v} in terms]
        for term in pairs:
            if clauses.log[2 * v] == clauses.log[2 * v + 1] == 0:
                terms -= {term, (term - {v}) | {-v}}
                terms.add(term - {v})
    edges = [f"1 2 {' '.join(map(str, sorted(t, key=abs)))} 0".replace("  ", " ") for t in terms]
    return "\n".join(["o 1 0", "t 2 0", *edges]) if edges else "f 1 0"


def check_smooth(circuit: Circuit, root: int, owner: np.ndarray) -> None:
    """Terms of a sum are about the same nodes, parts of a product share none, and the root has all."""
    scopes = [frozenset([int(node)]) for node in owner]
    for i in range(len(circuit.log)):
        parts = [scopes[child] for child in circuit.child[circuit.start[i] : circuit.start[i + 1]]]
        union = frozenset[int]().union(*parts)
        assert all(p == union for p in parts) if circuit.is_sum[i] else sum(map(len, parts)) == len(union)
        scopes.append(union)
    assert scopes[root] == frozenset(owner.tolist())


def test_what_a_compiler_leaves_open_is_said_in_the_circuit() -> None:
    for seed in range(8):
        clauses, factors, known = encoded(seed)
        root, circuit = smoothed(read_dnnf(dnnf_text(clauses)), clauses, factors)
        owner = np.repeat(np.arange(len(factors.card)), factors.card)
        check_smooth(circuit, root, owner)
        again = CompiledCircuit(known.merged, circuit, root, known.log, known.unit, "")
        assert again.log_sum == pytest.approx(known.log_sum, abs=1e-9)
        for node in range(len(factors.card)):
            np.testing.assert_allclose(again.joint((node,)), known.joint((node,)), atol=1e-9)
        np.testing.assert_allclose(again.best(4)[1], known.best(4)[1], atol=1e-9)


def test_no_world_is_the_constant_false() -> None:
    clauses, factors, _ = encoded(0)
    assert smoothed(read_dnnf("f 1 0\n"), clauses, factors)[0] == NOTHING


def test_a_node_before_its_child_is_refused() -> None:
    with pytest.raises(ValueError, match="before its child"):
        read_dnnf("o 1 0\no 2 0\n1 2 3 0\n2 1 4 0\n")


@pytest.mark.parametrize(
    ("ended", "what"),
    [
        (Ended(b"", -signal.SIGKILL), "d4 was killed"),
        (Ended(b"", 3), "bytes of memory"),
        (Ended(b"", 1), "d4 failed"),
    ],
)
def test_how_a_compiler_may_end(monkeypatch: pytest.MonkeyPatch, ended: Ended, what: str) -> None:
    monkeypatch.setattr(limited_process, "apart", lambda *_: ended)
    with pytest.raises(GaveUpError, match=what):
        compiled_apart(1, [[1]])


def test_the_next_way_is_taken_and_noted_where_the_compiler_is_killed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limited_process, "apart", lambda *_: Ended(b"", -9))
    monkeypatch.setattr(compiled_module, "installed", lambda: True)
    monkeypatch.setattr(compiled_module, "FIRST_DECISIONS", 1)
    apart = [[-math.inf if a == b else 0 for b in range(3)] for a in range(3)]
    model = make_model([3] * 6, [([i, i + 1], apart) for i in range(5)] + [([0, 5], apart)])
    model = replace(model, queries=hard_and_coupled().queries)
    plan = circuit_plan(Problem(model))
    assert plan is not None
    found = plan.run()
    assert found.log_z == pytest.approx(math.log(2**6 + 2))
    assert "compiling went on without d4: d4 was killed (signal 9)" in found.notes


def test_the_share_of_a_compiler_ends_before_the_time_does(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object) -> None:
        raise OutOfTimeError

    monkeypatch.setattr(outside, "compiled_apart", slow)
    network = split(make_model([2], [([0], [0, 1])]).graph)
    factors, pool, _ = factors_of(network, np.zeros(1))
    with within(60), pytest.raises(GaveUpError, match="d4 had not ended after 30 s"):
        outside.compiled_outside(factors, pool)
    with within(0), pytest.raises(OutOfTimeError):
        outside.compiled_outside(factors, pool)


def test_another_way_to_branch_has_the_rest_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, float]] = []

    def tried(propositions: int, clauses: list[list[int]], branching: str) -> None:
        asked.append((branching, seconds_left()))
        raise OutOfTimeError

    monkeypatch.setattr(outside, "compiled_apart", tried)
    factors, pool, _ = factors_of(split(make_model([2], [([0], [0, 1])]).graph), np.zeros(1))
    with within(60), pytest.raises(GaveUpError):
        outside.compiled_outside(factors, pool)
    assert [way for way, _ in asked] == list(BRANCHINGS)
    assert [left for _, left in asked] == pytest.approx([15, 30], abs=2)
    with suppress(OutOfTimeError):
        outside._compiled(clauses_of(factors, pool))
    assert asked[2][1] <= FIRST_BRANCHING and math.isinf(asked[3][1])


@needs_d4
def test_d4_compiles_what_the_search_does() -> None:
    for seed in range(3):
        clauses, factors, known = encoded(seed)
        root, circuit = smoothed(compiled_apart(clauses.propositions, clauses.clauses), clauses, factors)
        check_smooth(circuit, root, np.repeat(np.arange(len(factors.card)), factors.card))
        again = CompiledCircuit(known.merged, circuit, root, known.log, known.unit, "")
        assert again.log_sum == pytest.approx(known.log_sum, abs=1e-9)


@needs_d4
def test_d4_is_asked_after_the_first_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_module, "FIRST_DECISIONS", 1)
    rng = np.random.default_rng(5)
    model = random_model(rng, variables=6, factors=9, derived=1, max_card=3, hard=0.3)
    found = compiled(model.graph, NONE)
    _, logs = worlds_of(model)
    assert found.effort == "by d4" and found.log_sum == pytest.approx(np.logaddexp.reduce(logs), abs=1e-9)


@needs_d4
def test_a_compiler_that_takes_too_much_memory_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler_process, "COMPILER_MEMORY", 1 << 29)
    with pytest.raises(GaveUpError, match="more than 536,870,912 bytes of memory"):
        compiled_apart(2, [[1, 2]])
