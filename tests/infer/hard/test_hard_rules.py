"""Hard rules from program to answer: right or marked, never silently wrong; contradictions explained."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import plx
from plx.cli.commands import app
from plx.errors import PlxError
from plx.infer.hard import sat
from tests.benchmarks.hard_rules import METHODS, hard_model, truths, verdicts


@pytest.mark.parametrize("method", METHODS)
def test_random_models_are_right_or_marked(method: str) -> None:
    """Twelve of the 300 models of ``tests/benchmarks/hard_rules.py``."""
    found = []
    for seed in range(12):
        model = hard_model(seed)
        found += verdicts(model, method, seed, truths(model))
    assert "wrong" not in found
    assert found.count("right") > 0.9 * len(found)


# ------------------------------------------------------- worlds far apart

RARE = """
type N = n1..n30
random a
random x(N)
require a => x(n) for n in N
weight 20.79: a            # about as likely as all other worlds together, and hardly ever left
query a
"""

LATIN = """
type R = 1..5
type C = 1..5
type V = v1..v5
random s(R, C): V
require s(r, c) != s(r, d) for r in R, c, d in C if c < d
require s(r, c) != s(q, c) for c in C, r, q in R if r < q
query s(1, 1)
"""


@pytest.mark.parametrize("program", [RARE, LATIN], ids=["rare", "latin square"])
@pytest.mark.parametrize("method", ["gibbs", "mcsat"])
def test_chains_that_cannot_reach_all_worlds_are_marked(program: str, method: str) -> None:
    result = plx.run(program, method=method, seed=1, samples=64 * 60)
    assert not result.converged


def test_definitions_and_counts_do_not_hold_chains_up() -> None:
    program = """
    type N = n1..n12
    random a(N)
    random odd(N)
    random some
    require odd(n1) <=> a(n1)
    require odd(n) <=> (odd(m) xor a(n)) for n, m in N if m < n & count(m < k & k < n for k in N) = 0
    require some <=> exists(a(n) for n in N)
    require count(a(n) for n in N) = 4
    weight 1: a(n) for n in N if n < n4
    query a(n1)
    query odd(n12)
    query odd(n6)
    query some
    """
    exact = plx.run(program, method="exact")
    for method, draws in (("gibbs", 300), ("mcsat", 60)):
        sampled = plx.run(program, method=method, seed=2, samples=64 * draws, accuracy=0.03)
        assert max(sampled[name].rhat for name in ("a(n1)", "odd(n6)")) < 1.05
        for name in ("a(n1)", "odd(n12)", "odd(n6)", "some"):
            error = abs(sampled[name].probability - exact[name].probability)
            assert error <= 4 * sampled[name].mcse + 1e-3


def test_extreme_weights_beside_hard_rules() -> None:
    program = """
    type N = n1..n6
    random a(N)
    weight 10000: a(n1)
    weight -10000: a(n2)
    require a(n2) | a(n3)
    require a(n3) => a(n4)
    weight 1: a(n5)
    query a(n4)
    query a(n5)
    """
    for method in ("exact", "gibbs", "mcsat"):
        result = plx.run(program, method=method, seed=3, samples=64 * 100)
        assert result["a(n4)"].probability > 0.999
        assert result["a(n5)"].probability == pytest.approx(0.731, abs=0.03)


# --------------------------------------------------------- no world at all

CLASH = """type P = {anna, bob, cleo, dan}
random smokes(P)
random friends(P, P)
weight 1: smokes(x) for x in P
require friends(x, y) & smokes(x) => smokes(y) for x, y in P
observe friends(anna, bob) & friends(bob, cleo)
observe friends(dan, x) for x in P
observe smokes(anna)
observe !smokes(cleo)
query smokes(bob)
"""


@pytest.mark.parametrize("method", ["exact", "gibbs", "mcsat", "lifted"])
def test_a_clash_names_rules_observations_and_instances_with_their_lines(method: str) -> None:
    with pytest.raises(PlxError) as caught:
        plx.run(CLASH, method=method, seed=1)
    (found,) = caught.value.diagnostics
    assert found.span is not None
    lines = {found.span.line, *(note.span.line for note in found.notes if note.span)}
    assert lines == {5, 6, 8, 9}, "and not line 7, which is not needed"
    text = str(caught.value)
    assert "smokes(anna), smokes(bob), friends(anna, bob)" in text
    assert "dan" not in text.replace("dan}", "")


def test_a_given_that_holds_in_no_world_says_why() -> None:
    program = """
    type P = {a, b, c}
    random s(P)
    require s(x) => s(y) for x, y in P
    observe s(a)
    query s(b)
    query s(b) given !s(c)
    """
    with pytest.raises(PlxError, match="the given of line 7 has probability 0") as caught:
        plx.run(program)
    text = str(caught.value)
    assert "observe s(a)" in text and "(on s(a), s(c))" in text


def test_observations_of_the_caller_are_named() -> None:
    program = "type P = {a, b}\nrandom s(P)\nrequire !s(a) | !s(b)\nquery s(a)\n"
    with pytest.raises(
        PlxError, match=r"`observe s from the caller` \(on s\(a\), in row 1 of .*; s\(b\), in row 2"
    ):
        plx.run(program, s={"a": True, "b": True})


def test_a_small_clash_among_many_free_unknowns_is_found_at_once() -> None:
    model = plx.compile("""
    type N = n1..n100000
    random a(N)
    random p
    random q
    random r
    weight 0.3: a(n) for n in N
    require p | q
    require !p | r
    require !q | r
    require !r | p & q
    require !p | !q | !r
    query a(n1)
    """)
    assert model.ground.graph.n_variables == 100_003
    begin = time.process_time()
    with pytest.raises(PlxError, match="no world satisfies all of these together") as caught:
        model.run(method="gibbs", seed=1)
    assert time.process_time() - begin < 60
    assert len(caught.value.diagnostics[0].notes) == 4


def test_pigeons_are_refuted_before_sampling() -> None:
    program = """
    type Pigeon = p1..p7
    type Hole = h1..h6
    random in_hole(Pigeon): Hole
    require in_hole(p) != in_hole(q) for p, q in Pigeon if p < q
    query in_hole(p1)
    """
    with pytest.raises(PlxError, match="no world satisfies `require in_hole"):
        plx.run(program, method="gibbs")


def test_a_hopeless_search_ends_with_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sat, "CONFLICTS", 200)
    program = """
    type Pigeon = 1..10
    type Hole = 1..9
    random in_hole(Pigeon): Hole
    require in_hole(p) != in_hole(q) for p, q in Pigeon if p < q
    query in_hole(1)
    """
    with pytest.raises(PlxError, match="it is not known whether any world keeps every hard rule"):
        plx.run(program, method="gibbs")


def test_check_deep(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.plx", tmp_path / "bad.plx"
    good.write_text("random a\nrandom b\nrequire a | b\nobserve !a\nquery b given b\n")
    bad.write_text("random a\nrandom b\nrequire a | b\nobserve !a\nobserve !b\nquery b\n")
    shallow = CliRunner().invoke(app, ["check", str(bad)])
    assert shallow.exit_code == 0
    deep = CliRunner().invoke(app, ["check", "--deep", str(good), str(bad)])
    assert deep.exit_code == 1
    assert "good.plx: no mistakes found, and a world that keeps every hard rule" in deep.output
    assert "no world satisfies all of these together: `require a | b` (on a, b)" in deep.output
    assert "`observe !b` (on b)" in deep.output


def test_check_deep_looks_at_each_given(tmp_path: Path) -> None:
    program = tmp_path / "given.plx"
    program.write_text("random a\nrandom b\nrequire a | b\nquery a\nquery a given !a, !b\n")
    deep = CliRunner().invoke(app, ["check", "--deep", str(program)])
    assert deep.exit_code == 1
    assert "the given of line 5 has probability 0" in deep.output
