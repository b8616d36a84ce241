"""Source → syntax tree, with every syntax error of the program."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from lark import Lark, Token
from lark.exceptions import UnexpectedToken

from plx.errors import Diagnostic, PlxError
from plx.source import Source, Span
from plx.syntax import ast
from plx.syntax.build import Builder
from plx.syntax.depth import LIMIT, check_brackets, check_tree
from plx.syntax.messages import explain
from plx.syntax.words import STATEMENTS, Word, first_on_line

_STARTERS = frozenset(word.upper() for word in STATEMENTS)


def parse(source: Source) -> ast.Module:
    """The syntax tree of a program.

    Time and memory are linear in the text. Every statement starts with a reserved
    word, so after a mistake reading goes on at the next one.

    Raises:
        PlxError: with one diagnostic per mistake, in the order of the text.
    """
    module, mistakes = recover(source)
    if mistakes:
        raise PlxError(mistakes)
    return module


def recover(source: Source) -> tuple[ast.Module, list[Diagnostic]]:
    """The statements that could be read, and what is wrong with the others."""
    words = split(source)
    statements: list[ast.Statement] = []
    mistakes: list[Diagnostic] = []
    start = 0
    while start < len(words):
        end = _statement_end(words, start)
        try:
            statements.append(_statement(words, start, end))
        except _Rejected as rejected:
            mistakes.append(rejected.diagnostic)
            end = _resume(words, start, rejected.position)
        except PlxError as error:
            mistakes += error.diagnostics
        start = end
    return ast.Module(tuple(statements), source), mistakes


def split(source: Source) -> list[Word]:
    """The words of a text, without blanks and comments; what fits nowhere is a word as well."""
    return [Word(word.type, str(word), source, word.start_pos or 0) for word in _lark().lex(source.text)]


def read_source(path: str | Path, name: str | None = None) -> Source:
    """The program in a file, named by its path unless a name is given.

    Raises:
        PlxError: where the file cannot be read or is not UTF-8.
    """
    label = str(path) if name is None else name
    try:
        return decode(Path(path).read_bytes(), label)
    except OSError as error:
        reason = (error.strerror or "it cannot be read").lower()
        raise PlxError(Diagnostic(f"cannot read `{label}`: {reason}")) from None


def decode(raw: bytes, name: str) -> Source:
    """The text in UTF-8 bytes, with or without a byte-order mark.

    Raises:
        PlxError: at the first bytes that are not UTF-8.
    """
    raw = raw.removeprefix(BOM_UTF8)
    try:
        return Source(name, raw.decode())
    except UnicodeDecodeError as error:
        at = len(raw[: error.start].decode())
        shown = Source(name, raw.decode(errors="replace"))
        message = f"the byte 0x{raw[error.start]:02X} is not valid UTF-8"
        hint = "save the file with the encoding UTF-8"
        raise PlxError(Diagnostic(message, Span(shown, at, at + 1), hint)) from None


def grammar_path() -> Path:
    """Where ``plx.lark`` lies: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "grammars" / "plx.lark"
    return inside if inside.exists() else package.parent / "grammars" / "plx.lark"


# ------------------------------------------------------------------ statements


class _Rejected(Exception):
    """Words that are no statement; ``position`` is the index of the one at fault."""

    def __init__(self, position: int, diagnostic: Diagnostic) -> None:
        super().__init__(position)
        self.position = position
        self.diagnostic = diagnostic


def _statement(words: Sequence[Word], start: int, end: int) -> ast.Statement:
    check_brackets(words[start:end])
    state = _lark().parse_interactive("")
    position = start
    try:
        for position in range(start, end):
            state.feed_token(words[position])
        position = end
        (statement,) = state.feed_token(Token("$END", ""))
    except UnexpectedToken:
        expected = _expected(words[start:position])
        raise _Rejected(position, explain(words, start, position, expected)) from None
    if end - start > LIMIT:
        check_tree(statement)
    return statement  # type: ignore[no-any-return]


def _expected(words: Sequence[Word]) -> frozenset[str]:
    """The kinds of word that may come after these ones (``$END`` where they may be the last)."""
    state = _lark().parse_interactive("")
    for word in words:
        state.feed_token(word)
    return frozenset(state.accepts())


def _statement_end(words: Sequence[Word], start: int) -> int:
    ends = (i for i in range(start + 1, len(words)) if words[i].type in _STARTERS)
    return next(ends, len(words))


def _resume(words: Sequence[Word], start: int, at: int) -> int:
    """Where the next statement starts after a mistake at a word.

    A keyword in the middle of a line starts a statement only outside brackets and
    where no name was wanted; else it is one more part of the mistake. After words
    that belong to no statement only the start of a line is trusted.
    """
    prose = at == start or (at < len(words) and words[at].type not in _STARTERS and first_on_line(words[at]))
    depth = sum(_NESTING.get(word.type, 0) for word in words[start:at])
    wanted_name = at > start and words[at - 1].type in _BEFORE_NAMES
    for i in range(max(at, start + 1), len(words)):
        word = words[i]
        depth += _NESTING.get(word.type, 0)
        if word.type in _STARTERS and (first_on_line(word) or not (prose or depth > 0 or wanted_name)):
            return i
    return len(words)


_NESTING = {"LPAR": 1, "LBRACE": 1, "RPAR": -1, "RBRACE": -1}
_BEFORE_NAMES = _STARTERS | {"AS", "FOR"}


# ------------------------------------------------------------------------ lark


class _KeepStray:
    """Keeps the kinds of word that no rule uses, which stand for mistakes."""

    always_accept = ("UNCLOSED", "STRAY")

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """The words as they are."""
        return stream


@cache
def _lark() -> Any:
    """The parser. Building it takes less than a tenth of a second, so it is kept nowhere else."""
    return Lark(
        grammar_path().read_text(encoding="utf-8"),
        parser="lalr",
        lexer="basic",
        start="program",
        keep_all_tokens=True,
        maybe_placeholders=False,
        postlex=_KeepStray(),
        transformer=Builder(),
    )
