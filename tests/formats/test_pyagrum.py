"""Networks of pyAgrum, by objects that answer as its own do, and by its own where it is installed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import plx
from plx.errors import CallError, PlxError

LABELS = {"rain": ("yes", "no"), "lawn": ("dry", "/", "x y")}
RAIN = (("rain",), [0.2, 0.8])
LAWN = (("lawn", "rain"), [[0.0, 0.9], [0.7, 0.1], [0.3, 0.0]])


def tensor(names: tuple[str, ...], values: object) -> Any:
    return SimpleNamespace(names=names, toarray=lambda: np.array(values).T)


def variable(name: str) -> Any:
    return SimpleNamespace(labels=lambda: LABELS[name])


BAYES = SimpleNamespace(nodes=lambda: {0, 1}, cpt=lambda i: tensor(*(RAIN, LAWN)[i]), variable=variable)
MARKOV = SimpleNamespace(
    factors=lambda: [{0}, {0, 1}],
    factor=lambda which: tensor(*(RAIN, LAWN)[len(which) - 1]),
    variable=lambda number: 1 / 0,
    variableFromName=variable,
)


@pytest.mark.parametrize("model", [BAYES, MARKOV])
def test_marginals_and_evidence(model: Any) -> None:
    result = plx.from_pyagrum(model).run()
    assert result["lawn"].distribution == pytest.approx({"dry": 0.72, "/": 0.22, "x y": 0.06}, abs=1e-12)
    result = plx.from_pyagrum(model, lawn="/").run()
    assert result["rain"].distribution == pytest.approx({"yes": 0.14 / 0.22, "no": 0.08 / 0.22}, abs=1e-12)


def test_mistakes() -> None:
    with pytest.raises(
        CallError, match="a Bayesian or Markov network of pyAgrum is needed, and this is a int"
    ):
        plx.from_pyagrum(3)
    diagram = SimpleNamespace(cpt=lambda i: None, utility=lambda i: None)
    with pytest.raises(CallError, match="is needed"):
        plx.from_pyagrum(diagram)
    with pytest.raises(PlxError, match="no such variable"):
        plx.from_pyagrum(BAYES, snow="yes")


def test_the_real_library() -> None:
    agrum = pytest.importorskip("pyagrum")
    network = agrum.fastBN("a{yes|no}->c{x|y|z}<-b[3];c->d")
    inference = agrum.LazyPropagation(network)
    inference.setEvidence({"d": 1})
    result = plx.from_pyagrum(network, d="1").run()
    assert [answer.name for answer in result] == ["a", "c", "b"]
    for answer in result:
        expected = inference.posterior(answer.name).toarray()
        assert list(answer.distribution.values()) == pytest.approx(expected, abs=1e-12)
    field = agrum.fastMRF("a{yes|no}--b[3]--c;c--d")
    sums = agrum.ShaferShenoyMRFInference(field)
    for answer in plx.from_pyagrum(field).run():
        expected = sums.posterior(answer.name).toarray()
        assert list(answer.distribution.values()) == pytest.approx(expected, abs=1e-12)
