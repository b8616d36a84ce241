"""Conditional distributions: their rows checked, and their logs as factors over the unknown and its parents.

They are grounded as if nothing were observed. So a wrong row is a mistake whatever the evidence, and an
observed unknown is cut out of its table when the graph is assembled.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from plx import weights
from plx.errors import Diagnostic, PlxError
from plx.graph.assemble import FactorBatch
from plx.graph.rows import unique_keys, unique_rows
from plx.ground.algebra import OWN, Algebra, OwnUnknownError
from plx.ground.atoms import AtomTable
from plx.ground.bind import instances
from plx.ground.columns import Column, TableBlock
from plx.ground.counters import Counters
from plx.ground.cycles import find_cycle
from plx.ground.env import ROOT, Env
from plx.ground.evaluate import Evaluator
from plx.ground.formulas import Formulas
from plx.ground.limits import PORTION, TRUTH_TABLE_LIMIT
from plx.ground.tasks import Task
from plx.source import Span
from plx.values import IMPOSSIBLE, IntArray
from plx.weights import Number

_TOLERANCE = 1e-9
"""How far the sum of a row may be from 1; a row that is off by less is divided by its sum."""

_SHOWN = 8
"""The most parents, and the most values, that the message about a row lists."""


@dataclass(frozen=True)
class Unobserved:
    """The atoms as if nothing were observed: the observed ones have the numbers after the unknown ones.

    ``cards`` and ``fixed`` are those of all variables; a state of -1 is unknown.
    """

    table: AtomTable
    cards: IntArray
    fixed: IntArray

    @classmethod
    def of(cls, table: AtomTable, observed: IntArray, cards: IntArray) -> Unobserved:
        """``observed`` are atoms with a fixed value, ``cards`` those of the unknown ones."""
        sizes = np.array([len(domain) for domain in table.domains], dtype=np.int64)[table.domain[observed]]
        observed, sizes = observed[sizes > 1], sizes[sizes > 1]
        values, fixed, node = table.fixed[observed], table.fixed.copy(), table.node.copy()
        fixed[observed] = -1
        node[observed] = len(cards) + np.arange(len(observed))
        states = np.append(np.full(len(cards), -1), table.states(observed, values))
        return cls(replace(table, fixed=fixed, node=node), np.append(cards, sizes), states)


def formulas_of(evaluator: Evaluator, table: AtomTable, counters: Counters) -> Formulas:
    """What grounds conditional distributions: their tables may be as large as they are given."""
    return Formulas(evaluator, table, Algebra(evaluator, counters, TRUTH_TABLE_LIMIT))


def ground_distribution(formulas: Formulas, task: Task) -> Iterator[FactorBatch]:
    """The factors of a `random` rule; the unknown is the last of every scope.

    Raises PlxError for a row that is no distribution, and shows it.
    """
    formulas.budget.spend(formulas.evaluator, ROOT, task.scope)
    for env in instances(formulas.evaluator, ROOT, task.scope, PORTION):
        if env.n:
            yield from _portion(formulas, task, env)


def _portion(formulas: Formulas, task: Task, env: Env) -> Iterator[FactorBatch]:
    unknown = task.source.unknown
    assert unknown is not None
    try:
        column = formulas.algebra.settle(formulas.column(task.body, env), raws_only=True)
    except OwnUnknownError:
        raise PlxError(_too_large(task.body.span)) from None
    own = formulas.atom(unknown, env)
    for part in _parts(column):
        yield from _Rows(formulas, task, part, own).batches()


def _parts(column: Column) -> Iterator[TableBlock]:
    """The tables of a column, fixed values as tables over nothing."""
    rows = np.flatnonzero(column.fixed >= 0)
    if len(rows):
        first, table = unique_keys(column.fixed[rows])
        values = column.fixed[rows][first][:, None]
        yield TableBlock(rows, np.empty((len(rows), 0), dtype=np.int64), table, values, ())
    for part in column.parts:
        assert isinstance(part, TableBlock)
        yield part


@dataclass(frozen=True)
class _Rows:
    """The tables of some instances; ``own`` are the atoms of the unknowns of all instances."""

    formulas: Formulas
    task: Task
    part: TableBlock
    own: IntArray

    def batches(self) -> Iterator[FactorBatch]:
        """One batch for each place of the unknown in the scope and each number of its values."""
        atoms = self.formulas.atoms
        mine = self.own[self.part.rows]
        card = np.array([len(domain) for domain in atoms.domains], dtype=np.int64)[atoms.domain[mine]]
        is_own = self.part.scope >= OWN
        place = np.where(is_own.any(axis=1), is_own.argmax(axis=1), -1) if self.part.cards else card * 0 - 1
        first, inverse = unique_rows(np.stack([place, card], axis=1))
        for i, row in enumerate(first):
            yield self._batch(np.flatnonzero(inverse == i), int(place[row]), int(card[row]))

    def _batch(self, pick: IntArray, place: int, card: int) -> FactorBatch:
        part = self.part.take(pick)
        used, table = unique_keys(part.table)
        shaped = part.tables[part.table[used]].reshape(len(used), *part.cards)
        if place < 0:
            rows = np.broadcast_to(shaped[..., None], (*shaped.shape, card))
        else:
            rows = np.moveaxis(shaped, place + 1, -1)
        parents = rows.shape[1:-1]
        flat = np.ascontiguousarray(rows).reshape(-1, card)
        first, inverse = unique_rows(flat)
        distinct = flat[first]
        if not self.task.source.scores:
            wrong = self._wrong(distinct)
            if wrong is not None:
                raise PlxError(self._message(part, table, parents, place, inverse == wrong, distinct[wrong]))
        logs = np.array([self._logs(row) for row in distinct.tolist()], dtype=np.int64).reshape(-1, card)
        tables = logs[inverse].reshape(len(used), -1)
        scope = np.delete(part.scope, place, axis=1) if place >= 0 else part.scope
        own = self.formulas.atoms.node[self.own[part.rows]].astype(np.int64)
        if card > 1:
            scope = np.column_stack([scope.astype(np.int64), own])
        return FactorBatch(scope.astype(np.int32), table, tables, self.task.rule)

    def _wrong(self, rows: IntArray) -> int | None:
        """The first row that is no distribution."""
        numbers = self.formulas.evaluator.values.floats(rows)
        with np.errstate(over="ignore", invalid="ignore"):
            off = np.abs(numbers.sum(axis=1) - 1) > _TOLERANCE
        wrong = np.flatnonzero(~(numbers >= 0).all(axis=1) | ~(numbers <= 1).all(axis=1) | off)
        return int(wrong[0]) if len(wrong) else None

    def _logs(self, row: list[int]) -> list[int]:
        """The ids of the logs of the probabilities in a row, or of normalised scores."""
        values = self.formulas.evaluator.values
        numbers: list[Number] = [values[i] for i in row]  # type: ignore[misc]
        if self.task.source.scores:
            total = weights.log_sum_exp(numbers)
            return [values.id(weights.sub(number, total)) for number in numbers]
        total = weights.total(numbers)
        if total != 1:
            numbers = [weights.div(number, total) for number in numbers]
        return [IMPOSSIBLE if number == 0 else values.id(weights.log(number)) for number in numbers]

    # -------------------------------------------------------------------- message

    def _message(
        self,
        part: TableBlock,
        table: IntArray,
        parents: tuple[int, ...],
        place: int,
        wrong: IntArray,
        row: IntArray,
    ) -> Diagnostic:
        """What is wrong with a row, at the first instance that has it."""
        count = math.prod(parents)
        number, at = divmod(int(np.argmax(wrong)), count)
        instance = int(np.argmax(table == number))
        states = np.unravel_index(at, parents) if parents else ()
        scope = np.delete(part.scope[instance], place) if place >= 0 else part.scope[instance]
        atom = int(self.own[part.rows[instance]])
        given = [self._state(int(node), int(state)) for node, state in zip(scope, states, strict=True)]
        where = f" at {_listed([text for text in given if text])}" if any(given) else ""
        name = self._name(atom)
        numbers = self.formulas.evaluator.values.floats(row)
        bad = np.flatnonzero((numbers < 0) | (numbers > 1))
        total = math.fsum(numbers.tolist())
        message = f"the probabilities of `{name}`{where} sum to {total:.12g}, not 1"
        if len(bad):
            message = (
                f"the probability of `{name}`{where} is {numbers[bad[-1]]:.12g}, and it must lie in 0..1"
            )
        atoms = self.formulas.atoms
        shown = zip(atoms.domains[int(atoms.domain[atom])].tolist(), numbers.tolist(), strict=True)
        row_text = _listed([f"{self._text(value)}: {chance:.12g}" for value, chance in shown])
        return Diagnostic(message, self.task.body.span, f"the row is {{{row_text}}}")

    def _state(self, node: int, state: int) -> str:
        """``rain = true``; empty for what is no unknown."""
        atoms = self.formulas.atoms
        found = np.flatnonzero(atoms.node == node)
        if not len(found):
            return ""
        atom = int(found[0])
        return f"{self._name(atom)} = {self._text(int(atoms.domains[int(atoms.domain[atom])][state]))}"

    def _name(self, atom: int) -> str:
        return self.formulas.evaluator.name(*self.formulas.atoms.place(atom))

    def _text(self, value: int) -> str:
        from plx.syntax.printer import print_value

        return print_value(self.formulas.evaluator.values[value])


def refuse_cycle(formulas: Formulas, batches: Sequence[FactorBatch], tasks: Sequence[Task]) -> None:
    """Raises PlxError if unknowns depend on one another in a circle."""
    counters, atoms = formulas.algebra.counters, formulas.atoms
    named = [batch for batch in batches if batch.scope.shape[1]]
    cycle = find_cycle(counters.n_variables, counters.nodes(), named)
    if cycle is None:
        return
    places = [atoms.place(int(np.flatnonzero(atoms.node == node)[0])) for node in cycle]
    texts = [formulas.evaluator.name(*place) for place in places]
    shown = [*texts[:_SHOWN], *["…"] * (len(texts) > _SHOWN), texts[0]]
    span = next(task.source.span for task in tasks if _name_of(task) == places[0][0])
    hint = "what they say of one another, without an order, is a `weight` or a `factor`"
    if len({place[0] for place in places}) == 1:
        hint = "let it depend on earlier indexes alone: `~ first if t = 0 else step(state(t - 1))`"
    message = f"`{texts[0]}` depends on itself: {' ← '.join(shown)}"
    raise PlxError(Diagnostic(message, span, hint))


def _name_of(task: Task) -> str:
    assert task.source.unknown is not None
    return task.source.unknown.name


def _listed(texts: list[str]) -> str:
    return ", ".join(texts[:_SHOWN]) + (", …" if len(texts) > _SHOWN else "")


def _too_large(span: Span) -> Diagnostic:
    return Diagnostic(
        f"this distribution needs a table of more than {TRUTH_TABLE_LIMIT:,} entries",
        span,
        "let it depend on fewer unknowns, or on a count of them",
    )
