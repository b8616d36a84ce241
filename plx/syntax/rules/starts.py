"""A statement that starts with no word of plx: what it may be meant to be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from plx.errors import Diagnostic, nearest
from plx.syntax.foreign import BLOCKS, OPENINGS, PROBABILITIES, conditional, distribution, likely
from plx.syntax.mistake import AGGREGATES, CLOSERS, OPENERS, Mistake
from plx.syntax.wording import STARTS
from plx.syntax.words import STATEMENTS, Word

_ALL = f"every statement starts with one of the words {', '.join(f'`{word}`' for word in STATEMENTS)}"


def no_keyword(m: Mistake) -> Diagnostic | None:
    """A statement that starts with no statement's word."""
    if m.word is None or not m.wants("$END") or not (m.at == m.start or m.starts_line):
        return None
    hint = next((hint for guess in _GUESSES if (hint := guess(m, m.line))), _ALL)
    return m.says(f"no statement starts with `{m.text}`", hint, m.word.span)


def _comment(m: Mistake, line: Sequence[Word]) -> str | None:
    """``-- comment``."""
    return "a comment starts with `#`" if _starts(line, "-", "-") else None


def _clause(m: Mistake, line: Sequence[Word]) -> str | None:
    """``a :- b``, ``0.3::rain``, ``0.3::a :- b``: logic programs, with and without chances."""
    chance = line[0].text if m.kind == "NUMBER" and _starts(line[1:], ":", ":") else None
    clause = _until(line[3:] if chance else line, ".")
    neck = next((i for i, word in enumerate(clause) if _starts(clause[i:], ":", "-")), len(clause))
    head, body = _text(clause[:neck]), _conjunction(clause[neck + 2 :])
    if chance and head:
        return conditional(head, body, chance) if body else likely(head, chance)
    if not chance and head and body:
        rule = f"{body} => {head}"
        return f"a rule that always holds is `require {rule}`, one that mostly does `weight 1.5: {rule}`"
    return None


def _conjunction(words: Sequence[Word]) -> str:
    """``a, b(x, y)`` as ``a & b(x, y)``."""
    parts: list[list[Word]] = [[]]
    depth = 0
    for word in words:
        depth += (word.type in OPENERS) - (word.type in CLOSERS)
        if word.type == "COMMA" and depth == 0:
            parts.append([])
        else:
            parts[-1].append(word)
    return " & ".join(filter(None, map(_text, parts)))


def _weighted(m: Mistake, line: Sequence[Word]) -> str | None:
    """``1.5 f(x) => g(x)``: a formula after its weight."""
    if m.kind not in ("NUMBER", "ADD"):
        return None
    number = _text(line[: 1 if m.kind == "NUMBER" else 2])
    formula = _text(_until(line[1 if m.kind == "NUMBER" else 2 :], ".")) or "F"
    written = f"`weight {number}: {formula}`"
    return f"a formula with a weight is written {written}, with `for x in T` for every variable"


def _drawn(m: Mistake, line: Sequence[Word]) -> str | None:
    """``x ~ Bernoulli(0.3)``, ``rain = flip(0.3)``."""
    return draw(m, line) if m.kind == "NAME" else None


def draw(m: Mistake, line: Sequence[Word]) -> str | None:
    """How an unknown is declared that is written as drawn from a distribution."""
    for at, word in enumerate(line[:-1]):
        if word.type == "NAME" and line[at + 1].type == "LPAR":
            chance = next((w.text for w in line[at:] if w.type == "NUMBER"), "p")
            hint = distribution(word.text, m.words[_named(m)].text, chance)
            if hint:
                return hint
    if any(word.text == "~" for word in line):
        return "a distribution follows a declaration: `random x ~ 0.2`, `random x: T ~ p(y)`"
    return None


def _named(m: Mistake) -> int:
    """Where the unknown stands: at the start, or after `random`."""
    return m.start + 1 if m.statement == "RANDOM" else m.at


def _chance(m: Mistake, line: Sequence[Word]) -> str | None:
    """``P(a | b) = 0.3`` and ``P(a | b)``."""
    bar = next((i for i, word in enumerate(line) if word.type == "BAR"), None)
    close = next((i for i in reversed(range(len(line))) if line[i].type == "RPAR"), None)
    if m.text not in PROBABILITIES or bar is None or close is None or not _starts(line[1:], "("):
        return None
    fact, condition = _text(line[2:bar]), _text(line[bar + 1 : close])
    if _starts(line[close + 1 :], "=") and len(line) > close + 2:
        return conditional(fact, condition, _text(_until(line[close + 2 :], ".")))
    return f"`query {fact} given {condition}` asks for its probability"


def _block(m: Mistake, line: Sequence[Word]) -> str | None:
    """``data {``, ``model {``."""
    return BLOCKS if m.kind == "NAME" and _starts(line[1:], "{") else None


def _word(m: Mistake, line: Sequence[Word]) -> str | None:
    """A word that starts statements elsewhere, or a misspelt one."""
    if m.kind in _LATER:
        return _LATER[m.kind]
    lower = m.text.lower()
    meant = STARTS.get(lower)
    if meant is None and lower not in OPENINGS and m.kind == "NAME":
        meant = nearest(m.text, STATEMENTS)
    return f"did you mean `{meant}`?" if meant else OPENINGS.get(lower)


_FORMULA = (
    "a formula is part of a statement: `require F for x in T` always holds, `weight 1.5: F for x in T` mostly"
)
_LATER = {
    **dict.fromkeys(("BANG", "NOT", *AGGREGATES), _FORMULA),
    "FROM": OPENINGS["import"],
    "FOR": "a `for` comes last: `weight 1.2: F for x in T`",
    "IF": "“if A then B” is written `weight 1.2: A => B` or, where it always holds, `require A => B`",
    "GIVEN": "a `given` is the end of a `query`",
    "MAP": "write `query map`",
    "LOGZ": "write `query logz`",
}


def _named_thing(m: Mistake, line: Sequence[Word]) -> str | None:
    """``x = 5``, ``person = {anna}``, ``f(x) = 3``, ``f(x).``."""
    if m.kind != "NAME" or len(line) < 2:
        return None
    assigned = _starts(line[1:], ":", "=") or _starts(line[1:], "<", "-")
    value = line[2:] if line[1].type == "EQUAL" else line[3:] if assigned else ()
    if value and value[0].type == "LBRACE":
        return f"write `type {m.text} = {{…}}` for a set, `param` for a table, `relation` for facts"
    if value:
        fact = f"{m.text} = {_text(_until(value, '.'))}"
        seen = f"`observe {fact}` for what was seen, `require {fact}` for what always holds"
        return f"write `param {fact}` for a fixed value, {seen}"
    if line[1].type in ("LPAR", "EQUAL"):
        return f"write `observe {m.text}…` for what was seen, `require {m.text}…` for what always holds"
    return None


_GUESSES: tuple[Callable[[Mistake, Sequence[Word]], str | None], ...] = (
    _comment,
    _clause,
    _weighted,
    _chance,
    _drawn,
    _block,
    _word,
    _named_thing,
)


def _starts(words: Sequence[Word], *texts: str) -> bool:
    """Whether words begin with these, without blanks between them."""
    begin = words[: len(texts)]
    joined = all(left.end == right.start for left, right in pairwise(begin))
    return tuple(word.text for word in begin) == texts and joined


def _until(words: Sequence[Word], mark: str) -> Sequence[Word]:
    """The words before a mark, or all."""
    return words[: next((i for i, word in enumerate(words) if word.text == mark), len(words))]


def _text(words: Sequence[Word]) -> str:
    """What words say, as written."""
    return words[0].span.to(words[-1].span).text if words else ""
