"""What people get wrong about worlds and weights, and what is said of it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import plx
from plx.errors import CallError, PlxError
from tests.formats.reading import save

COIN = "type T = {a, b, c} random f(T) random g(x: T) learn w weight w: f(x) for x in T "
TWO = [{"f": {"a": True, "b": False, "c": False}}, {"f": plx.Else(["a"], False)}]


@pytest.mark.parametrize(
    ("worlds", "message"),
    [
        ([TWO[0], plx.compile(COIN)], "a world is a dict of data, or a folder, and world 2 is a Model"),
        ([3], "world 1 is a int"),
        (TWO[0], "`worlds` is a list of worlds"),
        ("village", "`worlds` is a list of worlds"),
    ],
)
def test_a_world_is_data_and_no_program(worlds: object, message: str) -> None:
    with pytest.raises(CallError, match=message):
        plx.compile(COIN).learn(worlds)


@pytest.mark.parametrize(
    ("world", "message"),
    [
        ({"h": [1]}, "the program declares no such name"),
        ({"f": ["zed"]}, "`zed` is no member of T"),
    ],
)
def test_mistakes_in_the_data_name_their_world(world: dict, message: str) -> None:
    with pytest.raises(PlxError, match=message) as caught:
        plx.compile(COIN).learn([*TWO, world])
    assert "in world 3 of 3" in str(caught.value)


def test_a_rule_that_data_break_is_named_with_rows_and_world(tmp_path: Path) -> None:
    text = COIN.replace("f(T)", "f(x: T)") + "require !(f(x) & g(x)) for x in T require f(c) | !g(b) "
    text += 'observe f from "f.csv" else false observe g from "g.csv" else false'
    save(tmp_path, "p.plx", text)
    for folder, f, g in ((".", "c", "b"), ("good", "a c", "b"), ("bad", "a", "c a"), ("unlisted", "a", "b")):
        (tmp_path / folder).mkdir(exist_ok=True)
        for name, rows in (("f.csv", f), ("g.csv", g)):
            save(tmp_path / folder, name, "\n".join(["x", *rows.split()]) + "\n")
    model = plx.load(tmp_path / "p.plx")
    good, bad, unlisted = (tmp_path / name for name in ("good", "bad", "unlisted"))
    with pytest.raises(PlxError) as caught:
        model.learn([good, bad, good])
    said = str(caught.value)
    assert "(on g(a), in line 3 of" in said and "(on f(a), in line 2 of" in said
    assert f"in world 2 of 3, `{bad}`" in said
    with pytest.raises(PlxError, match=r"f\(c\), which is not listed"):
        model.learn([unlisted])
    with pytest.raises(PlxError, match=r"on f\(a\), in row 2 of what is given for `f`"):
        model.learn([{"f": plx.Else(["b", "a"], False), "g": {"a": True}}])


@pytest.mark.parametrize("value", [math.inf, math.nan, "1", None])
def test_weights_are_finite_numbers(value: object) -> None:
    with pytest.raises(PlxError, match="given for `w` is no number"):
        plx.compile(COIN).with_weights({"w": value})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"starts": 0}, "starts is at least 1"),
        ({"given": ["T"]}, "what is no random function is given in any case"),
        ({"given": ["ff"]}, "did you mean `f`"),
        ({"given": ["f"]}, "what is given is not predicted: give less"),
        ({"objective": "pseudo"}, r"3 unknowns are not observed: `g\(a\)`"),
    ],
)
def test_options_that_make_no_sense(options: dict, message: str) -> None:
    with pytest.raises(PlxError, match=message):
        plx.compile(COIN).learn(TWO, **options)


def test_what_is_nearly_impossible_has_a_probability() -> None:
    """exp(-50) is far below rounding beside 1, and its logarithm is -50."""
    found = plx.compile("type T = {a, b} random f(T) weight 50: f(x) for x in T observe f = {a, else: false}")
    assert found.score(others=True)["f"].log_score == pytest.approx(-25)
    pair = "random f random g require f <=> g weight 50: f observe f = {false} observe g = {false}"
    both = plx.compile(pair.replace("= {false}", "= false")).score(others=True)
    assert both["f"].log_score == pytest.approx(-50)


def test_values_have_no_type_of_their_own() -> None:
    for keyword in ("param", "learn"):
        with pytest.raises(PlxError, match="without the type of its values") as caught:
            plx.compile(f'type L = {{x}} {keyword} letter(L): L from "letters.csv"')
        assert "leave out `: L`" in str(caught.value)
