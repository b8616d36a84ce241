"""``--bind name=value`` on the command line → a name and a Python value."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

from plx.data.cells import from_loose_text
from plx.data.database_rows import Database
from plx.data.files import SUFFIXES
from plx.data.otherwise import Else
from plx.values import Value

_FILE = re.compile(rf".*({'|'.join(map(re.escape, SUFFIXES))})", re.IGNORECASE)


def parse_binding(text: str) -> tuple[str, object]:
    """``Person=people.csv`` is a file, ``w=0.7`` a number, ``ok=true`` a truth value, ``Person=anna,bob``
    a list, anything else a symbol; ``w=w.csv else 0`` is a file and the value of what it does not list,
    ``Person=farm.db table people`` and ``Person=farm.db sql "select …"`` are of a database.

    Raises ValueError, with a plain message, when there is no ``=``.
    """
    name, mark, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not mark or not name or not value:
        raise ValueError(f"`{text}`: write --bind NAME=VALUE, e.g. --bind w=0.7 or --bind Person=people.csv")
    if database := _DATABASE.fullmatch(value):
        rows, rest = _database(database), database["rest"]
        return name, rows if rest is None else Else(rows, _scalar(rest))
    table = _ELSE.fullmatch(value)
    return name, Else(_value(table[1]), _scalar(table[2])) if table else _value(value)


_DATABASE = re.compile(
    r'(?P<path>[^"]*?\S)\s+(?:table\s+(?:"(?P<quoted>[^"]+)"|(?P<table>[^"\s]+))|sql\s+"(?P<sql>.+?)")'
    r'(?:\s+else\s+(?P<rest>[^"\s]+|"[^"]*"))?'
)


def _database(found: re.Match[str]) -> Database:
    return Database(Path(found["path"]), found["quoted"] or found["table"], found["sql"])


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
