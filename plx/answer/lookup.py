"""How a query is found by its text: blanks, quotes and spellings that mean the same are one."""

from __future__ import annotations

import re

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[^\W\d][\w]*\'*|\d+(?:\.\d+)?|==|!=|<=>|=>|<=|>=|\S')
_NAME = re.compile(r"[^\W\d]\w*'*\Z")
_SAME = {"==": "=", "&": "and", "|": "or", "!": "not"}


def canonical(text: str) -> str:
    """The text without what does not matter: ``smokes( "anna" )`` and ``smokes(anna)`` are one."""
    return " ".join(_canonical_token(token) for token in _TOKEN.findall(text))


def _canonical_token(token: str) -> str:
    if token.startswith('"'):
        inner = token[1:-1]
        return inner if _NAME.match(inner) else token
    return _SAME.get(token, token)
