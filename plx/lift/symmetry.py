"""The symmetries of a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np

from plx.graph.ragged import owners
from plx.lift.group import Group, image_of
from plx.lift.quotient import Quotient
from plx.values import IntArray

Kind = Literal["variable", "vv", "nec"]

TITLE: Final[dict[Kind, str]] = {
    "variable": "variable symmetries",
    "vv": "variable-value symmetries",
    "nec": "symmetries of the model with interchangeable values merged",
}
"""What the symmetries of each kind are called."""


@dataclass(frozen=True, eq=False)
class Symmetry:
    """Permutations of the pairs (variable, value) that map the model to itself.

    * ``variable``: variables are permuted, Booleans keep their value; variables of more values count
      as one Boolean per value, of which exactly one is true.
    * ``vv``: variables and values.
    * ``nec``: the same of the reduced model, in which interchangeable values are one, so that
      variables of different size can be exchanged.

    Pairs are numbered through, variable by variable: ``start[i] + v`` is state v of variable i.
    The group acts on pairs, for ``nec`` on the reduced states of ``quotient``.
    """

    kind: Kind
    start: IntArray  # [V + 1]
    quotient: Quotient
    group: Group
    notes: tuple[str, ...] = ()

    @property
    def order(self) -> int:
        """The exact order of the group."""
        return self.group.order

    @cached_property
    def point_start(self) -> IntArray:
        """Where the points of each variable begin [V + 1]."""
        return self.quotient.start if self.kind == "nec" else self.start

    @cached_property
    def orbits(self) -> IntArray:
        """The number of the orbit of each pair; under ``nec``, of its class of values."""
        found = self.group.orbits
        return found[self.quotient.state] if self.kind == "nec" else found

    @cached_property
    def value_classes(self) -> tuple[tuple[int, IntArray], ...]:
        """The classes of several interchangeable values: a variable and its states."""
        return tuple(self._value_classes())

    def _value_classes(self) -> Iterator[tuple[int, IntArray]]:
        order = np.argsort(self.quotient.state, kind="stable")
        variable = owners(self.start)
        for pairs in np.split(order, np.flatnonzero(np.diff(self.quotient.state[order])) + 1):
            if len(pairs) > 1:
                i = int(variable[pairs[0]])
                yield i, pairs - self.start[i]

    def generators(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Generators as moved points and their images."""
        return self.group.generators()

    def to_sympy(self) -> Any:
        """The group as a sympy ``PermutationGroup`` on the points; for small groups."""
        from sympy.combinatorics import Permutation, PermutationGroup

        degree = self.group.degree
        images = [image_of(degree, *g).tolist() for g in self.generators()]
        return PermutationGroup([Permutation(image) for image in images] or [Permutation(degree - 1)])
