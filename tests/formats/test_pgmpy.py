"""Networks of pgmpy, by objects that answer as its own do, and by its own where it is installed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import plx
from plx.errors import CallError, PlxError


def table(variables: list[str], values: object, **states: list[str]) -> Any:
    return SimpleNamespace(variables=variables, values=np.array(values), state_names=states)


RAIN = table(["rain"], [0.2, 0.8], rain=["yes", "no"])
LAWN = table(
    ["lawn", "rain"], [[0.0, 0.9], [0.7, 0.1], [0.3, 0.0]], lawn=["dry", "/", "x y"], rain=["yes", "no"]
)


def network(*tables: object, kind: str = "get_cpds") -> Any:
    return SimpleNamespace(**{kind: lambda: list(tables)})


@pytest.mark.parametrize("kind", ["get_cpds", "get_factors"])
def test_marginals_and_evidence(kind: str) -> None:
    model = network(RAIN, LAWN, kind=kind)
    result = plx.from_pgmpy(model).run()
    assert result["lawn"].distribution == pytest.approx({"dry": 0.72, "/": 0.22, "x y": 0.06}, abs=1e-12)
    result = plx.from_pgmpy(model, lawn="/").run()
    assert result["rain"].distribution == pytest.approx({"yes": 0.14 / 0.22, "no": 0.08 / 0.22}, abs=1e-12)


def test_as_a_program() -> None:
    text = plx.from_pgmpy(network(RAIN, LAWN)).origin.program_text()
    assert "random rain: YesNo ~ {yes: 0.2, no: 0.8}" in text
    assert plx.run(text)["lawn"].distribution == pytest.approx({"dry": 0.72, "/": 0.22, "x y": 0.06})


def test_mistakes() -> None:
    with pytest.raises(CallError, match="has neither"):
        plx.from_pgmpy(3)
    with pytest.raises(CallError, match=r"table of rain: the entry -0\.5 is no weight"):
        plx.from_pgmpy(network(table(["rain"], [-0.5, 1.5], rain=["yes", "no"])))
    with pytest.raises(CallError, match="`rain` has other states"):
        plx.from_pgmpy(network(LAWN, table(["rain"], [0.5, 0.5], rain=["no", "yes"])))
    with pytest.raises(PlxError, match="no such variable"):
        plx.from_pgmpy(network(RAIN), snow="yes")


def test_the_real_library() -> None:
    factors = pytest.importorskip("pgmpy.factors.discrete")
    models = pytest.importorskip("pgmpy.models")
    model = models.DiscreteBayesianNetwork([("rain", "lawn")])
    names = {"rain": ["yes", "no"], "lawn": ["dry", "wet"]}
    rain = factors.TabularCPD("rain", 2, [[0.2], [0.8]], state_names={"rain": names["rain"]})
    lawn = factors.TabularCPD("lawn", 2, [[0.1, 0.9], [0.9, 0.1]], ["rain"], [2], state_names=names)
    model.add_cpds(rain, lawn)
    assert plx.from_pgmpy(model).run()["lawn"].distribution == pytest.approx({"dry": 0.74, "wet": 0.26})
