"""Worlds of a program that is not grounded: the cell of every element, and from it states of unknowns.

What single elements and pairs of them are is laid out for one of each kind. `Layout` puts it in the place of
the unknowns of those elements that are asked about, all worlds at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from plx.deadline import check
from plx.errors import PlxError
from plx.firstorder.base import Base, Laid
from plx.firstorder.local import Local, states_of
from plx.firstorder.pair_totals import added_by_states
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.rules import Rules
from plx.firstorder.totals import PairCounts
from plx.firstorder.units import Units
from plx.ground.evaluate import Evaluator
from plx.values import FloatArray, IntArray

MOST_PAIRS = 1 << 28
"""Pairs in all worlds of which is kept what they share, 512 MB."""

_TOGETHER = 1 << 22
"""States of pairs that are worked out at once."""


Codes = npt.NDArray[np.int16]
"""Numbers of what two elements share, in all worlds."""

States = npt.NDArray[np.int32]
"""States of unknowns, and joint states, in all worlds."""


@dataclass(frozen=True, eq=False)
class Worlds:
    """The joint state ``alone`` [W] of what is about no element, and that of every element's own unknowns,
    ``cell`` [elements, W], in the order of their ids."""

    alone: IntArray
    cell: States
    shared: Codes | None = None
    """Codes [elements, elements, W] of what two elements count for each other, where that is chosen."""


Choose = Callable[[FloatArray, IntArray], IntArray]
"""From log weights [rows, R] and rows [P, W] to states [P, W]."""


class Layout:
    """The unknowns that are about some elements alone, of some random functions or of all.

    ``counted`` are totals of pairs that are added up over all elements, by number, and ``added`` [W] what
    they come to. Raises NotLiftableError for too many.
    """

    def __init__(self, base: Base, elements: Sequence[int], only: Collection[str] | None = None) -> None:
        self.base, self.elements, self.only = base, tuple(sorted(elements)), only
        self.shared: Callable[[Units, int, int], IntArray] | None = None  # codes [G, C, C', R] of two
        self.counted: Mapping[int, PairCounts] = {}
        self.added: dict[int, IntArray] = {}
        try:
            self.local = Local(about(base.rules, only), self.elements)
        except PlxError as large:
            raise NotLiftableError(large.diagnostics[0].message) from None

    @cached_property
    def cards(self) -> IntArray:
        """How many states each unknown has."""
        atoms = self.local.atoms
        sizes = np.array([len(domain) for domain in atoms.domains], dtype=np.int64)
        return sizes[atoms.domain[atoms.node >= 0]]

    @property
    def observed(self) -> dict[int, int]:
        """The states of the unknowns that facts leave one."""
        if not self.local.rules.facts:
            return {}
        known = {number: node.allowed for number, node in enumerate(self.local.nodes)}
        return {number: states[0] for number, states in known.items() if states and len(states) == 1}

    def states(self, worlds: Worlds, choose: Choose) -> States:
        """The state [nodes, W] of every unknown; ``choose`` says what pairs share, given their cells."""
        out = np.zeros((len(self.cards), len(worlds.alone)), dtype=np.int32)
        units = self.base.units
        self.added = {number: np.zeros(len(worlds.alone), dtype=np.int64) for number in self.counted}
        for node, column in units.axes([]).items():
            self._put(out, units.local, node, {}, column[worlds.alone][None])
        for group, mine in self._by(self.base.group_of, self.elements).items():
            first, of = self.base.first[group], self.base.units_of[group]
            cell = worlds.cell[self.base.rules.universe.position(mine)]
            for node, column in of.cells(first)[1].items():
                self._put(out, of.local, node, {first: mine}, column[cell])
        every = self.base.rules.universe.ids if self.counted else np.array(self.elements)
        kinds = self._by(self.base.kind_of, every) if len(every) > 1 else {}
        for a, mine in kinds.items():
            for b, others in kinds.items():
                self._put_pairs(out, worlds, choose, (a, b), (mine, others))
        return out

    def _by(self, number: IntArray, elements: Sequence[int] | IntArray) -> dict[int, IntArray]:
        """Some elements, by a number that each has."""
        ids = np.array(elements, dtype=np.int64)
        mine = number[self.base.rules.universe.position(ids)] if len(ids) else ids
        return {int(one): ids[mine == one] for one in np.unique(mine)}

    def _put_pairs(
        self,
        out: States,
        worlds: Worlds,
        choose: Choose,
        kinds: tuple[int, int],
        members: tuple[IntArray, IntArray],
    ) -> None:
        """What pairs share of which the first is of one kind and before the second, of the other."""
        universe = self.base.rules.universe
        mine, others = members
        before = universe.rank(mine)[:, None] < universe.rank(others)[None, :]
        tie = universe.rank(mine)[:, None] == universe.rank(others)[None, :]  # of different types
        here = before | (tie & (mine[:, None] < others[None, :]))
        near = np.zeros_like(here)
        if self.base.rules.successor is not None:
            numbers = (universe.numbers[universe.position(ids)] for ids in members)
            near = here & (np.subtract.outer(*numbers) == -1)
        for some, beside in ((here & ~near, False), (near, True)):
            rows, columns = np.nonzero(some)
            if len(rows):
                laid = self._laid(*kinds, beside)
                self._put_same(out, worlds, choose, laid, (mine[rows], others[columns]))

    def _put_same(
        self, out: States, worlds: Worlds, choose: Choose, laid: Laid, members: tuple[IntArray, IntArray]
    ) -> None:
        """What pairs share that are laid out as two elements are."""
        universe, (units, x, y) = self.base.rules.universe, laid
        kept = any(self._is_kept(units.local, node) for node in units.local.of(x, y))
        if not (kept or self.counted):
            return
        joint, nodes = units.joint(x, y)
        first, second = members
        states = states_of(units.local, nodes)[1]
        cells, width = joint.shape[1:3], joint.shape[3]
        many = 1
        if worlds.shared is not None and self.shared is not None:
            code = self.shared(units, x, y)
            many = int(worlds.shared.max(initial=0)) + 1
            joint = np.where(code[:, :, :, None] == np.arange(many)[:, None], joint[:, :, :, None], -np.inf)
        joint = joint.reshape(-1, width)
        full = (units.global_size, *cells, width)
        adds = {
            number: np.broadcast_to(added_by_states(units, pairs, x, y), full).reshape(-1, width)
            for number, pairs in self.counted.items()
        }
        step = max(1, _TOGETHER // max(1, len(worlds.alone)))
        for low in range(0, len(first), step):
            check()
            p, q = first[low : low + step], second[low : low + step]
            at = worlds.alone[None] * cells[0] + worlds.cell[universe.position(p)]
            at = at * cells[1] + worlds.cell[universe.position(q)]
            row = at
            if worlds.shared is not None:
                at = at * many + worlds.shared[universe.position(p), universe.position(q)]
            found = choose(joint, at)
            for number, add in adds.items():
                self.added[number] += add[row, found].sum(axis=0)
            for node in nodes:
                self._put(out, units.local, node, {x: p, y: q}, states[node][found])

    def _laid(self, a: int, b: int, near: bool) -> Laid:
        """Elements of two kinds, the first before the second where there are such; ``near``: next to it."""
        if near:
            return self.base.neighbours[a, b]
        return self.base.units, self.base.samples[a][0], self.base.samples[b][-1]

    def _is_kept(self, local: Local, node: int) -> bool:
        atom = int(np.flatnonzero(local.atoms.node == node)[0])
        return self.only is None or local.atoms.place(atom)[0] in self.only

    def _put(
        self, out: States, local: Local, node: int, places: dict[int, IntArray], states: IntArray
    ) -> None:
        """Enter states [n, W] of the unknowns that are as ``node``, with n elements in the place of each."""
        atom = int(np.flatnonzero(local.atoms.node == node)[0])
        name, row = local.atoms.place(atom)
        index = np.tile(row, (len(states), 1))
        for element, others in places.items():
            for slot in np.flatnonzero(row == element):
                index[:, slot] = others
        if self.only is not None and name not in self.only:
            return
        atoms = self.local.atoms.find(name, index)
        there = np.flatnonzero(atoms >= 0)
        out[self.local.atoms.node[atoms[there]]] = states[there]


def about(rules: Rules, only: Collection[str] | None) -> Rules:
    """The rules, as if there were no other random functions than these."""
    if only is None:
        return rules
    program = rules.evaluator.program
    found = copy(rules)
    found.evaluator = Evaluator(
        replace(program, randoms={n: program.randoms[n] for n in program.randoms if n in only})
    )
    found.facts = [facts for facts in rules.facts if facts.random in only]
    return found
