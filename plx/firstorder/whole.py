"""A program with all evidence in its cells, for worlds that are put together from elements and pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plx.check.program import Program
from plx.firstorder.base import Base
from plx.firstorder.counted_cells import CountedCells
from plx.firstorder.counters import CountersOf
from plx.firstorder.questions import Question, read_questions
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.rules import Rules, read_rules
from plx.firstorder.structure import Structure
from plx.firstorder.totals import Totals, rule_totals


class WholeRules(Rules):
    """Rules whose evidence on pairs sets their elements apart, however little there is of it."""

    @property
    def sparse(self) -> bool:
        """See `Rules`."""
        return False


@dataclass(frozen=True, eq=False)
class Whole:
    """The cells of all elements, and the queries by them; ``structure`` is None where elements count others,
    whose cells are ``counted``."""

    base: Base
    totals: Totals
    questions: Sequence[Question]
    structure: Structure | None
    counted: CountedCells | None = None


def whole(rules: Rules, program: Program) -> Whole:
    """The cells of a program, by the types of some rules. Raises NotLiftableError, and NoWorldError."""
    base = Base(read_rules(program, rules.universe, rules.numbers, WholeRules))
    totals = rule_totals(base)
    questions = read_questions(base, totals, program.queries)
    if totals.of_pairs:
        raise NotLiftableError("pairs of members are counted")
    if any(part.counts and part.variables for part in base.rules.parts):
        refuse_order(base)
        return Whole(base, totals, questions, None, CountedCells(base, CountersOf(base), totals))
    return Whole(base, totals, questions, Structure(base, totals))


def refuse_order(base: Base) -> None:
    """Raises NotLiftableError where the order of elements matters, or is asked for between kinds."""
    if base.before:
        raise NotLiftableError("rules depend on the order of members", base.rules.ordered)
    if base.rules.ordered is not None and (base.kinds > 1 or base.rules.successor is not None):
        raise NotLiftableError(
            "the order of members is asked for, and they are of several kinds", base.rules.ordered
        )
