"""The file beside a .uai or .fg that gives unknowns their names."""

from __future__ import annotations

from pathlib import Path

import pytest

import plx
from plx.errors import PlxError
from tests.formats.reading import save

UAI = "MARKOV 2 2 3 1 2 0 1 6 1 2 3 4 5 6\n"
NAMES = '# who is called what\n["the cat", "<", "/"]\n\n["b", false, "x y", 7]\n'
FG = "1\n\n2\n4 9\n2 3\n2\n0 1\n5 3\n"


@pytest.mark.parametrize(("name", "text"), [("a.uai", UAI), ("a.fg", FG)])
def test_names_and_states(tmp_path: Path, name: str, text: str) -> None:
    file = save(tmp_path, name, text)
    plain = plx.load(file).run()
    save(tmp_path, f"{name}.names", NAMES)
    result = plx.load(file).run()
    assert [answer.name for answer in result] == ["the cat", "b"]
    assert [list(answer.distribution) for answer in result] == [["<", "/"], [False, "x y", 7]]
    for one, other in zip(result, plain, strict=True):
        assert list(one.distribution.values()) == list(other.distribution.values())


@pytest.mark.parametrize("suffix", [".uai", ".fg"])
def test_written_with_the_file_and_read_with_it(tmp_path: Path, suffix: str) -> None:
    program = 'type A = {a, "b c"}\nrandom f(A): {"<", x} | 1..2\nrandom g\nweight 1: f(a) = x & g\n'
    program += "query f(a)\nquery g\n"
    file = save(tmp_path, "a.plx", program)
    plx.convert(file, tmp_path / f"b{suffix}")
    assert "c plx" not in (tmp_path / f"b{suffix}").read_text()
    before, after = plx.load(file).run(), plx.load(tmp_path / f"b{suffix}").run()
    assert after["f(a)"].distribution == pytest.approx(before["f(a)"].distribution, abs=1e-12)
    assert after["g"].probability == pytest.approx(before["g"].probability, abs=1e-12)
    assert after['f("b c")'].distribution == pytest.approx(dict.fromkeys(["<", "x", 1, 2], 0.25))


def test_numbers_need_no_names_and_stale_ones_go(tmp_path: Path) -> None:
    file = save(tmp_path, "a.uai", UAI)
    plx.convert(file, tmp_path / "b.uai")
    assert not (tmp_path / "b.uai.names").exists()
    save(tmp_path, "b.uai.names", NAMES)
    plx.convert(file, tmp_path / "b.uai")
    assert [answer.name for answer in plx.load(tmp_path / "b.uai").run()] == ["x(0)", "x(1)"]


def test_evidence_by_name_and_by_number(tmp_path: Path) -> None:
    file, numbers = save(tmp_path, "a.fg", FG), save(tmp_path, "a.evid", "1 9 2\n")
    save(tmp_path, "a.fg.names", NAMES)
    by_name = plx.load(file, b="7").run()["the cat"].distribution
    assert plx.load(file, numbers).run()["the cat"].distribution == by_name
    assert plx.load(file, **{"9": "7"}).run()["the cat"].distribution == by_name


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ('["a", 0, 1]\n["b", 0,', "a.uai.names:2:1: error: this is no JSON array of a name and its states"),
        ('["a", 0,', "a.uai.names:1:1: error: this is no JSON array of a name and its states"),
        ('["a", 0, 1]\n', "a.uai.names:1:11: error: the file names 1 variable, and the network has 2"),
        ('["a", 0, 1]\n["a", 0, 1, 2]', "a.uai.names:2:1: error: a second variable `a`"),
        (
            '["a", 0, 1]\n  ["b", 0, 1]',
            "a.uai.names:2:3: error: `b` has 3 states in the network, and 2 names",
        ),
        ('["a", 0, 1]\n["b", 0, 0, 2]', "two states of `b` are called the same"),
        ('["a", 0, 1]\n["b", 0, 1.5, 2]', "a state is a text, true, false or a whole number"),
        ("a,0,1\nb,0,1,2", 'a line for each variable, in their order: ["rain", "yes", "no"]'),
        ('["a", 0, 1]\n[2, 0, 1, 2]', "this is no JSON array of a name and its states"),
        ("[" * 5000 + "\n[]", "this is no JSON array"),
    ],
)
def test_mistakes(tmp_path: Path, names: str, said: str) -> None:
    file = save(tmp_path, "a.uai", UAI)
    save(tmp_path, "a.uai.names", names)
    with pytest.raises(PlxError) as caught:
        plx.load(file)
    assert said in str(caught.value)
