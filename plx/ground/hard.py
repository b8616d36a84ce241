"""Program → its hard rules alone, observations among them: what says why no world is possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Final

import numpy as np

from plx.check.program import Program, Rule
from plx.graph.assemble import FactorBatch, unmerged
from plx.graph.model import GroundModel, GroundQuery, GroundRule
from plx.ground.algebra import Algebra
from plx.ground.atoms import AtomTable, lay_out, named
from plx.ground.budget import GroundBudget
from plx.ground.counters import Counters
from plx.ground.distributions import formulas_of, ground_distribution
from plx.ground.evaluate import Evaluator
from plx.ground.evidence import Observations
from plx.ground.factors import ground_task
from plx.ground.formulas import Formulas
from plx.ground.limits import MAX_GROUND
from plx.ground.queries import ground_query
from plx.ground.tasks import split
from plx.ground.terms import applies
from plx.sequences import joined
from plx.source import Span
from plx.values import IMPOSSIBLE, ZERO, IntArray


def ground_hard(program: Program, max_ground: int = MAX_GROUND) -> GroundModel:
    """The `require` and `observe` of a program as factors, each with the rule that it came from.

    Nothing is fixed and nothing merged: an observed unknown is a variable with a factor, and
    several factors may have one scope. So the graph is not for inference. Queries are those of
    ``ground``, over the nodes of this graph. Raises PlxError as ``ground`` does.
    """
    evaluator = Evaluator(program)
    table = lay_out(evaluator, max_ground)
    budgets = {i: GroundBudget(rule.span, max_ground) for i, rule in enumerate(program.rules)}
    hard = [(i, rule) for i, rule in enumerate(program.rules) if _may_forbid(rule)]
    tasks = [task for i, rule in hard for task in split(i, rule, evaluator.terms)]
    observations = Observations(evaluator, table)
    observations.arrays(program)
    tasks = observations.rules(tasks, budgets)
    observed, value = observations.undo()
    rules, number = _rules(program, observations)
    cards = table.number()
    counters = Counters(len(cards))
    formulas = Formulas(evaluator, table, Algebra(evaluator, counters))
    unobserved = formulas_of(evaluator, table, counters)
    batches = list(_observed(table, observed, value, number[observations.source(observed)]))
    for task in tasks:
        formulas.budget = unobserved.budget = budgets[task.rule]
        if task.source.kind == "random":
            batches += map(_zeros, ground_distribution(unobserved, task))
        else:
            batches += map(_zeros, ground_task(formulas, task))
    queries: list[Sequence[GroundQuery]] = []
    for query in program.queries:
        formulas.budget = GroundBudget(query.span, max_ground)
        queries.append(ground_query(formulas, query))
    return GroundModel(
        graph=unmerged(program.values, cards, batches, counters.nodes()),
        atoms=named(table, program, np.arange(len(cards))),
        values=program.values,
        rules=rules,
        queries=joined(queries),
    )


def _may_forbid(rule: Rule) -> bool:
    """Whether a rule can make worlds impossible: by itself, or by the logarithm of 0."""
    if rule.kind in ("require", "observe", "random"):
        return True
    inside = rule.body if rule.weight is None else rule.weight
    return applies(inside, "log")


def _zeros(batch: FactorBatch) -> FactorBatch:
    """A batch that says what is impossible, and nothing else."""
    return batch._replace(tables=np.where(batch.tables == IMPOSSIBLE, IMPOSSIBLE, ZERO))


def _rules(program: Program, observations: Observations) -> tuple[tuple[GroundRule, ...], IntArray]:
    """The rules of the program and whatever else observes, and which rule each set of facts is."""
    spans = observations.statements
    rules = [GroundRule(rule.kind, _text(rule.span), rule.span) for rule in program.rules]
    place: dict[Span | None, int] = {rule.span: i for i, rule in enumerate(program.rules)}
    for span in spans:
        if span not in place:
            place[span] = len(rules)
            rules.append(GroundRule("observe", _text(span), span, told=observations.told))
    return tuple(rules), np.array([place[span] for span in spans], dtype=np.int64)


def _text(span: Span | None) -> str:
    text = " ".join(span.text.split()) if span else ""
    by_rule = text.startswith(("observe", "require", "weight", "factor", "random"))
    elsewhere = span is not None and PurePath(span.source.name).suffix.lower() in _OTHER_LANGUAGES
    return text if by_rule or elsewhere else f"observe {text} from the caller"


_OTHER_LANGUAGES: Final = (".mln", ".db")
"""Files whose rules and facts are written in a language of their own, and are told as they stand."""


def _observed(table: AtomTable, atoms: IntArray, values: IntArray, rule: IntArray) -> Iterator[FactorBatch]:
    """Factors that fix atoms at values."""
    state = table.states(atoms, values)
    cards = np.array([len(domain) for domain in table.domains], dtype=np.int64)[table.domain[atoms]]
    for card in np.unique(cards).tolist():
        mine = cards == card
        allowed = np.where(np.eye(card, dtype=bool), ZERO, IMPOSSIBLE)
        yield FactorBatch(table.node[atoms[mine]][:, None], state[mine], allowed, rule[mine])
