"""A most probable world of a program that is not grounded: the sums over histograms, with the largest term in
place of the sum (max-plus algebra).

Cells that no pair and no total tells apart are one: of the joint states in it, and of what two elements
share, only the best counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property

import numpy as np

from plx.check.program import Const, Program, Query, RandomTerm, Rule, Scope
from plx.check.walk import parts
from plx.firstorder.base import Base, Laid, same
from plx.firstorder.choosers import choose
from plx.firstorder.counted_cells import BestCountedCells, CountedCells
from plx.firstorder.function_queries import MembersAsked
from plx.firstorder.function_worlds import Shown
from plx.firstorder.functions import Related
from plx.firstorder.pair_total_sums import BestPairTotalSums, PairTotalSums
from plx.firstorder.picks import Best
from plx.firstorder.questions import Question, instances
from plx.firstorder.structure import Structure
from plx.firstorder.units import LongArray
from plx.firstorder.whole import Whole
from plx.firstorder.worlds import Layout
from plx.graph.model import Atoms, GroundQuery
from plx.ground.atoms import named
from plx.ground.queries import part_query
from plx.ground.terms import flatten
from plx.infer.inference import World
from plx.values import FloatArray


class _BestCells(Structure):
    """Cells by what is best for each, and for each two."""

    def __init__(self, cells: Structure) -> None:
        base = cells.base
        best = copy(base)
        samples = {(a, b): (base.units, base.samples[a][0], base.samples[b][-1]) for a, b in base.pairs}
        best.pairs = _best_of(samples)
        if base.rules.ordered is not None:
            before = _best_of(base.in_order)
            near = _best_of(base.neighbours) if base.rules.successor is not None else {}
            back = {(b, a): weights.transpose(0, 2, 1) for (a, b), weights in before.items()}
            plain = all(same(before[pair], back.get(pair, before[pair])) for pair in before)
            if base.before or not plain or not all(same(near[pair], before[pair]) for pair in near):
                best.before, best.next = before, near
                if not base.before:
                    best.each_apart()
        super().__init__(best, cells.totals)

    def merge(self, kind: int, own: FloatArray) -> FloatArray:
        """The best log weights [G, m] of cells from those [G, C] of joint states."""
        out = np.full((len(own), self.cells[kind]), -np.inf)
        for m in range(self.cells[kind]):
            out[:, m] = own[:, self.merged[kind] == m].max(axis=1)
        return out


def _best_of(pairs: Mapping[tuple[int, int], Laid]) -> dict[tuple[int, int], LongArray]:
    """The best log weights [G, C, C'] of the cells of two elements."""
    joints = {pair: units.joint(x, y)[0] for pair, (units, x, y) in pairs.items()}
    return {pair: joint.max(axis=3).astype(np.longdouble) for pair, joint in joints.items()}


class BestWorlds:
    """The unknowns that `map` queries ask for, in a most probable world."""

    def __init__(self, base: Base, questions: Sequence[Question], related: Related | None) -> None:
        self._related = related
        self.layout = Layout(base, *_asked(base, questions))
        self._shown = self._shown_of(self.layout)

    @cached_property
    def atoms(self) -> Atoms:
        """The unknowns by name."""
        return named(self._shown.local.atoms, self._shown.program, np.arange(len(self._shown.cards)))

    def query(self, question: Question, asked: MembersAsked | None) -> GroundQuery:
        """A query with the numbers of the atoms that it is about; ``asked`` is the one that it stands for."""
        query, env = question.query, question.env
        if asked is not None and self._related is not None:
            query, env = asked.query, self._related.env(asked)
        if isinstance(query.part, RandomTerm):
            return part_query(self._shown.local.formulas, replace(query, given=()), query.part, env)
        return next(instances(self._shown.local.evaluator, query, env))

    def world(self, found: Whole) -> World:
        """A most probable world of these cells. Raises NotLiftableError where it takes too much, and
        NoWorldError where there is none."""
        layout = Layout(found.base, self.layout.elements, self.layout.only)
        worlds, weight = choose(_best(found), Best(), 1, layout)
        states = self._shown_of(layout).states(layout.states(worlds, Best().rows))
        return World(states[:, 0], float(weight[0]))

    def _shown_of(self, layout: Layout) -> Shown:
        related = self._related
        return Shown(layout) if related is None else Shown(layout, related.original, related.functions)


def _best(found: Whole) -> Structure | CountedCells | PairTotalSums:
    """The cells by what is best for each, and for each two."""
    base, totals, cells = found.base, found.totals, found.cells
    if isinstance(cells, CountedCells):
        return BestCountedCells(base, cells.counters, totals)
    if isinstance(cells, PairTotalSums):
        return BestPairTotalSums(base, totals, cells.number, False)
    return _BestCells(cells)


def _asked(base: Base, questions: Sequence[Question]) -> tuple[list[int], set[str] | None]:
    """The elements and the random functions that queries ask about; all where one asks for all unknowns."""
    universe = base.rules.universe
    found: set[int] = set()
    names: set[str] = set()
    for question in questions:
        part = question.query.part
        if part is None:
            return universe.ids.tolist(), None
        assert isinstance(part, RandomTerm)
        names.add(part.name)
        consts = np.array([p.id for p in parts(part) if isinstance(p, Const)], dtype=np.int64)
        columns = [column for uid, column in question.env.columns.items() if uid in base.rules.elements]
        ids = np.unique(np.concatenate([consts, *columns]))
        found.update(ids[universe.holds(ids)].tolist())
    return sorted(found), names


def given_rules(program: Program, query: Query) -> Program:
    """The program in which what a query is given is observed, without queries."""
    rules = [
        Rule("observe", fact, Scope(), fact.span) for given in query.given for fact in flatten("and", given)
    ]
    return replace(program, rules=(*program.rules, *rules), queries=())
