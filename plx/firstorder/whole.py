"""A program with all evidence in its cells, for worlds that are put together from elements and pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plx.check.program import Program
from plx.firstorder.base import Base
from plx.firstorder.counted_cells import CountedCells
from plx.firstorder.counters import CountersOf
from plx.firstorder.pair_total_sums import PairTotalSums
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
    """The cells of all elements, by what rules count, and the queries by them."""

    base: Base
    totals: Totals
    questions: Sequence[Question]
    cells: Structure | CountedCells | PairTotalSums


def whole(rules: Rules, program: Program) -> Whole:
    """The cells of a program, by the types of some rules. Raises NotLiftableError, and NoWorldError."""
    base = Base(read_rules(program, rules.universe, rules.numbers, WholeRules))
    totals = rule_totals(base)
    questions = read_questions(base, totals, program.queries)
    counting = any(part.counts and part.variables for part in base.rules.parts)
    ruled = totals.ruled_of_pairs
    if counting or (ruled and base.before):
        refuse_order(base)
    if counting and ruled:
        raise NotLiftableError("members count each other, and pairs are counted too")
    if len(ruled) > 1:
        raise NotLiftableError("several different counts of pairs are asked for together")
    if counting:
        return Whole(base, totals, questions, CountedCells(base, CountersOf(base), totals))
    if ruled:
        sums = PairTotalSums(base, totals, ruled[0], False)
        sums.refuse()
        return Whole(base, totals, questions, sums)
    return Whole(base, totals, questions, Structure(base, totals))


def refuse_order(base: Base) -> None:
    """Raises NotLiftableError where the order of elements matters, or is asked for between kinds."""
    if base.before:
        raise NotLiftableError("rules depend on the order of members", base.rules.ordered)
    if base.rules.ordered is not None and (base.kinds > 1 or base.rules.successor is not None):
        raise NotLiftableError(
            "the order of members is asked for, and they are of several kinds", base.rules.ordered
        )
