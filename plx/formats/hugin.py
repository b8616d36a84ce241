"""Hugin's .net files: Bayesian networks of discrete chance nodes.

A potential lists the states of its child fastest, then those of the last parent; nested parentheses
round the entries are layout.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NoReturn

from plx.errors import Diagnostic, PlxError
from plx.formats.bif import network_of
from plx.formats.bif_syntax import BifFile, BifProbability, BifVariable, Row, Token
from plx.formats.network import Network
from plx.formats.plain_names import REMARK, real_names
from plx.source import Source, Span
from plx.values import Values

_TOKEN: Final = re.compile(
    r"""(?P<blank>\s+|%[^\n]*)
    |"(?P<string>(?:[^"\\]|\\.)*)"
    |(?P<mark>[{}()|;=])
    |(?P<word>[^\s{}()|;="%]+)
    |(?P<bad>.)""",
    re.VERBOSE | re.DOTALL,
)
_OTHER: Final = ("decision", "utility", "continuous", "function", "class", "instance")


def read_hugin(source: Source, values: Values) -> Network:
    """The network of a .net file: nodes by their names, with their states.

    Raises PlxError for a file that is none, or has nodes of other kinds, and as `read_bif` does.
    """
    return network_of(_Parser(source).file(), values)


class _Parser:
    """Recursive descent over the tokens; ``at`` is the next one."""

    def __init__(self, source: Source) -> None:
        self.source, self.at = source, 0
        self.tokens = [*_tokens(source)]
        end = len(source.text.rstrip())
        self.tokens.append(Token("end", "the end of the file", max(0, end - 1), end))

    def file(self) -> BifFile:
        variables, potentials = [], []
        while self.next.kind != "end":
            head = self._take()
            if head.text == "discrete" and self.next.text == "node":
                head = self._take()
            if head.text == "node":
                variables.append(self._node())
            elif head.text == "potential":
                potentials.append(self._potential())
            elif head.text == "net":
                self._fields()
            else:
                other = head.text in _OTHER
                what = (
                    f"a `{head.text}` node"
                    if other
                    else f"expected `node` or `potential`, found `{head.text}`"
                )
                self._fail(f"{what}; plx reads networks of discrete chance nodes" if other else what, head)
        if not variables:
            self._fail("the file has no `node`", self.next)
        return BifFile(self.source, tuple(variables), tuple(potentials))

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def _take(self) -> Token:
        token = self.next
        self.at += token.kind != "end"
        return token

    def _expect(self, mark: str) -> None:
        token = self._take()
        if token.kind != "mark" or token.text != mark:
            self._fail(f"expected `{mark}`, found {_shown(token)}", token)

    def _name(self, what: str) -> Token:
        token = self._take()
        if token.kind not in ("word", "string"):
            self._fail(f"expected the name of {what}, found {_shown(token)}", token)
        return token

    def _fields(self) -> dict[str, tuple[Token, list[Token]]]:
        """``{ key = …; … }``: the words of each value, without parentheses."""
        self._expect("{")
        found: dict[str, tuple[Token, list[Token]]] = {}
        while not (self.next.kind == "mark" and self.next.text == "}"):
            key = self._name("a field")
            self._expect("=")
            words = []
            while not (self.next.kind == "mark" and self.next.text in ";{}="):
                token = self._take()
                if token.kind == "end":
                    break
                if token.kind != "mark":
                    words.append(token)
            self._expect(";")
            found[key.text] = key, words
        self._take()
        return found

    def _node(self) -> BifVariable:
        name = self._name("a node")
        fields = self._fields()
        if not fields.get("states", (name, []))[1]:
            self._fail(f"the node `{name.text}` has no `states`", name)
        _, kept = fields.get(REMARK, (name, []))
        states = tuple(fields["states"][1])
        return BifVariable(
            name, states, real_names(kept[0].text.replace("'", '"') if kept else None, len(states))
        )

    def _potential(self) -> BifProbability:
        self._expect("(")
        child, parents = self._name("a node"), []
        if self.next.kind == "mark" and self.next.text == "|":
            self._take()
            while self.next.kind in ("word", "string"):
                parents.append(self._take())
        elif self.next.kind in ("word", "string"):
            self._fail("a potential over several nodes; plx reads those of one node given others", self.next)
        self._expect(")")
        fields = self._fields()
        if "data" not in fields:
            self._fail(f"the potential of `{child.text}` has no `data`", child)
        head, entries = fields["data"]
        return BifProbability(child, tuple(parents), (Row("rows", (), tuple(entries), head),))

    def _fail(self, message: str, token: Token) -> NoReturn:
        raise PlxError(Diagnostic(message, Span(self.source, token.start, token.end)))


def _shown(token: Token) -> str:
    return token.text if token.kind == "end" else f"`{token.text}`"


def _tokens(source: Source) -> Iterator[Token]:
    for match in _TOKEN.finditer(source.text):
        kind = match.lastgroup or ""
        if kind == "bad":
            raise PlxError(Diagnostic('a `"` that is not closed', Span(source, match.start(), match.end())))
        if kind != "blank":
            yield Token(kind, match[kind], match.start(), match.end())
