"""Plain observations fix atoms before anything is grounded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from plx.check.program import Evidence, Program
from plx.errors import Diagnostic, Note, PlxError
from plx.ground.atoms import AtomTable, outside
from plx.ground.budget import GroundBudget
from plx.ground.env import ROOT
from plx.ground.evaluate import Evaluator
from plx.ground.limits import PORTION
from plx.ground.tasks import Task, plain
from plx.source import Span
from plx.values import IntArray


@dataclass(frozen=True)
class _Facts:
    """Observed atoms and their values, shape (n,), and where they stand, in the program or each by itself.

    ``rest``: an ``else`` says it of them, as no row of its table does.
    """

    atoms: IntArray
    values: IntArray
    span: Span | None
    evidence: Evidence | None = None
    rest: bool = False

    def place(self, row: int) -> Span | None:
        return self.evidence.place(row) if self.evidence and not self.rest else self.span

    def words(self, row: int) -> str:
        return self.evidence.origin.words(row) if self.evidence and not self.rest else ""

    @property
    def statement(self) -> Span | None:
        """What says all of them; for what the caller gives, the place of the unknowns."""
        return self.evidence.span if self.evidence else self.span


class Observations:
    """Writes observed values into an AtomTable; remembers which line observed each atom."""

    def __init__(self, evaluator: Evaluator, table: AtomTable) -> None:
        self.evaluator = evaluator
        self.table = table
        self._facts: list[_Facts] = []
        self._source = np.full(len(table.fixed), -1, dtype=np.int32)

    def arrays(self, program: Program) -> None:
        """The evidence that came from files, tables and the caller."""
        for evidence in program.evidence:
            atoms = self.table.find(evidence.random, evidence.index)
            if (atoms < 0).any():
                raise PlxError(self._no_atom(evidence, int(np.argmin(atoms))))
            self._fix(_Facts(atoms, evidence.value, evidence.span, evidence))
            if evidence.otherwise is not None:
                rest = self._unlisted(evidence.random, atoms)
                values = np.full(len(rest), evidence.otherwise.id, dtype=np.int64)
                self._fix(_Facts(rest, values, evidence.otherwise.span, evidence, rest=True))

    def _unlisted(self, random: str, atoms: IntArray) -> IntArray:
        """The atoms of a random function that are not among these."""
        block = self.table.block(random)
        listed = np.zeros(len(block.index), dtype=bool)
        listed[atoms - block.first] = True
        return np.flatnonzero(~listed) + block.first

    def rules(self, tasks: Iterable[Task], budgets: dict[int, GroundBudget]) -> list[Task]:
        """Apply the plain facts among the tasks; the tasks that remain to be grounded."""
        rest = []
        for task in tasks:
            fact = plain(task.body, self.evaluator.terms) if task.source.kind == "observe" else None
            if fact is None:
                rest.append(task)
                continue
            term, value = fact
            budgets[task.rule].spend(self.evaluator, ROOT, task.scope)
            for env in budgets[task.rule].instances(self.evaluator, task.scope, PORTION):
                index = self.evaluator.stack(term.arguments, env)
                atoms = self.table.find(term.name, index)
                if (atoms < 0).any():
                    row = int(np.argmin(atoms))
                    raise outside(self.evaluator, term, index[row], self.evaluator.at(env, row))
                self._fix(_Facts(atoms, self.evaluator.value(value, env), task.source.span))
        return rest

    @property
    def atoms(self) -> IntArray:
        """The observed atoms."""
        return np.flatnonzero(self._source >= 0)

    def undo(self) -> tuple[IntArray, IntArray]:
        """Make the observed atoms unknown again; these atoms, and their values."""
        atoms = self.atoms
        values = self.table.fixed[atoms].copy()
        self.table.fixed[atoms] = -1
        return atoms, values

    def source(self, atoms: IntArray) -> IntArray:
        """The position in ``statements`` of what observed each atom."""
        return self._source[atoms].astype(np.int64)

    def told(self, atom: int) -> str:
        """Where the row that observed an atom stands: ``, in line 3 of f.csv``; empty for a statement."""
        facts: _Facts = self._facts[int(self._source[atom])]
        if facts.rest:
            return ", which is not listed"
        row = int(np.argmax(facts.atoms == atom))
        span, words = facts.place(row), facts.words(row)
        if words or span is None or span == facts.statement:
            return words
        return f", in line {span.line} of {span.source.name}"

    @property
    def statements(self) -> list[Span | None]:
        """What says each set of facts."""
        return [facts.statement for facts in self._facts]

    def _fix(self, facts: _Facts) -> None:
        atoms, values = facts.atoms, facts.values
        if not len(atoms):
            return
        states = self.table.states(atoms, values)
        if (states < 0).any():
            raise PlxError(self._no_value(facts, int(np.argmin(states))))
        number = len(self._facts)
        self._facts.append(facts)
        unseen = self._source[atoms] < 0
        self._source[atoms[unseen]] = number
        self.table.fixed[atoms[unseen][::-1]] = values[unseen][::-1]  # the first of equal atoms counts
        differs = self.table.fixed[atoms] != values
        if differs.any():
            raise PlxError(self._contradiction(facts, int(np.argmax(differs))))

    # ----------------------------------------------------------------- messages

    def _contradiction(self, facts: _Facts, row: int) -> Diagnostic:
        atom = int(facts.atoms[row])
        before = self._facts[self._source[atom]]
        first = int(np.argmax(before.atoms == atom))
        seen, now = (self._text(int(value)) for value in (before.values[first], facts.values[row]))
        name = self._name(atom)
        message = f"`{name}` is observed twice with different values: {seen} and {now}"
        hint = "remove one of the two observations"
        if facts.rest or before.rest:
            table = "an `else` is the value of all that its own table does not list"
            hint = f"{table}: list `{name}` there too, or leave it out"
        return Diagnostic(
            message + facts.words(row),
            facts.place(row),
            hint=hint,
            notes=(Note(f"observed as {seen} here{before.words(first)}", before.place(first)),),
        )

    def _no_value(self, facts: _Facts, row: int) -> Diagnostic:
        atom = int(facts.atoms[row])
        domain = [self._text(int(v)) for v in self.table.domains[self.table.domain[atom]][:10]]
        return Diagnostic(
            f"`{self._name(atom)}` cannot be {self._text(int(facts.values[row]))}{facts.words(row)}",
            facts.place(row),
            hint=f"its values are {', '.join(domain)}",
        )

    def _no_atom(self, evidence: Evidence, row: int) -> Diagnostic:
        info = self.evaluator.program.randoms[evidence.random]
        atom = self.evaluator.name(evidence.random, evidence.index[row])
        return Diagnostic(
            f"there is no `{atom}` to observe{evidence.origin.words(row)}",
            evidence.place(row),
            notes=(Note(f"`{evidence.random}` is declared here", info.span),),
        )

    def _text(self, value: int) -> str:
        from plx.syntax.printer import print_value

        return print_value(self.evaluator.values[value])

    def _name(self, atom: int) -> str:
        return self.evaluator.name(*self.table.place(atom))
