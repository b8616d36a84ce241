"""Answers by counting models: with a counter that lists them, against enumeration; how counters may end."""

from __future__ import annotations

import math
import signal
from collections.abc import Iterable
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from plx.deadline import within
from plx.graph.model import GroundModel, GroundQuery
from plx.infer.circuit import compiled as compiled_module
from plx.infer.circuit import counter_process, limited_process, plan, weighted_counts
from plx.infer.circuit.compiled import Compilation, compiled
from plx.infer.circuit.counter_process import Formula, counts_apart
from plx.infer.circuit.exclusive import in_pairs
from plx.infer.exact.junction_tree import ImpossibleError
from plx.infer.exact_plan import GaveUpError
from plx.infer.own_process import Ended
from plx.infer.problem import Problem
from tests.infer.circuit.test_circuit import NONE
from tests.infer.circuit.test_outside import models
from tests.models import log_z, make_model, random_model

needs_ganak = pytest.mark.skipif(not counter_process.installed(), reason="pyganak is not installed")

LOG_Z = GroundQuery("logz", "logz", "logz", (), (), None)


class Counter:
    """Counts models as pyganak's `Counter` does, one after the other."""

    def __init__(self) -> None:
        self.propositions, self.clauses = 0, list[list[int]]()

    def new_vars(self, n: int) -> None:
        """More propositions."""
        self.propositions += n

    def add_clauses(self, clauses: Iterable[list[int]]) -> None:
        """More clauses, and the propositions in them."""
        self.clauses += clauses
        self._extend(abs(x) for clause in self.clauses for x in clause)

    def _extend(self, propositions: Iterable[int]) -> None:
        self.propositions = max([self.propositions, *propositions])

    def count(self) -> float:
        """How many models there are."""
        return len(models(self))  # type: ignore[arg-type]


class WeightedCounter(Counter):
    """As pyganak's: weights are doubles, and so is the count."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = dict[int, float]()

    def set_lit_weight(self, literal: int, weight: float) -> None:
        """The weight of a literal; 1 if there is none."""
        self.weight[literal] = weight
        self._extend([abs(literal)])

    def count(self) -> float:
        """The sum of the weights of all models."""
        logs = [
            sum(math.log(self.weight.get(x, 1.0)) for x in model)
            for model in models(self)  # type: ignore[arg-type]
        ]
        log = float(np.logaddexp.reduce(logs)) if logs else -math.inf
        return math.exp(log) if log < 709 else math.inf


LISTING = SimpleNamespace(Counter=Counter, WeightedCounter=WeightedCounter)


@pytest.fixture
def listing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A counter that lists models, in this process; the first turns of the search end nothing."""
    monkeypatch.setattr(
        counter_process, "answer_apart", lambda *sent: counter_process._answer(LISTING, sent[-1])
    )
    monkeypatch.setattr(plan, "installed", lambda: True)
    monkeypatch.setattr(compiled_module, "installed", lambda: False)
    monkeypatch.setattr(compiled_module, "FIRST_DECISIONS", 1)
    monkeypatch.setattr(compiled_module, "BEST_ROUNDS", 0)


def random_models(count: int) -> list[GroundModel]:
    """Random models with hard rules and counts."""
    rng = np.random.default_rng(3)
    return [random_model(rng, variables=4, factors=5, derived=1, max_card=3, hard=0.4) for _ in range(count)]


@pytest.mark.usefixtures("listing")
def test_counts_give_log_z_and_joint_distributions() -> None:
    for model in random_models(6):
        circuit = compiled(model.graph, NONE)
        compiling = Compilation(in_pairs(model.graph, NONE))
        n = compiling.merged.network.n_nodes
        wanted = [(), *((node,) for node in range(n)), (0, n - 1)]
        sums = weighted_counts.weighted_counts(compiling, wanted)
        assert sums.log_sum == pytest.approx(log_z(model.graph), abs=1e-9)
        for nodes in wanted:
            np.testing.assert_allclose(sums.joints[nodes], circuit.joint(nodes), atol=1e-9)


@pytest.mark.usefixtures("listing")
def test_log_z_alone_is_counted_where_the_first_turns_do_not_end() -> None:
    ways = set()
    for model in random_models(6):
        found = plan.CircuitPlan(Problem(replace(model, queries=(LOG_Z,)))).run()
        assert found.log_z == pytest.approx(log_z(model.graph) + model.log_constant, abs=1e-9)
        ways.add(found.reason.split(",")[0])
    assert "1 count of weighted models by ganak" in ways


@pytest.mark.usefixtures("listing")
def test_a_model_without_a_world_is_impossible() -> None:
    apart = [[-math.inf if a == b else 0 for b in range(2)] for a in range(2)]
    model = make_model([2] * 3, [([0, 1], apart), ([1, 2], apart), ([0, 2], apart), ([0], [0, 1])])
    with pytest.raises(ImpossibleError):
        weighted_counts.weighted_counts(Compilation(in_pairs(model.graph, NONE)), [()])


@pytest.mark.parametrize("logs", [[-500.0] * 4, [0.0] * 4, [-3.0, -600.0, -1.0, -590.0], [-1e-3] * 2])
def test_counts_beyond_the_range_of_doubles(logs: list[float]) -> None:
    literals = range(1, len(logs) + 1)
    forced = Formula(len(logs), [[x] for x in literals], dict(zip(literals, logs, strict=True)))
    assert counter_process._log_count(LISTING, forced, ()) == pytest.approx(sum(logs), abs=1e-9)
    assert counter_process._log_count(LISTING, forced, (-1,)) == -math.inf


def test_every_count_is_near_a_scale() -> None:
    for logs in ([-1.0], [-500.0] * 40, []):
        formula = Formula(3000, [], dict(enumerate(logs, start=1)))
        for value in np.linspace(sum(logs), 3000 * math.log(2), 50):
            assert min(abs(value - centre) for centre in counter_process._centres(formula)) < 701


def test_weights_too_far_apart_and_too_many_counts_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    far = make_model([2, 2], [([0, 1], [[0, -math.inf], [0, 0]]), ([0], [0, -5000])])
    with pytest.raises(GaveUpError, match="further apart"):
        weighted_counts.weighted_counts(Compilation(in_pairs(far.graph, NONE)), [()])
    monkeypatch.setattr(weighted_counts, "COUNTS", 2)
    with pytest.raises(GaveUpError, match="3 counts are needed"):
        weighted_counts.weighted_counts(Compilation(in_pairs(far.graph, NONE)), [(0,)])


def test_counts_that_would_take_too_long_together_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        counter_process, "answer_apart", lambda *sent: counter_process._answer(LISTING, sent[-1])
    )
    formula = Formula(1, [[1]], {})
    with within(1e-6), pytest.raises(GaveUpError, match="2 counts of"):
        counts_apart(formula, [[1]])
    assert counts_apart(formula, [[1], [-1]]) == [0.0, 0.0, -math.inf]


@pytest.mark.parametrize(
    ("ended", "what"),
    [
        (Ended(b"", -signal.SIGKILL), "ganak was killed"),
        (Ended(b"", 3), "bytes of memory"),
        (Ended(b"", 1), "ganak failed"),
    ],
)
def test_the_circuit_is_next_where_the_counter_ends_badly(
    monkeypatch: pytest.MonkeyPatch, ended: Ended, what: str
) -> None:
    monkeypatch.setattr(limited_process, "apart", lambda *_: ended)
    monkeypatch.setattr(plan, "installed", lambda: True)
    monkeypatch.setattr(compiled_module, "installed", lambda: False)
    monkeypatch.setattr(compiled_module, "FIRST_DECISIONS", 1)
    apart = [[-math.inf if a == b else 0 for b in range(3)] for a in range(3)]
    model = make_model([3] * 6, [([i, i + 1], apart) for i in range(5)] + [([0, 5], apart)])
    found = plan.CircuitPlan(Problem(replace(model, queries=(LOG_Z,)))).run()
    assert found.log_z == pytest.approx(math.log(2**6 + 2))
    assert what in " ".join(found.notes)


@needs_ganak
def test_ganak_counts_what_the_search_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_module, "FIRST_DECISIONS", 1)
    for model in random_models(2):
        sums = weighted_counts.weighted_counts(Compilation(in_pairs(model.graph, NONE)), [(), (1,)])
        assert sums.log_sum == pytest.approx(log_z(model.graph), abs=1e-9)
        np.testing.assert_allclose(sums.joints[1,], compiled(model.graph, NONE).joint((1,)), atol=1e-9)
