"""A program → the same program in canonical layout."""

from __future__ import annotations

from plx.source import Source
from plx.syntax.layout import layout
from plx.syntax.parser import parse, split


def formatted(source: Source) -> str:
    """The text of a program in canonical layout, with the line breaks that its first line ends in.

    Formatting twice changes nothing. Raises PlxError with every mistake of syntax.
    """
    text = layout(parse(source), split(source))
    first_break = source.text.find("\n")
    windows = first_break > 0 and source.text[first_break - 1] == "\r"
    return text.replace("\n", "\r\n") if windows else text
