"""Program → GroundModel: atoms, evidence, factors, queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter
from typing import NamedTuple

from plx.check.program import Program, Rule
from plx.errors import Diagnostic, NoWorldError, PlxError
from plx.graph.assemble import FactorBatch, assemble
from plx.graph.derived import DerivedNodes
from plx.graph.model import GroundModel, GroundQuery, GroundRule
from plx.graph.node_map import nodes_of
from plx.graph.room import DiskFullError, Room, working_in
from plx.ground.algebra import Algebra
from plx.ground.atoms import AtomTable, lay_out, named
from plx.ground.budget import GroundBudget, make_room, measure, refuse_large, refuse_slow
from plx.ground.counters import Counters
from plx.ground.distributions import Unobserved, formulas_of, ground_distribution, refuse_cycle
from plx.ground.evaluate import Evaluator
from plx.ground.evidence import Observations
from plx.ground.factors import ground_task
from plx.ground.formulas import Formulas
from plx.ground.limits import MAX_GROUND
from plx.ground.memory import allowed, is_free
from plx.ground.queries import ground_query
from plx.ground.tasks import Task, split
from plx.sequences import joined
from plx.values import IMPOSSIBLE, IntArray


class Pieces(NamedTuple):
    """What a program says, before it is put together: factors over variables and derived nodes.

    ``cards`` and ``fixed`` are those of the variables that ``table`` numbers, and after them of those that
    were observed.
    """

    evaluator: Evaluator
    table: AtomTable
    cards: IntArray
    fixed: IntArray
    batches: list[FactorBatch]
    derived: DerivedNodes
    rules: tuple[GroundRule, ...]
    queries: Sequence[GroundQuery]


def ground(program: Program, max_ground: int = MAX_GROUND) -> GroundModel:
    """Ground a checked program; raises PlxError for what only the instances show.

    ``max_ground`` limits the instances of each rule, those of aggregates inside it included.
    """
    try:
        with working_in(Room(in_memory=is_free)):
            pieces = pieces_of(program, max_ground)
            pieces.evaluator.forget()
            return put_together(pieces, _given_away(pieces.batches))
    except DiskFullError as full:
        raise PlxError(_no_room(full)) from None


def _no_room(full: DiskFullError) -> Diagnostic:
    return Diagnostic(
        f"the ground model fits neither into memory nor into `{full.folder}`, whose disk is full",
        hint="free some of it, or have temporary files elsewhere: TMPDIR=/folder plx …",
    )


def _given_away(batches: list[FactorBatch]) -> Iterator[FactorBatch]:
    """The batches in order, each taken off the list, so that what is used up is free."""
    batches.reverse()
    while batches:
        yield batches.pop()


def pieces_of(program: Program, max_ground: int) -> Pieces:
    """All that grounding finds. Raises as `ground`, and OutOfTimeError."""
    evaluator = Evaluator(program)
    table = lay_out(evaluator, max_ground)
    budgets = {i: GroundBudget(rule.span, max_ground) for i, rule in enumerate(program.rules)}
    tasks = [task for i, rule in enumerate(program.rules) for task in split(i, rule, evaluator.terms)]
    sizes = measure(evaluator, tasks, max_ground)
    refuse_large(sizes, max_ground)
    refuse_slow(sizes)
    make_room(sizes, allowed())
    observations = Observations(evaluator, table)
    observations.arrays(program)
    tasks = observations.rules(tasks, budgets)
    free = table.number()
    some = any(rule.kind == "random" for rule in program.rules)
    whole = Unobserved.of(table, observations.atoms if some else observations.atoms[:0], free)
    counters = Counters(len(whole.cards))
    formulas = Formulas(evaluator, table, Algebra(evaluator, counters))
    unobserved = formulas_of(evaluator, whole.table, counters)
    batches: list[FactorBatch] = []
    by_rule: list[list[Task]] = [[] for _ in program.rules]
    for task in tasks:
        by_rule[task.rule].append(task)
    distributions: list[FactorBatch] = []
    rules = tuple(
        _ground_rule(unobserved, rule, by_rule[i], budgets[i], distributions)
        if rule.kind == "random"
        else _ground_rule(formulas, rule, by_rule[i], budgets[i], batches)
        for i, rule in enumerate(program.rules)
    )
    if distributions:
        refuse_cycle(unobserved, distributions, tasks)
    queries: list[Sequence[GroundQuery]] = []
    for query in program.queries:
        formulas.budget = GroundBudget(query.span, max_ground)
        queries.append(ground_query(formulas, query))
    found = [*distributions, *batches]
    return Pieces(evaluator, table, whole.cards, whole.fixed, found, counters.nodes(), rules, joined(queries))


def put_together(pieces: Pieces, batches: Iterable[FactorBatch] | None = None) -> GroundModel:
    """The model that these pieces make, of ``batches`` in place of their own if they are given.

    Raises NoWorldError where they leave no world.
    """
    program = pieces.evaluator.program
    assembly = assemble(
        program.values,
        pieces.cards,
        pieces.batches if batches is None else batches,
        pieces.derived,
        pieces.fixed,
        nodes_of(pieces.queries),
    )
    if assembly.constant_weight == IMPOSSIBLE:
        raise NoWorldError(_no_world(program))
    return GroundModel(
        graph=assembly.graph,
        atoms=named(pieces.table, program, assembly.nodes.node),
        values=program.values,
        rules=pieces.rules,
        queries=assembly.nodes.queries(pieces.queries),
        constant_weight=assembly.constant_weight,
    )


def _ground_rule(
    formulas: Formulas, rule: Rule, tasks: list[Task], budget: GroundBudget, batches: list[FactorBatch]
) -> GroundRule:
    """Append the factors of a rule; what it cost."""
    begin = perf_counter()
    formulas.budget = budget
    ground_one = ground_distribution if rule.kind == "random" else ground_task
    mine = [batch for task in tasks for batch in ground_one(formulas, task)]
    batches += mine
    return GroundRule(
        kind=rule.kind,
        text=" ".join(rule.span.text.split()),
        span=rule.span,
        instances=budget.used,
        factors=sum(len(batch.scope) for batch in mine if batch.scope.shape[1]),
        seconds=perf_counter() - begin,
        bytes=sum(_bytes(batch) for batch in mine),
        steps=tuple(budget.steps),
    )


def _bytes(batch: FactorBatch) -> int:
    return sum(array.nbytes for array in (batch.scope, batch.table, batch.tables))


def _no_world(program: Program) -> Diagnostic:
    hard = [rule.span for rule in program.rules if rule.kind in ("require", "observe")]
    return Diagnostic(
        "no world satisfies every `require` and `observe`" if hard else "no world is possible",
        (hard or [rule.span for rule in program.rules])[-1],
        hint="some of them contradict each other over the same unknowns",
    )
