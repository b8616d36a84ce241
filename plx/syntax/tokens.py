"""The words of a statement for a printer: with their comments, what parts them, and grouped by brackets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plx.syntax.comments import Comment, Gap
from plx.syntax.words import Word


@dataclass(frozen=True, slots=True)
class Token:
    """A word as it is printed.

    ``spaced``: whether a blank parts it from the word before. ``prefix``: a sign or a negation. ``lead``:
    comments on lines of their own before it. ``trail``: the comment after it. ``ends_line``: whether a line
    break follows.
    """

    text: str
    kind: str
    spaced: bool
    prefix: bool
    lead: tuple[str, ...]
    trail: str | None
    ends_line: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Brackets and what stands in them.

    ``line`` is all of it on one line, None if comments or kept rows forbid it.
    """

    opening: Token
    inside: tuple[Node, ...]
    closing: Token
    line: str | None

    @property
    def keeps_rows(self) -> bool:
        """Whether its entries stay on the lines that they stand on: braces that a line break follows."""
        return _keeps_rows(self.opening, self.inside)


Node = Token | Group


def first(node: Node) -> Token:
    """The token that a node begins with."""
    return node if isinstance(node, Token) else node.opening


def last(node: Node) -> Token:
    """The token that a node ends with."""
    return node if isinstance(node, Token) else node.closing


def on_one_line(nodes: Sequence[Node]) -> str | None:
    """The nodes on one line; None if a comment between them, or kept rows, forbid it.

    Comments before the first and after the last node are left out.
    """
    texts = []
    for place, node in enumerate(nodes):
        text = node.text if isinstance(node, Token) else node.line
        if text is None or (place > 0 and first(node).lead) or (place < len(nodes) - 1 and last(node).trail):
            return None
        texts.append(f" {text}" if place > 0 and first(node).spaced else text)
    return "".join(texts)


# ------------------------------------------------------------------ words to tokens

_OPERANDS = frozenset({"NAME", "NUMBER", "STRING", "TRUE", "FALSE", "RPAR", "RBRACE"})
_CALLED = frozenset({"NAME", "CONSTRAINT", "EXISTS", "FORALL", "COUNT", "SUM"})
_TIGHT_AFTER = frozenset({"LPAR", "LBRACE", "DOTS", "CARET"})
_TIGHT_BEFORE = frozenset({"RPAR", "RBRACE", "COMMA", "COLON", "DOTS", "CARET"})


def tokens(words: Sequence[Word], before: Sequence[Gap]) -> list[Token]:
    """The words of a statement as tokens; ``before``: the gaps before each word, and the one after the last.

    Comments before the first word and on lines after the last are not among them. What stands before a comma
    comes after it.
    """
    made: list[Token] = []
    notes: list[Comment] = []
    lead: tuple[str, ...] = ()
    for place, word in enumerate(words):
        gap = before[place + 1]
        notes += gap.comments
        ends_line = bool(notes) or gap.breaks > 0
        if place + 1 < len(words) and words[place + 1].type == "COMMA":
            trail, kept = None, notes
        else:
            trail, kept = notes.pop(0).text if notes and not notes[0].own_line else None, []
        prefix = word.type == "BANG" or (word.type == "ADD" and not _is_operand(made))
        spaced = place > 0 and _is_spaced(made[-1], word) and not _in_fraction(words, place)
        made.append(Token(word.text, word.type, spaced, prefix, lead, trail, ends_line))
        lead, notes = () if kept else tuple(note.text for note in notes), kept
    return made


def _is_operand(made: Sequence[Token]) -> bool:
    return bool(made) and made[-1].kind in _OPERANDS


def _in_fraction(words: Sequence[Word], place: int) -> bool:
    """Whether the word and the one before belong to a fraction of two numbers: `3/2`."""
    slash = place if words[place].text == "/" else place - 1
    around = [word.type for word in words[max(0, slash - 2) : slash + 3]]
    if words[slash].text != "/" or slash < 2 or around[1:4:2] != ["NUMBER", "NUMBER"]:
        return False
    return not {around[0], *around[4:]} & {"MUL", "CARET", "DOTS"}


def _is_spaced(earlier: Token, word: Word) -> bool:
    if earlier.text.endswith(".") and word.text.startswith("."):
        return True  # `1. ..3` would be other words without the blank
    if earlier.prefix or earlier.kind in _TIGHT_AFTER or word.type in _TIGHT_BEFORE:
        return False
    return word.type != "LPAR" or earlier.kind not in _CALLED


def grouped(tokens: Sequence[Token]) -> tuple[Node, ...]:
    """The tokens as a tree of brackets, which are balanced."""
    levels: list[list[Node]] = [[]]
    openings: list[Token] = []
    for token in tokens:
        if token.kind in ("LPAR", "LBRACE"):
            openings.append(token)
            levels.append([])
        elif token.kind in ("RPAR", "RBRACE"):
            opening, inside = openings.pop(), tuple(levels.pop())
            levels[-1].append(Group(opening, inside, token, _group_line(opening, inside, token)))
        else:
            levels[-1].append(token)
    return tuple(levels[0])


def _group_line(opening: Token, inside: Sequence[Node], closing: Token) -> str | None:
    if opening.trail or closing.lead or _keeps_rows(opening, inside):
        return None
    if inside and (first(inside[0]).lead or last(inside[-1]).trail):
        return None
    between = on_one_line(inside)
    return None if between is None else opening.text + between + closing.text


def _keeps_rows(opening: Token, inside: Sequence[Node]) -> bool:
    return opening.kind == "LBRACE" and opening.ends_line and bool(inside)
