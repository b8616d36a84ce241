"""Files of other tools are named, with what plx reads instead."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import plx
from plx.cli import main
from plx.errors import PlxError
from plx.syntax.foreign_files import SUFFIXES

CONTENTS = {
    "XMLBIF": '<?xml version="1.0"?>\n<BIF VERSION="0.3"><NETWORK>',
    "UAI": "MARKOV\n2\n2 2\n1\n2 0 1\n",
    "BIF": "network unknown {\n}\nvariable a {\n",
    "Hugin": "net\n{\n  node_size = (76 36);\n}\n",
    "DIMACS": "c a comment\nc another\np cnf 2 1\n1 -2 0\n",
    "Jupyter": '{\n "cells": []}',
    "JSON": '{"nodes": []}',
    "binary": "PK\x03\x04",
}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_known_by_the_suffix(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"model{suffix.upper()}"
    file.write_text("whatever it holds\n")
    with pytest.raises(PlxError) as caught:
        plx.load(file)
    said = str(caught.value)
    assert f"model{suffix.upper()} is {SUFFIXES[suffix][0]}, no program of plx" in said
    assert "hint: " in said and ".uai, .bif, .fg and .json" in said
    assert "{file}" not in said


@pytest.mark.parametrize("verb", ["run", "check", "ground", "symmetries"])
def test_every_command_knows_them(
    tmp_path: Path, verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "smokes.pl"
    file.write_text("0.3::smokes(anna).\n")
    monkeypatch.setattr(sys, "argv", ["plx", verb, str(file)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert "smokes.pl is a program of Prolog" in capsys.readouterr().err


@pytest.mark.parametrize("tool", CONTENTS)
@pytest.mark.parametrize("name", ["model.plx", "model.txt", "model"])
def test_known_by_the_content(tmp_path: Path, tool: str, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(b"\xef\xbb\xbf" + CONTENTS[tool].encode())
    with pytest.raises(PlxError, match=f"{tool}.*, no program of plx"):
        plx.load(file)


@pytest.mark.parametrize("start", ["network = 1", "net = 3", "p cnf", "{a}", "BAYES", "c cnf"])
def test_other_mistakes_stay_mistakes_of_a_program(tmp_path: Path, start: str) -> None:
    file = tmp_path / "model.plx"
    file.write_text(f"{start}\nrandom rain\nquery rain\n")
    with pytest.raises(PlxError, match="no statement starts with"):
        plx.load(file)


def test_a_program_may_have_any_other_suffix(tmp_path: Path) -> None:
    file = tmp_path / "model.txt"
    file.write_text("random rain\nquery rain\n")
    assert plx.load(file).run()[0].probability == 0.5


def test_json_of_another_kind(tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    file.write_text('{"nodes": []}')
    with pytest.raises(PlxError, match="a model of Anand et al"):
        plx.load(file)
