"""Weighted clauses over multi-valued variables, from JSON."""

from __future__ import annotations

import itertools
import json
import math
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from plx.formats import clauses, read_model
from tests.formats.reading import answers, mistake, save
from tests.models import all_states, log_weights

SMALL = sorted((Path(__file__).parent / "small").glob("*.json"))


def document(features: list, cards: list[int]) -> str:
    variables = [{"name": f"v{i}", "domain_size": card} for i, card in enumerate(cards)]
    return json.dumps({"name": "x", "variables": variables, "features": features})


def test_a_weight_of_one_on_a_lone_literal(tmp_path):
    model = read_model(save(tmp_path, "a.json", document([{"weight": 1, "clause": [[0, 1, 1]]}], [2])))
    assert answers(model)["v0"]["1"] == pytest.approx(1 / (1 + math.exp(-1)))


@pytest.mark.parametrize("largest", [4096, 0])
def test_clauses_by_their_definition(tmp_path, monkeypatch, largest):
    """As tables and as derived nodes; signs, several literals on one variable, repeated clauses."""
    rng = np.random.default_rng(7)
    cards = [2, 3, 2, 4]
    features = [
        {
            "weight": float(rng.integers(-3, 4)) / 2,
            "clause": [
                [int(v), int(rng.integers(cards[v])), int(rng.integers(2))]
                for v in rng.integers(4, size=rng.integers(1, 5))
            ],
        }
        for _ in range(12)
    ]
    monkeypatch.setattr(import_module("plx.formats.build"), "LARGEST_TABLE", largest)
    model = read_model(save(tmp_path, "a.json", document(features, cards)))
    assert (model.graph.n_derived > 0) == (largest == 0)
    states = all_states(model.graph)
    expected = [sum(f["weight"] for f in features if holds(f, s)) for s in states]
    assert log_weights(model.graph, states) + model.log_constant == pytest.approx(np.array(expected))


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_the_small_models_state_their_marginals_by_brute_force(path):
    """What other tests take for the truth, from the clauses as they stand in the file."""
    given = json.loads(path.read_text())
    cards = [variable["domain_size"] for variable in given["variables"]]
    worlds = list(itertools.product(*map(range, cards)))
    weights = [math.exp(sum(f["weight"] for f in given["features"] if holds(f, world))) for world in worlds]
    for v, stated in enumerate(given["exact_marginals"]):
        found = np.bincount([world[v] for world in worlds], weights, cards[v]) / math.fsum(weights)
        assert stated == pytest.approx(found, abs=1e-12)
    found = answers(read_model(path))
    for variable, stated in zip(given["variables"], given["exact_marginals"], strict=True):
        assert list(found[variable["name"]].values()) == pytest.approx(stated, abs=1e-9)


def holds(feature: dict, world: tuple) -> bool:
    return any((world[v] == x) == bool(sign) for v, x, sign in feature["clause"])


def test_a_clause_too_wide_for_a_table(tmp_path):
    clause = [[i, 1, 1] for i in range(40)]
    model = read_model(save(tmp_path, "a.json", document([{"weight": 2, "clause": clause}], [2] * 40)))
    assert model.graph.n_derived == 1
    assert clauses.LARGEST_TABLE < 2**40


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"variables": [', "a.json:1:16: error: this is no JSON"),
        ("[]", "a model is an object with the keys `variables` and `features`"),
        ('{"features": []}', "the list `variables` is missing"),
        ("[" * 100_000, "nested too deeply"),
        (document([], [2]).replace("2", "2" * 5000), "has more than 1,000 digits"),
        ('{"variables": [{"name": "a", "domain_size": 1e40}]}', "`domain_size` from 1 to 65,535"),
        ('{"variables": [{"name": "a"}]}', "variable 0 needs a `name` and a `domain_size`"),
        (document([], [2]).replace("features", "clauses"), "the list `features` is missing"),
        (document([{"weight": 1, "clause": [[0, 2, 1]]}], [2]), "feature 0: [0, 2, 1] is no [variable,"),
        (
            '{"variables": [{"name": "a", "domain_size": 2}], "features": [\n'
            '  {"weight": 1, "clause": [[0, 1, 1]]},\n  {"weight": 1}]}',
            "a.json:3:3: error: feature 1 needs a `weight` and a `clause`",
        ),
        (
            '{"variables": [{"name": "a", "domain_size": 2},\n {"name": "a", "domain_size": 2}]}',
            "a.json:2:2: error: two variables are called `a`",
        ),
        (document([{"weight": 1, "clause": []}], [2]), "feature 0 needs a `weight` and a `clause`"),
        (document([{"weight": "1", "clause": [[0, 1, 1]]}], [2]), "feature 0 needs a `weight`"),
        (document([{"weight": float("inf"), "clause": [[0, 1, 1]]}], [2]), "feature 0 needs a `weight`"),
        (document([], [2, 2]).replace("v1", "v0"), "two variables are called `v0`"),
    ],
)  # fmt: skip
def test_mistakes_are_named(tmp_path, text, expected):
    assert expected in mistake(save(tmp_path, "a.json", text))
