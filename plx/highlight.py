"""A Pygments lexer, by which Sphinx, MkDocs, rich and notebooks colour programs."""

from __future__ import annotations

from typing import Any, ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

from plx.syntax.words import RESERVED, STATEMENTS

CONSTANTS = ("true", "false")
AGGREGATES = ("exists", "forall", "count", "sum")
FUNCTIONS = ("log", "exp", "sqrt", "abs", "floor", "logit", "min", "max")
OPERATOR_WORDS = ("and", "or", "not", "xor", "in")
CLAUSES = tuple(sorted(RESERVED - {*STATEMENTS, *CONSTANTS, *AGGREGATES, *OPERATOR_WORDS}))


class PlxLexer(RegexLexer):  # type: ignore[misc]
    """Colours programs; text that is no program comes back unchanged too."""

    name = "plx"
    aliases: ClassVar = ["plx"]
    filenames: ClassVar = ["*.plx"]
    mimetypes: ClassVar = ["text/x-plx"]

    tokens: ClassVar[dict[str, list[Any]]] = {
        "root": [
            (r"\s+", Whitespace),
            (r"#[^\r\n]*", Comment.Single),
            (r'"(?:\\.|[^"\\\r\n])*"', String.Double),
            (r"(?:\d+(?:\.(?!\.)\d*)?|(?<!\.)\.\d+)(?:[eE][+-]?\d+)?", Number),
            (words(STATEMENTS, r"(?<!\w)", r"(?![\w'])"), Keyword.Declaration),
            (words(CONSTANTS, r"(?<!\w)", r"(?![\w'])"), Keyword.Constant),
            (words(OPERATOR_WORDS, r"(?<!\w)", r"(?![\w'])"), Operator.Word),
            (words(CLAUSES, r"(?<!\w)", r"(?![\w'])"), Keyword),
            (words(AGGREGATES, r"(?<!\w)", r"(?![\w'])"), Name.Builtin),
            (words(FUNCTIONS, r"(?<!\w)", r"(?=\s*\()"), Name.Builtin),
            (r"[^\W\d][\w\u0300-\u036F\u200C\u200D]*'*(?=\()", Name.Function),
            (r"[^\W\d][\w\u0300-\u036F\u200C\u200D]*'*", Name),
            (r"<=>|=>|!=|<=|>=|==|\.\.|[-+*/%^<>=|&!~]", Operator),
            (r"[(){},:]", Punctuation),
        ]
    }
