"""Bytes of a text file → a source."""

from __future__ import annotations

from plx.errors import Diagnostic, PlxError
from plx.source import Source, Span


def decode(name: str, content: bytes) -> Source:
    """The text of a file, which is UTF-8 with or without a byte-order mark.

    Raises PlxError that points at the first byte that is not UTF-8.
    """
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        return Source(name, content.decode("utf-8"))
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        source = Source(name, before + content[error.start :].decode("utf-8", "replace"))
        message = f"byte {content[error.start]:#04x} is not UTF-8 text"
        span = Span(source, len(before), len(before) + 1)
        raise PlxError(Diagnostic(message, span, hint="save the file as UTF-8")) from None
