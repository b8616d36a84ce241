"""Worlds of functions whose values are elements, read off those of the relations that stand for them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property

import numpy as np

from plx.check.program import Program
from plx.firstorder.local import Local
from plx.firstorder.rules import Rules
from plx.firstorder.worlds import Layout, States, about
from plx.ground.evaluate import Evaluator
from plx.values import IntArray


class Shown:
    """The unknowns of a layout as people see them: ``program`` is the one in which ``functions`` have
    elements as values; without such it is the layout's own, and nothing is read off."""

    def __init__(self, layout: Layout, program: Program | None = None, functions: Sequence[str] = ()) -> None:
        self._layout, self._functions = layout, functions
        self.program = layout.base.rules.evaluator.program if program is None else program
        self.local = layout.local if program is None else self._local(layout, program)

    @cached_property
    def cards(self) -> IntArray:
        """How many states each unknown has."""
        atoms = self.local.atoms
        sizes = np.array([len(domain) for domain in atoms.domains], dtype=np.int64)
        return sizes[atoms.domain[atoms.node >= 0]]

    def states(self, states: States) -> States:
        """The state [nodes, W] of every unknown, by those of the unknowns of the layout."""
        if not self._functions:
            return states
        atoms, out = self.local.atoms, np.zeros((len(self.cards), states.shape[1]), dtype=np.int32)
        for block in atoms.blocks:
            here = slice(block.first, block.first + len(block.index))
            nodes = atoms.node[here]
            if block.name not in self._functions:
                out[nodes] = states[self._nodes(block.name, block.index)]
                continue
            for node, row, domain in zip(nodes.tolist(), block.index, atoms.domain[here], strict=True):
                out[node] = states[self._values(block.name, row, atoms.domains[int(domain)])].argmax(axis=0)
        return out

    @property
    def observed(self) -> dict[int, int]:
        """The states of the unknowns that facts leave one."""
        known, atoms = self._layout.observed, self.local.atoms
        if not self._functions:
            return known
        found = {}
        for block in atoms.blocks:
            for row, index in enumerate(block.index):
                atom = block.first + row
                if block.name in self._functions:
                    values = self._values(block.name, index, atoms.domains[int(atoms.domain[atom])])
                    states = [place for place, node in enumerate(values.tolist()) if known.get(node) == 1]
                else:
                    (node,) = self._nodes(block.name, index[None]).tolist()
                    states = [known[node]] if node in known else []
                if states:
                    found[int(atoms.node[atom])] = states[0]
        return found

    def _values(self, name: str, index: IntArray, labels: IntArray) -> IntArray:
        """The nodes of the relation at an index of a function, one for each of its values."""
        return self._nodes(name, np.column_stack([np.tile(index, (len(labels), 1)), labels]))

    def _nodes(self, name: str, index: IntArray) -> IntArray:
        atoms = self._layout.local.atoms
        return np.asarray(atoms.node[atoms.find(name, index)], dtype=np.int64)

    @staticmethod
    def _local(layout: Layout, program: Program) -> Local:
        rules: Rules = copy(layout.base.rules)
        rules.evaluator, rules.facts = Evaluator(program), []
        return Local(about(rules, layout.only), layout.elements)
