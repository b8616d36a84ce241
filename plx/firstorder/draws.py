"""Worlds drawn exactly from a program that is not grounded: of each, what the queries ask for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from plx.check.program import BOOLEAN, Expr, RandomTerm
from plx.check.walk import parts
from plx.deadline import check
from plx.firstorder.choosers import choose
from plx.firstorder.picks import Drawn
from plx.firstorder.plan import FirstOrderPlan
from plx.firstorder.questions import Pattern, Question, instances
from plx.firstorder.totals import Totals, counted
from plx.firstorder.whole import Whole, whole
from plx.firstorder.worlds import Layout, Worlds
from plx.graph.assemble import assemble
from plx.graph.model import Atoms, GroundModel, GroundQuery, Target
from plx.ground.atoms import named
from plx.ground.env import Env
from plx.infer.exact_draws import refuse_large
from plx.infer.inference import Answer
from plx.values import IntArray


class DrawnWorlds:
    """Worlds of which the unknowns about some elements are known: ``states`` [nodes, W], and values of
    expressions over them."""

    def __init__(self, totals: Totals, worlds: Worlds, layout: Layout) -> None:
        self.base, self.totals, self.worlds, self.layout = layout.base, totals, worlds, layout
        self.local = self.layout.local
        self._extra: list[IntArray] = []  # states of what is no unknown
        self._cards: list[int] = []

    def fill(self, random: np.random.Generator) -> None:
        """Draw what pairs share."""
        self.layout.counted = {n: one.pairs for n, one in enumerate(self.totals.all) if one.pairs is not None}
        self.states = self.layout.states(self.worlds, Drawn(random).rows)

    def values(self, expr: Expr, env: Env, pattern: Pattern) -> Iterator[IntArray]:
        """The value ids [W] of an expression at every instance."""
        if not pattern.aggregates:
            found: dict[int, IntArray] = {}
            for row, table in self.local.columns(expr, env):
                found[row] = self._at(table.nodes, table.entries)
            yield from (found[row] for row in range(env.n))
            return
        distinct = list(dict.fromkeys(pattern.numbers))
        index = np.zeros(len(self.worlds.alone), dtype=np.int64)
        for number in distinct:
            index = index * (self.totals.all[number].most + 1) + self._total(number)
        for row in range(env.n):
            check()
            one = env.take(np.array([row]))
            body, rows = counted(
                self.totals, expr, pattern.aggregates, pattern.numbers, distinct, one
            )  # fmt: skip
            ids = np.zeros((rows.n, len(index)), dtype=np.int64)
            for at, table in self.local.columns(body, rows):
                ids[at] = self._at(table.nodes, table.entries)
            yield ids[index, np.arange(len(index))]

    def target(self, expr: Expr, env: Env, question: Question) -> list[Target]:
        """What an expression is at every instance, as states of nodes."""
        if isinstance(expr, RandomTerm):
            atoms = self.local.formulas.atom(expr, env)
            table = self.local.atoms
            nodes, domains = table.node[atoms].tolist(), table.domain[atoms].tolist()
            fixed = table.fixed[atoms].tolist()
            return [
                Target(node, table.domains[domain] if node >= 0 else np.array([value]))
                for node, domain, value in zip(nodes, domains, fixed, strict=True)
            ]
        found: list[Target | None] = [None] * env.n
        for number, pattern in enumerate(question.patterns):
            rows = np.flatnonzero(question.which == number)
            some = env.take(rows)
            for row, ids in zip(rows.tolist(), self.values(expr, some, pattern), strict=True):
                found[row] = self._node(ids)
        return [target for target in found if target is not None]

    def answers(self, targets: Sequence[Sequence[Target]]) -> Iterator[Answer]:
        """The joint states of the targets of each query, as draws of one chain."""
        cards = self.cards.tolist()
        states = np.concatenate([self.states, *(row[None] for row in self._extra)])
        for some in targets:
            check()
            nodes = [target.node for target in some if target.node >= 0]
            size = math.prod(cards[node] for node in nodes)
            code = np.zeros(states.shape[1], dtype=np.min_scalar_type(max(size - 1, 0)))
            for node in nodes:
                code = code * cards[node] + states[node].astype(code.dtype)
            yield Answer(states=code[None])

    @property
    def cards(self) -> IntArray:
        """The number of states of each node."""
        return np.concatenate([self.layout.cards, np.array(self._cards, dtype=np.int64)]).astype(np.int64)

    def model(self, queries: tuple[GroundQuery, ...]) -> GroundModel:
        """A model of these nodes, without factors, that knows their names."""
        program = self.base.rules.evaluator.program
        graph = assemble(program.values, self.cards, ()).graph
        atoms: Atoms = named(self.local.atoms, program, np.arange(len(self.layout.cards)))
        return GroundModel(graph, self._observed(atoms), program.values, (), queries)

    def _observed(self, atoms: Atoms) -> Atoms:
        """The unknowns, with the values of those that are observed."""
        known = self.layout.observed
        if not known:
            return atoms
        node, fixed = atoms.node.copy(), atoms.fixed.copy()
        for atom in np.flatnonzero(np.isin(node, [*known])).tolist():
            fixed[atom] = atoms.domains[int(atoms.domain[atom])][known[int(node[atom])]]
            node[atom] = -1
        return replace(atoms, node=node, fixed=fixed)

    def _at(self, nodes: Sequence[int], entries: IntArray) -> IntArray:
        if not nodes:
            return np.full(len(self.worlds.alone), int(entries))
        found: IntArray = entries[tuple(self.states[node] for node in nodes)]
        return found

    def _node(self, ids: IntArray) -> Target:
        """A node more, with these value ids."""
        values = self.base.rules.evaluator.values
        labels = BOOLEAN if np.isin(ids, BOOLEAN).all() else np.unique(ids)
        if len(labels) == 1:
            return Target(-1, labels)
        labels = labels[np.argsort(values.floats(labels), kind="stable")]
        order = np.argsort(labels)
        self._extra.append(order[np.searchsorted(labels, ids, sorter=order)].astype(np.int32))
        self._cards.append(len(labels))
        return Target(len(self.layout.cards) + len(self._cards) - 1, labels)

    def _total(self, number: int) -> IntArray:
        """By how much a total is above its least value [W]."""
        total, base = self.totals.all[number], self.base
        out = np.zeros(len(self.worlds.alone), dtype=np.int64)
        if total.pairs is not None:
            out += self.layout.added[number]
        for group, of in enumerate(total.of):
            members = np.flatnonzero(base.group_of == group)
            out += of[self.worlds.alone[None], self.worlds.cell[members]].sum(axis=0)
        return out


def draw_worlds(
    plan: FirstOrderPlan, count: int, random: np.random.Generator
) -> tuple[DrawnWorlds, list[GroundQuery]]:
    """So many worlds, and what is asked of them by the queries of a plan that have values and no ``given``;
    without such, the worlds are of all unknowns.

    Raises NotLiftableError where they are not drawn so, PlxError where they are too large, and NoWorldError.
    """
    if (refusal := plan.no_worlds()) is not None:
        raise refusal
    rules = plan.answers.base.rules
    program = rules.evaluator.program
    asked_of = tuple(query for query in program.queries if query.targets and not query.given)
    found = whole(rules, replace(program, queries=asked_of))
    draws = Draws(found)
    worlds = draws.drawn(count, random)
    asked = []
    for question in draws.questions:
        columns = [worlds.target(target, question.env, question) for target in question.query.targets]
        named = instances(rules.evaluator, question.query, question.env)
        for query, targets in zip(named, zip(*columns, strict=True), strict=True):
            asked.append(replace(query, targets=targets))
    return worlds, asked


class Draws:
    """Draws of what questions ask for."""

    def __init__(self, whole: Whole) -> None:
        self.whole = whole
        self.questions = [one for one in whole.questions if one.query.targets]

    @cached_property
    def elements(self) -> list[int]:
        """The elements that the questions are about."""
        rules = self.whole.base.rules
        found: set[int] = set()
        for question in self.questions:
            for uid, column in question.env.columns.items():
                if uid in rules.elements:
                    found.update(np.unique(column).tolist())
            for pattern in question.patterns:
                found.update(pattern.elements)
        return sorted(found)

    @property
    def _names(self) -> set[str] | None:
        """The random functions that the questions are about; None for all."""
        exprs = [target for question in self.questions for target in question.query.targets]
        names = {part.name for expr in exprs for part in parts(expr) if isinstance(part, RandomTerm)}
        return names if self.questions else None

    def drawn(self, count: int, random: np.random.Generator) -> DrawnWorlds:
        """So many worlds, of the elements that the questions are about; all of them if there is none."""
        base = self.whole.base
        everyone = base.rules.universe.ids.tolist()
        layout = Layout(base, self.elements if self.questions else everyone, self._names)
        refuse_large(len(everyone) + len(layout.cards), count)
        worlds = choose(self.whole.cells, Drawn(random), count, layout)[0]
        found = DrawnWorlds(self.whole.totals, worlds, layout)
        found.fill(random)
        return found
