"""``normal(0, 2)``, as a caller writes it → the prior of the weights that are learned."""

from __future__ import annotations

import re
from typing import Final

from plx.errors import CallError, Diagnostic
from plx.formats.mln.write import literal
from plx.source import Source, Span
from plx.syntax import ast
from plx.syntax.build import exact_number
from plx.syntax.words import Word

_NUMBER: Final = r"\s*(-?)(\d+(?:\.\d+)?)\s*"
_PRIOR: Final = re.compile(rf"(normal|laplace)\({_NUMBER},{_NUMBER}\)", re.ASCII)


def prior(text: str | None) -> ast.Expr | None:
    """The prior as the program writes it, None for the usual one. Raises CallError for what is none."""
    if text is None:
        return None
    source, found = Source("prior", text.strip()), _PRIOR.fullmatch(text.strip())
    span = Span(source, 0, len(source.text))
    if source.text == "flat":
        return ast.Name("flat", span=span)
    if found is None:
        hint = "`normal(mean, sd)`, `laplace(mean, scale)` or `flat`"
        raise CallError(Diagnostic(f"`{text}` is no prior", hint=hint))
    kind, *parts = found.groups()
    numbers = []
    for sign, digits in (parts[:2], parts[2:]):
        value = exact_number(Word("NUMBER", digits, source, 0))
        numbers.append(literal(-value if sign else value, span))
    return ast.Apply(ast.Name(kind, span=span), tuple(numbers), span=span)
