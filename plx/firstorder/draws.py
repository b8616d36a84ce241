"""Worlds drawn exactly from a program that is not grounded: of each, what the queries ask for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from plx.check.program import BOOLEAN, Expr, Query, RandomTerm
from plx.check.walk import parts
from plx.deadline import check
from plx.firstorder.choosers import choose
from plx.firstorder.function_queries import MembersAsked
from plx.firstorder.function_worlds import Shown
from plx.firstorder.functions import Related
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
from plx.values import FALSE, TRUE, IntArray


class DrawnWorlds:
    """Worlds of which the unknowns about some elements are known: ``states`` [nodes, W], and values of
    expressions over them."""

    def __init__(self, totals: Totals, worlds: Worlds, layout: Layout, shown: Shown) -> None:
        self.base, self.totals, self.worlds, self.layout = layout.base, totals, worlds, layout
        self.local, self._shown = self.layout.local, shown
        self._extra: list[IntArray] = []  # states of what is no unknown
        self._cards: list[int] = []

    def fill(self, random: np.random.Generator) -> None:
        """Draw what pairs share."""
        self.layout.counted = {n: one.pairs for n, one in enumerate(self.totals.all) if one.pairs is not None}
        self._states = self.layout.states(self.worlds, Drawn(random).rows)
        self.states = self._shown.states(self._states)

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
            return self._unknowns(expr, env)
        return [self._node(ids) for ids in self._values(expr, env, question)]

    def of_members(self, asked: MembersAsked, related: Related, question: Question) -> list[list[Target]]:
        """What the targets of a query are at every instance, as `target`: the query is what a ``question``
        about relations was asked for."""
        env = related.env(asked)
        width = question.env.n // max(env.n, 1)
        found = []
        for told, target in zip(question.query.targets, asked.query.targets, strict=True):
            if None in asked.axes:
                every = np.array(self._values(told, question.env, question))
                true = (every == TRUE).reshape(env.n, width, -1).any(axis=1)
                found.append([self._node(ids) for ids in np.where(true, TRUE, FALSE)])
            elif isinstance(target, RandomTerm):
                found.append(self._unknowns(target, env))
            else:
                rows = self._values(told, question.env, question, width)
                found.append([self._node(ids) for ids in rows])
        return found

    def _unknowns(self, expr: RandomTerm, env: Env) -> list[Target]:
        """The unknowns that a term is at every instance."""
        atoms = self._shown.local.formulas.atom(expr, env)
        table = self._shown.local.atoms
        nodes, domains = table.node[atoms].tolist(), table.domain[atoms].tolist()
        fixed = table.fixed[atoms].tolist()
        return [
            Target(node, table.domains[domain] if node >= 0 else np.array([value]))
            for node, domain, value in zip(nodes, domains, fixed, strict=True)
        ]

    def _values(self, expr: Expr, env: Env, question: Question, step: int = 1) -> list[IntArray]:
        """The value ids [W] of an expression at every instance, or at one of so many."""
        found: dict[int, IntArray] = {}
        for number, pattern in enumerate(question.patterns):
            rows = np.flatnonzero(question.which == number)
            rows = rows[rows % step == 0]
            found.update(zip(rows.tolist(), self.values(expr, env.take(rows), pattern), strict=True))
        return [found[row] for row in sorted(found)]

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
        return np.concatenate([self._shown.cards, np.array(self._cards, dtype=np.int64)]).astype(np.int64)

    def model(self, queries: tuple[GroundQuery, ...]) -> GroundModel:
        """A model of these nodes, without factors, that knows their names."""
        program = self._shown.program
        graph = assemble(program.values, self.cards, ()).graph
        atoms: Atoms = named(self._shown.local.atoms, program, np.arange(len(self._shown.cards)))
        return GroundModel(graph, self._observed(atoms), program.values, (), queries)

    def _observed(self, atoms: Atoms) -> Atoms:
        """The unknowns, with the values of those that are observed."""
        known = self._shown.observed
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
        found: IntArray = entries[tuple(self._states[node] for node in nodes)]
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
        return Target(len(self._shown.cards) + len(self._cards) - 1, labels)

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
    rules, related = plan.answers.base.rules, plan.related
    program = rules.evaluator.program
    of_members = related.asked if related is not None else (None,) * len(program.queries)
    open_ = [pair for pair in zip(program.queries, of_members, strict=True) if _is_drawn(pair[0])]
    found = whole(rules, replace(program, queries=tuple(query for query, _ in open_)))
    draws = Draws(found, related)
    worlds = draws.drawn(count, random)
    asked = []
    for question, (_, about) in zip(draws.questions, open_, strict=True):
        if about is not None and related is not None:
            columns = worlds.of_members(about, related, question)
            named = related.instances(about)
        else:
            columns = [worlds.target(target, question.env, question) for target in question.query.targets]
            named = instances(rules.evaluator, question.query, question.env)
        for query, targets in zip(named, zip(*columns, strict=True), strict=True):
            asked.append(replace(query, targets=targets))
    return worlds, asked


def _is_drawn(query: Query) -> bool:
    return bool(query.targets) and not query.given


class Draws:
    """Draws of what questions ask for."""

    def __init__(self, whole: Whole, related: Related | None) -> None:
        self.whole, self._related = whole, related
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
        related = self._related
        shown = Shown(layout) if related is None else Shown(layout, related.original, related.functions)
        found = DrawnWorlds(self.whole.totals, worlds, layout, shown)
        found.fill(random)
        return found
