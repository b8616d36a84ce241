"""Symbols that are called interchangeable: to rename one to another keeps the weight of every world."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import plx
from plx.graph.model import GroundModel
from plx.lift.describe import _joined
from tests.models import all_states, log_weights

COURSES = """
type S = s1..s4
type A = {theory, ai}
type C(A) = {theory: {logic, sets}, ai: {ml}}
random passed(s: S, a: A): {fail} | C(a)
weight -0.7: passed(s, a) = fail for s in S, a in A
weight 0.4: passed(s, theory) != fail & passed(s, ai) != fail for s in S
"""
FRIENDS = """
type P = {a, b, c}
random f(P)
random g(P)
weight 1: f(x) & f(y) for x, y in P
weight 2: g(x) for x in P
"""
PROGRAMS = {
    COURSES: [["s1", "s2", "s3", "s4"], ["logic", "sets"]],
    COURSES + "observe passed(s1, ai) = ml": [["s2", "s3", "s4"], ["logic", "sets"]],
    COURSES + "weight 1: passed(s2, theory) = logic": [["s1", "s3", "s4"]],
    COURSES + "random best: S\nweight 1: best = s1": [
        ["logic", "sets"]
    ],  # students are values too: not looked for
    COURSES + "random tops(x: S, y: S) if x < y\nweight 1: tops(s1, s2)": [["logic", "sets"]],
    FRIENDS: None,
    FRIENDS + "\nweight 1: g(a)": None,
    "type P = {a, b, c}\nrandom f(P, P)\nweight 1: f(x, y) for x, y in P": None,
    "type P = {a, b}\nrandom f(P): P\nweight 1: f(x) = x for x in P": [],
    "random r: {x, y, z}\nrandom t: {x, y}\nweight 1: t = x": [],
    "random r: {x, y, z}\nrandom t: {x, y}\nweight 1: r = z": [["x", "y"]],
}


def renamed(model: GroundModel, a: str, b: str) -> tuple[list[int], list[list[int]]]:
    """For each unknown the one that it becomes, and for each of its states the state that that becomes."""
    atoms = model.atoms
    swap = {a: b, b: a}
    place = {}
    for v in range(model.graph.n_variables):
        block = next(block for block in reversed(atoms.blocks) if block.first <= atoms.atom_of[v])
        arguments = [atoms.value_name(i) for i in block.index[atoms.atom_of[v] - block.first]]
        place[v] = (block.name, *arguments)
    where = {name: v for v, name in place.items()}
    image = [where[tuple(swap.get(part, part) for part in place[v])] for v in place]
    names = [[atoms.value_name(s) for s in atoms.states(v).tolist()] for v in place]
    states = [[names[image[v]].index(swap.get(name, name)) for name in names[v]] for v in place]
    return image, states


@pytest.mark.parametrize("text", PROGRAMS)
@pytest.mark.parametrize("kind", ["variable", "vv", "nec"])
def test_to_rename_keeps_weights(text: str, kind: str) -> None:
    model = plx.compile(text)
    found = model.symmetries(kind).symbols  # type: ignore[arg-type]
    worlds = all_states(model.ground.graph)
    before = log_weights(model.ground.graph, worlds)
    for symbols in found:
        assert len(symbols) > 1
        for a, b in itertools.pairwise(symbols):
            image, states = renamed(model.ground, a, b)
            moved = np.empty_like(worlds)
            for v, w in enumerate(image):
                moved[:, w] = np.array(states[v])[worlds[:, v]]
            assert log_weights(model.ground.graph, moved) == pytest.approx(before)
    expected = PROGRAMS[text]
    if kind == "nec" and expected is not None:
        assert sorted(map(sorted, found)) == sorted(expected)


def test_they_are_named_as_runs_and_lists() -> None:
    assert _joined(("s2", "s3", "s4")) == "s2…s4"
    assert _joined(("1", "2", "3", "4")) == "1…4"
    assert _joined(("s2", "s4", "s5")) == "s2, s4 and s5"
    assert _joined(("a", "b")) == "a and b"
    assert _joined(("s01", "s02", "s03")) == "s01, s02 and s03"
    assert _joined(tuple("abcdefghi")) == "a, b, c, d, e, f, …"


def test_they_are_told_in_text_and_data() -> None:
    found = plx.compile(COURSES).symmetries()
    assert "  s1…s4 are interchangeable\n  logic and sets are interchangeable\n" in found.text()
    assert found.to_dict()["symbols"] == [["s1", "s2", "s3", "s4"], ["logic", "sets"]]
    assert found.to_dict(most=2)["symbols"][0] == ["s1", "s2"]


def test_the_curriculum_speaks_of_students_and_courses() -> None:
    examples = Path(__file__).resolve().parents[2] / "examples"
    found = plx.load(examples / "curriculum.plx").symmetries().symbols
    assert found[0] == tuple(f"s{k}" for k in range(3, 21))
    assert ("ml", "nlp", "vision", "robots") in found
