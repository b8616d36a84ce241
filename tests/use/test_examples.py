"""Every example answers what was worked out for it apart from plx."""

from __future__ import annotations

import math
import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from math import log
from pathlib import Path

import numpy as np
import pytest

import plx
from tests.gallery import listed, summed
from tests.gallery.found import Found
from tests.use import expected

EXAMPLES = expected.EXAMPLES

FOUND: dict[str, Callable[[], Found]] = {
    "arguments.plx": listed.arguments,
    "blocks/blocks.plx": summed.blocks,
    "capture/capture.plx": summed.capture,
    "colouring.plx": listed.colouring,
    "crf/crf.plx": listed.crf,
    "crossword/crossword.plx": listed.crossword,
    "denoise/denoise.plx": summed.denoise,
    "diagnosis/diagnosis.plx": listed.diagnosis,
    "epidemic/epidemic.plx": summed.epidemic,
    "fusion/fusion.plx": listed.fusion,
    "hmm/hmm.plx": summed.hmm,
    "pedigree/pedigree.plx": listed.pedigree,
    "ranking/ranking.plx": listed.ranking,
    "skill/skill.plx": summed.skill,
}

WORKED_OUT: dict[str, Callable[[], expected.Answers]] = {
    "curriculum.plx": expected.curriculum,
    "ring.plx": expected.ring,
    "links.plx": expected.links,
    "smokers.plx": expected.smokers,
    "potts.plx": expected.potts,
    "queens.plx": expected.queens,
    "sudoku.plx": expected.sudoku,
    "timetable.plx": expected.timetable,
    "flu/flu.plx": expected.flu,
    "entities/entities.plx": expected.entities,
    "citations/citations.plx": expected.citations,
    "water.plx": expected.water,
    "paper/ring.plx": expected.paper_ring,
    "paper/curriculum.plx": expected.paper_curriculum,
    "paper/curriculum_published.plx": expected.paper_curriculum_published,
}

# As often as these are asked, an estimate may be five of its standard errors away once in a million.
ERRORS = 5


def texts(answer: plx.QueryResult) -> dict[str, plx.Estimate]:
    return {estimate.text: estimate for estimate in answer.estimates}


@pytest.mark.parametrize("name", WORKED_OUT)
def test_answers_are_those_worked_out(name: str) -> None:
    result = plx.load(EXAMPLES / name).run(seed=1)
    agree(result, WORKED_OUT[name]())
    keeps_its_word(name, result)


def agree(result: plx.Result, answers: expected.Answers) -> None:
    """All that was asked was worked out, and each answer is as it was, within its standard errors."""
    assert result.converged
    asked = {query.name for query in result if query.kind not in ("map", "logz")}
    assert asked == set(answers)
    for query, distribution in answers.items():
        got = texts(result[query])
        for value, p in distribution.items():
            found = got.get(value, plx.Estimate(value, value, 0.0))
            assert found.p == pytest.approx(p, abs=1e-9 + ERRORS * found.mcse), (query, value)


@pytest.mark.parametrize("name", FOUND)
def test_answers_log_z_and_best_worlds_are_those_worked_out(name: str) -> None:
    result, found = plx.load(EXAMPLES / name).run(seed=1), FOUND[name]()
    agree(result, found.answers)
    keeps_its_word(name, result)
    for query in result:
        if query.kind == "logz":
            assert query.log_z == pytest.approx(found.log_z, abs=1e-9)
        elif query.kind == "map":
            assert query.log_weight == pytest.approx(found.best, abs=1e-9)


APART = {"entities/entities.plx": [1 / (1 + math.exp(-score)) for score in (-0.4, -1.2)]}
"""What a header says of a smaller model: here of the scores of two pairs alone."""


def keeps_its_word(name: str, result: plx.Result) -> None:
    """Each number of three decimals or more that the header states is among the answers, as rounded."""
    header = (EXAMPLES / name).read_text(encoding="utf-8").split("\n\n")[0]
    answers = np.array([*_numbers(result), *APART.get(name, [])])
    for stated in re.findall(r"-?\d+\.\d{3,}", header.partition("What to expect:")[2]):
        rounding = 0.5 * 10.0 ** -len(stated.partition(".")[2])
        assert np.abs(answers - float(stated)).min() <= rounding * (1 + 1e-6), stated


def _numbers(result: plx.Result) -> Iterator[float]:
    for query in result:
        yield from (estimate.p for estimate in query.estimates)
        if query.kind == "number":
            yield query.mean
        elif query.kind == "map":
            yield query.log_weight
        elif query.kind == "logz" and query.log_z is not None:
            yield query.log_z


@pytest.mark.parametrize("name", ["smokers.plx", "ring.plx", "potts.plx", "timetable.plx"])
def test_sampled_answers_agree(name: str) -> None:
    result = plx.load(EXAMPLES / name).run(method="gibbs", seed=1, accuracy=0.01)
    answers = WORKED_OUT[name]()
    for query, distribution in answers.items():
        got = texts(result[query])
        for value, p in distribution.items():
            found = got.get(value, plx.Estimate(value, value, 0.0))
            assert found.p == pytest.approx(p, abs=1e-3 + ERRORS * found.mcse), (query, value)


def test_log_z_of_the_water_network_is_the_log_probability_of_the_evidence() -> None:
    model = plx.load(EXAMPLES / "water.plx")
    assert len(model.ground.atoms) == 40
    assert model.run(method="exact").log_z == pytest.approx(math.log(expected.water_evidence()), abs=1e-12)


def test_the_timetable_is_one_of_the_nicest() -> None:
    best = plx.load(EXAMPLES / "timetable.plx").run(seed=1)["map"]
    worlds = list(expected.timetables())
    top = max(weight for _, weight in worlds)
    assert best.log_weight == pytest.approx(top)
    nicest = [world for world, weight in worlds if weight == pytest.approx(top)]
    assert {name[3:-1]: value for name, value in best.assignment.items()} in nicest


def test_the_sudoku_is_filled_in_and_the_queens_are_counted() -> None:
    solved = plx.load(EXAMPLES / "sudoku.plx").run(seed=1)
    grid = {
        f"cell({r}, {c})": int(d) for r, row in enumerate(expected.SUDOKU, 1) for c, d in enumerate(row, 1)
    }
    assert solved["map"].assignment == grid
    assert solved.log_z == pytest.approx(0.0, abs=1e-12)
    assert plx.load(EXAMPLES / "queens.plx").run(seed=1).log_z == pytest.approx(log(92))


@pytest.mark.parametrize(("people", "p"), [(2, 0.837962), (3, 0.874677), (5, 0.937859), (10, 0.993113)])
def test_smokers_of_any_number(people: int, p: float) -> None:
    model = plx.load(EXAMPLES / "smokers.plx", Person=["anna", "bob", *(f"p{i}" for i in range(people - 2))])
    answer = model.run(seed=1)["smokes(anna)"]
    assert answer.probability == pytest.approx(p, abs=1e-6 + 4 * answer.mcse)


def test_the_embedded_program_finds_the_route() -> None:
    module = runpy.run_path(str(EXAMPLES / "embed.py"))
    for right in (0.6, 0.9, 0.99):
        assert module["route_probabilities"](right) == pytest.approx(expected.route(right), abs=1e-9)


def test_the_embedded_program_runs_as_a_script() -> None:
    script = EXAMPLES / "embed.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert "drivers right 90%: short 0.299, long 0.921" in done.stdout


def test_each_example_says_what_it_models_and_what_to_expect() -> None:
    for path in [*EXAMPLES.rglob("*.plx"), *EXAMPLES.rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        assert text.startswith(("# ", '"""')), path.name
        assert "What to expect:" in text, path.name


def test_every_example_is_worked_out() -> None:
    found = {path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.plx")}
    assert found == {*WORKED_OUT, *FOUND}


ROOT = Path(__file__).resolve().parents[2]


def test_the_readme_and_ci_set_up_alike() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [line.strip() for line in readme.split("\n") if line.strip().startswith("python3 -m venv")]
    assert len(commands) == 2
    assert commands[0].endswith("plx run examples/curriculum.plx")
    assert commands[1] in (ROOT / ".ci" / "run").read_text(encoding="utf-8").split("\n")
