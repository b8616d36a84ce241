"""The syntax of DIMACS (.cnf, .wcnf): text → clauses, weights of literals, and what they are meant for.

Forms that are told apart by what they hold:

- counting, as the competition writes it since 2021 (``p cnf``, ``c p weight 1 0.3 0``,
  ``c p show 1 2 0``, ``c t wmc``), in 2020 (``p wcnf``, ``w 1 0.3 0``), as Cachet does (``w 1 0.3``)
  and as miniC2D does (``c weights 0.3 0.7 …``);
- MaxSAT, as until 2021 (``p wcnf variables clauses top``, a weight before each clause) and since 2022 (no
  line ``p``, hard clauses begin with ``h``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final, Literal, NoReturn

from plx.errors import Diagnostic, Note, PlxError
from plx.formats.words import Words
from plx.source import Source, Span

LARGEST: Final = 1_000_000
"""The most variables of a formula."""

_REMARK: Final = re.compile(r"^[ \t]*(?:[cp].*|(?:w|vp?)\b.*|%[\s\S]*)$", re.MULTILINE)
"""What holds no clause: comments, lines that say something of the formula, and the end that SATLIB writes."""

_SAID: Final = re.compile(
    r"""^[ \t]*(?P<what>p|w|vp|c[ \t]+p[ \t]+(?:weight|show)
    |c[ \t]+t(?=[ \t]+\w+[ \t\r]*$)
    |c[ \t]+ind(?=[ \t]+\d)|c[ \t]+weights(?=[ \t]+[-.\d]))(?=\s|$)(?P<rest>.*)$""",
    re.MULTILINE | re.VERBOSE,
)
_INTEGER: Final = re.compile(r"-?\d{1,9}")
_COUNTS: Final = ("mc", "wmc", "pmc", "pwmc")
_SHOWN: Final = ("c p show", "c ind", "vp")
_WEIGHTED: Final = ("c p weight", "w", "c weights")

Purpose = Literal["count", "maxsat"]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a line, and its place."""

    text: str
    span: Span


@dataclass(frozen=True)
class Said:
    """A line that is no clause: what it is about, and its words."""

    what: str
    words: tuple[Word, ...]
    span: Span


@dataclass(frozen=True)
class Disjunction:
    """A clause: literals ±variable, and in MaxSAT the weight that it is worth (None: it must hold)."""

    literals: tuple[int, ...]
    weight: Word | None
    span: Span


@dataclass(frozen=True)
class Formula:
    """What a file says."""

    source: Source
    purpose: Purpose
    variables: int
    clauses: tuple[Disjunction, ...]
    said: tuple[Said, ...]


def parse_dimacs(source: Source) -> Formula:
    """The formula in a file. Raises PlxError if it is none, is cut short, or may mean two things."""
    said = tuple(_said(source))
    words = Words(source, _REMARK)
    texts = words.take(words.left, "the clauses")
    header = _header(source, said)
    purpose = _purpose(source, header, said, texts)
    if not texts and not said:
        raise PlxError(Diagnostic(f"{source.name} is empty: there is no clause in it"))
    reader = _Clauses(words, texts, header, purpose)
    clauses = tuple(reader.clauses())
    if header is not None and len(clauses) != header.clauses:
        _wrong_count(words, header, len(clauses))
    formula = Formula(source, purpose, reader.variables, clauses, said)
    _refuse_projection(formula)
    return formula


# ----------------------------------------------------------------- lines beside the clauses


def _said(source: Source) -> Iterator[Said]:
    for match in _SAID.finditer(source.text):
        words = tuple(
            Word(word[0], Span(source, match.start("rest") + word.start(), match.start("rest") + word.end()))
            for word in re.finditer(r"\S+", match["rest"])
        )
        end = match.end("what") if not words else words[-1].span.end
        yield Said(" ".join(match["what"].split()), words, Span(source, match.start("what"), end))


@dataclass(frozen=True)
class _Header:
    """The line ``p``: ``form`` is cnf, wcnf, pcnf or wpcnf; ``top`` is the weight of hard clauses."""

    form: str
    variables: int
    clauses: int
    top: Word | None
    span: Span


def _header(source: Source, said: Sequence[Said]) -> _Header | None:
    lines = [line for line in said if line.what == "p"]
    if not lines:
        return None
    if len(lines) > 1:
        _fail("a second line `p`", lines[1].span, notes=(Note("the first one", lines[0].span),))
    (line,) = lines
    form = line.words[0].text if line.words else ""
    if form not in ("cnf", "wcnf", "pcnf", "wpcnf", "pwcnf"):
        _fail(
            "this line is `p cnf VARIABLES CLAUSES`, or `p wcnf VARIABLES CLAUSES TOP` for MaxSAT", line.span
        )
    least = 3 + (form in ("pcnf", "wpcnf", "pwcnf"))
    if not 3 <= len(line.words) <= max(least, 3 + (form == "wcnf")):
        _fail(f"`p {form}` is followed by the numbers of variables and of clauses", line.span)
    variables, clauses = (_whole(word, what) for word, what in zip(line.words[1:3], _HEADED, strict=True))
    if variables > LARGEST:
        _fail(f"a formula has at most {LARGEST:,} variables", line.words[1].span)
    top = line.words[3] if form == "wcnf" and len(line.words) > 3 else None
    return _Header(form, variables, clauses, top, line.span)


_HEADED = ("the number of variables", "the number of clauses")


def _purpose(source: Source, header: _Header | None, said: Sequence[Said], texts: Sequence[str]) -> Purpose:
    """Counting or MaxSAT. Raises PlxError for a file that may be meant for either."""
    for line in said:
        if line.what == "c t" and (not line.words or line.words[0].text not in _COUNTS):
            _fail(f"plx counts models of the kinds {', '.join(_COUNTS)}", line.span)
    counted = next((line for line in said if line.what in ("c t", *_WEIGHTED)), None)
    listed = PurePath(source.name).suffix.lower() == ".wcnf"
    if header is None:
        if counted is None and (listed or "h" in texts):
            return "maxsat"
        _fail("there is no line `p cnf VARIABLES CLAUSES`", _start(source))
    if header.top is not None:
        if counted is not None:
            _fail(
                "this is of model counting, and the line `p` with three numbers of MaxSAT",
                counted.span,
                notes=(Note("the line `p`", header.span),),
            )
        return "maxsat"
    if counted is None and header.form == "wcnf":
        message = "`p wcnf` with two numbers is MaxSAT without hard clauses, or counting without weights"
        _fail(message, header.span, f"{_AS_MAXSAT}; {_COUNTING}")
    if counted is None and listed and header.form == "cnf":
        message = "`p cnf` without weights in a .wcnf file: it may be meant for counting or for MaxSAT"
        _fail(message, header.span, f"{_AS_MAXSAT}; {_COUNTING}")
    return "count"


_AS_MAXSAT = "for MaxSAT write `p wcnf VARIABLES CLAUSES TOP`, where clauses of weight TOP are hard"
_COUNTING = "for counting save it as .cnf with `p cnf`, and weights as `c p weight LITERAL WEIGHT 0`"


def _refuse_projection(formula: Formula) -> None:
    """Raises PlxError where models are to be counted by some of the variables alone."""
    lines = [line for line in formula.said if line.what in _SHOWN]
    shown = {
        _literal_of(word, formula.variables, least=1)
        for line in lines
        for word in line.words
        if word.text != "0"
    }
    if lines and len(shown) < formula.variables:
        message = f"models are to be counted by {len(shown):,} of {formula.variables:,} variables"
        hint = "plx counts by all: if those that are shown determine the others, leave this line out"
        _fail(f"{message} alone (projected counting), which plx does not do", lines[0].span, hint)


def weights_of(formula: Formula) -> dict[int, Word]:
    """The weights of literals as they are written. Raises PlxError for a literal with two of them."""
    found: dict[int, Word] = {}
    for line in formula.said:
        if line.what in _WEIGHTED:
            for literal, weight in _weights(formula, line):
                if found.setdefault(literal, weight) is not weight:
                    note = Note("the first one", found[literal].span)
                    _fail(f"a second weight of the literal {literal}", weight.span, notes=(note,))
    return found


def _weights(formula: Formula, line: Said) -> Iterator[tuple[int, Word]]:
    words = line.words[:-1] if line.words and line.words[-1].text == "0" else line.words
    if line.what == "c weights":
        words = line.words
        if len(words) != 2 * formula.variables:
            message = f"{2 * formula.variables:,} weights are needed, of every variable and its negation, and"
            _fail(f"{message} {len(words):,} are given", line.span)
        for i, word in enumerate(words):
            yield (i // 2 + 1) * (-1 if i % 2 else 1), word
        return
    if line.what == "w" and len(line.words) == 2:  # Cachet ends the line without a 0; a weight may be 0
        words = line.words
    if len(words) != 2 or len(line.words) > 3:
        _fail(f"this line is `{line.what} LITERAL WEIGHT 0`", line.span)
    literal = _literal_of(words[0], formula.variables)
    if line.what == "w" and words[1].text == "-1" and literal > 0:
        one = Word("1", words[1].span)  # Cachet: no weight
        yield from ((literal, one), (-literal, one))
    else:
        yield literal, words[1]


# ------------------------------------------------------------------------------ clauses


class _Clauses:
    """Reads words as clauses; ``variables`` is how many there are, once all are read."""

    def __init__(self, words: Words, texts: Sequence[str], header: _Header | None, purpose: Purpose) -> None:
        self.words, self.texts, self.header, self.purpose = words, texts, header, purpose
        self.variables = 0 if header is None else header.variables

    def clauses(self) -> Iterator[Disjunction]:
        """The clauses in their order. Raises PlxError."""
        literals: list[int] = []
        weight: Word | None = None
        first = 0
        for i, text in enumerate(self.texts):
            if i == first and self.purpose == "maxsat":
                weight = self._weight(i, text)
            elif text == "0":
                yield Disjunction(tuple(literals), weight, self.words.span(first, i + 1))
                literals, first = [], i + 1
            else:
                literals.append(self._literal(i, text))
        if first < len(self.texts):
            hint = "the file may be cut short"
            self.words.fail("the last clause does not end with 0", first, hint)

    def _weight(self, i: int, text: str) -> Word | None:
        """The weight of a clause in MaxSAT, None if it is hard."""
        if self.header is None:
            return None if text == "h" else Word(text, self.words.span(i))
        hard = self.header.top is not None and _at_least(text, self.header.top.text)
        return None if hard else Word(text, self.words.span(i))

    def _literal(self, i: int, text: str) -> int:
        if not _INTEGER.fullmatch(text) or not int(text):
            self.words.fail(f"a clause is made of numbers of variables, and this is `{text}`", i)
        literal = int(text)
        if self.header is None:
            if abs(literal) > LARGEST:
                self.words.fail(f"a formula has at most {LARGEST:,} variables", i)
            self.variables = max(self.variables, abs(literal))
        elif abs(literal) > self.variables:
            self.words.fail(_no_variable(abs(literal), self.variables), i)
        return literal


def _at_least(weight: str, top: str) -> bool:
    return weight.isascii() and weight.isdigit() and top.isdigit() and int(weight) >= int(top)


def _wrong_count(words: Words, header: _Header, found: int) -> NoReturn:
    message = f"{header.clauses:,} clauses are announced, and {found:,} follow"
    hint = "the file may be cut short" if found < header.clauses else None
    raise PlxError(Diagnostic(message, header.span, hint))


# ------------------------------------------------------------------------------ numbers


def _literal_of(word: Word, variables: int, least: int | None = None) -> int:
    if not _INTEGER.fullmatch(word.text) or not int(word.text) or (least and int(word.text) < least):
        what = "the number of a variable" if least else "a literal, the number of a variable or minus that,"
        _fail(f"{what} stands here, and this is `{word.text}`", word.span)
    if abs(int(word.text)) > variables:
        _fail(_no_variable(abs(int(word.text)), variables), word.span)
    return int(word.text)


def _no_variable(variable: int, variables: int) -> str:
    return f"there is no variable {variable}: the file has {variables:,}, numbered from 1"


def _whole(word: Word, what: str) -> int:
    if not (word.text.isascii() and word.text.isdigit() and len(word.text) < 19):
        _fail(f"{what} must be a whole number, and this is `{word.text}`", word.span)
    return int(word.text)


def _start(source: Source) -> Span:
    return Span(source, 0, min(1, len(source.text)))


def _fail(message: str, span: Span, hint: str | None = None, notes: tuple[Note, ...] = ()) -> NoReturn:
    raise PlxError(Diagnostic(message, span, hint, notes))
