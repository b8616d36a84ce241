"""Source → syntax tree, with every syntax error of the program."""

from __future__ import annotations

import io
import os
import pickle
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import lark
from lark import Lark, Token

from plx.errors import Diagnostic, PlxError
from plx.source import Source, Span
from plx.syntax import ast
from plx.syntax.automaton import Automaton, StuckError, automaton
from plx.syntax.build import Builder
from plx.syntax.comments import ignores
from plx.syntax.depth import LIMIT, check_brackets, check_tree
from plx.syntax.grammars import grammar_path
from plx.syntax.messages import explain
from plx.syntax.words import FILE_WORDS, STATEMENTS, Word, first_on_line, mark_constraints

_STARTERS = frozenset(word.upper() for word in STATEMENTS) | {"LEARN"}


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
    unread: list[Span] = []
    start = 0
    while start < len(words):
        end = _statement_end(words, start)
        try:
            statements.append(_statement(words, start, end))
        except (_RejectedError, PlxError) as mistake:
            mistakes += mistake.diagnostics
            if isinstance(mistake, _RejectedError):
                end = _resume(words, start, mistake.position)
            unread.append(words[start].span.to(words[end - 1].span))
        start = end
    return ast.Module(tuple(statements), source, tuple(unread), ignores(source, words)), mistakes


def split(source: Source) -> list[Word]:
    """The words of a text, without blanks and comments; what fits nowhere is a word as well."""
    words = [Word(word.type, str(word), source, word.start_pos or 0) for word in _lark().lex(source.text)]
    return mark_constraints(words)


# ------------------------------------------------------------------ statements


class _RejectedError(Exception):
    """Words that are no statement; ``position`` is the index of the one at fault."""

    def __init__(self, position: int, diagnostic: Diagnostic) -> None:
        super().__init__(position)
        self.position = position
        self.diagnostics = (diagnostic,)


def _statement(words: Sequence[Word], start: int, end: int) -> ast.Statement:
    mine = words[start:end]
    check_brackets(mine)
    try:
        (statement,) = _automaton().read(mine)
    except StuckError as stuck:
        position = start + stuck.position
        expected = _expected(words[start:position])
        raise _RejectedError(position, explain(words, start, position, expected)) from None
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


class _Words:
    """Keeps the kinds of word that no rule uses, which stand for mistakes, and tells ``columns``, ``table``
    and ``sql`` after a file, and ``learn`` before a name, from names, so that they are not reserved."""

    always_accept = ("UNCLOSED", "STRAY")

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """The words, each of its kind."""
        before: tuple[str, str] = ("", "")
        for word, after in _with_next(stream):
            if word.type == "NAME" and before in _AFTER_FILES and word in FILE_WORDS:
                word = Token.new_borrow_pos(word.upper(), str(word), word)
            if after == word.type == "NAME" and before[1] not in _BEFORE_NAMES and word == "learn":
                word = Token.new_borrow_pos("LEARN", str(word), word)
            yield word
            before = (before[1], word.type)


_AFTER_FILES = {("FROM", "STRING"), ("TABLE", "STRING"), ("SQL", "STRING")}


def _with_next(stream: Iterator[Token]) -> Iterator[tuple[Token, str]]:
    """The words, each with the kind of the one after it."""
    waiting: Token | None = None
    for word in stream:
        if waiting is not None:
            yield waiting, word.type
        waiting = word
    if waiting is not None:
        yield waiting, ""


@cache
def _automaton() -> Automaton:
    return automaton(_lark().parse_interactive("").parser_state.parse_conf)


@cache
def _lark() -> Any:
    """The parser. Its tables are kept with the compiled modules, to start a tenth of a second sooner."""
    grammar = grammar_path().read_text(encoding="utf-8")
    digest = sha256(f"{grammar}{lark.__version__}{sys.version}".encode()).hexdigest()[:16]
    kept = Path(__file__).parent / "__pycache__" / f"plx-{digest}.tables"
    return _load(kept) or _build(grammar, kept)


def _load(kept: Path) -> Any:
    """The parser from its tables; None where there are none, or damaged ones."""
    try:
        tables = pickle.loads(kept.read_bytes())
        return Lark._load_from_dict(  # type: ignore[no-untyped-call]
            **tables, transformer=Builder(), postlex=_Words()
        )
    except Exception:  # pickle raises whatever the damage leads to
        return None


def _build(grammar: str, kept: Path) -> Lark:
    parser = Lark(
        grammar,
        parser="lalr",
        lexer="basic",
        start="program",
        keep_all_tokens=True,
        maybe_placeholders=False,
        postlex=_Words(),
        transformer=Builder(),
    )
    if not sys.dont_write_bytecode:
        _keep(parser, kept)
    return parser


def _keep(parser: Lark, kept: Path) -> None:
    """Write the tables aside and rename them, so that nobody reads half a file."""
    tables = io.BytesIO()
    parser.save(tables, ["transformer", "postlex"])
    written = kept.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
    with suppress(OSError):  # the installation may be read-only
        written.write_bytes(tables.getvalue())
        written.replace(kept)
