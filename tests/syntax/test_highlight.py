"""What a highlighter is given is the text, piece by piece, each of its kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plx.source import Source
from plx.syntax.highlight import pieces, statement_lines

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = [*sorted((ROOT / "examples").glob("*.plx")), ROOT / "tests/syntax/every_statement.plx"]


def kinds(text: str) -> list[tuple[str, str]]:
    return [(kind, piece) for kind, piece in pieces(Source("p", text)) if kind != "blank"]


@settings(deadline=None)
@given(st.text(alphabet="abf \n\r\t#\"(){}:=<>!&|.0123é\ufeffqueryintps'~") | st.text())
def test_pieces_joined_are_the_text(text: str) -> None:
    assert "".join(piece for _, piece in pieces(Source("p", text))) == text


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_programs_have_no_mistakes(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = list(pieces(Source("p", text)))
    assert "".join(piece for _, piece in found) == text
    assert {"statement", "declared", "comment"} <= {kind for kind, _ in found}
    assert "mistake" not in {kind for kind, _ in found}


def test_each_word_has_its_kind() -> None:
    assert kinds('random f(T): {a} # why\nweight 1.5: f(x) = "a b" for x in T') == [
        ("statement", "random"), ("declared", "f"), ("mark", "("), ("name", "T"), ("mark", ")"),
        ("mark", ":"), ("mark", "{"), ("name", "a"), ("mark", "}"), ("comment", "# why"),
        ("statement", "weight"), ("number", "1.5"), ("mark", ":"), ("name", "f"), ("mark", "("),
        ("name", "x"), ("mark", ")"), ("operator", "="), ("string", '"a b"'), ("keyword", "for"),
        ("name", "x"), ("keyword", "in"), ("name", "T"),
    ]  # fmt: skip
    assert ("keyword", "exactly") in kinds("require exactly(1, f(x) for x in T)")
    assert ("name", "exactly") in kinds("query exactly")
    assert ("mistake", '"a') in kinds('query f("a')
    assert ("comment", "#}") in kinds("query f #}")


def test_statements_end_at_their_last_word() -> None:
    text = "# head\nrandom f\nquery f and\n  f\n\n# about g\nrandom g  query g\nquery g\n"
    assert statement_lines(Source("p", text)) == {2: 2, 3: 4, 7: 7, 8: 8}
