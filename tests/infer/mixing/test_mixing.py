"""Which part of a program mixes badly is found and named, and so is what helps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import plx
from plx.cli.commands import app
from plx.errors import CallError
from plx.infer.mixing.remedies import remedies
from plx.infer.mixing.report import Mixing, Part, Trial
from tests.infer.mcmc.test_advice import HARD, SOFT


def diagnosed(text: str, method: str = "gibbs", samples: int = 64 * 40) -> Mixing:
    return plx.compile(text).diagnose(method=method, seed=1, samples=samples)


def test_the_family_and_the_rule_that_hold_chains_apart_come_first() -> None:
    found = diagnosed(SOFT)
    bad, good = found.families
    assert bad.name == "u" and bad.stuck == bad.unknowns == 6 and bad.worst.startswith("u(")
    assert good.name == "other" and good.stuck == 0 and good.rhat < 1.1
    assert found.rules[0].name.startswith("weight 12") and found.rules[0].line == 5
    assert found.rules[-1].name.startswith("weight 2") and not found.rules[-1].stuck
    said = found.text()
    assert "the chains disagree most about `u`" in said and "--method exact" in said
    assert "ties its unknowns by a log weight of 12" in said


def test_a_method_that_mixes_is_named_beside_the_hard_rules() -> None:
    found = diagnosed(HARD)
    by_name = {trial.method: trial for trial in found.trials}
    assert not by_name["gibbs"].mixes and by_name["lifted"].mixes
    assert found.help[1].startswith("--method lifted mixes here")
    assert "`require s(r, c) != s(r, d)" in found.help[-1] and "(line 5)" in found.help[-1]


def test_a_program_that_mixes_is_said_to_mix_and_nothing_else() -> None:
    rows = "random a(0..5, 0..5)\nweight 0.1: a(i, j) <=> a(i, j + 1) for i in 0..5, j in 0..4"
    found = diagnosed(rows, samples=64 * 400)
    assert found.help[0].startswith("the chains agree")
    assert not any("disagree" in line or "weight" in line for line in found.help)


def test_it_is_the_same_with_the_same_seed() -> None:
    one, other = (
        [(rule.name, rule.rhat, rule.worst, rule.stuck) for rule in diagnosed(SOFT).rules] for _ in range(2)
    )
    assert one == other


def test_json_has_every_part_and_no_number_that_is_not_finite(tmp_path: Path) -> None:
    file = tmp_path / "hard.plx"
    file.write_text(HARD.replace("1..5", "1..3"))
    options = ["--samples", "640", "--seed", "1", "--format", "json"]
    out = CliRunner().invoke(app, ["diagnose", str(file), *options])
    found = json.loads(out.stdout, parse_constant=pytest.fail)
    assert found["method"] == "lifted" and [part["name"] for part in found["families"]] == ["s"]
    assert [rule["hard"] for rule in found["rules"]] == [True, True]
    assert all(rule["strength"] is None for rule in found["rules"])


def test_a_program_without_unknowns_has_nothing_to_mix() -> None:
    found = diagnosed("random a\nobserve a\nquery a")
    assert found.help == ("no unknown is left: nothing is to be sampled",) and not found.families
    assert found.text() == found.help[0]


def test_what_does_not_sample_is_refused() -> None:
    with pytest.raises(CallError, match="there is no sampler `exact`"):
        plx.compile(SOFT).diagnose(method="exact")


def test_too_few_draws_are_said_to_be_too_few() -> None:
    part = Part("u", None, 3, float("inf"), 1.0, "u(1)", 0)
    (said,) = remedies([part], [], [Trial("gibbs")], None)
    assert "too few draws" in said and "--seconds" in said


def test_a_method_that_misses_the_most_probable_world_is_not_said_to_mix() -> None:
    found = diagnosed("random u(1..30)\nweight 40: forall(u(i) for i in 1..30)", samples=64 * 400)
    assert "hardly any came near the most probable world" in found.help[0]
    by_name = {trial.method: trial for trial in found.trials}
    assert by_name["gibbs"].missed and not by_name["gibbs"].mixes
    assert any(line.startswith("--method tempered mixes here") for line in found.help)


def test_moves_of_many_unknowns_are_tried_where_they_apply() -> None:
    found = diagnosed(SOFT)
    assert {"cluster", "trees"} < {trial.method for trial in found.trials}
