"""BIF networks: names of any kind, the order of tables, rows that are off, mistakes."""

from __future__ import annotations

import math

import pytest

from plx.formats import read_model
from plx.infer.infer import infer
from tests.formats.reading import answers, mistake, save, total

RAIN = """network test { property "a b"; }
variable rain { type discrete [ 2 ] { yes, no }; property position = (1, 2) ; }
variable lawn { type discrete[3]{dry,wet,flooded}; }
probability ( rain ) { table 0.2, 0.8; }
probability ( lawn | rain ) {
  (no) 0.9, 0.1, 0.0;  // the order of rows is free
  (yes) 0.0, 0.7, 0.3;
}
"""


def test_rows(tmp_path):
    model = read_model(save(tmp_path, "a.bif", RAIN))
    found = answers(model)
    assert found["rain"] == pytest.approx({"yes": 0.2, "no": 0.8})
    assert found["lawn"] == pytest.approx({"dry": 0.72, "wet": 0.22, "flooded": 0.06})
    assert model.warnings == ()


def test_evidence_by_name(tmp_path):
    model = read_model(save(tmp_path, "a.bif", RAIN), ["lawn=wet"])
    assert answers(model) == {"rain": pytest.approx({"yes": 0.14 / 0.22, "no": 0.08 / 0.22})}
    assert total(model) == pytest.approx(-1.5141277326297755)


def test_the_most_probable_worlds(tmp_path):
    model = read_model(save(tmp_path, "a.bif", RAIN), ["rain=yes"], best=2)
    query = model.queries[-1]
    assert (query.kind, query.name, query.best) == ("map", "map 2", 2)
    answer = infer(model).answers[-1]
    assert [world.log_weight + model.log_constant for world in answer.worlds] == pytest.approx(
        [math.log(0.2 * 0.7), math.log(0.2 * 0.3)]
    )


def test_names_are_kept_as_they_are(tmp_path):
    text = """
    variable 节点1 { type discrete [ 2 ] { <5, 5-12 }; }
    variable "a, b" { type discrete [ 3 ] { 12+, Asy/Patchy, >=7.5 }; }
    variable None { type discrete [ 2 ] { "not at all", True }; }
    probability ( 节点1 ) { table 0.5 0.5; }
    probability ( "a, b" | 节点1 ) { (<5) 0.2, 0.3, 0.5; (5-12) 0.4, 0.3, 0.3; }
    probability ( None | "a, b", 节点1 ) {
      default 0.5, 0.5;
      (12+, <5) 0.25, 0.75; /* the rest
      is the default */
    }"""
    found = answers(read_model(save(tmp_path, "a.bif", text), {"节点1": "<5"}))
    assert found["a, b"] == pytest.approx({"12+": 0.2, "Asy/Patchy": 0.3, ">=7.5": 0.5})
    assert found["None"] == pytest.approx({"not at all": 0.45, "True": 0.55})


def test_table_of_a_child_has_the_child_first(tmp_path):
    text = """
    variable a { type discrete [ 2 ] { a0, a1 }; }
    variable b { type discrete [ 2 ] { b0, b1 }; }
    variable c { type discrete [ 3 ] { c0, c1, c2 }; }
    probability ( a ) { table 1, 0; }
    probability ( b ) { table 0, 1; }
    probability ( c | a, b ) { table .1 .2 .3 .4  .5 .6 .7 .1  .4 .2 0 .5; }"""
    found = answers(read_model(save(tmp_path, "a.bif", text)))
    assert found["c"] == pytest.approx({"c0": 0.2, "c1": 0.6, "c2": 0.2})


def test_the_old_form_without_commas_and_bar(tmp_path):
    text = """
    variable "light-on" { //2 values
      type discrete[2] { "true" "false" }; property "position = (218, 195)" ; }
    variable "family-out" { type discrete[2] { true false }; }
    probability ( "light-on" "family-out" ) { table 0.6 0.05 0.4 0.95 ; }
    probability ( "family-out" ) { table 0.15 0.85 ; }"""
    found = answers(read_model(save(tmp_path, "a.bif", text)))
    assert found["light-on"]["true"] == pytest.approx(0.15 * 0.6 + 0.85 * 0.05)


def one(entries: str) -> str:
    return (
        f"variable A {{ type discrete [ 3 ] {{ x, y, z }}; }}\nprobability ( A ) {{\n  table {entries};\n}}"
    )


def test_rounded_rows_are_normalised_with_a_note(tmp_path):
    model = read_model(save(tmp_path, "a.bif", one("0.3333, 0.3333, 0.3333")))
    assert answers(model)["A"]["x"] == pytest.approx(1 / 3, rel=1e-15)
    assert total(model) == pytest.approx(0, abs=1e-15)
    (warning,) = model.warnings
    assert "was normalised (the worst sum is 0.9999)" in warning.message
    assert warning.hint is None
    assert warning.span is not None
    assert warning.span.line == 3


def test_rows_further_off_are_said_louder(tmp_path):
    (warning,) = read_model(save(tmp_path, "a.bif", one("0.5, 0.5, 0.5"))).warnings
    assert "more than rounding explains" in str(warning)


def test_published_digits_are_kept(tmp_path):
    model = read_model(save(tmp_path, "a.bif", one("0.3333333, 0.3333333, 0.3333333")))
    assert model.warnings == ()
    assert total(model) == pytest.approx(-1e-7, rel=1e-3)


AB = "variable a { type discrete [ 2 ] { t, f }; }\nvariable b { type discrete [ 2 ] { t, f }; }\n"
A = AB + "probability (a) { table 1, 0; }\n"
B = AB + "probability (b) { table 1, 0; }\n"
DISCRETE = "expected `discrete [ n ]`; only discrete variables can be read, found `real`"
CIRCLE = "the parents go round in a circle: a → b → a"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("variabel a { }", "a.bif:1:1: error: expected `network`, `variable` or `probability`, found"),
        ("variable a { type real; }", DISCRETE),
        ("variable a { type discrete [ 3 ] { t, f }; }", "3 states are announced, 2 are listed"),
        ("variable a { type discrete [ 2 ] { t, t }; }", "the state of `a` `t` is declared twice"),
        ("variable a { type discrete [ 2 ] { t, f }", "expected `;`, found the end of the file"),
        ("variable a { }", "the variable `a` has no `type discrete [ n ] { … }`"),
        ('variable "a { }', 'a `"` that is not closed on its line'),
        ("/* variable", "a comment that is not closed"),
        (AB, "the variable `a` has no `probability (a …)`"),
        (AB + "probability (c) { table 1, 0; }", "a.bif:3:14: error: there is no variable called `c`"),
        (AB + "probability (a | a) { table 1; }", "`a` stands twice in one `probability`"),
        (B + "probability (a) { table 1; }", "2 numbers are needed here, and 1 are given"),
        (B + "probability (a) { table 1, x; }", "a.bif:4:28: error: `x` is not a number"),
        (B + "probability (a) { table 0, 0; }", "all entries of a row of probability (a) are 0"),
        (A + "probability (b | a) { (t) 1, 0; }", "(b | a) has no row for (f), and no `default`"),
        (A + "probability (b | a) { (t) 1, 0; (t) 0, 1; }", "a second row for (t)"),
        (A + "probability (b | a) { (T) 1, 0; }", "there is no state of `a` called `T`"),
        (A + "probability (b | a) { (t, t) 1, 0; }", "2 states for 1 parents of `b`"),
        (A + "probability (a) { table 1, 0; }", "a second `probability` of `a`"),
        (AB + "probability (a | b) { default 1, 0; } probability (b | a) { default 1, 0; }", CIRCLE),
        (AB + "probability (a) { table 1, 0 }", "expected `;`, found `}`"),
    ],
)
def test_mistakes_have_a_place(tmp_path, text, expected):
    assert expected in mistake(save(tmp_path, "a.bif", text))


def test_a_long_circle_is_shown_whole(tmp_path):
    names = ["start", "u", "v", "w"]
    parents = ["w", "w", "u", "v"]
    text = "".join(f"variable {name} {{ type discrete [ 2 ] {{ t, f }}; }}\n" for name in names)
    text += "".join(
        f"probability ({n} | {p}) {{ default 1, 0; }}\n" for n, p in zip(names, parents, strict=True)
    )
    assert "in a circle: w → u → v → w" in mistake(save(tmp_path, "a.bif", text))
