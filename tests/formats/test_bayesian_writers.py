"""Bayesian networks written as .bif, XMLBIF and .net, and read back: the same names, states and marginals."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import plx
from plx.errors import PlxError
from plx.formats.bayesian_writers import BAYESIAN_WRITERS
from tests.formats.reading import save
from tests.random_programs import networks

FORMS = (".bif", ".xmlbif", ".net")


def marginals(result: plx.Result) -> dict[str, dict[str, float]]:
    """By name, then by state as text; of every unknown that is asked for."""
    found = {}
    for answer in result:
        if answer.kind == "probability":
            found[answer.name] = {"false": 1 - answer.probability, "true": answer.probability}
        else:
            found[answer.name] = {_text(state): p for state, p in answer.distribution.items()}
    return found


def _text(state: object) -> str:
    return str(state).lower() if isinstance(state, bool) else str(state)


def same(a: dict[str, dict[str, float]], b: dict[str, dict[str, float]]) -> None:
    assert a.keys() == b.keys()
    for name, mine in a.items():
        assert list(mine) == list(b[name])
        assert list(mine.values()) == pytest.approx(list(b[name].values()), abs=1e-12, rel=0)


PROGRAM = """type Person = {anna, bob, "x y;}"}
type Sky = {sun, "<5", "a/b", "it's", "say \\"hi\\"", rain}
random sky: Sky ~ {sun: 0.25, "<5": 0.2, rain: 0.3, "a/b": 1e-30, else: (0.25 - 1e-30) / 2}
random wet(Person) ~ 0.9 * (sky = rain) + 1/3 * (sky != rain)
random tired(x: Person) ~ noisy_or(0.1, 0.5: wet(y) for y in Person if y != x)
define score(l: 0..2) = 0.3 * l * count(wet(x) for x in Person)
random level: 0..2 ~ softmax(score)
random coin
query sky
query wet(x) for x in Person
query tired(x) for x in Person
query level
query coin
"""


@pytest.mark.parametrize("suffix", BAYESIAN_WRITERS)
def test_a_program_with_names_of_all_kinds(tmp_path: Path, suffix: str) -> None:
    file = save(tmp_path, "a.plx", PROGRAM)
    notes = plx.convert(file, tmp_path / f"b{suffix}")
    assert [note.message for note in notes if note.severity == "note"] == [
        "log Z of the program = log Z of the file + 0.6931471806"  # of `coin`, which nothing is said of
    ]
    same(marginals(plx.load(tmp_path / f"b{suffix}").run()), marginals(plx.compile(PROGRAM).run()))


@pytest.mark.parametrize("suffix", FORMS)
def test_no_world_is_no_network(tmp_path: Path, suffix: str) -> None:
    text = "type T = {t1, t2} random a(x: T) ~ 0 require a(t1) | a(t2) observe !a(t2) | a(t1) query a(t1)"
    with pytest.raises(PlxError, match="this is no Bayesian network"):
        plx.convert(save(tmp_path, "a.plx", text), tmp_path / f"b{suffix}")


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(source=networks(), suffix=st.sampled_from(FORMS))
def test_random_programs_are_written_or_refused(tmp_path: Path, source: str, suffix: str) -> None:
    """What is said to be a network has the marginals of the program, whatever is observed and weighted."""
    lines = [line for line in source.splitlines() if not line.startswith("query")]
    try:
        model = plx.compile("\n".join(lines))
        names = [model.ground.atoms.name(int(atom)) for atom in model.ground.atoms.atom_of]
        plx.convert(save(tmp_path, "a.plx", "\n".join(lines)), tmp_path / f"b{suffix}")
    except PlxError:
        return
    asked = plx.compile("\n".join([*lines, *(f"query {name}" for name in names)]))
    if names:
        same(
            marginals(plx.load(tmp_path / f"b{suffix}").run(method="exact")),
            marginals(asked.run(method="exact")),
        )


def test_every_random_network_without_evidence_is_one(tmp_path: Path) -> None:
    """So the test before this one does not pass by refusing all."""

    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
    @given(source=networks())
    def check(source: str) -> None:
        kept = ("type", "param", "relation", "define", "random")
        lines = [line for line in source.splitlines() if line.startswith(kept)]
        plx.convert(save(tmp_path, "a.plx", "\n".join(lines)), tmp_path / "b.bif")

    check()


BIF = """network n { }
variable a { type discrete [ 2 ] { yes, no }; }
variable "b c" { type discrete [ 3 ] { <5, 5-12, 12+ }; }
probability ( a ) { table 0.1234567, 0.8765432; }
probability ( "b c" | a ) { (yes) 0.1, 0.2, 0.7; (no) 0.3333333, 0.3333333, 0.3333334; }
"""


@pytest.mark.parametrize("suffix", FORMS)
def test_a_file_is_written_as_it_is(tmp_path: Path, suffix: str) -> None:
    """With the digits of the file, rows that do not sum to 1 exactly among them, and through every form."""
    file = save(tmp_path, "a.bif", BIF)
    assert plx.convert(file, tmp_path / f"b{suffix}") == ()
    text = (tmp_path / f"b{suffix}").read_text()
    assert "0.8765432" in text and "0.3333334" in text
    plx.convert(tmp_path / f"b{suffix}", tmp_path / "c.bif")
    before, after = plx.load(file).run(), plx.load(tmp_path / "c.bif").run()
    same(marginals(after), marginals(before))
    assert after.log_z == before.log_z


def test_networks_in_numbers_are_recognised(tmp_path: Path) -> None:
    """Tables of a .uai in any order and scale: what is a child of what is worked out."""
    text = "MARKOV 3 2 2 3 3 2 1 0 1 1 2 1 2 4 1 4 3 2 2 5 15 6 .1 .2 .7 .2 .3 .5\n"
    file = save(tmp_path, "a.uai", text)
    (note,) = plx.convert(file, tmp_path / "b.bif")
    same(marginals(plx.load(tmp_path / "b.bif").run()), marginals(plx.load(file).run()))
    assert "probability ( x_0 | x_1 )" in (tmp_path / "b.bif").read_text()
    assert note.message.startswith("log Z of the program = log Z of the file + 4.605170")  # log 100


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("random a ~ 0.2\nrandom b\nweight 1.5: a & b", "`weight 1.5: a & b` is no conditional distribution"),
        (
            "random a ~ 0.2\nrandom b\nrandom c ~ 0.5 * a + 0.1 * b\nobserve c",
            "so this is no Bayesian network",
        ),
    ],
)
def test_what_is_no_network_is_refused_by_name(tmp_path: Path, text: str, said: str) -> None:
    file = save(tmp_path, "a.plx", text)
    with pytest.raises(PlxError) as caught:
        plx.convert(file, tmp_path / "b.bif")
    assert said in str(caught.value) and "a .uai or .fg file holds any model" in str(caught.value)
    assert "a.plx:" in str(caught.value)
    assert not (tmp_path / "b.bif").exists()


def test_observed_roots_are_left_out_with_a_note(tmp_path: Path) -> None:
    file = save(tmp_path, "a.plx", "random a ~ 0.2\nrandom b ~ 0.5 + 0.1 * a\nobserve a\nquery b")
    notes = [note.message for note in plx.convert(file, tmp_path / "b.bif")]
    assert notes[0] == "`a = true` is observed, and not in the file"
    assert plx.load(tmp_path / "b.bif").run()["b"].distribution["true"] == pytest.approx(0.6)


def test_names_that_xml_cannot_keep(tmp_path: Path) -> None:
    file = save(tmp_path, "a.plx", 'random a: {" x", y}\nquery a')
    with pytest.raises(PlxError, match="XML cannot keep the name"):
        plx.convert(file, tmp_path / "b.xmlbif")
    plx.convert(file, tmp_path / "b.bif")
    assert list(plx.load(tmp_path / "b.bif").run()["a"].distribution) == [" x", "y"]


def test_a_remark_that_does_not_fit_is_none(tmp_path: Path) -> None:
    for remark in ('["a"]', "[1, 2, 3]", "nonsense", '["A", "x", "y"'):
        text = BIF.replace("{ yes, no };", f"{{ yes, no }}; property plx = {remark} ;")
        assert "a" in marginals(plx.load(save(tmp_path, "a.bif", text)).run())
    text = BIF.replace("{ yes, no };", '{ yes, no }; property plx = ["b c", "x", "y"] ;')
    with pytest.raises(PlxError, match="declared twice"):
        plx.load(save(tmp_path, "a.bif", text))
