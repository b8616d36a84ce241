"""The clauses ``for``, ``if``, ``as`` and ``given``: their order and what they take."""

from __future__ import annotations

from plx.errors import Diagnostic
from plx.syntax.foreign import IF_ELSE
from plx.syntax.mistake import Mistake

_BINDINGS = "write `for x, y in T, (u, v) in R if …`"


def bad_binding(m: Mistake) -> Diagnostic | None:
    """``for x: T``, ``for all x``, ``for (x) in R``: what a ``for`` binds."""
    if not _in_names(m) or m.before is None:
        return None
    if m.wants("NAME") and m.before.type in ("FOR", "COMMA", "LPAR"):
        return m.says(f"a variable is missing after `{m.before.text}`", _BINDINGS)
    if m.before.text == "all" and m.kind == "NAME":
        return m.says("`for all` is written `for`", _BINDINGS, m.before.span)
    if m.before.text in ("each", "every", "any") and m.kind == "NAME":
        return m.says(f"`for {m.before.text}` is written `for`", _BINDINGS, m.before.span)
    if m.kind == "RPAR":
        return m.says("parentheses bind two variables or more", "for one variable write `for x in T`")
    message = f"an `in` is missing after `{m.before.text}`"
    return m.says(message, f"{_BINDINGS}: a variable ranges over a set")


def cause_after_scope(m: Mistake) -> Diagnostic | None:
    """``noisy_or(q, p: f(x) for x in T, p: g)``."""
    inside = m.open[-1] if m.open else m.start
    if m.statement != "RANDOM" or m.words[inside - 1].text != "noisy_or" or m.before is None:
        return None
    has_scope = any(word.type == "FOR" for word in m.words[inside : m.at])
    if has_scope and (m.kind == "COLON" or (m.kind == "NUMBER" and m.before.type == "COMMA")):
        hint = "`noisy_or(leak, p: F, q: G for x in T)`; several scopes are several unknowns"
        return m.says("the `for` belongs to the last cause", hint)
    return None


def _in_names(m: Mistake) -> bool:
    """True between ``for`` (or a comma after a binding) and its ``in``."""
    for position in range(m.at - 1, m.start, -1):
        word = m.words[position]
        if word.type == "FOR":
            return True
        if word.type not in ("NAME", "COMMA", "LPAR", "RPAR"):
            return False
    return False


def two_scopes(m: Mistake) -> Diagnostic | None:
    """``for x in T for y in U``, ``for x in T and y in U``."""
    if not m.wants("COMMA") or m.wants("FOR") or not _under_for(m):
        return None
    if m.kind in ("FOR", "AMP", "AND"):
        return m.says("further bindings follow a `,`", "write `for x in T, y in U`")
    return None


def two_guards(m: Mistake) -> Diagnostic | None:
    """``if a if b`` and ``if a, b``."""
    if m.kind not in ("IF", "COMMA", "FOR") or not m.has("IF") or m.wants("FOR", "IF", "COMMA"):
        return None
    if m.kind == "FOR":
        return m.says("`if` comes after every `for`", "write `for x in T, y in U if …`")
    return m.says("one `if` takes one condition", "join conditions with `&`")


def if_without_for(m: Mistake) -> Diagnostic | None:
    """``query f(x) if g``, ``weight 1: f if g for x in T``, ``weight 1: if a then b``."""
    if m.kind != "IF":
        return None
    choice = any(word.text == "else" for word in m.line)
    if m.wants_operand:
        hint = IF_ELSE if choice else "write `A => B` for “if A then B”"
        return m.says("a formula cannot start with `if`", hint)
    if choice and m.wants("AMP"):
        return m.says("`if` does not belong here", IF_ELSE)
    if not m.wants("FOR"):
        return None
    hint = "write `for x in T if …`; for “if A then B” write `A => B`"
    if m.statement == "QUERY":
        hint = "write `for x in T if …`, or `given F` to ask under a condition"
    return m.says("an `if` comes after the bindings of a `for`", hint)


def clause_order(m: Mistake) -> Diagnostic | None:
    """``for … as n``, ``given F for …``, ``given`` in other statements."""
    if m.open or m.kind not in ("AS", "FOR", "GIVEN"):
        return None
    if m.statement != "QUERY":
        if m.kind == "FOR" or m.wants_operand:
            return None
        return m.says(f"only a `query` has `{m.text}`", "`observe F` conditions every query")
    if m.has("GIVEN") or (m.kind == "AS" and m.has("FOR")):
        hint = "the order is `query Q as name for x in T if … given F, G`"
        return m.says(f"`{m.text}` comes too late in this query", hint)
    return None


def _under_for(m: Mistake) -> bool:
    """True in the bindings of the last ``for``, after an ``in``."""
    for position in range(m.at - 1, m.start, -1):
        kind = m.words[position].type
        if kind in ("FOR", "IF", "GIVEN"):
            return kind == "FOR"
    return False
