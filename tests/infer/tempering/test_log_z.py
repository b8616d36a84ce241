"""log Z by sampling: calibrated, absent where it is not known, and the same in every format."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import plx
from plx.answer.result import Result
from plx.infer.chains import Bridges, BridgeSums
from plx.infer.infer import infer
from plx.infer.inference import LogZ
from plx.infer.mcmc.estimates import log_z_notes
from plx.infer.mcmc.log_z import FEW, estimate
from plx.infer.options import Options
from plx.infer.problem import Problem
from plx.infer.tempering import reference, tempered, tuning
from plx.infer.tempering.cold import grown
from tests.benchmarks.log_z import CRITICAL, ising, ising_log_z, models, scores, with_log_z
from tests.models import all_states, log_weights, make_model, random_model


def test_standard_errors_of_log_z_are_calibrated() -> None:
    """As `python -m tests.benchmarks.log_z` finds with more runs."""
    z = np.concatenate([scores(model, exact, 8, 1024) for _, model, exact in list(models())[:4:3]])
    assert np.abs(z).max() < 4.5
    assert 0.5 < (z**2).mean() < 1.7


def test_ladders_that_have_not_mixed_say_so_in_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Far too short a run, of single updates alone."""
    monkeypatch.setattr(tuning, "PHASES", (4, 8))
    monkeypatch.setattr(tempered, "cluster_sets", lambda plan: ())
    monkeypatch.setattr(tempered, "solvable_part", lambda parts: None)
    model, exact = with_log_z(ising(20, 1.5)), ising_log_z(20, 1.5)
    found = infer(model, "tempered", Options(seed=1, chains=16, samples=64, seconds=None))
    assert found.log_z is not None and abs(found.log_z - exact) < 3 * found.log_z_mcse
    assert found.log_z_mcse > 1 and not found.answers[-1].converged


def test_a_note_says_why_the_error_is_large() -> None:
    (apart,) = log_z_notes(LogZ(2.0, 1.0, 9.0, 1.0, 9, (1.0, 3.5)), 64)
    assert "began hot" in apart and "between 1 " in apart and "and 3.5 " in apart
    (few,) = log_z_notes(LogZ(2.0, 1.0, 9.0, 1.0, 9), 64)
    assert "in 9 of 64 chains" in few
    assert log_z_notes(LogZ(2.0, 1.0, 9.0, 1.0, 60), 64) == log_z_notes(None, 64) == ()


def _bridges(rng: np.random.Generator, bias: np.ndarray, trips: int) -> Bridges:
    """Two temperatures, whose ratio each of 16 chains sees off by a bias and noise of 0.1 at β = 0."""
    made = Bridges(0.0, np.ones(1), np.zeros(1), np.arange(16) % 2 == 1)
    for _ in range(4):
        above = np.exp(bias + 0.1 * rng.standard_normal((1, 16)))
        line, came = np.array([above[0], above[0] ** 2]), np.full(16, trips)
        made.add(BridgeSums(above, np.ones((1, 16)), np.zeros((2, 16)), line, np.zeros((1, 2, 16)), came, 1))
        made.look()
    return made


def test_chains_that_no_world_passed_through_do_not_count() -> None:
    passed, not_passed = (estimate(_bridges(np.random.default_rng(0), np.zeros(16), n)) for n in (1, 0))
    assert passed is not None and not_passed is not None
    assert (passed.mixed, not_passed.mixed) == (16, 0)
    assert passed.mcse < 0.02 and not_passed.mcse == pytest.approx(4 * passed.mcse)


def test_what_began_hot_and_cold_differs_by_is_error() -> None:
    found = estimate(_bridges(np.random.default_rng(0), np.arange(16) % 2 * 1.0, 1))
    assert found is not None and found.apart is not None
    hot, cold = found.apart
    assert hot == pytest.approx(0, abs=0.1) and cold == pytest.approx(1, abs=0.1)
    assert found.mcse > 0.45


def test_a_mean_that_hangs_on_one_chain_is_not_trusted() -> None:
    """The other chains say nothing of a world that one of them met: log Z lies between mean log weights."""
    made = _bridges(np.random.default_rng(0), 9.0 * (np.arange(16) == 3), 1)
    made.batches = [one._replace(total=np.array([[0.0], [6.0]]) + np.zeros((2, 16))) for one in made.batches]
    found = estimate(made)
    assert found is not None and found.value == pytest.approx(3.0) and found.mcse >= 6.0


@pytest.mark.parametrize("others", range(FEW + 2))
def test_what_fewer_than_five_chains_saw_is_as_good_as_not_seen(others: int) -> None:
    """Where all draws weigh the same but those of some chains, they may have missed what they never drew."""
    rounds = 50
    sums = np.full((1, 16), float(rounds))
    sums[0, :others] *= 1.001
    nothing = np.zeros((2, 16))
    for flat in (False, True):
        made = Bridges(0.0, np.ones(1), np.zeros(1), np.arange(16) % 2 == 1, flat=flat)
        for _ in range(4):
            made.add(
                BridgeSums(
                    sums, sums[:, ::-1], nothing, nothing, nothing[None], np.ones(16, dtype=np.int64), rounds
                )
            )
            made.look()
        found = estimate(made)
        assert found is not None
        unseen = np.sqrt(2) / (16 * 4 * rounds)
        assert found.mcse < unseen if flat or others >= FEW else found.mcse >= unseen


@pytest.mark.parametrize("seed", range(3))
def test_a_world_that_is_grown_is_the_best_where_nothing_is_frustrated(seed: int) -> None:
    """A ferromagnet of which values were renamed, unknown by unknown."""
    rng = np.random.default_rng(seed)
    name = [rng.permutation(3) for _ in range(8)]
    pairs = [(i, j) for i in range(8) for j in range(i) if rng.random() < 0.6]
    tables = [np.where(name[i][:, None] == name[j][None], rng.random() + 0.1, 0) for i, j in pairs]
    graph = make_model([3] * 8, list(zip(pairs, tables, strict=True))).graph
    world = grown(graph)
    assert world is not None
    best = log_weights(graph, all_states(graph)).max()
    assert log_weights(graph, world[None])[0] == pytest.approx(best)


@pytest.mark.parametrize("size", [3, 4])
def test_the_closed_form_of_the_torus_is_what_counting_gives(size: int) -> None:
    exact = infer(with_log_z(ising(size, CRITICAL)), "exact").log_z
    assert exact == pytest.approx(ising_log_z(size, CRITICAL), abs=1e-9)


def test_worlds_at_beta_0_are_those_that_hard_rules_leave() -> None:
    for seed in range(6):
        model = random_model(np.random.default_rng(seed), variables=6, factors=6, derived=2, hard=0.2)
        table = np.where(model.graph.table == -np.inf, -np.inf, 0.0)
        flat = model.graph._replace(table=table)
        count = np.isfinite(log_weights(flat, all_states(flat))).sum()
        if count:
            assert reference.log_worlds(Problem(model)) == pytest.approx(np.log(count))


def test_what_cannot_be_counted_in_time_leaves_log_z_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "COUNTING", 0.0)
    tied = [[-np.inf, 0], [0, 1]]
    model = with_log_z(make_model([2] * 20, [((i, i + 1), tied) for i in range(19)]))
    found = infer(model, "tempered", Options(seed=1, accuracy=0.05))
    assert found.log_z is None and found.answers[-1].log_z is None
    assert any("hard rules leave were not counted" in note for note in found.notes)
    assert found.answers[0].converged, "other answers are there"


def test_log_z_alone_may_be_asked_for() -> None:
    model = make_model([2, 3], [((0, 1), [[0, 1, 2], [1, 0, -1]])])
    alone = with_log_z(replace(model, queries=()))
    found, exact = (infer(alone, method, Options(seed=2)) for method in ("tempered", "exact"))
    (answer,) = found.answers
    assert answer.converged and answer.rhat is not None and found.status == "done"
    assert answer.log_z == pytest.approx(exact.log_z, abs=4 * answer.log_z_mcse)


def test_a_clique_out_of_reach_gets_log_z_from_auto() -> None:
    rng = np.random.default_rng(0)
    pairs = [((i, j), [[0, 0], [0, int(rng.integers(-1, 2))]]) for i in range(45) for j in range(i)]
    model = make_model([2] * 45, pairs)
    asked = with_log_z(replace(model, queries=model.queries[:1]))
    found = infer(asked, options=Options(seed=1, accuracy=0.02, samples=20_000, seconds=4))
    assert found.method == "tempered" and "log Z is asked for" in found.reason
    assert found.log_z is not None and found.log_z_mcse > 0


def test_nothing_left_to_sample_is_exact() -> None:
    """Unknowns that no query needs are summed out before."""
    found = plx.run("random a\nrandom b\nweight 1: a = b\nquery logz", method="tempered", seed=1)
    assert found["logz"].log_z == pytest.approx(np.log(2 + 2 * np.e)) and found["logz"].mcse == 0


def test_every_format_has_the_error_of_log_z(tmp_path: Path) -> None:
    text = "random a\nrandom b\nweight 1: a = b\nweight 1: a\nquery a\nquery logz"
    result = plx.run(text, method="tempered", seed=1)
    query = result["logz"]
    assert query.mcse > 0
    shown = str(result)
    assert f"{query.mcse:.1e}" in shown and "log Z" in shown and "±" in shown
    data = json.loads(result.to_json())
    assert data["log_z_mcse"] == data["queries"][1]["log_z_mcse"] == query.mcse
    assert f",{query.mcse}," in result.to_csv()
    (tmp_path / "kept.json").write_text(result.to_json(), encoding="utf-8")
    again = Result.load(tmp_path / "kept.json")
    assert (again["logz"].log_z, again["logz"].mcse) == (query.log_z, query.mcse)
