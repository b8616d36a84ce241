"""XMLBIF files (.xmlbif, .bifxml, .xml): the XML form of the Bayesian network interchange format.

As JavaBayes, Weka, pgmpy and pyAgrum write it: a table has the states of FOR fastest, then the last GIVEN.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from plx.errors import Diagnostic, PlxError
from plx.formats.bif import network_of
from plx.formats.bif_syntax import BifFile, BifProbability, BifVariable, Row, Token
from plx.formats.network import Network
from plx.source import Source, Span
from plx.values import Values


def read_xmlbif(source: Source, values: Values) -> Network:
    """The network of an XMLBIF file; variables and states keep their names.

    Raises PlxError for a file that is none, as `read_bif` does.
    """
    root = _Tree(source).root
    if root.tag != "BIF":
        _fail(source, f"the file is no XMLBIF: its outermost element is `{root.tag}`, not `BIF`", root.start)
    networks = root.all("NETWORK")
    if len(networks) != 1:
        _fail(source, f"one element NETWORK is needed, and there are {len(networks)}", root.start)
    if not networks[0].all("VARIABLE"):
        _fail(source, "the network has no VARIABLE", networks[0].start)
    variables = tuple(_variable(source, item) for item in networks[0].all("VARIABLE"))
    families = (*networks[0].all("DEFINITION"), *networks[0].all("PROBABILITY"))
    return network_of(BifFile(source, variables, tuple(_family(source, item) for item in families)), values)


@dataclass
class _Element:
    """An element: where it starts, its text with the place of each piece, and what is in it."""

    tag: str
    start: int
    attributes: dict[str, str]
    pieces: list[tuple[str, int]] = field(default_factory=list)
    inner: list[_Element] = field(default_factory=list)

    def all(self, tag: str) -> list[_Element]:
        return [element for element in self.inner if element.tag == tag]


class _Tree:
    """Reads elements with their places. Entities are not expanded beyond those of XML itself."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.bytes = source.text.encode()
        self.ascii = source.text.isascii()
        self.root = _Element("", 0, {})
        self.open = [self.root]
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self._begin
        self.parser.EndElementHandler = lambda _: self.open.pop()
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = self._entity
        try:
            self.parser.Parse(self.bytes, True)
        except expat.ExpatError as mistake:
            what = expat.errors.messages.get(mistake.code, "a mistake")
            _fail(source, f"this is no XML: {what}", self._place(self.parser.ErrorByteIndex))
        self.root = self.root.inner[0]

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.open) > _DEEPEST:
            _fail(self.source, "elements are nested too deeply", self._here)
        element = _Element(tag.upper(), self._here, attributes)
        self.open[-1].inner.append(element)
        self.open.append(element)

    def _text(self, text: str) -> None:
        self.open[-1].pieces.append((text, self._here))

    def _entity(self, *_: object) -> None:
        _fail(self.source, "entities are not read", self._here)

    @property
    def _here(self) -> int:
        return self._place(self.parser.CurrentByteIndex)

    def _place(self, byte: int) -> int:
        return byte if self.ascii else len(self.bytes[:byte].decode("utf-8", "ignore"))


_DEEPEST = 20


def _variable(source: Source, element: _Element) -> BifVariable:
    kind = element.attributes.get("TYPE", "nature")
    if kind != "nature":
        _fail(source, f"a variable of the type `{kind}`; plx reads those of the type `nature`", element.start)
    name = _one(source, element, "NAME")
    states = tuple(_name(item) for item in (*element.all("OUTCOME"), *element.all("VALUE")))
    if not states:
        _fail(source, f"the variable `{name.text}` has no OUTCOME", element.start)
    return BifVariable(name, states)


def _family(source: Source, element: _Element) -> BifProbability:
    child = _one(source, element, "FOR")
    parents = tuple(_name(item) for item in element.all("GIVEN"))
    tables = element.all("TABLE")
    if len(tables) != 1:
        _fail(
            source, f"the definition of `{child.text}` needs one TABLE and has {len(tables)}", element.start
        )
    entries = tuple(_words(tables[0]))
    return BifProbability(child, parents, (Row("rows", (), entries, _name(tables[0], "TABLE")),))


def _one(source: Source, element: _Element, tag: str) -> Token:
    found = element.all(tag)
    if len(found) != 1 or not _name(found[0]).text:
        _fail(source, f"this {element.tag} needs one {tag}, with a name in it", element.start)
    return _name(found[0])


def _name(element: _Element, text: str | None = None) -> Token:
    """The text of an element; its place is that of the element's tag."""
    end = element.start + 1 + len(element.tag)
    found = "".join(piece for piece, _ in element.pieces).strip()
    return Token("word", found if text is None else text, element.start, end)


def _words(element: _Element) -> Iterator[Token]:
    """The words of a table; a comment may stand between them."""
    joined: list[tuple[str, int]] = []
    for text, start in element.pieces:
        if joined and joined[-1][1] + len(joined[-1][0]) == start:
            joined[-1] = joined[-1][0] + text, joined[-1][1]
        else:
            joined.append((text, start))
    for text, start in joined:
        for word in re.finditer(r"[^\s,]+", text):
            yield Token("word", word[0], start + word.start(), start + word.end())


def _fail(source: Source, message: str, at: int) -> NoReturn:
    at = max(0, min(at, len(source.text) - 1))
    raise PlxError(Diagnostic(message, Span(source, at, min(at + 1, len(source.text)))))
