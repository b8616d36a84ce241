"""``--bind name=value`` on the command line → a name and a Python value."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

from plx.data.cells import from_loose_text
from plx.data.otherwise import Else
from plx.values import Value

_FILE = re.compile(r".*\.(csv|tsv|txt)", re.IGNORECASE)


def parse_binding(text: str) -> tuple[str, object]:
    """``Person=people.csv`` is a file, ``w=0.7`` a number, ``ok=true`` a truth value, ``Person=anna,bob``
    a list, anything else a symbol; ``w=w.csv else 0`` is a file and the value of what it does not list.

    Raises ValueError, with a plain message, when there is no ``=``.
    """
    name, mark, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not mark or not name or not value:
        raise ValueError(f"`{text}`: write --bind NAME=VALUE, e.g. --bind w=0.7 or --bind Person=people.csv")
    table = _ELSE.fullmatch(value)
    return name, Else(_value(table[1]), _scalar(table[2])) if table else _value(value)


_ELSE = re.compile(r'([^"\s].*?)\s+else\s+(\S.*)')


def _value(value: str) -> object:
    if looks_like_path(value):
        fraction = _fraction(value)
        return Path(value) if fraction is None else fraction
    if "," in value:
        return [_scalar(item.strip()) for item in value.split(",") if item.strip()]
    return _scalar(value)


def looks_like_path(text: str) -> bool:
    """Whether a text can only be the path of a file."""
    return bool(_FILE.fullmatch(text)) or "/" in text or "\\" in text


def _scalar(text: str) -> Value:
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1]
    return from_loose_text(text)


def _fraction(text: str) -> Value | None:
    """``3/2`` is a number, not a path."""
    return Fraction(text) if re.fullmatch(r"-?\d+/[1-9]\d*", text) else None
