"""Queries and observations that are put to a program from outside, in the language of programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from plx.errors import Diagnostic
from plx.source import Source, Span
from plx.syntax import ast

Read = tuple[ast.Module, list[Diagnostic]]
"""What was read of a text, and the mistakes in it."""


@dataclass(frozen=True)
class Questions:
    """Texts of queries, asked in place of the program's own, of what is given for all of them, and of
    observations that are added to the program's."""

    asked: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()

    @property
    def sources(self) -> list[Source]:
        """Each text as a statement."""
        return [
            *(_source("query", text) for text in self.asked),
            *(Source("given", f"query map given {text}") for text in self.given),
            *(_source("observe", text) for text in self.observed),
        ]

    def put_to(self, program: Read, read: Sequence[Read]) -> Read:
        """The program with the statements that the `sources` were read as."""
        module, mistakes = program
        statements = [_only(*pair) for pair in zip(self.sources, read, strict=True)]
        mistakes = [*mistakes, *(m for _, found in read for m in found)]
        mistakes += [mistake for mistake in statements if isinstance(mistake, Diagnostic)]
        n, end = len(self.asked), len(self.asked) + len(self.given)
        given = [fact for node in statements[n:end] if isinstance(node, ast.Query) for fact in node.given]
        queries = [
            replace(node, given=(*node.given, *given))
            for node in statements[:n]
            if isinstance(node, ast.Query)
        ]
        kept = [s for s in module.statements if not (self.asked and isinstance(s, ast.Query))]
        observed = [node for node in statements[end:] if isinstance(node, ast.Observe | ast.ObserveFrom)]
        return replace(module, statements=(*kept, *observed, *queries)), mistakes


def _source(keyword: str, text: str) -> Source:
    """A text as a statement, whether it begins with the keyword or not."""
    begun = text.split(maxsplit=1)[:1] == [keyword]
    return Source(keyword, text if begun else f"{keyword} {text}")


def _only(source: Source, read: Read) -> ast.Statement | Diagnostic | None:
    """The one statement of a text; the mistake where there are more, None where it could not be read."""
    module, mistakes = read
    if mistakes:
        return None
    if len(module.statements) != 1:
        what = "an observation" if source.name == "observe" else "a query"
        span = module.statements[1].span if module.statements else Span(source, 0, len(source.text))
        return Diagnostic(f"this is more than {what}", span, hint="give each statement on its own")
    return module.statements[0]
