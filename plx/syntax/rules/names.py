"""Words in place of names: reserved words, other cases, quotes, digits at the start."""

from __future__ import annotations

from plx.errors import Diagnostic
from plx.syntax.foreign import FUNCTIONS, LEADS
from plx.syntax.mistake import AGGREGATES, Mistake
from plx.syntax.wording import OPERANDS, WORDS
from plx.syntax.words import RESERVED, STATEMENTS

_CLAUSES = {"FOR", "IN", "IF", "FROM", "AS", "GIVEN", "ELSE", "AND", "OR", "XOR", "NOT"}
"""Reserved words that stand between parts; before them a part may just be missing."""


def reserved(m: Mistake) -> Diagnostic | None:
    """A reserved word where a name should come."""
    if not m.wants("NAME") or m.text not in RESERVED or m.ended or m.word is None:
        return None
    if m.kind in _CLAUSES and (m.wants_operand or (m.before and m.before.type == "COMMA")):
        return None
    if m.has("COLUMNS"):
        hint = f'write a column of that name in quotes: `"{m.text}"`'
    elif m.wants_operand:
        hint = f'take another name, or write the symbol in quotes: `"{m.text}"`'
    else:
        hint = f"take another name, for example `{m.text}_` or `the_{m.text}`"
    return m.says(f"`{m.text}` is a reserved word and cannot be a name", hint, m.word.span)


def reserved_before(m: Mistake) -> Diagnostic | None:
    """``count = 3`` or ``f(sum)``: the word before is reserved, which shows only here."""
    word = m.before
    if word is None or word.type not in AGGREGATES or m.kind in OPERANDS:
        return None
    hint = f"`{word.text}(… for x in T)` is the only use of the word; else take another name"
    return m.says(f"`{word.text}` is a reserved word and cannot be a name", hint, word.span)


def other_case(m: Mistake) -> Diagnostic | None:
    """``For``, ``AND``, ``Exists(f(x) for x in T)``: a reserved word with capitals."""
    word, lower = m.word, m.text.lower()
    if m.kind == "FOR" and m.open:
        word = m.words[m.open[-1] - 1]
        wanted = word.text.upper() in AGGREGATES
    elif lower in STATEMENTS:
        wanted = m.starts_line
    else:
        wanted = m.wants(lower.upper())
        if m.kind in OPERANDS and not wanted and m.before is not None:
            word, wanted = m.before, m.before.text.upper() in {"NOT", *AGGREGATES, *_CLAUSES}
    if word is None or word.type != "NAME" or not wanted or word.text.lower() not in RESERVED:
        return None
    message = f"`{word.text}` is not the reserved word `{word.text.lower()}`"
    return m.says(message, f"reserved words are in lower case: write `{word.text.lower()}`", word.span)


def foreign_word(m: Mistake) -> Diagnostic | None:
    """``implies``, ``where``: words of other languages between two formulas."""
    hint = WORDS.get(m.text.lower())
    if m.kind != "NAME" or hint is None or not m.wants("AMP", "COMMA"):
        return None
    return m.says(f"`{m.text}` is no word of plx and cannot stand here", hint)


def lead(m: Mistake) -> Diagnostic | None:
    """``EXIST x``, ``lambda x``, ``sum_{i}``: what other languages put before a variable."""
    if m.before is None or m.before.type != "NAME" or m.kind not in ("NAME", "LBRACE") or not m.wants("AMP"):
        return None
    word = m.before.text.lower()
    hint = LEADS.get(word) if m.kind == "NAME" else FUNCTIONS.get(word.removesuffix("_").capitalize())
    return m.says(f"`{m.before.text}` is no word of plx", hint, m.before.span) if hint else None


def quoted_name(m: Mistake) -> Diagnostic | None:
    """``type "New York"``: only symbols may be quoted."""
    if m.kind != "STRING" or not m.wants("NAME"):
        return None
    return m.says("only a symbol may stand in quotes", "take a name with letters, digits and `_`")


def digit_first(m: Mistake) -> Diagnostic | None:
    """``2x`` or ``3rd``."""
    if m.kind != "NAME" or m.before is None or m.before.type != "NUMBER" or not m.touching(1, 0):
        return None
    hint = f'write `"{m.before.text}{m.text}"` for a symbol, `{m.before.text} * {m.text}` for a product'
    return m.says("a name cannot start with a digit", hint, m.before.span.to(m.words[m.at].span))


def file_name(m: Mistake) -> Diagnostic | None:
    """``from people.csv`` without quotes."""
    if m.before is None or m.before.type != "FROM":
        return None
    return m.says("a file name in quotes is missing after `from`", 'write for example `from "people.csv"`')
