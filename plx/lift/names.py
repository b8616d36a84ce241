"""Points of a group by name: unknowns, values, and permutations in cycle notation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache

import numpy as np

from plx.graph.model import AtomBlock, GroundModel
from plx.graph.ragged import owners, starts
from plx.lift.symmetry import Symmetry
from plx.values import IntArray


class PointNames:
    """The names of the points that a symmetry acts on."""

    def __init__(self, symmetry: Symmetry, model: GroundModel) -> None:
        self.symmetry, self.model = symmetry, model
        self.start = symmetry.point_start
        self.variable = owners(self.start)
        self.term = lru_cache(maxsize=None)(self._term)

    def _term(self, variable: int) -> str:
        """A variable as the program would write it."""
        return self.model.atoms.name(int(self.model.atoms.atom_of[variable]))

    def arguments(self, variable: int) -> frozenset[int]:
        """The value ids of the arguments of a variable."""
        return frozenset(self.index(variable))

    def index(self, variable: int) -> tuple[int, ...]:
        """The value ids of the arguments of a variable, in order."""
        block = self._block(variable)
        return tuple(block.index[int(self.model.atoms.atom_of[variable]) - block.first].tolist())

    def function(self, variable: int) -> str:
        """The random function that a variable is of."""
        return self._block(variable).name

    def _block(self, variable: int) -> AtomBlock:
        atom = int(self.model.atoms.atom_of[variable])
        return next(block for block in reversed(self.model.atoms.blocks) if block.first <= atom)

    def pair(self, pair: int) -> tuple[str, str]:
        """The term and the value of a pair of the model."""
        variable = int(np.searchsorted(self.symmetry.start, pair, side="right")) - 1
        return self.term(variable), self.value_of(variable, pair - int(self.symmetry.start[variable]))

    def value_of(self, variable: int, state: int) -> str:
        """A state of a variable as the program would write it."""
        atoms = self.model.atoms
        return atoms.value_name(int(atoms.states(variable)[state]))

    @cached_property
    def _member_start(self) -> IntArray:
        return starts(self.symmetry.quotient.multiplicity)

    def value(self, point: int) -> str:
        """The value of a point; for a class of several, all of them: ``{os, db}``."""
        if self.symmetry.kind != "nec":
            return self.pair(point)[1]
        members = self.symmetry.quotient.members
        pairs = members[self._member_start[point] : self._member_start[point + 1]]
        values = [self.pair(int(p))[1] for p in pairs]
        return values[0] if len(values) == 1 else f"{{{', '.join(values)}}}"

    def point(self, point: int) -> str:
        """``passed(s1, ai) = ml``"""
        return f"{self.term(int(self.variable[point]))} = {self.value(point)}"

    def cycles(self, points: IntArray, images: IntArray, most: int) -> str:
        """A permutation in cycle notation, with at most so many entries.

        Unknowns stand for all their values where every value keeps its name.
        """
        image = dict(zip(points.tolist(), images.tolist(), strict=True))
        if self._keeps_values(points, images):
            variables = {int(self.variable[p]): int(self.variable[q]) for p, q in image.items()}
            return _notation(variables, self.term, most)
        return _notation(image, self.point, most)

    def _keeps_values(self, points: IntArray, images: IntArray) -> bool:
        moved = self.variable[points]
        if (moved == self.variable[images]).any():
            return False
        whole = np.bincount(moved, minlength=len(self.start) - 1)
        if (whole[moved] != np.diff(self.start)[moved]).any():
            return False
        pairs = zip(points[:64].tolist(), images[:64].tolist(), strict=True)
        return all(self.value(p) == self.value(q) for p, q in pairs) and self._same_states(points, images)

    def _same_states(self, points: IntArray, images: IntArray) -> bool:
        """Whether states keep their number; beyond the first few, that stands for their names."""
        few = len(points) <= 64
        offset = points - self.start[self.variable[points]] - images + self.start[self.variable[images]]
        return few or bool((offset == 0).all())


def _notation(image: dict[int, int], name: Callable[[int], str], most: int) -> str:
    out: list[str] = []
    left = most
    for cycle in _cycles(image):
        if left <= 0:
            return "".join(out) + "…"
        shown = [name(p) for p in cycle[:left]]
        out.append(f"({'  '.join(shown)}{' …' if len(cycle) > left else ''})")
        left -= len(cycle)
    return "".join(out)


def _cycles(image: dict[int, int]) -> Iterator[list[int]]:
    seen: set[int] = set()
    for first in sorted(image):
        if first in seen or image[first] == first:
            continue
        cycle, at = [], first
        while at not in seen:
            seen.add(at)
            cycle.append(at)
            at = image[at]
        yield cycle
