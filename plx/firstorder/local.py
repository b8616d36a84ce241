"""A few elements by themselves: their unknowns, and what each part of a rule says of them, as tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from plx.check.program import (
    Expr,
    Membership,
    Operation,
    Program,
    RandomInfo,
    RelationBinding,
    RelationTerm,
    Scope,
    SetBinding,
    SetConst,
    SetExpr,
    SetType,
    SlotInfo,
    Variable,
)
from plx.errors import NoWorldError
from plx.firstorder.refusal import NotLiftableError, shown
from plx.firstorder.rules import Part, Rules
from plx.ground.algebra import Algebra
from plx.ground.atoms import lay_out
from plx.ground.budget import GroundBudget
from plx.ground.columns import TableBlock
from plx.ground.counters import Counters
from plx.ground.distributions import ground_distribution
from plx.ground.env import Env
from plx.ground.evaluate import Evaluator
from plx.ground.factors import ground_task
from plx.ground.formulas import Formulas
from plx.ground.limits import TRUTH_TABLE_LIMIT
from plx.values import FloatArray, IntArray

_MOST = 1 << 22
"""Ground instances of one part for one or two elements."""


@dataclass(frozen=True, eq=False)
class Table:
    """Values by the joint state of a few nodes: log weights, or value ids; one axis per node."""

    nodes: tuple[int, ...]
    entries: npt.NDArray[Any]

    def at(self, states: Mapping[int, IntArray]) -> npt.NDArray[Any]:
        """The entries at states of all nodes, which are broadcast."""
        found: npt.NDArray[Any] = self.entries[tuple(states[node] for node in self.nodes)]
        return found


@dataclass(frozen=True)
class Node:
    """An unknown of a few elements: which, how many values, and the states that evidence leaves."""

    elements: frozenset[int]
    card: int
    allowed: tuple[int, ...] | None = None


class Local:
    """The unknowns about some elements alone, and tables over them; nodes are numbered from 0."""

    def __init__(self, rules: Rules, elements: Sequence[int], linked: bool = False) -> None:
        """``linked``: with evidence on pairs where that is summed over apart (`plx.firstorder.links`)."""
        self.rules, self._linked = rules, linked or not rules.sparse
        self.elements = tuple(elements)
        program = rules.evaluator.program
        kept = {name: _kept(rules, info, self.elements) for name, info in program.randoms.items()}
        self.evaluator = _evaluator(rules, replace(program, randoms=kept))
        self.atoms = lay_out(self.evaluator, _MOST)
        cards = self.atoms.number()
        self.counters = Counters(len(cards))
        self.formulas = Formulas(
            self.evaluator, self.atoms, Algebra(self.evaluator, self.counters, TRUTH_TABLE_LIMIT)
        )
        self._cards = cards

    @cached_property
    def nodes(self) -> list[Node]:
        """All unknowns."""
        allowed = self._evidence()
        found: list[Node | None] = [None] * len(self._cards)
        universe = self.rules.universe
        for block in self.atoms.blocks:
            inside = universe.holds(block.index)
            numbers = self.atoms.node[block.first : block.first + len(block.index)]
            for row in np.flatnonzero(numbers >= 0).tolist():
                node = int(numbers[row])
                mine = frozenset(block.index[row][inside[row]].tolist())
                if len(mine) > 2:
                    raise NotLiftableError(f"`{block.name}` is about more than two members")
                found[node] = Node(mine, int(self._cards[node]), allowed.get(node))
        return [node for node in found if node is not None]

    def of(self, *elements: int) -> list[int]:
        """The nodes that are about exactly these elements."""
        return [number for number, node in enumerate(self.nodes) if node.elements == frozenset(elements)]

    def tables(self, part: Part, elements: Sequence[int], scope: Scope | None = None) -> Iterator[Table]:
        """What a part says where its variables are these elements: tables of log weights.

        One over no nodes is a constant. Raises NotLiftableError for what no table holds.
        """
        task = replace(part.task, scope=self.placed(part, elements, scope))
        self.formulas.budget = GroundBudget(part.task.source.span, _MOST)
        ground = ground_distribution if task.source.kind == "random" else ground_task
        try:
            batches = [*ground(self.formulas, task)]
        except NoWorldError:
            yield Table((), np.array(-np.inf))
            return
        for batch in batches:
            logs = self.rules.logs(batch.tables)
            for nodes, table in zip(batch.scope.tolist(), batch.table.tolist(), strict=True):
                if any(node >= len(self._cards) for node in nodes):
                    raise NotLiftableError(
                        f"{shown(part.task.source.span)} needs too large a table", part.task.source.span
                    )
                entries = logs[table].reshape([int(self._cards[node]) for node in nodes])
                yield Table(tuple(nodes), entries)

    def placed(self, part: Part, elements: Sequence[int], scope: Scope | None = None) -> Scope:
        """The scope of a part with elements for its variables; what told which they may be is a guard."""
        scope = part.task.scope if scope is None else scope
        at = {v.uid: e for v, e in zip(part.variables, elements, strict=True)}
        return placed(self.rules, scope, at)

    def columns(self, expr: Expr, env: Env) -> Iterator[tuple[int, Table]]:
        """The value ids of an expression at every instance, and over which nodes."""
        fixed, tables = self.column(expr, env)
        for row in np.flatnonzero(fixed >= 0).tolist():
            yield row, Table((), np.array(fixed[row]))
        yield from tables

    def column(self, expr: Expr, env: Env) -> tuple[IntArray, Iterator[tuple[int, Table]]]:
        """The value ids of an expression at instances where it is fixed, else -1; and as `columns` there."""
        self.formulas.budget = GroundBudget(expr.span, _MOST)
        column = self.formulas.algebra.settle(self.formulas.column(expr, env), raws_only=True)
        return column.fixed, self._blocks(expr, column.parts)

    def _blocks(self, expr: Expr, blocks: Sequence[object]) -> Iterator[tuple[int, Table]]:
        for block in blocks:
            assert isinstance(block, TableBlock)
            for row, nodes, table in zip(
                block.rows.tolist(), block.scope.tolist(), block.table.tolist(), strict=True
            ):
                if any(node >= len(self._cards) for node in nodes):
                    raise NotLiftableError(f"{shown(expr.span)} needs too large a table", expr.span)
                yield row, Table(tuple(nodes), block.tables[table].reshape(block.cards))

    def _evidence(self) -> dict[int, tuple[int, ...]]:
        """The states that facts leave to nodes."""
        found: dict[int, set[int]] = {}
        for facts in self.rules.facts:
            universe = self.rules.universe
            inside = universe.holds(facts.index)
            mine: Any = (~inside | np.isin(facts.index, self.elements)).all(axis=1)
            mine = mine if self._linked else mine & ~self.rules.linked(facts)
            atoms = self.atoms.find(facts.random, facts.index[mine])
            value = facts.value[mine][atoms >= 0]
            atoms = atoms[atoms >= 0]
            if facts.rest is not None:
                block = self.atoms.block(facts.random)
                rest = np.setdiff1d(block.first + np.arange(len(block.index)), atoms)
                atoms = np.concatenate([atoms, rest])
                value = np.concatenate([value, np.full(len(rest), facts.rest)])
            states = self.atoms.states(atoms, value)
            for node, state in zip(self.atoms.node[atoms].tolist(), states.tolist(), strict=True):
                if node >= 0:
                    found[node] = found.get(node, {state}) & {state}
        return {node: tuple(sorted(states)) for node, states in found.items()}


def placed(rules: Rules, scope: Scope, at: dict[int, int]) -> Scope:
    """A scope with elements for some of its variables, by uid."""
    bindings: list[SetBinding | RelationBinding] = []
    guards: list[Expr] = []
    for binding in scope.bindings:
        if isinstance(binding, SetBinding) and binding.variable.uid in at:
            variable = binding.variable
            bindings.append(_single(variable, at[variable.uid]))
            if not _is_whole(rules, binding.set):
                guards.append(Membership(variable, binding.set, span=binding.span))
        elif isinstance(binding, RelationBinding) and any(v.uid in at for v in binding.variables):
            facts = rules.evaluator.program.relations[binding.relation].facts
            for slot, variable in enumerate(binding.variables):
                if variable.uid in at:
                    bindings.append(_single(variable, at[variable.uid]))
                else:
                    ids = tuple(dict.fromkeys(facts[:, slot].tolist()))
                    bindings.append(SetBinding(variable, SetConst(ids, span=binding.span), span=binding.span))
            guards.append(RelationTerm(binding.relation, binding.variables, span=binding.span))
        else:
            bindings.append(binding)
    if scope.guard is not None:
        guards.append(scope.guard)
    guard = guards[0] if len(guards) == 1 else None
    if len(guards) > 1:
        guard = Operation("and", tuple(guards), span=guards[0].span)
    return Scope(tuple(bindings), guard)


def _is_whole(rules: Rules, set_: SetExpr) -> bool:
    """Whether every element is in a set."""
    return isinstance(set_, SetType) and not set_.arguments and rules.universe.types == (set_.name,)


def _single(variable: Variable, element: int) -> SetBinding:
    return SetBinding(variable, SetConst((element,), span=variable.span), span=variable.span)


def _kept(rules: Rules, info: RandomInfo, elements: tuple[int, ...]) -> RandomInfo:
    """A random function of these elements alone."""
    program = rules.evaluator.program
    slots = []
    for slot in info.slots:
        if rules.universe.is_element_set(slot.set):
            from plx.firstorder.elements import members

            ids = members(program, slot.set)
            assert ids is not None
            kept = SetConst(tuple(e for e in elements if e in ids), span=info.span)
            slot = SlotInfo(slot.variable, kept)
        slots.append(slot)
    return replace(info, slots=tuple(slots))


def _evaluator(rules: Rules, program: Program) -> Evaluator:
    """An evaluator of the same tables: what has been looked up once is kept."""
    evaluator = Evaluator(program)
    shared = rules.evaluator
    evaluator.terms, evaluator.arithmetic = shared.terms, shared.arithmetic
    evaluator._params, evaluator._facts, evaluator._orders = shared._params, shared._facts, shared._orders
    return evaluator


def states_of(local: Local, nodes: Sequence[int]) -> tuple[int, dict[int, IntArray]]:
    """How many joint states nodes have, and the state of each in each of them, in C order."""
    cards = [local.nodes[node].card for node in nodes]
    size = int(np.prod([float(c) for c in cards])) if cards else 1
    if not cards:
        return 1, {}
    grid = np.unravel_index(np.arange(size), cards)
    return size, {node: axis.astype(np.int64) for node, axis in zip(nodes, grid, strict=True)}


def allowed(local: Local, nodes: Sequence[int], states: dict[int, IntArray]) -> FloatArray:
    """0 where evidence allows the states of nodes, else -inf."""
    size = len(next(iter(states.values()))) if states else 1
    logs = np.zeros(size)
    for node in nodes:
        kept = local.nodes[node].allowed
        if kept is not None:
            logs[~np.isin(states[node], kept)] = -np.inf
    return logs


def tuples(elements: Sequence[int], count: int) -> Iterator[tuple[int, ...]]:
    """All ways to put exactly these elements, one or two, in the place of so many variables."""
    for chosen in itertools.product(elements, repeat=count):
        if set(chosen) == set(elements):
            yield chosen
