"""What single tools write that plx does not do: known by its words, and refused by name."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from plx.errors import Diagnostic, PlxError
from plx.syntax.depth import LIMIT
from plx.syntax.words import Word

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


def is_without_effect(words: Sequence[Word]) -> bool:
    """Whether a line matters to learning alone: ``#fixweight`` of pracmln."""
    return len(words) == 1 and words[0].text == "#fixweight"


def refuse(words: Sequence[Word], start: str) -> None:
    """Raises PlxError for a statement that plx does not read, with the name of what it is."""
    for word in words:
        if word.type == "UNCLOSED":
            raise _error(word, word, "a comment that is not closed: `*/` is missing")
        if word.type == "STRAY" and word.text in _STRAYS:
            raise _error(word, word, *_STRAYS[word.text])
        if word.type == "DIRECTIVE" and word.text not in ("#include", "#import"):
            raise _error(word, word, *_directive(word.text))
    _refuse_depth(words)
    _refuse_shapes(words, start)


def _refuse_depth(words: Sequence[Word]) -> None:
    """A formula is as deep as the brackets, quantifiers and signs that are open in it."""
    brackets = quantifiers = signs = 0
    for word in words:
        brackets += {"LPAR": 1, "LSQB": 1, "RPAR": -1, "RSQB": -1}.get(word.type, 0)
        quantifiers += word.type == "QUANTIFIER"
        signs = signs + 1 if word.type in ("BANG", "ADD") else 0
        if brackets + quantifiers + signs > LIMIT:
            raise _error(word, word, f"this nests more than {LIMIT:,} levels deep")


def _directive(word: str) -> tuple[str, str | None]:
    near = next((text for name, text in _DIRECTIVES.items() if word == name), None)
    return near or (f"`{word}` is not known", 'another file is read by `#include "other.mln"`')


def _refuse_shapes(words: Sequence[Word], start: str) -> None:
    kinds = [word.type for word in words]
    first, last = words[0], words[-1]
    for before, word in pairwise(words):
        if before.text == "-" and word.text == ">":
            raise _error(before, word, WFOMC, _WFOMC_HINT)
        if before.type == "NAME" and word.type == "LSQB":
            raise _error(before, word, WFOMC, _WFOMC_HINT)
    if start == "fact":
        if kinds == ["ADD"] * 3:
            message = "several databases in one file, parted by `---` (pracmln, ProbCog), are not read"
            raise _error(first, last, message, "save each in a file of its own: they are for learning")
        if _numbers_after(kinds):
            message = "atoms with a number for a value (Alchemy) are not read: unknowns are discrete"
            raise _error(first, last, message)
        if first.type == "VARIABLE":
            raise _error(first, last, "unknown atoms (`?P(A)`) are not listed: what is not in a database is")
        return
    if kinds[:3] == ["NAME", "EQUAL", "NUMBER"] and len(kinds) == 3:
        hint = f"list the constants: `{first.text} = {{1, ..., {last.text}}}`"
        raise _error(first, last, f"`{first.text}` has a size here, and no constants", hint)
    if first.type == "OR":
        hint = "in a program of plx: `require count(F for x in T) <= n`"
        raise _error(first, last, "cardinality constraints `|x| …` (rockIt, WFOMC) are not read", hint)
    if first.text == "P" and kinds[-3:-1] == ["RPAR", "EQUAL"] and last.type == "NUMBER":
        hint = "give a weight; plx does not look for weights that lead to a marginal"
        raise _error(first, last, "probability constraints `P(F) = p` (ProbCog, pracmln) are not read", hint)
    compared = [kind for kind in kinds if kind != "PERIOD"][-2:]
    if (
        first.text == "count"
        and kinds[1:2] == ["LPAR"]
        and compared in (["EQUAL", "NUMBER"], ["COMPARE", "NUMBER"])
    ):
        hint = "in a program of plx: `require count(F for x in T) = n`"
        raise _error(first, last, "count constraints (ProbCog) are not read", hint)
    if _numbers_after(kinds) > 1:
        message = "weights of a predicate (Forclift: of true and of false) are not read"
        raise _error(words[-2], last, message, "as a rule: `log(3/2) P(x)`")


def _numbers_after(kinds: Sequence[str]) -> int:
    """How many numbers follow the last bracket of an atom that begins the line."""
    if kinds[:2] != ["NAME", "LPAR"] or "RPAR" not in kinds:
        return 0
    after = kinds[len(kinds) - kinds[::-1].index("RPAR") :]
    return after.count("NUMBER") if set(after) <= {"NUMBER", "ADD"} else 0


def _error(first: Word, last: Word, message: str, hint: str | None = None) -> PlxError:
    return PlxError(Diagnostic(message, first.span.to(last.span), hint))
