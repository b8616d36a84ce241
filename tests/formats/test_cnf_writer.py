"""Programs written for model counters and for MaxSAT: counted and solved by solvers of a SAT library."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import plx
from plx.errors import PlxError
from plx.formats.cnf_writer import write_cnf, write_wcnf
from tests.formats.reading import save
from tests.models import make_model
from tests.random_programs import programs

PROGRAM = """type A = {a, b, c}
random f(A)
random g(A): 0..3
weight 0.7: f(x) <=> f(y) for x in A, y in A if x < y
weight log(3): count(f(x) for x in A) > 1
factor -0.3 * sum(g(x) for x in A) * f(a)
require exists(g(x) = 3 for x in A)
observe g(c) = 1
factor 12.5
"""


def counted(text: str) -> float:
    """The weighted model count of a small file by the SAT solver's list of models, apart from plx."""
    from pysat.solvers import Minisat22

    weight: dict[int, float] = {}
    clauses = []
    variables = 0
    for line in text.splitlines():
        words = line.split()
        if line.startswith("p cnf"):
            variables = int(words[2])
        elif line.startswith("c p weight"):
            weight[int(words[3])] = float(words[4])
        elif not line.startswith("c"):
            clauses.append([int(word) for word in words[:-1]])
    with Minisat22(bootstrap_with=[*clauses, *([v, -v] for v in range(1, variables + 1))]) as solver:
        models = solver.enum_models()
        return math.fsum(math.prod(weight.get(literal, 1.0) for literal in model) for model in models)


def test_counts_and_states(tmp_path: Path) -> None:
    file = save(tmp_path, "a.plx", PROGRAM + "query logz\nquery map\n")
    assert not [note for note in plx.convert(file, tmp_path / "b.cnf") if note.severity == "note"]
    log_z, best = (plx.load(file).run(method="exact")[i] for i in (0, 1))
    assert plx.load(tmp_path / "b.cnf").run()[0].log_z == pytest.approx(log_z.log_z, abs=1e-10)
    assert math.log(counted((tmp_path / "b.cnf").read_text())) == pytest.approx(log_z.log_z, abs=1e-10)
    note = plx.convert(file, tmp_path / "b.wcnf")[-1].message
    scale = float(note.split(" = ")[1].split()[0])
    found = plx.load(tmp_path / "b.wcnf").run()[0].worlds[0].log_weight
    assert found + scale == pytest.approx(best.worlds[0].log_weight, abs=1e-8)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(source=programs())
def test_random_programs(source: str) -> None:
    lines = [line for line in source.splitlines() if not line.startswith("query")]
    try:
        model = plx.compile("\n".join([*lines, "query logz"]))
        log_z = model.run(method="exact").log_z
    except PlxError:
        return
    if model.ground.graph.n_variables <= 9:
        written = write_cnf(model.ground)
        assert math.log(counted(written.text)) + written.log_scale == pytest.approx(log_z, abs=1e-8)


def test_a_count_takes_few_clauses() -> None:
    """Of n inputs and a threshold k, about n · k: 40 unknowns would have a table of 2⁴⁰ entries."""
    count = [([(i, [0, 1]) for i in range(40)], [0] * 3 + [1] * 38)]
    text = write_cnf(make_model([2] * 40, [([40], [0, 1])], count)).text
    assert 0 < text.count("\n") < 1000


@pytest.mark.parametrize("card", [1, 2, 3, 5, 6, 9])
def test_unknowns_of_every_size(card: int) -> None:
    table = [math.log(2) if i == 0 else 0 for i in range(card)]
    model = make_model([card, 2], [([0], [0] * card)]) if card == 1 else None
    ids = [0, *[1] * (card - 1)]
    model = model or make_model([card, 2], [([0, 1], [[i, 0] for i in ids])])
    total = sum(math.exp(i) + 1 for i in ids) if card > 1 else 2
    assert counted(write_cnf(model).text) == pytest.approx(total)
    assert len(table) == card


def test_weights_past_the_range_of_doubles() -> None:
    written = write_cnf(make_model([2, 2], [([0], [5000, 0]), ([1], [3000, 3000 - 7])]))
    assert written.log_scale != 0
    assert "E" in written.text or "e" in written.text


def test_costs_are_plain_decimals() -> None:
    text = write_wcnf(make_model([2], [([0], [0, -3])])).text
    assert "3 -1 0" in text.splitlines()
    assert not any("e" in line.lower() for line in text.splitlines() if line[0].isdigit())


def test_too_large() -> None:
    wide = make_model([40, 40], [([0, 1], list(itertools.repeat([0] * 39 + [1], 40)))])
    write_cnf(wide)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(PlxError, match="at most are written"):
        patch.setattr("plx.formats.cnf_writer.LARGEST", 1000)
        write_cnf(wide)
