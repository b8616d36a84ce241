"""Public models where both a circuit and a junction tree are small: all answers agree."""

from __future__ import annotations

import numpy as np
import pytest

from plx.errors import PlxError
from plx.formats import read_model
from plx.infer.circuit import compiled as compiled_module
from plx.infer.circuit.plan import CircuitPlan, circuit_plan
from plx.infer.exact.elimination import JunctionTreePlan, plan
from plx.infer.exact.limits import ExactBudget
from plx.infer.exact_plan import GaveUpError
from plx.infer.problem import Problem
from tests.formats.published import CASES, Case, cases

SMALL = ExactBudget(entries=2**20, operations=1e6)
BYTES, EDGES = 60_000, 1 << 18


def both(case: Case) -> tuple[CircuitPlan, JunctionTreePlan] | None:
    """The plans for a model that has rules or counts; None if it has not, or is not small."""
    try:
        model = read_model(case.path, case.evidence)
    except PlxError:  # impossible evidence
        return None
    circuit, tree = circuit_plan(Problem(model)), plan(model)
    return (circuit, tree) if isinstance(circuit, CircuitPlan) and tree.fits(SMALL) else None


@pytest.mark.skipif(not CASES.is_dir(), reason="the public models in ../shared/cases are absent")
def test_circuits_answer_public_models_as_junction_trees_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_module, "EDGES", EDGES)
    compared = 0
    for case in {case.path: case for case in cases() if case.path.stat().st_size < BYTES}.values():
        if (plans := both(case)) is None:
            continue
        try:
            circuit, tree = (one.run() for one in plans)
        except GaveUpError:
            continue
        assert circuit.log_z == pytest.approx(tree.log_z, rel=1e-12, abs=1e-12), case.name
        for mine, other in zip(circuit.answers, tree.answers, strict=True):
            np.testing.assert_allclose(mine.p, other.p, rtol=1e-9, atol=1e-12, err_msg=case.name)
        compared += 1
    assert compared >= 18
