"""Colours of programs: the Pygments lexer and the TextMate grammar."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, String

from plx.highlight import PlxLexer
from plx.source import Source
from plx.syntax.parser import split
from plx.syntax.printer import print_module
from plx.syntax.words import RESERVED
from tests.docs.textmate import FILE, grammar
from tests.syntax.trees import modules

ROOT = Path(__file__).resolve().parents[2]
VSCODE = ROOT / "docs/editors/vscode"


def coloured(text: str) -> list[tuple[object, str]]:
    return [(kind, value) for kind, value in PlxLexer(stripnl=False, ensurenl=False).get_tokens(text)]


def test_the_entry_point_leads_to_the_lexer() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, name = project["entry-points"]["pygments.lexers"]["plx"].split(":")
    assert getattr(import_module(module), name) is PlxLexer


@given(st.text())
def test_any_text_comes_back(text) -> None:
    unix = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    assert "".join(value for _, value in coloured(text)) == unix


@settings(max_examples=100, deadline=None)
@given(modules)
def test_words_of_random_programs_are_coloured_as_the_parser_reads_them(module) -> None:
    text = print_module(module)
    starts = {}
    at = 0
    for kind, value in coloured(text):
        starts[at] = kind, value
        at += len(value)
    for word in split(Source("printed", text)):
        kind, _ = starts.get(word.start, (None, ""))
        if word.type == "STRING":
            assert kind in String
        elif word.type == "NUMBER":
            assert kind in Number
        elif word.text in RESERVED:
            assert kind in Keyword or kind in Operator.Word or kind in Name.Builtin


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/**/*.plx")), ids=lambda path: path.name)
def test_examples_have_no_text_without_a_colour(path) -> None:
    found = coloured(path.read_text(encoding="utf-8"))
    assert not [value for kind, value in found if kind in Error]
    assert any(kind in Comment for kind, _ in found)


def test_words_of_one_kind_have_one_colour() -> None:
    found = {value: kind for kind, value in coloured("query count(f(x) and true for x in T) # n")}
    assert (found["query"], found["for"], found["true"]) == (Keyword.Declaration, Keyword, Keyword.Constant)
    assert (found["and"], found["in"], found["count"]) == (Operator.Word, Operator.Word, Name.Builtin)
    assert (found["f"], found["x"], found["# n"]) == (Name.Function, Name, Comment.Single)
    assert [kind for kind, value in coloured('f "a') if value == '"a'] == [Error]


def test_the_entry_point_loads_no_parser() -> None:
    """Pygments loads it to list its lexers."""
    code = "import sys, plx.highlight; sys.exit('lark' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_textmate_grammar_is_up_to_date() -> None:
    assert FILE.read_text(encoding="utf-8") == grammar(), "run python -m tests.docs.textmate"


def test_what_the_extension_names_is_there() -> None:
    package = json.loads((VSCODE / "package.json").read_text(encoding="utf-8"))
    contributed = package["contributes"]
    named = [package["main"], *(one["configuration"] for one in contributed["languages"])]
    named += [one["path"] for one in contributed["grammars"]]
    assert all((VSCODE / name).is_file() for name in named)
    json.loads((VSCODE / "language-configuration.json").read_text(encoding="utf-8"))
