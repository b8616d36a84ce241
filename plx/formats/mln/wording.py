"""A word that does not fit → what is wrong, in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from plx.errors import Diagnostic
from plx.source import Span
from plx.syntax.words import Word

_CONNECTIVES = {"AND", "OR", "IMPLIES", "IFF", "BANG"}
_CLOSING = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
_MARKS = {"LPAR": "(", "LSQB": "[", "LBRACE": "{", "RPAR": ")", "RSQB": "]", "RBRACE": "}"}


def explain(words: Sequence[Word], at: int, expected: set[str], start: str) -> Diagnostic:
    """The mistake at word ``at`` of a statement (after its last word: the statement ends early)."""
    ended = at >= len(words)
    word = words[-1] if ended else words[at]
    span = _after(word) if ended else word.span
    before = words[at - 1] if at else None
    found = _special(words, at, expected, start)
    if found:
        return Diagnostic(found[0], span, found[1])
    opened = _open_bracket(words[:at])
    if opened is not None and ended:
        mark = words[opened]
        message = f"this `{mark.text}` is not closed: `{_MARKS[_CLOSING[mark.type]]}` is missing"
        return Diagnostic(message, mark.span)
    if (
        opened is not None
        and {"COMMA", "RPAR"} & expected
        and words[opened].type == "LPAR"
        and _applied(words, opened)
    ):
        return Diagnostic(f"expected `,` or `)` in the arguments of `{words[opened - 1].text}`", span)
    if before is not None and before.type in _CONNECTIVES:
        return Diagnostic(f"a formula is missing after `{before.text}`", span)
    if ended:
        return Diagnostic("the statement ends too early", span)
    if before is None:
        return Diagnostic(f"no statement starts with `{word.text}`", span, _start_hint(start))
    return Diagnostic(f"`{word.text}` is out of place after `{before.text}`", span, _hint(word))


def _special(words: Sequence[Word], at: int, expected: set[str], start: str) -> tuple[str, str | None] | None:
    """What a tool of its own writes at this place."""
    if at >= len(words):
        return None
    word, rest = words[at], words[at + 1 :]
    if start == "fact" and word.type in ("AND", "OR", "IMPLIES", "IFF"):
        return "a database lists ground atoms; formulas stand in the .mln", None
    template = word.type == "STAR" and rest and rest[0].type == "NAME"
    if template or (words[0].type == "STAR" and word.type in _CONNECTIVES):
        return (
            "`*` before an atom (Alchemy: with and without `!`) is not read",
            "write each formula, with its weight",
        )
    if word.type == "STAR":
        return "hybrid formulas (`F * term`, Alchemy) are not read", "unknowns are discrete and finite"
    if word.type == "ADD" and "COMMA" in expected:
        return (
            f"terms are not computed (`{word.text}`, Alchemy)",
            "list pairs: `Next(i, j)` in the database",
        )
    if word.type in ("ADD", "SLASH") and {"COMPARE", "AND"} & expected:
        return f"terms are not computed (`{word.text}`, Alchemy)", None
    return None


def _hint(word: Word) -> str | None:
    if word.type == "QUANTIFIER":
        return "a quantifier inside a formula stands in brackets: `(EXIST y F) => G`, or last"
    if word.type == "STRAY":
        return None
    return (
        "a statement ends with its line; a formula goes on after an operator" if word.type == "NAME" else None
    )


def _start_hint(start: str) -> str:
    if start == "fact":
        return "a database has lines `P(A)`, `!P(A)`, `person = {A, B}`"
    return "a rule is `1.5 P(x) => Q(x)` or `P(x) => Q(x).`, a predicate `P(person)`"


def _open_bracket(words: Sequence[Word]) -> int | None:
    """The last bracket that is open after these words."""
    stack: list[int] = []
    for i, word in enumerate(words):
        if word.type in _CLOSING:
            stack.append(i)
        elif word.type in _CLOSING.values() and stack:
            stack.pop()
    return stack[-1] if stack else None


def _applied(words: Sequence[Word], opened: int) -> bool:
    return opened > 0 and words[opened - 1].type == "NAME"


def _after(word: Word) -> Span:
    end = word.end
    return Span(word.source, max(0, end - 1), end)
