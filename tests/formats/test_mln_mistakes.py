"""What is wrong with a .mln or a .db is said with its file, line and column; what plx does not do, by
its name."""

from __future__ import annotations

from pathlib import Path

import pytest

import plx
from plx.errors import PlxError
from tests.formats.reading import save

HEAD = "t = {A, B}\nP(t)\nQ(t, t)\nR(t, t!)\n"


def said(folder: Path, mln: str, db: str = "", **options: object) -> str:
    """Every message about a network and a database."""
    evidence = [save(folder, "a.db", db)] if db else []
    with pytest.raises(PlxError) as caught:
        plx.load(save(folder, "a.mln", mln), *evidence, **options)
    for mistake in caught.value.diagnostics:
        assert mistake.span is not None and not any(
            word in str(mistake) for word in ("Token", "LPAR", "NAME")
        )
    return str(caught.value).replace(f"{folder}/", "")


@pytest.mark.parametrize(
    ("rule", "place", "message"),
    [
        ("1.5 P(x) ^^ P(A)", "5:11", "a formula is missing after `^`"),
        ("1.5 P(x => P(A)", "5:9", "expected `,` or `)` in the arguments of `P`"),
        ("1.5 (P(x) v P(A)", "5:5", "this `(` is not closed"),
        ("1.5 P(x) v", "5:10", "a formula is missing after `v`"),
        ("1.5 !", "5:5", "a formula is missing after `!`"),
        ("1.5", "5:3", "the statement ends too early"),
        ("1.5 P(x) P(y)", "5:10", "`P` is out of place after `)`"),
        (". P(x)", "5:1", "no statement starts with `.`"),
        ("1 P(x) => P(A) => P(B)", "5:3", "tools read a chain of `=>` differently"),
        ("1.2 P(x).", "5:1", "a formula has a weight or a final period, not both"),
        ("1 S(x)", "5:3", "the predicate `S` is not declared"),
        ("1 P(x, y)", "5:3", "the predicate `P` has 1 places, and 2 arguments here"),
        ("1 Q(x)", "5:3", "the predicate `Q` has 2 places, and 1 argument here"),
        ("1 P(x) ^ y = z", "5:10", "`y` has no type"),
        ("1 EXIST y P(x)", "5:9", "`y` is bound here and stands in no predicate"),
        ("1 EXIST A P(A)", "5:9", "`A` is a constant here: a quantifier binds variables"),
        ("1 P(f(x))", "5:5", "the function `f` is not declared"),
        ("1 P(P(x))", "5:5", "`P` is a predicate, and stands where a term does"),
        ("1 P(x!)", "5:5", "belongs into the declaration of a predicate"),
        ("1 P(+A)", "5:6", "`+` stands before a variable"),
        ("P(t, t)", "5:1", "`P` is declared twice"),
        ("S(t!, t!)", "5:7", "one value for several is not read"),
        ("t = {1, ..., B}", "5:9", "`...` stands between the first and the last of a run of integers"),
        ("t = {3, ..., 1}", "5:6", "this run has no member"),
        ("log(0) P(x)", "5:1", "`log(0)` is no number"),
        ("log(1/0) P(x)", "5:7", "division by zero"),
        ("domSize(u) P(x)", "5:9", "`u` is no type"),
        ('1 P("a)', "5:5", 'a `"` that is not closed on its line'),
        ("/* a remark", "5:1", "a comment that is not closed"),
        ('1 P("A")', "5:5", "`A` stands with quotes and without"),
        ("u = {}\nS(u)", "6:3", "the type `u` has no constants"),
        ("c: P(x)", "5:1", "`c` is no number of a predicate in this formula"),
        ('#include "absent.mln"', "5:10", "there is no file `absent.mln`"),
        ('#include "a.mln"', "5:10", "`a.mln` includes itself"),
        ('#include "code.cpp"', "5:10", "code of another language is not run"),
        # What plx does not do.
        ("#fuzzy", "5:1", "fuzzy truth (`#fuzzy`, pracmln) is not read"),
        ("#unique{x}", "5:1", "`#unique` of pracmln is not read"),
        ("#pragma", "5:1", "`#pragma` is not known"),
        ("P(P(x))=0.4", "5:1", "probability constraints `P(F) = p` (ProbCog, pracmln) are not read"),
        ("count(Q(x,y)|x)=6.", "5:1", "count constraints (ProbCog) are not read"),
        ("|x| P(x) <= 1", "5:1", "cardinality constraints `|x| …` (rockIt, WFOMC) are not read"),
        ("$n = 3", "5:1", "variables `$name` of ProbCog are not read"),
        ("@5 P(x)", "5:1", "`@` (Alchemy keeps it for itself, Tuffy uses it) is not read"),
        ("*P(x) v *P(A)", "5:7", "`*` before an atom (Alchemy: with and without `!`) is not read"),
        ("1 P(x) * 2", "5:8", "hybrid formulas (`F * term`, Alchemy) are not read"),
        ("1 P(x+1)", "5:6", "terms are not computed (`+`, Alchemy)"),
        ("S(t) 3.5 1.0", "5:6", "weights of a predicate (Forclift: of true and of false) are not read"),
        ("~P(X).", "5:1", "this is the language of WFOMC"),
        ("P(X) -> P(Y).", "5:6", "this is the language of WFOMC"),
        ("n = 15", "5:1", "`n` has a size here, and no constants"),
    ],
)
def test_rules(tmp_path: Path, rule: str, place: str, message: str) -> None:
    found = said(tmp_path, HEAD + rule + "\n")
    assert f"a.mln:{place}: error: " in found
    assert message in found


@pytest.mark.parametrize(
    ("facts", "place", "message"),
    [
        ("P(A)\nS(B)", "2:1", "the predicate `S` is not declared"),
        ("p(A)", "1:1", "did you mean `P`?"),
        ("P(A, B)", "1:1", "the predicate `P` has 1 places, and 2 are given"),
        ("P(A)\n!P(A)", "2:1", "`P(A)` is true and false"),
        ("R(A, A)\nR(A, B)", "2:1", "`R` has one `t!`, and here two"),
        ("P(A", "1:2", "this `(` is not closed"),
        ("P(?x)", "1:3", "a database has constants alone"),
        ("P(A) ^ P(B)", "1:6", "a database lists ground atoms"),
        ("u = {A}", "1:1", "the type `u` is not declared"),
        ("B = f(A)", "1:5", "the function `f` is not declared"),
        ("0.7 P(A)", "1:1", "soft evidence on `P(A)` is not read"),
        ("?P(A)", "1:1", "unknown atoms"),
        ("P(A)\n---\nP(B)", "2:1", "several databases in one file"),
        ("Q(A, B) 0.5", "1:1", "atoms with a number for a value (Alchemy) are not read"),
    ],
)
def test_databases(tmp_path: Path, facts: str, place: str, message: str) -> None:
    found = said(tmp_path, HEAD, facts)
    assert f"a.db:{place}: error: " in found
    assert message in found


def test_a_variable_of_two_types(tmp_path: Path) -> None:
    found = said(tmp_path, "person = {A}\nthing = {T}\nHas(person, thing)\n0.8 Has(b, a) ^ Has(a, b)\n")
    assert "a.mln:4:21: error: the variable `a` is a `person` here and a `thing` elsewhere" in found
    assert "note: there (a.mln:4:12)" in found


def test_a_variable_that_is_a_constant_elsewhere(tmp_path: Path) -> None:
    found = said(tmp_path, "w = {flies, like}\nWord(w)\n1 Word(flies)\n")
    assert "a.mln:3:8: error: `flies` is a variable here, and a constant of `w` elsewhere" in found


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    found = said(tmp_path, "P(t)\n1 P(x) ^^ P(A)\n1 Q(x)\nc: P(x)\n", "P(A\nS(A)\n")
    assert [line.split(": error")[0] for line in found.splitlines() if ": error: " in line] == [
        "a.mln:2:9",
        "a.mln:3:3",
        "a.mln:4:1",
        "a.db:1:2",
        "a.db:2:1",
    ]


def test_an_included_file_has_its_own_lines(tmp_path: Path) -> None:
    save(tmp_path, "b.mln", "\n1 Nothing(x)\n")
    assert "b.mln:2:3: error: the predicate `Nothing`" in said(tmp_path, 'P(t)\n#include "b.mln"\n')


def test_closed_predicates_are_not_asked_for(tmp_path: Path) -> None:
    assert "`P` is closed: it is known" in said(tmp_path, HEAD, "P(A)\n", closed="P", query="P(A)")
    assert "every value must be listed: 1 of 2 are absent" in said(tmp_path, HEAD, "R(A, B)\n", closed="R")


def test_queries_are_checked(tmp_path: Path) -> None:
    assert "did you mean `P`?" in said(tmp_path, HEAD, query="p(A)")
    assert "there is no `C` in `t`" in said(tmp_path, HEAD, query="P(C)")


def test_evidence_that_cannot_be_names_what_forbids_it(tmp_path: Path) -> None:
    mln = save(tmp_path, "a.mln", "t = {A}\nP(t)\nQ(t)\nP(x) => Q(x).\n!Q(x).\n")
    with pytest.raises(PlxError) as caught:
        plx.load(mln, save(tmp_path, "a.db", "P(A)\n")).run()
    found = str(caught.value)
    assert "a.mln:4:1" in found and "a.mln:5:1" in found and "a.db:1:1" in found


def test_encodings(tmp_path: Path) -> None:
    mln, db = tmp_path / "a.mln", tmp_path / "a.db"
    mln.write_bytes("P(t)\n1 P(Zoë)\n".encode("latin-1"))
    with pytest.raises(PlxError, match=r"a\.mln:2:7: error: byte 0xeb is not UTF-8 text"):
        plx.load(mln)
    mln.write_text("P(t)\n")
    db.write_bytes(b"P(A)\nP(\xff)\n")
    with pytest.raises(PlxError, match=r"a\.db:2:3: error: byte 0xff is not UTF-8 text"):
        plx.load(mln, db)


def test_an_empty_network_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlxError, match=r"a\.mln is empty"):
        plx.load(save(tmp_path, "a.mln", "\n"), save(tmp_path, "a.db", "P(A)\n"))


def test_what_cannot_hold_together_is_told_as_it_stands(tmp_path: Path) -> None:
    with pytest.raises(PlxError, match=r"`S\(x\)\.` \(on S\(A\)\)\n[^$]*`!S\(A\)`"):
        plx.load(
            save(tmp_path, "a.mln", "p = {A, B}\nS(p)\nS(x).\n"), save(tmp_path, "a.db", "!S(A)\n")
        ).run()


def test_a_constant_that_the_network_does_not_know(tmp_path: Path) -> None:
    mln = save(tmp_path, "a.mln", "Tube(value!)\n1 Tube(TubeTrue)\n2 Tube(TubeFalse)\n")
    model = plx.load(mln, save(tmp_path, "a.db", "Tube(False)\n"))
    found = model.warnings[0]
    assert found.severity == "warning"
    assert "`False` is no `value` of the .mln, and makes one more" in str(found)


def test_files_that_are_absent(tmp_path: Path) -> None:
    mln = save(tmp_path, "a.mln", "P(t)\n1 P(A)\n")
    with pytest.raises(PlxError, match=r"cannot read .*b\.db"):
        plx.load(mln, tmp_path / "b.db")
    with pytest.raises(PlxError, match="evidence on a Markov logic network is a database"):
        plx.load(mln, "P=true")
