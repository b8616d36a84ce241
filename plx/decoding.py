"""Bytes of a text file → a source."""

from __future__ import annotations

from typing import Final

from plx.errors import Diagnostic, PlxError
from plx.source import Source, Span


def decode(name: str, content: bytes) -> Source:
    """The text of a file, which is UTF-8 with or without a byte-order mark.

    Raises PlxError that points at the first byte that is not UTF-8, or is 0, which no text has.
    """
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        text = content.decode("utf-8")
        end = text.find("\0")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        text, end = before + content[error.start :].decode("utf-8", "replace"), len(before)
    source = Source(name, text)
    if end < 0:
        return source
    byte = content[len(text[:end].encode())]
    message = f"byte {byte:#04x} is not UTF-8 text" if byte else "byte 0x00 stands in no text"
    raise PlxError(Diagnostic(message, Span(source, end, end + 1), hint=_advice(content)))


def _advice(content: bytes) -> str:
    """What to do about a file that is no text in UTF-8, by how it begins."""
    return next((advice for begins, advice in _KINDS if content.startswith(begins)), _SAVE)


_SAVE: Final = "save the file as UTF-8"
_UNPACK: Final = "the file is compressed: unpack it first"
_KINDS: Final = (
    (b"\xff\xfe", f"the file is UTF-16: {_SAVE.replace('the file', 'it')}"),
    (b"\xfe\xff", f"the file is UTF-16: {_SAVE.replace('the file', 'it')}"),
    (b"\x1f\x8b", _UNPACK),
    (b"BZh", _UNPACK),
    (b"\xfd7zXZ", _UNPACK),
    (b"\x28\xb5\x2f\xfd", _UNPACK),
    (b"PK\x03\x04", "the file is a zip archive, as spreadsheets are: unpack it, or save it as text"),
    (b"SQLite format 3\0", "the file is a database of SQLite, and text is read here"),
    (b"PAR1", "the file is Parquet, and text is read here"),
)
