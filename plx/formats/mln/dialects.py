"""What single tools write that plx does not do: known by its words, and refused by name."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from lark import Token

from plx.errors import Diagnostic, PlxError
from plx.source import Source, Span

WFOMC: Final = "this is the language of WFOMC, not that of Alchemy, Tuffy or pracmln"
_WFOMC_HINT: Final = (
    "`!F`, `F => G`, `F <=> G`, `EXIST y F`, `person = {A, B}`; variables begin in lower case"
)

_DIRECTIVES: Final = {
    "#fuzzy": ("fuzzy truth (`#fuzzy`, pracmln) is not read", "evidence is true or false"),
    "#unique": ("`#unique` of pracmln is not read", "write the formulas out, without `+`"),
}
_STRAYS: Final = {
    "$": ("variables `$name` of ProbCog are not read", "write the number"),
    "@": ("`@` (Alchemy keeps it for itself, Tuffy uses it) is not read", "leave the `@` out"),
    "~": (WFOMC, _WFOMC_HINT),
    "\\": (WFOMC, _WFOMC_HINT),
    "#": ("`#` starts `#include` alone; a comment is `// …`", None),
    '"': ('a `"` that is not closed on its line', None),
    "'": ("a `'` that is not closed on its line", None),
}


def is_without_effect(words: Sequence[Token]) -> bool:
    """Whether a line matters to learning alone: ``#fixweight`` of pracmln."""
    return len(words) == 1 and words[0] == "#fixweight"


def refuse(source: Source, words: Sequence[Token], start: str) -> None:
    """Raises PlxError for a statement that plx does not read, with the name of what it is."""
    for word in words:
        if word.type == "UNCLOSED":
            raise _error(source, word, word, "a comment that is not closed: `*/` is missing")
        if word.type == "STRAY" and word in _STRAYS:
            raise _error(source, word, word, *_STRAYS[word])
        if word.type == "DIRECTIVE" and word not in ("#include", "#import"):
            raise _error(source, word, word, *_directive(word))
    _refuse_shapes(source, words, start)


def _directive(word: str) -> tuple[str, str | None]:
    near = next((text for name, text in _DIRECTIVES.items() if word == name), None)
    return near or (f"`{word}` is not known", 'another file is read by `#include "other.mln"`')


def _refuse_shapes(source: Source, words: Sequence[Token], start: str) -> None:
    kinds = [word.type for word in words]
    first, last = words[0], words[-1]
    for before, word in pairwise(words):
        if before == "-" and word == ">":
            raise _error(source, before, word, WFOMC, _WFOMC_HINT)
        if before.type == "NAME" and word.type == "LSQB":
            raise _error(source, before, word, WFOMC, _WFOMC_HINT)
    if start == "fact":
        if kinds == ["ADD"] * 3:
            message = "several databases in one file, parted by `---` (pracmln, ProbCog), are not read"
            raise _error(
                source, first, last, message, "save each in a file of its own: they are for learning"
            )
        if _numbers_after(kinds):
            message = "atoms with a number for a value (Alchemy) are not read: unknowns are discrete"
            raise _error(source, first, last, message)
        if first.type == "VARIABLE":
            raise _error(
                source, first, last, "unknown atoms (`?P(A)`) are not listed: what is not in a database is"
            )
        return
    if kinds[:3] == ["NAME", "EQUAL", "NUMBER"] and len(kinds) == 3:
        hint = f"list the constants: `{first} = {{1, ..., {last}}}`"
        raise _error(source, first, last, f"`{first}` has a size here, and no constants", hint)
    if first.type == "OR":
        hint = "in a program of plx: `require count(F for x in T) <= n`"
        raise _error(
            source, first, last, "cardinality constraints `|x| …` (rockIt, WFOMC) are not read", hint
        )
    if first == "P" and kinds[-3:-1] == ["RPAR", "EQUAL"] and last.type == "NUMBER":
        hint = "give a weight; plx does not look for weights that lead to a marginal"
        raise _error(
            source, first, last, "probability constraints `P(F) = p` (ProbCog, pracmln) are not read", hint
        )
    compared = [kind for kind in kinds if kind != "PERIOD"][-2:]
    if (
        first == "count"
        and kinds[1:2] == ["LPAR"]
        and compared in (["EQUAL", "NUMBER"], ["COMPARE", "NUMBER"])
    ):
        hint = "in a program of plx: `require count(F for x in T) = n`"
        raise _error(source, first, last, "count constraints (ProbCog) are not read", hint)
    if _numbers_after(kinds) > 1:
        message = "weights of a predicate (Forclift: of true and of false) are not read"
        raise _error(source, words[-2], last, message, "as a rule: `log(3/2) P(x)`")


def _numbers_after(kinds: Sequence[str]) -> int:
    """How many numbers follow the last bracket of an atom that begins the line."""
    if kinds[:2] != ["NAME", "LPAR"] or "RPAR" not in kinds:
        return 0
    after = kinds[len(kinds) - kinds[::-1].index("RPAR") :]
    return after.count("NUMBER") if set(after) <= {"NUMBER", "ADD"} else 0


def _error(source: Source, first: Token, last: Token, message: str, hint: str | None = None) -> PlxError:
    return PlxError(Diagnostic(message, place(source, first).to(place(source, last)), hint))


def place(source: Source, word: Token) -> Span:
    """The characters of a word."""
    start = word.start_pos or 0
    return Span(source, start, start + len(word))
