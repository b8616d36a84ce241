"""The TextMate grammar, written from the words of the language: ``python -m tests.docs.textmate``."""

from __future__ import annotations

import json
from pathlib import Path

from plx.check.operators import FUNCTIONS
from plx.syntax.words import AGGREGATES, CLAUSES, OPERATOR_WORDS, STATEMENTS, TRUTHS

FILE = Path(__file__).resolve().parents[2] / "docs/editors/vscode/syntaxes/plx.tmLanguage.json"


def grammar() -> str:
    """The grammar as the text of its file."""
    patterns = [
        ("comment.line.number-sign.plx", "#.*$"),
        ("string.quoted.double.plx", r'"(?:\\.|[^"\\])*"'),
        ("constant.numeric.plx", r"(?:\d+(?:\.(?!\.)\d*)?|(?<!\.)\.\d+)(?:[eE][+-]?\d+)?"),
        ("keyword.declaration.plx", _words(STATEMENTS)),
        ("constant.language.plx", _words(TRUTHS)),
        ("keyword.operator.word.plx", _words(OPERATOR_WORDS)),
        ("keyword.control.plx", _words(CLAUSES)),
        ("support.function.aggregate.plx", _words(AGGREGATES)),
        ("support.function.plx", _words(tuple(FUNCTIONS), r"(?=\s*\()")),
        ("entity.name.function.plx", r"[\p{L}_][\p{L}\p{N}\p{M}_]*'*(?=\()"),
        ("variable.other.plx", r"[\p{L}_][\p{L}\p{N}\p{M}_]*'*"),
        ("keyword.operator.plx", r"<=>|=>|!=|<=|>=|==|\.\.|[-+*/%^<>=|&!~]"),
    ]
    data = {
        "name": "plx",
        "scopeName": "source.plx",
        "patterns": [{"name": name, "match": match} for name, match in patterns],
    }
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _words(listed: tuple[str, ...], after: str = r"(?![\p{L}\p{N}_'])") -> str:
    return rf"(?<![\p{{L}}\p{{N}}_])(?:{'|'.join(listed)}){after}"


if __name__ == "__main__":
    FILE.write_text(grammar(), encoding="utf-8")
