"""A most probable world of a program that is not grounded: the sums over histograms, with the largest term in
place of the sum (max-plus algebra).

Cells that no pair and no total tells apart are one: of the joint states in it, and of what two elements
share, only the best counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property

import numpy as np

from plx.check.program import Const, Program, Query, RandomTerm, Rule, Scope
from plx.check.walk import parts
from plx.firstorder.base import Base
from plx.firstorder.cell_worlds import choose_cells
from plx.firstorder.histograms import histograms
from plx.firstorder.picks import Best
from plx.firstorder.questions import Question
from plx.firstorder.structure import Structure
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
        best.pairs = {}
        for a, b in base.pairs:
            joint, _ = base.units.joint(base.samples[a][0], base.samples[b][-1])
            best.pairs[a, b] = joint.max(axis=3).astype(np.longdouble)
        super().__init__(best, cells.totals)

    def merge(self, kind: int, own: FloatArray) -> FloatArray:
        """The best log weights [G, m] of cells from those [G, C] of joint states."""
        out = np.full((len(own), self.cells[kind]), -np.inf)
        for m in range(self.cells[kind]):
            out[:, m] = own[:, self.merged[kind] == m].max(axis=1)
        return out


class BestWorlds:
    """The unknowns that `map` queries ask for, in a most probable world."""

    def __init__(self, base: Base, questions: Sequence[Question]) -> None:
        self.layout = Layout(base, *_asked(base, questions))

    @cached_property
    def atoms(self) -> Atoms:
        """The unknowns by name."""
        table = self.layout.local.atoms
        return named(table, self.layout.base.rules.evaluator.program, np.arange(len(self.layout.cards)))

    def query(self, question: Question) -> GroundQuery | None:
        """A query with the numbers of the atoms that it is about; None where these are all."""
        query = question.query
        if not isinstance(query.part, RandomTerm):
            return None
        return part_query(self.layout.local.formulas, replace(query, given=()), query.part, question.env)

    def world(self, structure: Structure) -> World:
        """A most probable world of these cells. Raises NotLiftableError where it takes too much, and
        NoWorldError where there is none."""
        cells, pick = _BestCells(structure), Best()
        worlds, weight = choose_cells(cells, lambda g: histograms(cells, g, np.maximum), pick, 1)
        states = Layout(cells.base, self.layout.elements, self.layout.only).states(worlds, pick.rows)[:, 0]
        return World(states, float(weight[0]))


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
