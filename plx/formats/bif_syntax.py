"""The syntax of BIF, the Bayesian network interchange format: text → declarations.

A name is any run of characters but white space and ``{ } ( ) , | ;`` and quotes, so ``<5``, ``12+``,
``Asy/Patchy`` and ``节点1`` are names; in double quotes it may hold anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

from plx.errors import Diagnostic, PlxError
from plx.formats.plain_names import kept_names, real_names
from plx.source import Source, Span

_TOKEN: Final = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<string>"[^"\n]*")
    |(?P<size>discrete\s*\[\s*\d+\s*\])
    |(?P<mark>[{}(),|;])
    |(?P<word>(?:(?!//|/\*)[^\s{}(),|;"])+)
    |(?P<bad>.)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A token: its kind, its text without quotes, and its place."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class BifVariable:
    """``variable name { type discrete [ n ] { states }; }``.

    ``real`` is how its name and states are really called, where the file had to write them otherwise.
    """

    name: Token
    states: tuple[Token, ...]
    real: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Row:
    """Numbers of one kind: a row for parents in given states, ``table``, ``default``, or ``rows``: those of
    all parents, as other formats list them."""

    kind: str
    given: tuple[Token, ...]
    entries: tuple[Token, ...]
    head: Token


@dataclass(frozen=True)
class BifProbability:
    """``probability ( child | parents ) { rows }``."""

    child: Token
    parents: tuple[Token, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class BifFile:
    """The declarations of a BIF file in their order."""

    source: Source
    variables: tuple[BifVariable, ...]
    probabilities: tuple[BifProbability, ...]

    def span(self, first: Token, last: Token | None = None) -> Span:
        return Span(self.source, first.start, (last or first).end)


def parse_bif(source: Source) -> BifFile:
    """The declarations of a BIF file. Raises PlxError where the syntax is wrong."""
    return _Parser(source).file()


def _tokenise(source: Source) -> list[Token]:
    tokens = []
    for match in _TOKEN.finditer(source.text):
        kind = match.lastgroup or ""
        if kind == "bad":
            message = (
                'a `"` that is not closed on its line' if match[0] == '"' else "a comment that is not closed"
            )
            raise PlxError(Diagnostic(message, Span(source, match.start(), match.end())))
        if kind != "blank":
            text = match[0][1:-1] if kind == "string" else match[0]
            tokens.append(Token(kind, text, match.start(), match.end()))
    return tokens


class _Parser:
    """Recursive descent over the tokens; ``at`` is the next one."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = _tokenise(source)
        end = len(source.text.rstrip())
        self.tokens.append(Token("end", "the end of the file", max(0, end - 1), end))
        self.at = 0

    def file(self) -> BifFile:
        variables, probabilities = [], []
        while self.next.kind != "end":
            head = self.take()
            if head.text == "network":
                self._name("{", "the name of the network")
                self._skip_block()
            elif head.text == "variable":
                variables.append(self._variable())
            elif head.text == "probability":
                probabilities.append(self._probability())
            else:
                self._fail("expected `network`, `variable` or `probability`", head)
        return BifFile(self.source, tuple(variables), tuple(probabilities))

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.next
        self.at += token.kind != "end"
        return token

    def _expect(self, mark: str) -> Token:
        token = self.take()
        if token.kind != "mark" or token.text != mark:
            self._fail(f"expected `{mark}`", token)
        return token

    def _is(self, mark: str) -> bool:
        return self.next.kind == "mark" and self.next.text == mark

    def _fail(self, message: str, token: Token) -> NoReturn:
        shown = token.text if token.kind == "end" else f"`{token.text}`"
        raise PlxError(Diagnostic(f"{message}, found {shown}", Span(self.source, token.start, token.end)))

    def _skip_block(self) -> None:
        self._expect("{")
        while not self._is("}"):
            if self.next.kind == "end":
                self._expect("}")
            self.take()
        self.take()

    def _property(self) -> str:
        """The text of a property."""
        start = self.next.start
        while not self._is(";"):
            if self.next.kind == "end" or self._is("}"):
                self._expect(";")
            self.take()
        return self.source.text[start : self.take().start]

    def _variable(self) -> BifVariable:
        name = self._name("{", "the name of a variable")
        self._expect("{")
        states: tuple[Token, ...] = ()
        remark = None
        while not self._is("}"):
            head = self.take()
            if head.text == "type":
                states = self._states()
            elif head.text == "property":
                remark = kept_names(self._property()) or remark
            else:
                self._fail("expected `type`, `property` or `}`", head)
        if not states:
            self._fail(f"the variable `{name.text}` has no `type discrete [ n ] {{ … }}`", self.next)
        self.take()
        return BifVariable(name, states, real_names(remark, len(states)))

    def _states(self) -> tuple[Token, ...]:
        size = self.take()
        if size.kind != "size":
            self._fail("expected `discrete [ n ]`; only discrete variables can be read", size)
        count = int(re.sub(r"\D", "", size.text))
        self._expect("{")
        pieces = self._pieces("}")
        self._expect("}")
        self._expect(";")
        words = [word for piece in pieces for word in piece]
        states = [self._joined(piece) for piece in pieces] if len(pieces) == count else words
        if len(states) != count or not count:
            found = len(pieces) if len(pieces) > 1 else len(words)
            self._fail(f"{count} states are announced, {found} are listed", size)
        return tuple(states)

    def _probability(self) -> BifProbability:
        self._expect("(")
        names = self._names("|)")
        if not names:
            self._fail("expected the name of a variable", self.next)
        parents = names[1:]
        if self._is("|"):
            if parents:
                self._fail("expected one variable before `|`", parents[0])
            self.take()
            parents = self._names(")")
        self._expect(")")
        self._expect("{")
        rows = []
        while not self._is("}"):
            if self.next.text == "property" and self.next.kind == "word":
                self.take()
                self._property()
            else:
                rows.append(self._row())
        self.take()
        return BifProbability(names[0], tuple(parents), tuple(rows))

    def _row(self) -> Row:
        head = self.take()
        given: tuple[Token, ...] = ()
        if head.text == "(" and head.kind == "mark":
            kind, given = "row", tuple(self._names(")"))
            self._expect(")")
        elif head.text in ("table", "default"):
            kind = head.text
        else:
            self._fail("expected `table`, `default`, or the states of the parents in `( )`", head)
        entries = tuple(word for piece in self._pieces(";") for word in piece)
        self._expect(";")
        return Row(kind, given, entries, head)

    def _pieces(self, ends: str) -> list[list[Token]]:
        """Words up to one of the closing marks, grouped by the commas between them."""
        pieces: list[list[Token]] = [[]]
        while not (self.next.kind == "mark" and self.next.text in ends):
            token = self.take()
            if token.kind == "mark" and token.text == ",":
                pieces.append([])
            elif token.kind in ("mark", "end"):
                self._fail(f"expected `{ends[-1]}`", token)
            else:
                pieces[-1].append(token)
        return [piece for piece in pieces if piece]

    def _names(self, ends: str) -> list[Token]:
        """Names up to a closing mark: between commas, or quoted side by side."""
        names: list[Token] = []
        for piece in self._pieces(ends):
            quoted = all(word.kind == "string" for word in piece)
            names += piece if quoted else [self._joined(piece)]
        return names

    def _name(self, end: str, what: str) -> Token:
        names = self._names(end)
        if len(names) != 1:
            self._fail(f"expected {what}", names[1] if names else self.next)
        return names[0]

    def _joined(self, piece: Sequence[Token]) -> Token:
        """Words that make up one name with blanks in it."""
        if len(piece) == 1:
            return piece[0]
        start, end = piece[0].start, piece[-1].end
        return Token("word", " ".join(self.source.text[start:end].split()), start, end)
