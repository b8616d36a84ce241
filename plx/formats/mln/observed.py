"""Facts of databases → observations: one by one, or of a predicate whose unlisted atoms are false."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plx.formats.mln import logic
from plx.formats.mln.names import Names
from plx.formats.mln.write import Writer, key
from plx.source import Span
from plx.syntax import ast


def observations(network: logic.Network, names: Names, facts: Sequence[logic.Fact]) -> Iterator[ast.Observe]:
    """An observation for each fact."""
    for fact in facts:
        writer = Writer(network, names)
        atom = logic.Atom(fact.predicate, fact.arguments, span=fact.span)
        formula = writer.formula(atom if fact.holds else logic.Not(atom, span=fact.span))
        yield ast.Observe(formula, None, span=fact.span)


def complete(
    network: logic.Network, names: Names, predicate: logic.Predicate, facts: Sequence[logic.Fact]
) -> Iterator[ast.Observe]:
    """``observe Smokes = {Anna, else: false}``; values of a ``!`` that are not listed stay unknown."""
    if predicate.value is not None:
        yield from observations(network, names, facts)
        return
    word, span = ast.Name(names.predicates[predicate.name], span=predicate.span), predicate.span
    listed = [fact for fact in facts if fact.holds]
    if not predicate.slots:
        yield ast.Observe(word if listed else ast.Unary("not", word, span=span), None, span=span)
        return
    entries = tuple(_entry(fact, names) for fact in listed)
    rest = ast.Entry(ast.Truth(False, span=span), otherwise=True, span=span)
    yield _table(word, ast.Braces((*entries, rest), span=span), span)


def _entry(fact: logic.Fact, names: Names) -> ast.Entry:
    return ast.Entry(key(fact.arguments, names, fact.span), span=fact.span)


def _table(word: ast.Name, braces: ast.Braces, span: Span) -> ast.Observe:
    return ast.Observe(ast.Compare((word, braces), ("=",), span=span), None, span=span)
