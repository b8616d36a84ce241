"""Most probable worlds without grounding, against those of the grounded program."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest

import plx
from plx.answer.estimate import name_answers
from plx.answer.named import NamedAnswer
from plx.errors import PlxError
from plx.firstorder.plan import FirstOrderPlan
from tests.firstorder.comparing import lifted
from tests.firstorder.programs import functions, linked, mutual, ordered, pair_counts, program, successors


def best(text: str) -> NamedAnswer | None:
    """The answer to the one query; None where no world is possible."""
    plan = lifted(text)
    assert plan is not None
    return answer(plan)


def answer(plan: FirstOrderPlan) -> NamedAnswer | None:
    try:
        model, found = plan.run()
    except PlxError:
        return None
    (row,) = name_answers(model, found.answers)
    return row


def counting(seed: int) -> str:
    return program(seed, counting=True)


def fact(name: str, value: object) -> str:
    if isinstance(value, bool):
        return f"observe {'' if value else '!'}{name}\n"
    return f"observe {name} = {value}\n"


@pytest.mark.parametrize(
    "make, seed",
    [
        *((program, seed) for seed in range(6)), (linked, 0), (linked, 3), (ordered, 1),
        (successors, 1), (counting, 1), (counting, 5), (mutual, 1), (mutual, 4), (pair_counts, 2),
        (pair_counts, 9), (pair_counts, 17), (functions, 2), (functions, 5), (functions, 10),
    ],
)  # fmt: skip
def test_the_best_world_of_random_programs(make: Callable[[int], str], seed: int) -> None:
    lines = make(seed).splitlines()
    head = "\n".join(line for line in lines if not line.startswith("query")) + "\n"
    named = re.findall(r"query \(f\((\S+?)\), f\((\S+?)\)\)", make(seed))
    a, b = named[0] if named else ("p1", "p2")
    asked = ["map", "map f(x) for x in P", f"map given f({a})"]
    asked += [f"map e({a}, {b}) given !f({b}), z"] if "random e" in head else []
    if make is functions:
        value = "q1" if ": Q" in head else "p1"
        asked += ["map g(x) for x in P", f"map g(p1) given g(p2) = {value}, !z"]
    for query in asked:
        text = f"{head}query {query}\n"
        plan = lifted(text)
        if plan is None:
            continue
        found = answer(plan)
        try:
            right = plx.run(text, method="exact").queries[0]
        except PlxError:
            assert found is None
            continue
        assert found is not None and (found.name, found.text) == (right.name, right.text)
        (mine,), (other,) = found.worlds, right.worlds
        assert mine.log_weight == pytest.approx(other.log_weight, abs=1e-9)
        assert mine.assignment.keys() == other.assignment.keys()
        if query == "map":  # that is the log weight of the world that is shown
            facts = "".join(fact(name, value) for name, value in mine.assignment.items())
            log_z = plx.run(f"{head}{facts}query logz\n", method="exact").log_z
            assert log_z == pytest.approx(mine.log_weight, abs=1e-9)


def test_the_best_of_voters_with_leanings_of_their_own() -> None:
    """Who leans most votes yes: of each number of votes the best world is known."""
    n = 40
    lean = [((7 * i) % 23 - 11) / 8 for i in range(n)]
    given = ", ".join(f"p{i + 1}: {value}" for i, value in enumerate(lean))
    found = best(f"""
type P = p1..p{n}
random yes(P)
param w(P) = {{{given}}}
weight w(x): yes(x) for x in P
weight -0.08: yes(x) & yes(y) for x, y in P if x < y
weight 2: yes(x) <=> yes(y) for x, y in P if x < y
query map
""")
    assert found is not None
    (world,) = found.worlds
    ordered = sorted(lean, reverse=True)
    logs = [
        math.fsum(ordered[:k]) - 0.08 * math.comb(k, 2) + 2 * (math.comb(k, 2) + math.comb(n - k, 2))
        for k in range(n + 1)
    ]
    assert world.log_weight == pytest.approx(max(logs), abs=1e-9)
    k = logs.index(max(logs))
    chosen = sorted((lean[i] for i in range(n) if world.assignment[f"yes(p{i + 1})"]), reverse=True)
    assert chosen == ordered[:k]


def test_the_best_world_of_many() -> None:
    """Of 400 people all smoke, and friendships that the rule does not ask for are as they cost least."""
    result = plx.run("""
type P = p1..p400
random smokes(P)
random friends(P, P)
weight 0.5: smokes(x) for x in P
weight 0.001: friends(x, y) & smokes(x) => smokes(y) for x, y in P
weight -0.25: friends(x, y) for x, y in P
observe friends(p1, p2)
query map friends(p1, x) for x in P
query map smokes(x) for x in P
""")
    assert "not grounded" in result.inference.reason
    friends, smoke = (query.worlds[0] for query in result.queries)
    assert [name for name, value in friends.assignment.items() if value] == ["friends(p1, p2)"]
    assert all(smoke.assignment.values()) and len(smoke.assignment) == 400
    assert smoke.log_weight == pytest.approx(0.5 * 400 + 0.001 * 400**2 - 0.25, rel=1e-12)


def test_the_best_world_where_members_and_pairs_are_counted() -> None:
    """A 3-regular graph, few of whose edges leave those who are marked; and the cheapest pairs."""
    found = best("""
type V = v1..v14
random mark(V)
random edge(x: V, y: V) if x != y
require edge(x, y) => edge(y, x) for x, y in V if x != y
require count(edge(x, y) for y in V if y != x) = 3 for x in V
require count(mark(x) for x in V) = 5
weight -1: edge(x, y) & mark(x) & !mark(y) for x, y in V if x != y
query map edge(x, y) for x, y in V if x != y
""")
    assert found is not None
    (world,) = found.worlds
    degrees = [
        sum(bool(world.assignment[f"edge(v{x}, v{y})"]) for y in range(1, 15) if y != x) for x in range(1, 15)
    ]
    assert degrees == [3] * 14 and world.log_weight == pytest.approx(-1.0)  # 5 have 15 ends, an odd number
    found = best("""
type V = v1..v20
random old(V)
random e(x: V, y: V) if x < y
weight 0.3: old(x) for x in V
weight 1: e(x, y) & old(x) & !old(y) for x, y in V if x < y
weight 1: e(x, y) & !old(x) & old(y) for x, y in V if x < y
weight -1: e(x, y) for x, y in V if x < y
require count(e(x, y) for x, y in V if x < y) = 70
query map old(x) for x in V
""")
    assert found is not None
    (world,) = found.worlds
    assert world.log_weight == pytest.approx(0.3 * 15)  # 15 * 5 pairs cost nothing
    assert sum(map(bool, world.assignment.values())) == 15


def test_what_is_asked_with_map_and_not_answered() -> None:
    head = "\n".join(line for line in ordered(0).splitlines() if not line.startswith("query"))
    assert lifted(f"{head}\nquery count(e(x, y) for x, y in P if x < y)\nquery map\n") is None
    several = "type P = p1..p5\nrandom s(P)\nweight 1: s(x) for x in P\nquery map 2\n"
    assert lifted(several) is None
    assert len(plx.run(several).queries[0].worlds) == 2
