"""``model.sample`` and ``plx sample``: whole worlds, by name, under what is observed."""

from __future__ import annotations

import csv
import itertools
import json
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings

import plx
import plx.infer.exact_choice
from plx.cli import main
from tests.infer.frequencies import agree
from tests.random_programs import programs

TEXT = """
type P = {a, b, c, d}
random s(P)
random f(p: P): 1..3
random g: {red, blue}
weight 0.7: s(x) <=> s(y) for x, y in P if x < y
weight 1.2: s(x) & f(x) = 2 for x in P
observe f(d) = 3
query s(a)
query count(s(x) for x in P) as total
query (g, f(a))
query map
query s(b) given s(a)
"""
MODEL = plx.compile(TEXT)


def as_probable(seen: list[object], answer: plx.QueryResult) -> bool:
    """Whether values drawn are as frequent as an exact answer says."""
    values = [estimate.value for estimate in answer.estimates]
    places = {repr(value): place for place, value in enumerate(values)}  # True and 1 differ
    p = np.array([estimate.p for estimate in answer.estimates])
    return agree(np.array([places[repr(value)] for value in seen]), p / p.sum())


@pytest.mark.parametrize("few", [1 << 14, 0], ids=["enumeration", "other ways"])
@seed(1)
@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=12, derandomize=True)
@given(text=programs())
def test_worlds_of_random_programs_are_drawn_as_probable(few: int, text: str) -> None:
    """Marginals of all unknowns, and of pairs of them, against exact answers."""
    text = "\n".join(line for line in text.splitlines() if not line.startswith("query"))
    with patch.object(plx.infer.exact_choice, "FEW", few):
        try:
            model = plx.compile(text)
            drawn = model.sample(1000, seed=7)
        except plx.PlxError:
            with pytest.raises(plx.PlxError):
                plx.run(text + "\nquery logz", method="exact")
            return
    names = drawn.keys()
    pairs = list(itertools.islice(itertools.combinations(names, 2), 0, None, 4))
    exact = model.query(*names, *(f"({x}, {y})" for x, y in pairs), method="exact")
    for name, answer in zip(names, exact.queries, strict=False):
        assert as_probable(drawn[name].tolist(), answer), name
    for (x, y), answer in zip(pairs, exact.queries[len(names) :], strict=True):
        seen = list(zip(drawn[x].tolist(), drawn[y].tolist(), strict=True))
        assert as_probable(seen, answer), (x, y)


def test_what_the_queries_ask_for_is_kept_by_name() -> None:
    drawn = MODEL.sample(50, seed=3)
    assert drawn.keys() == ("s(a)", "total", "(g, f(a))")
    assert drawn["s(a)"].dtype == bool and drawn["s( a )"].shape == (50,)
    assert drawn["total"].dtype == np.int64 and set(drawn["total"]) <= set(range(5))
    assert drawn["(g, f(a))"].shape == (50, 2) and drawn["(g, f(a))"][0, 0] in ("red", "blue")
    assert drawn.log_weights.shape == (50,) and drawn.n == 50 and drawn.seed == 3
    assert "enumerated" in drawn.reason and "were left out" in drawn.notes[0]
    assert repr(drawn) == "<Sample of program: 50 worlds of 3 columns>"
    with pytest.raises(KeyError, match="did you mean `total`"):
        _ = drawn["totl"]


def test_the_same_seed_draws_the_same_worlds() -> None:
    first, again, other = (MODEL.sample(40, seed=s).to_csv() for s in (1, 1, 2))
    assert first == again != other
    drawn = MODEL.sample(5)
    assert drawn.seed is not None and MODEL.sample(5, seed=drawn.seed).to_csv() == drawn.to_csv()


def test_whole_worlds_have_the_weight_that_is_said() -> None:
    drawn = MODEL.sample(30, whole=True, seed=2)
    assert [*drawn] == ["s(a)", "s(b)", "s(c)", "s(d)", "f(a)", "f(b)", "f(c)", "f(d)", "g"]
    s = np.stack([drawn[f"s({p})"] for p in "abcd"])
    f = np.stack([drawn[f"f({p})"] for p in "abcd"])
    alike = sum((s[i] == s[j]).astype(int) for i in range(4) for j in range(i))
    assert drawn.log_weights == pytest.approx(0.7 * alike + 1.2 * (s & (f == 2)).sum(axis=0))
    assert (drawn["f(d)"] == 3).all()


def test_facts_and_queries_of_the_call_hold() -> None:
    drawn = MODEL.sample(2000, "s(b)", "s(c) & s(d)", given=["s(a)", "f(b) = 1"], seed=5)
    exact = MODEL.query("s(b)", "s(c) & s(d)", given=["s(a)", "f(b) = 1"])
    for name, answer in zip(drawn, exact.queries, strict=True):
        assert as_probable(drawn[name].tolist(), answer)
    under = MODEL.sample(20, "s(b) given s(a), !s(c)", "s(a) given s(a), !s(c)", seed=5)
    assert under["s(a) given s(a), !s(c)"].all()


def test_queries_of_several_given_are_not_drawn_together() -> None:
    with pytest.raises(plx.CallError, match="2 different `given`"):
        MODEL.sample(5, "s(a) given s(b)", "s(a) given s(c)")


@pytest.mark.parametrize("n", [0, -1, 2.0, "3", True])
def test_a_number_of_worlds_that_makes_no_sense(n: int) -> None:
    with pytest.raises(plx.CallError, match="`n` is a whole number, 1 or more"):
        MODEL.sample(n)


def test_time_that_is_over_is_said() -> None:
    with pytest.raises(plx.PlxError, match="no worlds were drawn within 0 seconds"):
        plx.compile("random a(x: 1..40)\nweight 1: a(x) for x in 1..40\nquery a(1)").sample(5, seconds=0)


def test_frames_have_a_row_for_each_world() -> None:
    drawn = MODEL.sample(20, seed=3)
    frame, polars = drawn.to_pandas(), drawn.to_polars()
    assert [*frame.columns] == polars.columns == ["s(a)", "total", "(g, f(a))[1]", "(g, f(a))[2]"]
    assert frame["total"].tolist() == polars["total"].to_list() == drawn["total"].tolist()
    assert frame["s(a)"].dtype == bool
    tree = drawn.to_arviz()
    assert dict(tree["posterior"].sizes) == {"chain": 1, "draw": 20, "P": 1}
    assert (tree["sample_stats"]["lp"].to_numpy()[0] == drawn.log_weights).all()
    assert tree["observed_data"]["f"].sel(p="d") == 3


def test_the_command_writes_a_row_for_each_world(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program, output = tmp_path / "p.plx", tmp_path / "draws.json"
    program.write_text(TEXT)

    def command(*options: str) -> int:
        monkeypatch.setattr(sys, "argv", ["plx", "sample", str(program), *options])
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0)

    assert command("-n", "7", "--seed", "1") == 0
    shown = capsys.readouterr()
    assert shown.out == MODEL.sample(7, seed=1).to_csv()
    assert "seed 1; all" in shown.err and "note: queries with a `given`" in shown.err
    rows = [*csv.DictReader(shown.out.splitlines())]
    assert len(rows) == 7 and {row["s(a)"] for row in rows} <= {"true", "false"}
    assert command("-n", "3", "--whole", "--observe", "!s(b)", "-o", str(output)) == 0
    worlds = json.loads(output.read_text())["worlds"]
    assert worlds["s(b)"] == [False] * 3 and worlds["f(d)"] == [3] * 3
    assert command("-n", "0") == 2


def test_networks_of_other_tools_are_drawn_whole(tmp_path: Path) -> None:
    network = tmp_path / "n.uai"
    network.write_text("MARKOV\n2\n2 3\n1\n2 0 1\n6\n1 2 3 4 5 6\n")
    drawn = plx.load(network).sample(10, seed=1)
    assert len(drawn) == 2 and drawn.n == 10
    with pytest.raises(plx.CallError, match="takes evidence when it is loaded"):
        plx.load(network).sample(10, "x0")
