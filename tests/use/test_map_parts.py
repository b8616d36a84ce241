"""A part of the best world is what the best world says of it."""

from __future__ import annotations

import pytest

import plx

TEXT = """
type P = p1..p15
type C = {red, green}
random smokes(P)
random colour(x: P): C
random rain
weight 0.3: smokes(x) & rain for x in P
weight -1: smokes(x) for x in {p3, p4}
weight 1: colour(x) = green for x in P
weight 0.5: rain
observe smokes(p2)
"""


@pytest.mark.parametrize("method", ["exact", "gibbs"])
def test_a_part_is_the_world_restricted(method: str) -> None:
    result = plx.run(
        TEXT + "query map 3\nquery map 3 smokes(x) for x in P if x < p5\nquery map rain\n"
        "query map colour(x) as hues for x in {p1, p2}",
        method=method, seed=1,
    )  # fmt: skip
    whole, part, one, named = result
    names = [f"smokes(p{i})" for i in range(1, 5)]
    for world, some in zip(whole.worlds, part.worlds, strict=True):
        assert some.assignment == {name: world.assignment[name] for name in names}
        assert some.log_weight == world.log_weight
    assert part.name == "map 3 smokes(x) for x in P if x < p5"
    assert one.assignment == {"rain": whole.assignment["rain"]}
    assert result["hues"].assignment == {"colour(p1)": "green", "colour(p2)": "green"}
    assert named is result["hues"]


def test_a_given_holds_for_the_whole_part() -> None:
    result = plx.run(TEXT + "query map smokes(x) for x in {p3, p4} given !rain, smokes(p4)")
    assert result[0].assignment == {"smokes(p3)": False, "smokes(p4)": True}


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("query map smokes(x) for x in P given colour(x) = red", "`x`"),
        ("query map smokes(p99)", "p99"),
        ("query map P", "map"),
        ("query map smoke(p1)", "smokes"),
        ("query map smokes", "smokes"),
    ],
)
def test_mistakes_are_told(query: str, words: str) -> None:
    with pytest.raises(plx.PlxError, match=words):
        plx.run(TEXT + query)


def test_many_false_unknowns_are_counted_in_the_table() -> None:
    many = plx.run(
        "type P = 1..40\nrandom a(P)\nweight -1: a(p) for p in P if p != 7\nweight 1: a(7)\nquery map"
    )
    shown = repr(many)
    assert "a(7)" in shown and "39 others" in shown and "a(8)" not in shown
    assert len(many["map"].assignment) == 40
    few = repr(plx.run("type P = 1..5\nrandom a(P)\nweight -1: a(p) for p in P\nquery map"))
    assert "others" not in few and "a(5)" in few
