"""`plx convert`, and Markov logic networks on the command line and in Python."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import plx
from plx.cli import main
from plx.errors import CallError

MLN = "Friends(person, person)\nSmokes(person)\n1.1 Friends(x, y) => (Smokes(x) <=> Smokes(y))\n"
DB = "Friends(Anna, Bob)\nSmokes(Bob)\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.mln").write_text(MLN)
    (tmp_path / "a.db").write_text(DB)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as end:
        patch.setattr(sys, "argv", ["plx", *words])
        main()
    out, err = capsys.readouterr()
    return int(end.value.code or 0), out, err


@pytest.mark.usefixtures("folder")
def test_run_with_evidence_and_a_query(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("run", "a.mln", "--evidence", "a.db", "--query", "Smokes(Anna)", "--format", "csv")
    code, out, err = call(capsys, *words, "--closed", "Friends", "--weights", "whole")
    assert code == 0 and not err
    assert "0.750260" in out
    code, out, err = call(capsys, *words)
    assert "a.mln:3:5: note: this is not one clause; Alchemy shares the weight" in err
    assert "note: atoms of `Friends` that are not in the evidence are unknown" in err


def test_converted_and_run_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "convert", "a.mln", "a.plx", "--evidence", "a.db", "--world", "evidence")[0] == 0
    text = (folder / "a.plx").read_text()
    assert text.startswith("# From a.mln, a.db.\n\ntype person = {Anna, Bob}\n")
    assert "relation Friends(person, person) = {(Anna, Bob)}" in text
    assert call(capsys, "check", "a.plx")[0] == 0


@pytest.mark.parametrize("suffix", [".plx", ".uai", ".fg"])
def test_names_and_answers_stay(folder: Path, suffix: str) -> None:
    notes = plx.convert("a.mln", f"b{suffix}", "a.db", query=["Smokes(Anna)"])
    assert all(note.severity == "note" for note in notes)
    before = plx.load("a.mln", "a.db", query=["Smokes(Anna)"]).run()[0].probability
    result = plx.load(folder / f"b{suffix}").run()
    after = next(query.probability for query in result if query.name == "Smokes(Anna)")
    assert after == pytest.approx(before, abs=1e-12)


def test_programs_and_networks_are_converted(folder: Path) -> None:
    (folder / "p.plx").write_text("random rain\nweight 1: rain\nquery rain\n")
    plx.convert("p.plx", "p.uai")
    plx.convert("p.uai", "q.uai")
    assert plx.load("q.uai").run()[0].probability == plx.load("p.plx").run()[0].probability
    plx.convert("q.uai", "q.plx")
    assert plx.load("q.plx").run()[0].probability == plx.load("p.plx").run()[0].probability


def test_nothing_is_written_where_something_is_wrong(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "out.plx").write_text("kept")
    (folder / "a.db").write_text("Friends(Anna\n")
    code, _, err = call(capsys, "convert", "a.mln", "out.plx", "--evidence", "a.db")
    assert code == 1 and "a.db:1:8: error: this `(` is not closed" in err
    assert (folder / "out.plx").read_text() == "kept"
    assert sorted(file.name for file in folder.iterdir()) == ["a.db", "a.mln", "out.plx"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("convert", "a.mln", "a.json"), "files are written that end in .plx, .uai, .fg, .cnf"),
        (("convert", "a.mln", "none/a.plx"), "there is no folder"),
        (("run", "a.mln", "--evidence", "b.db"), "there is no such file"),
        (("run", "a.mln", "--weights", "half"), "Invalid value"),
        (("run", "a.mln", "--closed", "Friend"), "did you mean `Friends`"),
        (("run", "a.mln", "--map", "2"), "--map is for networks"),
    ],
)
def test_wrong_calls(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, *words)
    assert code == 2 and said in " ".join(err.replace("│", " ").split())


def test_choices_are_for_markov_logic(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "p.plx").write_text("random rain\nquery rain\n")
    code, _, err = call(capsys, "run", "p.plx", "--world", "open")
    assert code == 2 and "--world is for Markov logic networks" in " ".join(err.replace("│", " ").split())


@pytest.mark.usefixtures("folder")
def test_a_file_is_not_written_over_itself() -> None:
    Path("p.plx").write_text("random rain\nquery rain\n")
    with pytest.raises(CallError, match="over itself"):
        plx.convert("p.plx", "p.plx")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("verb", ["check", "ground", "symmetries"])
def test_other_commands(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, verb, "a.mln", "--evidence", "a.db")[0] == 0
