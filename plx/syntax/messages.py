"""A word in the wrong place → what is wrong, in plain words.

The rules are tried from the most special to the most general; where none fits,
the message names what could have come instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plx.errors import Diagnostic
from plx.syntax.mistake import Mistake
from plx.syntax.rules import brackets, clauses, marks, names, starts, statements
from plx.syntax.wording import EXAMPLES, listing
from plx.syntax.words import Word

_RULES: tuple[Callable[[Mistake], Diagnostic | None], ...] = (
    marks.open_quote,
    marks.drawn,
    marks.arrow,
    marks.choice,
    marks.foreign_mark,
    names.file_name,
    statements.bare_rows,
    marks.stray,
    names.lead,
    names.other_case,
    names.reserved,
    names.reserved_before,
    names.quoted_name,
    statements.nothing_after_target,
    names.digit_first,
    brackets.wrong_closer,
    brackets.quantifier,
    brackets.no_for,
    brackets.comma_at_end,
    marks.comment,
    starts.no_keyword,
    statements.no_name,
    brackets.foreign_aggregate,
    brackets.never_closed,
    names.foreign_word,
    clauses.cause_after_scope,
    clauses.bad_binding,
    clauses.two_scopes,
    clauses.two_guards,
    clauses.if_without_for,
    clauses.clause_order,
    statements.wrong_from,
    statements.wrong_else,
    statements.late_columns,
    statements.type_of_values,
    statements.no_equals,
    statements.no_domain_colon,
    statements.no_weight_colon,
    statements.colon_too_many,
    statements.comma_too_many,
    brackets.no_comma,
    brackets.nothing_inside,
    marks.two_operators,
    marks.second_comparison,
)


def explain(words: Sequence[Word], start: int, at: int, expected: frozenset[str]) -> Diagnostic:
    """What is wrong with word ``at`` (or the end) of the statement that begins at ``start``.

    ``expected`` holds the kinds of word that could stand there, ``$END`` for none.
    """
    mistake = Mistake(words, start, at, expected)
    for rule in _RULES:
        found = rule(mistake)
        if found is not None:
            return found
    return _expected(mistake)


def _expected(m: Mistake) -> Diagnostic:
    after = f" after `{m.before.text}`" if m.before else " here"
    example = EXAMPLES.get(m.statement)
    hint = f"for example {example}" if example else None
    return m.says(f"expected {listing(m.expected)}{after}, not {m.found}", hint)
