"""Marks that plx does not have: stray characters, open quotes, operators of other languages."""

from __future__ import annotations

import unicodedata

from plx.errors import Diagnostic
from plx.source import Span
from plx.syntax.foreign import IF_ELSE
from plx.syntax.mistake import Mistake
from plx.syntax.rules.starts import draw
from plx.syntax.wording import ARITHMETIC, CHARACTERS, CONNECTIVES, MARKS, RELATIONS


def open_quote(m: Mistake) -> Diagnostic | None:
    """``"New York`` without its second quote."""
    if m.kind != "UNCLOSED" or m.word is None:
        return None
    span = Span(m.word.source, m.word.start, m.word.start + 1)
    return m.says("this quote is never closed", 'put a `"` at the end of the name, on the same line', span)


def foreign_mark(m: Mistake) -> Diagnostic | None:
    """``:=``, ``&&``, ``->`` and other marks made of several words of plx."""
    for back, ahead in ((2, 0), (1, 1), (0, 2), (1, 0), (0, 1)):
        words = m.touching(back, ahead)
        text = "".join(word.text for word in words)
        if text in MARKS:
            return m.says(f"`{text}` is no mark of plx", MARKS[text], words[0].span.to(words[-1].span))
    return None


def drawn(m: Mistake) -> Diagnostic | None:
    """``random x ~ Bernoulli(0.3)``."""
    if m.text != "~" or m.statement != "RANDOM" or m.word is None:
        return None
    return m.says("`~` does not belong here", draw(m, m.line), m.word.span)


def arrow(m: Mistake) -> Diagnostic | None:
    """``random f: A -> Bool``: arguments and values of a function."""
    words = m.touching(1, 0) or m.touching(0, 1)
    if m.statement not in _DECLARING or m.has("EQUAL") or "".join(word.text for word in words) != "->":
        return None
    hint = (
        "write the arguments in parentheses: `random f(A)` is true or false, `random f(A): B` has values in B"
    )
    return m.says("`->` is no mark of plx", hint, words[0].span.to(words[-1].span))


_DECLARING = ("RANDOM", "PARAM", "RELATION", "DEFINE")


def choice(m: Mistake) -> Diagnostic | None:
    """``A ? b : c``."""
    if m.text != "?" or m.word is None or not any(word.type == "COLON" for word in m.line):
        return None
    return m.says("`?` does not belong here", IF_ELSE, m.word.span)


def stray(m: Mistake) -> Diagnostic | None:
    """A character that starts no word."""
    if m.kind != "STRAY" or m.word is None:
        return None
    shown = (
        f"`{m.text}`" if m.text.isprintable() and not unicodedata.combining(m.text) else _described(m.text)
    )
    return m.says(f"{shown} does not belong here", CHARACTERS.get(m.text, "take it out"), m.word.span)


def comment(m: Mistake) -> Diagnostic | None:
    """A line that begins like a comment of another language."""
    if m.word is None or not m.starts_line or m.text not in ("%", "/", "*"):
        return None
    return m.says(f"no statement starts with `{m.text}`", "a comment starts with `#`", m.word.span)


def two_operators(m: Mistake) -> Diagnostic | None:
    """``a & | b``, ``= 3`` with nothing on the left, ``a &`` with nothing on the right."""
    if not m.wants_operand or m.before is None:
        return None
    between = CONNECTIVES | RELATIONS | ARITHMETIC
    if m.kind in ("BANG", "NOT") and not m.wants("BANG"):
        return m.says(
            f"`{m.text}` cannot follow `{m.before.text}`", "put the negation in parentheses: `(!F)`"
        )
    if m.kind not in between:
        return None
    if m.before.type in between | {"BANG"}:
        message = f"there are two operators in a row, `{m.before.text}` and `{m.text}`"
        return m.says(message, "put a formula or value between them, or take one of them out")
    message = f"a formula or value is missing between `{m.before.text}` and `{m.text}`"
    return m.says(message, f"`{m.text}` stands between two of them")


def second_comparison(m: Mistake) -> Diagnostic | None:
    """``x in A = true`` and ``a..b..c``, which say nothing clear."""
    if not m.wants("AMP") or m.kind not in RELATIONS | {"DOTS"}:
        return None
    word = "range" if m.kind == "DOTS" else "comparison"
    message = f"`{m.text}` cannot follow a {word} without parentheses"
    return m.says(message, f"put the first {word} in parentheses")


def _described(character: str) -> str:
    name = unicodedata.name(character, "a control character").lower()
    return f"the character U+{ord(character):04X} ({name})"
