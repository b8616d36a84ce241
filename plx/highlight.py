"""A Pygments lexer, by which Sphinx, MkDocs, rich and notebooks colour programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Final

from pygments.lexer import Lexer
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

from plx.syntax.words import AGGREGATES, OPERATOR_WORDS, TRUTHS

_TOKENS: Final[dict[str, Any]] = {
    "statement": Keyword.Declaration,
    "keyword": Keyword,
    "declared": Name.Function,
    "name": Name,
    "number": Number,
    "string": String.Double,
    "operator": Operator,
    "mark": Punctuation,
    "comment": Comment.Single,
    "blank": Whitespace,
    "mistake": Error,
}
"""The token of each kind of piece."""

_KEYWORDS: Final[dict[str, Any]] = {
    **dict.fromkeys(TRUTHS, Keyword.Constant),
    **dict.fromkeys(OPERATOR_WORDS, Operator.Word),
    **dict.fromkeys(AGGREGATES, Name.Builtin),
}
"""The token of keywords that other languages colour otherwise."""


class PlxLexer(Lexer):  # type: ignore[misc]
    """Colours programs as the parser splits them; text that is no program comes back unchanged too."""

    name = "plx"
    aliases: ClassVar = ["plx"]
    filenames: ClassVar = ["*.plx"]
    mimetypes: ClassVar = ["text/x-plx"]

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, Any, str]]:
        """Offset, token and text of each piece."""
        from plx.source import Source
        from plx.syntax.highlight import pieces  # lark is loaded when there is something to colour

        at = 0
        for kind, piece in pieces(Source("", text)):
            end = at + len(piece)
            called = kind == "name" and text.startswith("(", end)
            yield at, Name.Function if called else _KEYWORDS.get(piece, _TOKENS[kind]), piece
            at = end
