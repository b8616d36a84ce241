"""Places as editors count them: lines and UTF-16 code units from 0."""

from __future__ import annotations

from plx.source import Source


def to_editor(source: Source, offset: int) -> tuple[int, int]:
    """Line and code unit of a character offset."""
    line, column = source.position(offset)
    before = source.text[offset - column + 1 : offset]
    return line - 1, _units(before)


def from_editor(source: Source, line: int, unit: int) -> int:
    """The character offset of a line and a code unit; past its end, the end of the line."""
    text = source.line(line + 1) if line < source.lines else ""
    start = source.start_of(line + 1) if line < source.lines else len(source.text)
    for count, mark in enumerate(text):
        if unit <= 0:
            return start + count
        unit -= _units(mark)
    return start + len(text)


def _units(text: str) -> int:
    return len(text) + sum(mark > "\uffff" for mark in text)
