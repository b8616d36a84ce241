"""Brackets that do not match, commas too many or too few, and what aggregates take."""

from __future__ import annotations

from plx.errors import Diagnostic, Note
from plx.syntax.mistake import AGGREGATES, CLOSERS, OPENERS, Mistake
from plx.syntax.wording import OPERANDS
from plx.syntax.words import CONSTRAINTS, Word

_WITH_SLOTS = {"TYPE", "PARAM", "RELATION", "RANDOM", "DEFINE"}
_ENDS = {"FOR", "IF", "GIVEN", "AS", "FROM"}


def quantifier(m: Mistake) -> Diagnostic | None:
    """``forall x: F``, ``exists x, y (F)``: how other languages quantify."""
    if m.before is None or m.before.type not in AGGREGATES or m.kind not in OPERANDS:
        return None
    return m.says(f"`{m.before.text}` takes its formula in parentheses", _usage(m.before))


def no_for(m: Mistake) -> Diagnostic | None:
    """``exists(F)`` or ``forall(x: F)``: the bindings are missing."""
    if not m.open or m.open[-1] == m.start or m.kind not in ("RPAR", "COMMA", "COLON", "IF"):
        return None
    word = m.words[m.open[-1] - 1]
    if word.type not in AGGREGATES or not m.wants("FOR"):
        return None
    hint = _usage(word)
    if word.type in ("COUNT", "SUM"):
        hint += "; a formula counts as 0 or 1 by itself: `2 * f(a)`"
    return m.says(f"a `for` is missing inside `{word.text}(…)`", hint)


def _usage(word: Word) -> str:
    body = "E" if word.type == "SUM" else "F"
    return f"write `{word.text}({body} for x in T)`, with a condition `{word.text}({body} for x in T if …)`"


def wrong_closer(m: Mistake) -> Diagnostic | None:
    """A closing bracket that closes nothing, or another kind of bracket."""
    if m.kind not in CLOSERS or m.word is None:
        return None
    if not m.open:
        hint = f"take it out, or open a bracket before: `{_opener(m.kind)}`"
        return m.says(f"this `{m.text}` closes nothing", hint, m.word.span)
    opener = m.words[m.open[-1]]
    if OPENERS[opener.type] == m.kind:
        return None
    notes = (Note(f"`{opener.text}` is opened here", opener.span),)
    message = f"`{opener.text}` cannot be closed by `{m.text}`"
    return m.says(message, f"write `{_closer(opener)}` here", m.word.span, notes)


def comma_at_end(m: Mistake) -> Diagnostic | None:
    """A comma with nothing after it."""
    if m.before is None or m.before.type != "COMMA" or (m.open and m.ended):
        return None
    if not (m.ended or m.kind in CLOSERS or m.kind in _ENDS or m.kind == "COMMA"):
        return None
    return m.says("nothing follows this `,`", "take the comma out, or write what is missing", m.before.span)


def never_closed(m: Mistake) -> Diagnostic | None:
    """A bracket that is still open where the statement goes on or ends."""
    if not m.open or not (m.ended or _cannot_be_inside(m)):
        return None
    opener = m.words[m.open[-1]]
    before = "the end of the program" if m.word is None else f"`{m.text}`"
    of = _owner(m, m.open[-1])
    notes = (Note("the statement goes on here", m.word.span),) if m.word and not m.ended else ()
    return m.says(
        f"this `{opener.text}`{of} is never closed",
        f"put a `{_closer(opener)}` before {before}",
        opener.span,
        notes,
    )


def _cannot_be_inside(m: Mistake) -> bool:
    opener = m.words[m.open[-1]]
    if not m.wants(OPENERS[opener.type]):
        return False
    return m.kind in _ENDS or (opener.type == "LPAR" and m.kind in ("COLON", "EQUAL"))


def _owner(m: Mistake, opener: int) -> str:
    """`` of `f` `` for a bracket that holds the arguments of f."""
    word = m.words[opener - 1] if opener > m.start else None
    return f" of `{word.text}`" if word and word.type in ("NAME", "CONSTRAINT", *AGGREGATES) else ""


def foreign_aggregate(m: Mistake) -> Diagnostic | None:
    """``max(E for x in T)``: a ``for`` where no aggregate is."""
    if m.kind != "FOR" or not m.open or not m.closes_later or m.wants_operand:
        return None
    message = f"there is no `for` inside `{m.words[m.open[-1]].text}`{_owner(m, m.open[-1])}"
    words = [f"`{word}`" for word in (*map(str.lower, AGGREGATES), *CONSTRAINTS)]
    hint = f"only {', '.join(words[:-1])} and {words[-1]} take a `for` in their parentheses"
    return m.says(message, hint)


def no_comma(m: Mistake) -> Diagnostic | None:
    """``{a b}``, ``f(x y)``, ``query f x``: nothing stands between two values."""
    if m.kind not in OPERANDS or not m.wants("COMMA", "AMP") or m.wants_operand or m.before is None:
        return None
    left, right = m.before.text, m.text
    if m.open and m.wants("COLON") and m.statement in _WITH_SLOTS and m.open == [m.start + 2]:
        return m.says(
            f"a `:` or a `,` is missing between `{left}` and `{right}`", "write `x: T` for a named slot"
        )
    if m.open and m.wants("COMMA"):
        message = f"a `,` or an operator is missing between `{left}` and `{right}`"
        return m.says(message, f"write `{left}, {right}` for two items")
    message = f"an operator is missing between `{left}` and `{right}`"
    return m.says(message, "join formulas with `&`, `|` or `=>`; write arguments in parentheses: `f(x)`")


def nothing_inside(m: Mistake) -> Diagnostic | None:
    """``()`` where a value should stand."""
    if m.kind not in CLOSERS or m.before is None or m.before.type not in OPENERS:
        return None
    return m.says("there is nothing between these brackets", "write a formula or value there")


def _opener(kind: str) -> str:
    return "(" if kind == "RPAR" else "{"


def _closer(opener: Word) -> str:
    return CLOSERS[OPENERS[opener.type]]
