"""Answers without grounding: against the grounded program, closed forms, and what is refused."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import pytest

import plx
from plx.deadline import OutOfTimeError
from plx.errors import PlxError
from plx.firstorder.plan import FirstOrderPlan, first_order
from plx.firstorder.sums import Sums
from plx.origin import CheckedProgram
from tests.compiling import compile_text
from tests.firstorder.comparing import compare, lifted
from tests.firstorder.programs import program

SMOKERS = """
type Person = p1..p{n}
random smokes(Person)
random friends(Person, Person)
weight 1.4 / {n}: smokes(x) for x in Person
weight 1.1 / {n}: friends(x, y) & smokes(x) => smokes(y) for x, y in Person
query smokes(p1)
query friends(p1, p2)
query smokes(p1) given smokes(p2), friends(p2, p1)
"""


def smokers(n: int) -> tuple[float, float]:
    """log Z and the probability that somebody smokes, by the sum over the number of smokers."""
    with localcontext() as context:
        context.prec = 40
        tie = Decimal("1.1") / n
        same, other = tie + Decimal(2).ln(), (1 + tie.exp()).ln()
        logs = [
            Decimal(math.comb(n, k)).ln()
            + Decimal("1.4") / n * k
            + n * n * same
            + k * (n - k) * (other - same)
            for k in range(n + 1)
        ]
        weights = [(log - max(logs)).exp() for log in logs]
        p = sum(k * weight for k, weight in enumerate(weights)) / sum(weights) / n
        return float(max(logs) + sum(weights).ln()), float(p)  # type: ignore[union-attr]


def test_auto_grounds_where_the_time_for_an_answer_without_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def late(_: FirstOrderPlan) -> None:
        raise OutOfTimeError

    monkeypatch.setattr(FirstOrderPlan, "run", late)
    text = """
type P = p1..p{n}
random smokes(P)
random friends(P, P)
weight 0.01: friends(x, y) & smokes(x) => smokes(y) for x, y in P
query smokes(p1)
"""
    model = plx.compile(text.format(n=60))
    assert not model.run(seconds=60, samples=100).reason.startswith("not grounded")
    with pytest.raises(PlxError, match="no answer after 60 seconds"):
        model.run(method="exact", seconds=60)
    with pytest.raises(PlxError, match="auto has no answer after 1 seconds"):  # not that it is too large
        plx.run(text.format(n=100_000), seconds=1)


def test_random_programs_agree_with_the_grounded_ones() -> None:
    answered = sum(compare(program(seed)) for seed in range(14))
    assert answered >= 12


@pytest.mark.parametrize("n", [150, 1000])
def test_smokers(n: int) -> None:
    result = plx.compile(SMOKERS.format(n=n)).run()
    log_z, p = smokers(n)
    assert result.log_z == pytest.approx(log_z, rel=1e-12)
    assert result[0].estimates[1].p == pytest.approx(p, abs=1e-12)
    assert result.method == "exact"
    assert "not grounded" in result.inference.reason


def test_names_apart_agree_with_counting_on_the_factor_graph() -> None:
    text = SMOKERS.format(n=12) + "observe smokes(p3)\nobserve friends(p1, p4)\nobserve !smokes(p7)\n"
    plan = lifted(text)
    assert plan is not None
    model, found = plan.run()
    grounded = plx.compile(text)
    from plx.infer.infer import infer

    right = infer(grounded.ground, "exact")
    assert found.log_z == pytest.approx(right.log_z, rel=1e-12)
    assert [q.name for q in model.queries] == [q.name for q in grounded.ground.queries]
    for mine, theirs in zip(found.answers[:2], right.answers[:2], strict=True):
        assert mine.p == pytest.approx(theirs.p, abs=1e-11)


def test_colourings() -> None:
    text = """
type V = v1..v100
random red(V)
random e(x: V, y: V) if x < y
require e(x, y) => (red(x) xor red(y)) for x, y in V if x < y
query logz
"""
    terms = [math.log(math.comb(100, k)) + k * (100 - k) * math.log(2) for k in range(101)]
    expected = max(terms) + math.log(math.fsum(math.exp(term - max(terms)) for term in terms))
    result = plx.compile(text).run()
    assert result[0].log_z == pytest.approx(expected, rel=1e-13)


def test_learned_numbers_have_their_values() -> None:
    text = """
type P = p1..p400
learn w = 0.5
random f(P)
random e(P, P)
weight w / 100: f(x) & f(y) for x, y in P
weight w: e(x, y) for x, y in P
observe f(p1)
query e(p1, p2)
"""
    result = plx.compile(text).run()
    assert "not grounded" in result.inference.reason
    assert result[0].estimates[1].p == pytest.approx(1 / (1 + math.exp(-0.5)), abs=1e-12)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("weight 1: e(x, y) & e(y, z) => e(x, z) for x, y, z in P", "more than two members: `x`, `y`, `z`"),
        (
            "weight 1: exists(e(x, y) for y in P if x < y) for x in P\n"
            "weight 1: f(x) & f(y) => e(x, y) for x, y in P if x < y",
            "order of members",
        ),
        ("weight 1: exists(e(x, y) & e(y, z) for y, z in P) for x in P", "more than two members"),
    ],
)
def test_refusals_name_the_rule(rule: str, words: str) -> None:
    text = f"type P = p1..p9\nrandom f(P)\nrandom e(P, P)\n{rule}\nquery f(p1)\n"
    origin = plx.compile(text).origin
    assert isinstance(origin, CheckedProgram)
    refusal = first_order(origin.program)
    assert not isinstance(refusal, FirstOrderPlan)
    assert words in refusal.words
    assert "line 4" in refusal.words or "order" in refusal.words


def test_exact_inference_says_what_stands_in_the_way() -> None:
    text = """
type P = p1..p30
random e(P, P)
weight 1: e(x, y) & e(y, z) => e(x, z) for x, y, z in P
query e(p1, p2)
"""
    with pytest.raises(PlxError, match=r"first-order counting: .* is about more than two members"):
        plx.compile(text).run(method="exact", seconds=20)


def test_no_world_is_explained() -> None:
    text = """
type P = p1..p300
random f(P)
random e(P, P)
weight 1: e(x, y) & f(x) => f(y) for x, y in P
require f(x) for x in P
require !f(p7)
query f(p1)
"""
    with pytest.raises(PlxError, match="no world"):
        plx.compile(text).run()


# ------------------------------------------------------------------ counts per member

GRAPH = (
    "type V = v1..v{n}\nrandom e(x: V, y: V) if x != y\nrequire e(x, y) => e(y, x) for x, y in V if x != y\n"
)


def log_count(text: str) -> float:
    plan = lifted(text + "query logz\n")
    assert plan is not None
    log_z = plan.run()[1].log_z
    assert log_z is not None
    return log_z


def test_random_programs_with_counts_agree_with_the_grounded_ones() -> None:
    answered = sum(compare(program(seed, counting=True)) for seed in range(12))
    assert answered >= 9


@pytest.mark.parametrize(
    ("rule", "n", "count"),
    [
        (
            "exists(e(x, y) for y in V if y != x)",
            20,
            1569215572908922308521995363961205592532386450494198274313,
        ),
        ("count(e(x, y) for y in V if y != x) = 3", 20, 976273961160363172131825),  # OEIS A002829
        ("count(e(x, y) for y in V if y != x) % 2 = 0", 30, 2 ** (29 * 28 // 2)),
    ],
)
def test_graphs(rule: str, n: int, count: int) -> None:
    text = GRAPH.format(n=n) + f"require {rule} for x in V\n"
    assert log_count(text) == pytest.approx(math.log(count), rel=1e-13)


def test_derangements() -> None:
    text = """
type V = v1..v60
random p(x: V, y: V) if x != y
require count(p(x, y) for y in V if y != x) = 1 for x in V
require count(p(y, x) for y in V if y != x) = 1 for x in V
"""
    count = sum((-1) ** k * math.factorial(60) // math.factorial(k) for k in range(61))
    assert log_count(text) == pytest.approx(math.log(count), rel=1e-13)


def test_regular_edges_are_as_likely_as_each_other() -> None:
    text = GRAPH.format(n=30) + "require count(e(x, y) for y in V if y != x) = 3 for x in V\n"
    plan = lifted(text + "query e(v1, v2)\nquery e(v1, v2) given e(v2, v1)\n")
    assert plan is not None
    found = plan.run()[1].answers
    assert found[0].p[1] == pytest.approx(3 / 29, abs=1e-12)
    assert found[1].p[1] == pytest.approx(1)


def test_weights_of_their_own() -> None:
    weights = [round(math.sin(3 * i) * 2, 3) for i in range(60)]
    table = ", ".join(f"p{i + 1}: {w}" for i, w in enumerate(weights))
    text = f"""
type P = p1..p60
param w(P) = {{{table}}}
random f(P)
weight w(x): f(x) for x in P
weight 0.1: f(x) & f(y) for x, y in P if x < y
query f(p1)
query logz
"""
    # The sums over k of e_k(odds) e^(0.1 k (k - 1) / 2), with and without the first.
    whole, first = [1.0], [1.0]
    for i, w in enumerate(weights):
        odds = math.exp(w)
        whole = [a + odds * b for a, b in zip([*whole, 0.0], [0.0, *whole], strict=True)]
        if i:
            first = [a + odds * b for a, b in zip([*first, 0.0], [0.0, *first], strict=True)]
    z = math.fsum(e * math.exp(0.1 * k * (k - 1) / 2) for k, e in enumerate(whole))
    with_first = math.exp(weights[0]) * math.fsum(
        e * math.exp(0.1 * (k + 1) * k / 2) for k, e in enumerate(first)
    )
    plan = lifted(text)
    assert plan is not None
    assert "symmetric polynomials" in plan.reason
    found = plan.run()[1]
    assert found.log_z == pytest.approx(math.log(z), rel=1e-13)
    assert found.answers[0].p[1] == pytest.approx(with_first / z, rel=1e-11)


def test_polynomials_agree_with_histograms(monkeypatch: pytest.MonkeyPatch) -> None:
    always = property(lambda self: True, lambda self, value: None)
    monkeypatch.setattr(Sums, "by_polynomials", always, raising=False)
    assert sum(compare(program(seed)) for seed in range(6)) >= 5


def test_ground_is_not_needed() -> None:
    way = plx.compile(SMOKERS.format(n=500)).without_grounding()
    assert way is not None
    assert "not grounded" in way.words
    assert [size.instances for size in way.sizes] == [500, 250_000]
    assert plx.compile(SMOKERS.format(n=5)).without_grounding() is None


def test_evidence_on_pairs_costs_what_its_elimination_takes() -> None:
    """Many pairs that are known among few members leave the program to the factor graph."""
    rules = "type T = 1..10 random s(T) random e(T, T) random g weight 0.1: g & s(1) "
    rules += "weight 0.3: e(x, y) & s(x) & s(y) for x, y in T "
    pairs = [f"observe {'!' * ((x + y) % 2)}e({x}, {y})" for x in range(1, 9) for y in range(x + 1, 9)]
    costs = []
    for known in (pairs[:2], pairs):
        plan = first_order(compile_text(f"{rules} {' '.join(known)} query s(x) for x in T"))
        assert isinstance(plan, FirstOrderPlan)
        costs.append(plan.operations)
    assert costs[1] > 50 * costs[0] > 0
    assert "eliminated" in plx.run(f"{rules} {' '.join(pairs)} query s(x) for x in T").reason
