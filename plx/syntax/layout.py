"""Source → the same words in canonical layout, with every comment.

A statement stands on a line of its own. What is too long is broken before `for` and `given`, then at the
loosest operators and commas, then inside brackets. Blanks and line breaks change, words never do.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from plx.errors import width
from plx.syntax import ast
from plx.syntax.comments import gaps
from plx.syntax.tokens import Group, Node, Token, first, grouped, on_one_line, tokens
from plx.syntax.words import Word

WIDTH = 100
"""The longest line, in columns, where it can be broken."""
_INDENT = 4
_DEEPEST = 60
"""What would be indented further is not broken, except after comments."""


def layout(module: ast.Module, words: Sequence[Word]) -> str:
    """A program in canonical layout; ``words`` are all of its words.

    At most one empty line is kept between statements and comments. Rules on adjacent lines have their `for`
    in one column; comments at the end of adjacent lines stand in one too.
    """
    pieces = list(_pieces(module, words))
    lines: list[str] = []
    for block in _blocks(pieces):
        if lines:
            lines.append("")
        lines += _aligned(block)
    return "".join(line + "\n" for line in lines)


# ---------------------------------------------------------------------- pieces


@dataclass(frozen=True, slots=True)
class _Piece:
    """A statement or a comment between statements: its lines.

    ``scope``: where the `for` of a rule starts that is one line. ``trail``: the comment after a single line.
    """

    lines: tuple[str, ...]
    blank_line: bool
    scope: int | None = None
    trail: str | None = None


def _pieces(module: ast.Module, words: Sequence[Word]) -> Iterator[_Piece]:
    before = gaps(module.source, words)
    starts = [word.start for word in words]
    at = 0
    for statement in module.statements:
        at = bisect_left(starts, statement.span.start)
        end = bisect_left(starts, statement.span.end)
        gap = before[at]
        for comment in gap.own_lines:
            yield _Piece((comment.text,), comment.blank_line)
        yield _statement(statement, tokens(words[at:end], before[at : end + 1]), gap.breaks > 1)
    for comment in before[-1].own_lines:
        yield _Piece((comment.text,), comment.blank_line)


def _statement(statement: ast.Statement, made: Sequence[Token], blank_line: bool) -> _Piece:
    nodes = grouped(made)
    line = on_one_line(nodes)
    if line is None or width(line) > WIDTH:
        writer = _Writer()
        writer.lay(nodes, _INDENT)
        return _Piece(tuple(writer.finished()), blank_line)
    scope = None
    if isinstance(statement, ast.Weight | ast.Factor | ast.Require):
        place = next((i for i, node in enumerate(nodes) if first(node).kind == "FOR"), None)
        scope = None if place is None else len(on_one_line(nodes[:place]) or "")
    return _Piece((line,), blank_line, scope, made[-1].trail)


def _blocks(pieces: Sequence[_Piece]) -> Iterator[list[_Piece]]:
    """Pieces between which no empty line stands."""
    block: list[_Piece] = []
    for piece in pieces:
        if piece.blank_line and block:
            yield block
            block = []
        block.append(piece)
    if block:
        yield block


# ------------------------------------------------------------------- alignment


def _aligned(block: Sequence[_Piece]) -> Iterator[str]:
    """The lines of a block; the `for` of adjacent rules, and comments after adjacent lines, in a column."""
    for scoped, run in groupby(_scopes_aligned(block), key=lambda piece: piece.trail is not None):
        found = list(run)
        column = max(width(piece.lines[0]) for piece in found) if scoped else 0
        for piece in found:
            if piece.trail is None:
                yield from piece.lines
            else:
                yield f"{_padded(piece.lines[0], column)}  {piece.trail}"


def _scopes_aligned(block: Sequence[_Piece]) -> Iterator[_Piece]:
    for scoped, run in groupby(block, key=lambda piece: piece.scope is not None):
        found = list(run)
        yield from _in_column(found) if scoped else found


def _in_column(run: Sequence[_Piece]) -> Sequence[_Piece]:
    """Rules of one line each with their `for` in a column, unless a line would become too long."""
    cut = [(piece.lines[0][: piece.scope], piece.lines[0][piece.scope :]) for piece in run]
    column = max(width(head) for head, _ in cut)
    lines = [_padded(head, column) + scope for head, scope in cut]
    if max(map(width, lines)) > WIDTH:
        return run
    return [
        _Piece((line,), piece.blank_line, None, piece.trail) for line, piece in zip(lines, run, strict=True)
    ]


def _padded(text: str, column: int) -> str:
    return text + " " * (column - width(text))


# ---------------------------------------------------------------------- breaking

_COMMA = frozenset({"COMMA"})
_LEVELS = (
    frozenset({"FOR", "GIVEN"}),
    frozenset({"IF"}),
    _COMMA,
    frozenset({"IFF"}),
    frozenset({"IMPLIES"}),
    frozenset({"OR", "BAR"}),
    frozenset({"XOR"}),
    frozenset({"AND", "AMP"}),
    frozenset({"ADD"}),
    frozenset({"MUL"}),
)
"""Kinds of word that a line is broken at, the first level first: after a comma, before all others."""


class _Writer:
    """Lines in the making. A comment ends its line."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.line = ""
        self.fresh = True  # nothing but the indentation stands on the line
        self.ended = False  # a comment stands on the line

    def finished(self) -> list[str]:
        """All lines."""
        return [*self.lines, self.line]

    def break_line(self, indent: int) -> None:
        """Go on in a new line, unless this one is new."""
        if not self.fresh:
            self.lines.append(self.line)
        self.line, self.fresh, self.ended = " " * indent, True, False

    def lay(self, nodes: Sequence[Node], indent: int) -> None:
        """Write nodes; lines after the first are indented by ``indent``."""
        line = on_one_line(nodes)
        if indent > _DEEPEST or (line is not None and self._fits(line, nodes[0], indent)):
            self._put_all(nodes, indent)
            return
        for level in _LEVELS:
            parts = _cut(nodes, level)
            if len(parts) > 1:
                self._fill(parts, indent, each_its_line="FOR" in level)
                return
        for node in nodes:
            if isinstance(node, Token):
                self._put(node, indent)
            elif node.line is not None and self._fits(node.line, node, indent):
                self._put_all([node], indent)
            else:
                self._open(node, indent)

    def _fill(self, parts: Sequence[Sequence[Node]], indent: int, each_its_line: bool = False) -> None:
        """As many parts on a line as fit."""
        if parts[0]:
            self.lay(parts[0], indent + _INDENT)
        for part in parts[1:]:
            line = on_one_line(part)
            commented = self.ended or bool(first(part[0]).lead)
            if each_its_line or commented or line is None or not self._fits(line, part[0], indent):
                self.break_line(indent)
            self.lay(part, indent + _INDENT)

    def _open(self, group: Group, indent: int) -> None:
        """Write brackets with their content on lines of its own, or in rows that are kept."""
        self._put(group.opening, indent)
        outer = len(self.line) - len(self.line.lstrip())
        rows = _cut(group.inside, _COMMA, kept=True) if group.keeps_rows else [group.inside]
        for row in rows:
            self.break_line(outer + _INDENT)
            if group.opening.kind == "LBRACE":
                self._fill(_cut(row, _COMMA), outer + _INDENT)
            elif row:
                self.lay(row, outer + _INDENT)
        self.break_line(outer)
        self._put(group.closing, outer)

    def _put_all(self, nodes: Sequence[Node], indent: int) -> None:
        for node in nodes:
            if isinstance(node, Token):
                self._put(node, indent)
            else:
                self._put(node.opening, indent)
                self._put_all(node.inside, indent)
                self._put(node.closing, indent)

    def _put(self, token: Token, indent: int) -> None:
        """Write a token, its comments before and after it."""
        if self.ended or (token.lead and not self.fresh):
            self.break_line(indent)
        for comment in token.lead:
            self.lines.append(self.line + comment)
        self.line += f" {token.text}" if token.spaced and not self.fresh else token.text
        self.fresh = False
        if token.trail:
            self.line += f"  {token.trail}"
            self.ended = True

    def _fits(self, text: str, node: Node, indent: int) -> bool:
        """Whether a text that begins with this node fits on the line that it will be written to."""
        token = first(node)
        if self.ended or (token.lead and not self.fresh):
            return indent + width(text) <= WIDTH
        return width(self.line) + (token.spaced and not self.fresh) + width(text) <= WIDTH


def _cut(nodes: Sequence[Node], level: frozenset[str], kept: bool = False) -> list[Sequence[Node]]:
    """The nodes, cut after commas or before other words; with ``kept`` only where the line ends."""
    cuts = [0]
    for place, node in enumerate(nodes):
        if isinstance(node, Group) or node.prefix or node.kind not in level:
            continue
        cut = place + (node.kind == "COMMA")
        if 0 < cut < len(nodes) and (node.ends_line or not kept):
            cuts.append(cut)
    return [nodes[start:end] for start, end in zip(cuts, [*cuts[1:], len(nodes)], strict=True)]
