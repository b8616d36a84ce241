"""Bad programs, each with its messages written on the lines they belong to; good ones, without any."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plx.check.checker import check
from plx.data import load
from plx.errors import Diagnostic, PlxError
from plx.source import Source
from plx.syntax.parser import parse
from plx.values import Values

PROGRAMS = Path(__file__).parents[1] / "programs"
BAD = sorted((PROGRAMS / "bad").glob("*.plx"))
GOOD = sorted((PROGRAMS / "good").glob("*.plx"))

COMMENT = re.compile(r"###(.*)")
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')


def expected(path: Path) -> dict[int, list[str]]:
    """Per line the texts that its messages must contain."""
    found = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        comment = COMMENT.search(line)
        if comment:
            found[number] = [text.replace('\\"', '"') for text in TEXT.findall(comment[1])]
    return found


def diagnostics(path: Path) -> list[Diagnostic]:
    values = Values()
    try:
        module = parse(Source(path.name, path.read_text()))
        check(module, load(module, {}, path.parent, values), values)
    except PlxError as error:
        return list(error.diagnostics)
    return []


def words(found: Diagnostic) -> str:
    return " ".join([found.message, found.hint or "", *(note.message for note in found.notes)])


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_bad_program(path: Path) -> None:
    wanted = expected(path)
    said: dict[int, list[str]] = {}
    for found in diagnostics(path):
        assert found.span is not None and found.span.source.name == path.name, found.message
        said.setdefault(found.span.line, []).append(words(found))
    silent = {line: texts for line, texts in wanted.items() if line not in said}
    surprising = {line: texts for line, texts in said.items() if line not in wanted}
    assert not silent and not surprising
    for line, texts in wanted.items():
        for text in texts:
            assert any(text in message for message in said[line]), (line, text, said[line])
        assert len(said[line]) <= len(texts)


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_good_program(path: Path) -> None:
    assert diagnostics(path) == []


def test_there_are_programs() -> None:
    assert len(BAD) >= 5 and len(GOOD) >= 3
