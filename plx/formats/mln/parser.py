"""Text → statements of a .mln or .db file, with every syntax error in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, Literal

from lark import Lark, Token
from lark.exceptions import UnexpectedToken, VisitError

from plx.errors import Diagnostic, PlxError
from plx.formats.mln import tree
from plx.formats.mln.build import Builder
from plx.formats.mln.dialects import WFOMC, is_without_effect, refuse
from plx.formats.mln.wording import explain
from plx.source import Source
from plx.syntax.grammars import grammar_path
from plx.syntax.words import Word

Start = Literal["statement", "fact"]

_OPERATORS: Final = {
    "AND",
    "OR",
    "IMPLIES",
    "IFF",
    "COMMA",
    "COMPARE",
    "EQUAL",
    "EQUAL_SET",
    "LBRACE",
    "LPAR",
    "LSQB",
}
"""After these a statement goes on in the next line."""

_CONTINUES: Final = {"AND", "OR", "IMPLIES", "IFF", "COMMA", "RBRACE", "RPAR", "RSQB"}
"""Before these it has not ended."""

_OPERANDS: Final = {"NAME", "VARIABLE", "STRING", "NUMBER", "RPAR", "RSQB"}


def parse(source: Source, start: Start) -> tuple[list[tree.Statement], list[Diagnostic]]:
    """The statements of a file (``fact``: of a database), and what is wrong with those that cannot be
    read."""
    statements: list[tree.Statement] = []
    mistakes: list[Diagnostic] = []
    for words in _lines(_lex(source)):
        if is_without_effect(words):
            continue
        try:
            statements.append(_parsed(words, start))
        except PlxError as error:
            known = {found.message for found in mistakes}
            mistakes += [found for found in error.diagnostics if found.message != WFOMC or WFOMC not in known]
    return statements, mistakes


def parse_question(source: Source) -> tree.Chain:
    """The formula of a query. Raises PlxError."""
    words = [word for word in _lex(source) if word.type != "NEWLINE"]
    return _parsed(words, "question")  # type: ignore[no-any-return]


def _parsed(words: Sequence[Word], start: str) -> Any:
    refuse(words, start)
    state = _lark().parse_interactive("", start=start)
    read = 0
    try:
        for word in words:
            state.feed_token(word)  # type: ignore[arg-type]
            read += 1
        return state.feed_token(Token("$END", ""))
    except UnexpectedToken as error:
        raise PlxError(explain(words, read, set(error.accepts or error.expected), start)) from None
    except VisitError as error:
        raise error.orig_exc from None


def _lines(words: Sequence[Word]) -> Iterator[list[Word]]:
    """The words of each statement: a line, or more where one ends or the next begins with an operator."""
    line: list[Word] = []
    kept = [word for word in words if word.type != "NEWLINE"]
    breaks = {id(after) for before, after in _pairs(words) if before.type == "NEWLINE"}
    for word in kept:
        goes_on = bool(line) and (
            line[-1].type in _OPERATORS or (word.type in _CONTINUES and word.text != "|")
        )
        if id(word) in breaks and line and not goes_on:
            yield line
            line = []
        line.append(word)
    if line:
        yield line


def _pairs(words: Sequence[Word]) -> Iterator[tuple[Word, Word]]:
    """Every word that is no line break, with the word before it."""
    for i in range(1, len(words)):
        if words[i].type != "NEWLINE":
            yield words[i - 1], words[i]


def _lex(source: Source) -> list[Word]:
    tokens = _lark().lex(source.text)
    words = [Word(token.type, str(token), source, token.start_pos or 0) for token in tokens]
    for i, word in enumerate(words):
        if word.type == "NAME" and word.text == "v" and _joins(words, i):
            words[i] = Word("OR", "v", source, word.start)
    return words


def _joins(words: Sequence[Word], at: int) -> bool:
    """Whether a ``v`` is the operator: an operand ends before it, and it is no predicate that starts a
    rule."""
    before = next((words[i] for i in range(at - 1, -1, -1) if words[i].type != "NEWLINE"), None)
    if before is None or before.type not in _OPERANDS or at + 1 >= len(words):
        return False
    follows = words[at + 1]
    applied = follows.type == "LPAR" and follows.start == words[at].end
    after_weight = before.type == "NUMBER" and (at < 2 or words[at - 2].type == "NEWLINE")
    return not (applied and (words[at - 1].type == "NEWLINE" or after_weight))


class _KeepAll:
    """Keeps the kinds of word that no rule uses."""

    always_accept = ("UNCLOSED", "STRAY", "NEWLINE")

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """The words as they are."""
        return stream


@cache
def _lark() -> Lark:
    grammar = grammar_path("mln.lark").read_text(encoding="utf-8")
    return Lark(
        grammar,
        parser="lalr",
        lexer="basic",
        start=["statement", "fact", "question"],
        keep_all_tokens=True,
        maybe_placeholders=False,
        postlex=_KeepAll(),
        transformer=Builder(),
    )
