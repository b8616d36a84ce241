"""Markov logic networks become programs that mean the same: each construct, and what tools differ in."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import plx
from plx.errors import CallError
from tests.formats.reading import save

FRIENDS = """
Friends(person, person)
Smokes(person)
0.5 Smokes(x)
1.1 Friends(x, y) => (Smokes(x) <=> Smokes(y))
"""


def load(folder: Path, mln: str, db: str = "", **options: object) -> plx.Model:
    """The model of a network and a database."""
    evidence = [save(folder, "a.db", db)] if db else []
    return plx.load(save(folder, "a.mln", mln), *evidence, **options)


def program(folder: Path, mln: str, db: str = "", **options: object) -> list[str]:
    """The statements of the program, without comments."""
    text = load(folder, mln, db, **options).origin.program_text()
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def answers(folder: Path, mln: str, db: str = "", **options: object) -> list[float]:
    """The probabilities of what is asked for."""
    return [found.probability for found in load(folder, mln, db, **options).run(method="exact")]


def sigmoid(weight: float) -> float:
    return 1 / (1 + math.exp(-weight))


def test_a_program_that_people_can_read(tmp_path: Path) -> None:
    found = program(tmp_path, FRIENDS, "Friends(Anna, Bob)\n!Smokes(Bob)\n", query="Smokes")
    assert found == [
        "type person = {Anna, Bob}",
        "random Friends(person, person)",
        "random Smokes(person)",
        "weight 0.5: Smokes(x) for x in person",
        "weight 1.1: Friends(x, y) => (Smokes(x) <=> Smokes(y)) for x, y in person",
        "observe Friends(Anna, Bob)",
        "observe !Smokes(Bob)",
        "query Smokes(x) for x in person",
    ]


def test_the_text_is_the_program_that_is_run(tmp_path: Path) -> None:
    model = load(tmp_path, FRIENDS, "Friends(Anna, Bob)\nSmokes(Cleo)\n")
    again = plx.compile(model.origin.program_text()).run(method="exact")
    direct = model.run(method="exact")
    assert again.log_z == direct.log_z
    assert {q.name: q.probability for q in again} == {q.name: q.probability for q in direct}


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("1.5 P(x)", "weight 1.5: P(x) for x in t"),
        ("-2 !P(x)", "weight -2: !P(x) for x in t"),
        ("P(x).", "require P(x) for x in t"),
        ("log(3/2) P(x)", "weight log(3 / 2): P(x) for x in t"),
        ("logx(0.5) P(x)", "weight log(0.5): P(x) for x in t"),
        ("logx(0) P(x)", "require !P(x) for x in t"),
        ("-float('inf') P(x)", "require !P(x) for x in t"),
        ("float('inf') P(x)", "require P(x) for x in t"),
        ("log(float(2)/3) P(x)", "weight log(2 / 3): P(x) for x in t"),
        ("1+(0.5*domSize(t)) P(x)", "weight 1 + 0.5 * count(true for x in t): P(x) for x in t"),
        ("1 P(x) ^ Q(x, y) => P(y)", "weight 1: P(x) & Q(x, y) => P(y) for x, y in t"),
        ("1 P(x) <=> !P(y)", "weight 1: P(x) <=> !P(y) for x, y in t"),
        ("1 P(x) | P(y) & P(A)", None),
        ("1 Q(x,y) ^ x != y", "weight 1: Q(x, y) & x != y for x, y in t"),
        ("1 Q(x,y) ^ x =/= y", "weight 1: Q(x, y) & x != y for x, y in t"),
        ("1 Q(x,y) ^ !(x = y)", "weight 1: Q(x, y) & x != y for x, y in t"),
        ("1 Q(x,y) v x = A", "weight 1: Q(x, y) | x = A for x, y in t"),
        ("1 EXIST y Q(x, y)", "weight 1: exists(Q(x, y) for y in t) for x in t"),
        ("1 P(x) v exist y Q(x, y) v P(y)", "weight 1: P(x) | exists(Q(x, y) | P(y) for y in t) for x in t"),
        ("FORALL x EXIST y Q(x,y).", "require forall(exists(Q(x, y) for y in t) for x in t)"),
        ("1 !(EXIST y Q(x,y)) ^ P(x)", "weight 1: !exists(Q(x, y) for y in t) & P(x) for x in t"),
        ("1 [P(x) v P(A)] ^ P(B)", "weight 1: (P(x) | P(A)) & P(B) for x in t"),
        ("1 P(v) v P(x)", "weight 1: P(v) | P(x) for v, x in t"),
        ("1 P(x')", "weight 1: P(x') for x' in t"),
        ('1 P("a b")', 'weight 1: P("a b")'),
        ("1 P(x) // a remark", "weight 1: P(x) for x in t"),
        ("1 P(x) /* two\nlines */", "weight 1: P(x) for x in t"),
        ("1 P(x) =>\n  P(A)", "weight 1: P(x) => P(A) for x in t"),
        ("1 P(x)\n  v P(A)", "weight 1: P(x) | P(A) for x in t"),
        ("1 P( x )^Q( x,A )", "weight 1: P(x) & Q(x, A) for x in t"),
    ],
)
def test_rules(tmp_path: Path, rule: str, expected: str | None) -> None:
    mln = f't = {{A, B, "a b"}}\nP(t)\nQ(t, t)\n{rule}\n'
    if expected is None:
        with pytest.raises(plx.PlxError, match="Alchemy reads `\\^` before `v`"):
            load(tmp_path, mln)
        return
    assert program(tmp_path, mln)[3] == expected


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_and_a_byte_order_mark(tmp_path: Path, end: str) -> None:
    text = "﻿t = {A, B}\nP(t)\n1 P(x)\n\n2 P(x) v\nP(A)".replace("\n", end)
    file = tmp_path / "a.mln"
    file.write_bytes(text.encode())
    assert len(plx.load(file).run()) == 2


@pytest.mark.parametrize("dialect", ["alchemy", "pracmln"])
def test_precedence_by_choice(tmp_path: Path, dialect: str) -> None:
    mln = "t = {A}\nP(t)\nQ(t)\nR(t)\n1 P(x) ^ Q(x) v R(x)\n"
    expected = {"alchemy": "P(x) & Q(x) | R(x)", "pracmln": "P(x) & (Q(x) | R(x))"}[dialect]
    assert program(tmp_path, mln, dialect=dialect)[4] == f"weight 1: {expected} for x in t"


@pytest.mark.parametrize("dialect", ["alchemy", "pracmln"])
def test_the_reach_of_a_quantifier_by_choice(tmp_path: Path, dialect: str) -> None:
    mln = "t = {A}\nQ(t, t)\nR(t)\n1 EXIST y (Q(x, y)) => R(x)\n"
    with pytest.raises(plx.PlxError, match="reaching to the end"):
        load(tmp_path, mln)
    expected = {
        "alchemy": "exists(Q(x, y) => R(x) for y in t)",
        "pracmln": "exists(Q(x, y) for y in t) => R(x)",
    }[dialect]
    assert program(tmp_path, mln, dialect=dialect)[3] == f"weight 1: {expected} for x in t"


def test_marked_variables_make_lower_case_words_constants(tmp_path: Path) -> None:
    mln = "word(pos, w!)\n1 word(?i, flies) ^ word(?j, a) v word(?i, like)\n"
    assert program(tmp_path, mln, "word(n1, flies)\n")[:4] == [
        "type pos = {n1}",
        "type w = {flies, a, like}",
        "random word(pos): w",
        "weight 1: word(i) = flies & word(j) = a | word(i) = like for i, j in pos",
    ]


def test_a_value_for_each_index(tmp_path: Path) -> None:
    mln = "throw = {1, 2}\nface = {1, ..., 6}\nOutcome(throw, face!)\n1.5 Outcome(t, 6)\n"
    (first, _) = load(tmp_path, mln).run()
    assert first.distribution[6] == pytest.approx(0.472667795, abs=1e-9)
    assert first.distribution[1] == pytest.approx(0.105466441, abs=1e-9)
    seen = load(tmp_path, mln, "!Outcome(1, 6)\nOutcome(2, 3)\n").run()
    assert seen[0].distribution == pytest.approx({**dict.fromkeys(range(1, 6), 0.2), 6: 0})
    assert seen[1].distribution[3] == 1


def test_at_most_one_value(tmp_path: Path) -> None:
    mln = "c = {C}\no = {A, B, D}\nobject(c, o?)\n"
    assert answers(tmp_path, mln) == pytest.approx([0.25] * 3)


def test_a_weight_for_each_constant(tmp_path: Path) -> None:
    mln = "t = {A}\nf = {apple, pear}\nLikes(t, f)\n0.8 Likes(x, +y)\n"
    assert program(tmp_path, mln)[3:5] == [
        "param w(y: f) = 0.8",
        "weight w(y): Likes(x, y) for x in t, y in f",
    ]
    assert answers(tmp_path, mln) == pytest.approx([sigmoid(0.8)] * 2)


def test_weights_shared_by_clauses(tmp_path: Path) -> None:
    db = "Friends(Ann, Bob)\nSmokes(Bob)\n"
    whole = answers(tmp_path, FRIENDS, db, closed="Friends", query="Smokes(Ann)", weights="whole")
    split = answers(tmp_path, FRIENDS, db, closed="Friends", query="Smokes(Ann)", weights="cnf")
    # With a smoking friend the equivalence holds whole, or only one of its two clauses is at stake.
    assert whole == pytest.approx([sigmoid(0.5 + 1.1)])
    assert split == pytest.approx([sigmoid(0.5 + 0.55)])


def test_clauses_of_quantifiers(tmp_path: Path) -> None:
    mln = "t = {A, B}\nP(t)\nQ(t, t)\n3 FORALL x (P(x) ^ (EXIST y Q(x, y)))\n"
    assert program(tmp_path, mln, weights="cnf")[3:5] == [
        "weight 3 / 2: P(x) for x in t",
        "weight 3 / 2: exists(Q(x, y) for y in t) for x in t",
    ]
    with pytest.raises(plx.PlxError, match="existential is over a conjunction"):
        load(tmp_path, "t = {A}\nP(t)\nQ(t)\n1 EXIST x (P(x) ^ Q(x))\n", weights="cnf")


def test_open_and_closed_worlds(tmp_path: Path) -> None:
    db = "Friends(Ann, Bob)\nSmokes(Bob)\n"
    asked = {"query": ["Smokes"]}
    text = {
        name: "\n".join(program(tmp_path, FRIENDS, db, **options, **asked))
        for name, options in {
            "open": {},
            "closed": {"closed": ["Friends"]},
            "evidence": {"world": "evidence"},
        }.items()
    }
    assert "random Friends(person, person)" in text["open"]
    assert "relation Friends(person, person) = {(Ann, Bob)}" in text["closed"]
    assert text["evidence"] == text["closed"]
    star = FRIENDS.replace("Friends(person", "*Friends(person", 1)
    assert "\n".join(program(tmp_path, star, db, **asked)) == text["closed"]


def test_closed_propositions(tmp_path: Path) -> None:
    assert program(tmp_path, "*Rain\nWet\n2 Rain => Wet\n", "Rain\n")[:3] == [
        "param Rain = true",
        "random Wet",
        "weight 2: Rain => Wet",
    ]
    assert answers(tmp_path, "*Rain()\nWet()\n2 Rain() => Wet()\n") == [0.5]


def test_weights_of_facts(tmp_path: Path) -> None:
    mln = "Red(x)\n*conf(x, float_)\nc: !conf(y, c) v Red(y)\n"
    db = "conf(A, 2.7)\nconf(B, -0.3)\nconf(B, 1)\n"
    assert answers(tmp_path, mln, db) == pytest.approx([sigmoid(2.7), sigmoid(0.7)])
    arrow = mln.replace("!conf(y, c) v Red(y)", "conf(y, c) ^ Red(A) => Red(y)")
    assert "weight conf(y): Red(A) => Red(y) for y in x" in program(tmp_path, arrow, db)
    with pytest.raises(plx.PlxError, match="weighs a clause with"):
        load(tmp_path, mln.replace("!conf", "conf"), db)


def test_functions_by_their_values(tmp_path: Path) -> None:
    mln = "person boss(person)\nHappy(person)\n1 Happy(boss(x)) => Happy(x)\n"
    db = "Ann = boss(Bob)\nboss(Cleo) = Ann\n"
    found = program(tmp_path, mln, db, query="Happy")
    assert "relation boss(person, person) = {(Bob, Ann), (Cleo, Ann)}" in found
    assert "weight 1: Happy(b) => Happy(x) for x, b in person if boss(x, b)" in found
    # Ann sways two people: P(Bob | Ann) = e/(1 + e) where she is happy, else 1/2.
    e = math.e
    ann = (1 + e) ** 2 / ((1 + e) ** 2 + (2 * e) ** 2)
    assert answers(tmp_path, mln, db, query="Happy(Ann), Happy(Bob)") == pytest.approx(
        [ann, ann * e / (1 + e) + (1 - ann) / 2]
    )
    with pytest.raises(plx.PlxError, match="the function `boss` has no values"):
        load(tmp_path, mln, "Happy(Ann)\n")


def test_names_that_plx_has_for_itself(tmp_path: Path) -> None:
    mln = "count(type, x)\nx(given)\n1 count(for, x) ^ x(y)\n2 count(x, map)\n"
    db = "count(Weight, log)\nx(true)\nx(Count)\n"
    model = load(tmp_path, mln, db)
    assert "# `count` is called `count_` here." in model.origin.program_text()
    assert (
        plx.compile(model.origin.program_text()).run(method="exact").log_z == model.run(method="exact").log_z
    )


@pytest.mark.parametrize("text", ["O'Brien-1", "Zoë 2nd", "3rd", "007", "1.50", "x\\y"])
def test_constants_of_any_kind_come_back(tmp_path: Path, text: str) -> None:
    mln = f'Knows(p)\n1 Knows("{text}")\n'
    (found,) = load(tmp_path, mln).run()
    assert found.probability == pytest.approx(sigmoid(1))
    assert text in found.name.replace("\\\\", "\\")


def test_integers_are_integers(tmp_path: Path) -> None:
    mln = "time = {-1, 0, 1}\nAt(time)\n1 At(s) ^ At(t) ^ s < t\n2 At(-1)\n"
    assert program(tmp_path, mln)[:4] == [
        "type time = -1..1",
        "random At(time)",
        "weight 1: At(s) & At(t) & s < t for s, t in time",
        "weight 2: At(-1)",
    ]


def test_included_files(tmp_path: Path) -> None:
    save(tmp_path, "facts.db", "P(A)\n")
    save(tmp_path, "types.mln", 't = {A, B}\nP(t)\n#include "facts.db"\n')
    assert answers(tmp_path, '#include "types.mln"\n2 P(x)\n') == pytest.approx([1, sigmoid(2)])


def test_utilities_are_left_out_and_said(tmp_path: Path) -> None:
    model = load(tmp_path, "t = {A}\nP(t)\n-2:20 P(x)\n:-1 P(x)\n")
    assert [found.severity for found in model.warnings] == ["note", "note"]
    assert model.run()[0].probability == pytest.approx(sigmoid(-2))


def test_queries(tmp_path: Path) -> None:
    db = "Smokes(Ann)\nFriends(Ann, Bob)\n"
    result = load(
        tmp_path, FRIENDS, db, query=["Smokes, Friends(Ann, x)", "Smokes(Ann) ^ !Smokes(Bob)"]
    ).run()
    assert [found.name for found in result] == [
        "Smokes(Ann)",
        "Smokes(Bob)",
        "Friends(Ann, Ann)",
        "Friends(Ann, Bob)",
        "Smokes(Ann) & !Smokes(Bob)",
    ]
    asked = save(tmp_path, "query.db", "// what is asked\nSmokes(x)\n")
    assert len(load(tmp_path, FRIENDS, db, query=str(asked)).run()) == 2


def test_options(tmp_path: Path) -> None:
    for options, said in [
        ({"weight": "cnf"}, "did you mean `weights`"),
        ({"weights": "half"}, "weights is `whole` or `cnf`"),
        ({"closed": ["Friend"]}, "did you mean `Friends`"),
        ({"closed": 3}, "closed is a list of texts"),
    ]:
        with pytest.raises(CallError, match=said):
            load(tmp_path, FRIENDS, "Smokes(A)\n", **options)
