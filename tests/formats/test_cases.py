"""Public models against their published and recomputed answers; the wide ones are in the tally."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from plx.formats import read_model, write_uai
from plx.formats.reader import read_network
from plx.infer.exact.elimination import solve
from plx.infer.exact.limits import ExactBudget
from plx.infer.infer import infer
from plx.values import IMPOSSIBLE
from tests.benchmarks.cases_tally import Outcome, run
from tests.formats.published import CASES, cases
from tests.formats.reading import answers, save, total

PAPER = CASES.parent / "paper"
QUICK = ExactBudget(entries=2**23, operations=2e8)

needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the public models in ../shared/cases are absent")
needs_paper = pytest.mark.skipif(
    not PAPER.is_dir(), reason="the published models in ../shared/paper are absent"
)


@cache
def outcomes(folder: str) -> list[Outcome]:
    """How the cases of a folder went, but for those that are known to be wide."""
    quick = [c for c in cases() if c.folder == folder and not c.path.name.startswith("BN_")]
    return [run(case, QUICK) for case in quick]


@needs_cases
@pytest.mark.parametrize("folder", sorted({case.folder for case in cases()}))
def test_known_answers(folder):
    found = outcomes(folder)
    assert not [outcome for outcome in found if outcome.kind in ("wrong", "error")]
    assert any(outcome.kind == "exact" for outcome in found)


@needs_cases
def test_every_network_of_the_bnlearn_repository_is_exact():
    kinds = sorted(outcome.kind for outcome in outcomes("bif"))
    assert kinds == ["exact"] * (len(kinds) - 1) + ["impossible"]


@needs_cases
def test_weights_below_the_range_of_doubles_are_not_zero():
    path = CASES / "uai/toulbar2/254_TYR.uai"
    network = read_network(path)
    held = np.concatenate([table.weight for table in network.tables])
    assert (held == IMPOSSIBLE).any()
    smallest = network.values.floats(held[held != IMPOSSIBLE]).min()
    assert smallest == pytest.approx(math.log(3.3348) - 4165 * math.log(10), rel=1e-14)


@needs_cases
def test_virtual_evidence_is_a_likelihood():
    path = CASES / "uai/merlin/ChestClinic.uai"
    plain = answers(read_model(path))["x(7)"]
    (evidence,) = (CASES / "uai/merlin").glob("*.virt")
    model = read_model(path, [evidence])
    weight = {"0": 0.7 * plain["0"], "1": 0.5 * plain["1"]}
    assert total(model) == pytest.approx(math.log(sum(weight.values())))
    assert answers(model)["x(7)"] == pytest.approx({s: w / sum(weight.values()) for s, w in weight.items()})


@needs_cases
def test_alarm_written_as_uai_and_read_back(tmp_path):
    model = read_model(CASES / "bif/alarm.bif")
    written = write_uai(model)
    again = read_model(save(tmp_path, "alarm.uai", written.text))
    first, second = solve(model), solve(again)
    assert second.log_z is not None
    assert second.log_z + written.log_scale == pytest.approx(first.log_z, abs=1e-9)
    assert [query.name for query in again.queries] == [query.name for query in model.queries]
    for a, b in zip(first.answers, second.answers, strict=True):
        assert b.p == pytest.approx(a.p, abs=1e-9)
    states = [
        [m.atoms.value_name(int(i)) for q in m.queries for i in q.targets[0].labels] for m in (model, again)
    ]
    assert states[0] == states[1]


@needs_paper
@pytest.mark.parametrize("path", sorted(PAPER.glob("*.json")), ids=lambda path: path.stem)
def test_published_models(path: Path):
    model = read_model(path)
    known = json.loads(path.read_text())["exact_marginals"]
    for answer, expected in zip(infer(model, "exact").answers, known, strict=True):
        assert answer.p == pytest.approx(np.array(expected), abs=1e-9)
