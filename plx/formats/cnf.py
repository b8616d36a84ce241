"""DIMACS (.cnf, .wcnf): formulas whose models are counted, with weights or without, and MaxSAT."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from plx import weights
from plx.errors import Diagnostic, PlxError
from plx.formats.dimacs import Disjunction, Formula, Word, parse_dimacs, weights_of
from plx.formats.network import Clause, Network, Table, numbered
from plx.formats.numbers import log_id
from plx.source import Source
from plx.values import FALSE, IMPOSSIBLE, TRUE, ZERO, IntArray, Values


def read_cnf(source: Source, values: Values) -> Network:
    """The network of a DIMACS file: unknowns ``x(1)``, ``x(2)``, …, which are false or true.

    log Z is the log of the number of models, or of their weights; MaxSAT asks for a best world, whose log
    weight is minus the weight of the clauses that fail. Raises PlxError as `parse_dimacs` does.
    """
    formula = parse_dimacs(source)
    reader = _Reader(formula, values)
    clauses = [clause for i, item in enumerate(formula.clauses) if (clause := reader.clause(i, item))]
    counting = formula.purpose == "count"
    return Network(
        values=values,
        blocks=numbered(values, range(1, formula.variables + 1)),
        states=(np.array([FALSE, TRUE]),) * formula.variables,
        tables=(*(reader.weights() if counting else ()), *reader.empty),
        clauses=tuple(clauses),
        warnings=tuple(reader.warnings),
        asks="logz" if counting else "map",
        numbers=tuple(range(1, formula.variables + 1)),
    )


class _Reader:
    def __init__(self, formula: Formula, values: Values) -> None:
        self.formula, self.values = formula, values
        self.warnings: list[Diagnostic] = []
        self.empty: list[Table] = []  # clauses without literals

    def clause(self, i: int, item: Disjunction) -> Clause | None:
        """A clause that must hold, or costs its weight where it fails; None for one that says nothing."""
        fails = IMPOSSIBLE if item.weight is None else self.values.id(-self._number(item.weight))
        text = f"clause {i + 1}"
        sets: dict[int, IntArray] = {}
        for literal in item.literals:
            holds = np.array([literal < 0, literal > 0], dtype=np.int64)
            sets[abs(literal) - 1] = sets.get(abs(literal) - 1, np.zeros(2, dtype=np.int64)) | holds
        if not sets:
            self.empty.append(Table(np.zeros(0, dtype=np.int64), np.array([fails]), text, item.span))
        if not sets or fails == ZERO or any(each.all() for each in sets.values()):
            return None
        scope = np.array(list(sets), dtype=np.int64)
        return Clause(scope, tuple(sets.values()), ZERO, text, fails, item.span)

    def weights(self) -> Iterator[Table]:
        """A table for each variable that has weights."""
        given = weights_of(self.formula)
        variables = list(dict.fromkeys(abs(literal) for literal in given))
        for variable in variables:
            pair = [self._weight(given, literal) for literal in (-variable, variable)]
            span = (given.get(variable) or given[-variable]).span
            scope, text = np.array([variable - 1]), f"weights of x({variable})"
            yield Table(scope, np.array([log_id(self.values, each) for each in pair]), text, span)
        completed = [each for each in variables if each not in given or -each not in given]
        if completed:
            self.warnings.append(_completed(given, completed))

    def _weight(self, given: dict[int, Word], literal: int) -> int | Fraction:
        """The weight of a literal: 1 minus that of its negation, where that alone is given."""
        if literal in given:
            return self._number(given[literal])
        other = self._number(given[-literal])
        if other > 1:
            message = f"the literal {-literal} has the weight {given[-literal].text}, and {literal} has none"
            raise PlxError(
                Diagnostic(message, given[-literal].span, "give both; one alone stands for w and 1 - w")
            )
        return 1 - other

    def _number(self, word: Word) -> int | Fraction:
        try:
            top, slash, bottom = word.text.partition("/")
            number = weights.parse(top) / Fraction(weights.parse(bottom) if slash else 1)
        except (weights.WeightError, ZeroDivisionError) as mistake:
            raise PlxError(Diagnostic(f"`{word.text}` is no weight: {mistake}", word.span)) from None
        if number < 0:
            raise PlxError(
                Diagnostic(f"the weight `{word.text}` is negative; plx reads weights ≥ 0", word.span)
            )
        return number


def _completed(given: dict[int, Word], variables: list[int]) -> Diagnostic:
    first = given.get(variables[0]) or given[-variables[0]]
    count = len(variables)
    of = f"x({variables[0]})" if count == 1 else f"{count:,} variables"
    message = f"one weight w of {of} is given; the other is taken to be 1 - w"
    return Diagnostic(message, first.span, severity="warning")
