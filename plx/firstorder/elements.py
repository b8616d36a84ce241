"""Which members of a program's types are interchangeable, and what tells the others apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from plx.check.program import Program, SetConst, SetExpr, SetItems, SetRange, SetType, SetUnion
from plx.firstorder.refusal import NotLiftableError
from plx.graph.rows import unique_rows
from plx.values import FloatArray, IntArray, distinct


@dataclass(frozen=True, eq=False)
class Universe:
    """The elements: the members of the types that are not expanded, as sorted value ids."""

    program: Program
    types: tuple[str, ...]
    ids: IntArray

    @classmethod
    def of(cls, program: Program, types: Iterable[str]) -> Universe:
        """The elements of some types."""
        names = tuple(types)
        members = [program.types[name].members for name in names]
        return cls(program, names, distinct(np.concatenate([*members, np.empty(0, dtype=np.int64)])))

    def holds(self, ids: IntArray) -> IntArray:
        """Which value ids are elements, as truth values of the same shape."""
        if not len(self.ids):
            return np.zeros(ids.shape, dtype=bool)
        place = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        found: IntArray = self.ids[place] == ids
        return found

    def position(self, ids: IntArray) -> IntArray:
        """The positions of elements among all."""
        return np.searchsorted(self.ids, ids)

    @cached_property
    def numbers(self) -> FloatArray:
        """The elements that are integers; NaN for symbols."""
        return self.program.values.floats(self.ids)

    def is_number(self, id_: int) -> bool:
        """Whether a value is an element that is an integer."""
        inside = bool(self.holds(np.array([id_]))[0])
        return inside and not np.isnan(self.program.values.floats(np.array([id_])))[0]

    def rank(self, ids: IntArray) -> IntArray:
        """The places of elements in the order of their type; of integers, in their own."""
        order = np.zeros(len(self.ids), dtype=np.int64)
        for name in self.types:
            listed = self.program.types[name].members
            order[self.position(listed)] = np.arange(len(listed))
        whole = np.flatnonzero(~np.isnan(self.numbers))
        order[whole[np.argsort(self.numbers[whole], kind="stable")]] = np.arange(len(whole))
        found: IntArray = order[self.position(ids)]
        return found

    def is_element_set(self, set_: SetExpr) -> bool:
        """Whether a set holds elements alone. Raises NotLiftableError where it holds others too."""
        ids = members(self.program, set_)
        if ids is None:
            return False
        inside = self.holds(ids)
        if inside.any() and not inside.all():
            raise NotLiftableError("a set mixes members of a large type with other values", set_.span)
        return bool(len(ids)) and bool(inside.all())


def members(program: Program, set_: SetExpr) -> IntArray | None:
    """The value ids that a set may hold; None for numbers that depend on variables."""
    match set_:
        case SetConst():
            return np.array(set_.ids, dtype=np.int64)
        case SetType():
            return program.types[set_.name].members
        case SetUnion():
            parts = [members(program, part) for part in set_.parts]
            known = [part for part in parts if part is not None]
            return np.concatenate([*known, np.empty(0, dtype=np.int64)])
        case SetItems():
            from plx.check.program import Const

            ids = [item.id for item in set_.items if isinstance(item, Const)]
            return np.array(ids, dtype=np.int64) if len(ids) == len(set_.items) else None
        case SetRange():
            return None


@dataclass(eq=False)
class Marks:
    """What tells elements apart: columns [n] of numbers, equal where a table says the same of two elements.

    ``kind`` is said by what pairs of elements depend on, ``own`` by what single ones depend on.
    """

    universe: Universe
    kind: list[IntArray] = field(default_factory=list)
    own: list[IntArray] = field(default_factory=list)

    def name(self, ids: IntArray, own: bool = False) -> None:
        """Set elements apart from all others."""
        inside = distinct(ids[self.universe.holds(ids)])
        if len(inside):
            column = np.zeros(len(self.universe.ids), dtype=np.int64)
            column[self.universe.position(inside)] = 1 + np.arange(len(inside))
            (self.own if own else self.kind).append(column)

    def members(self, ids: IntArray, own: bool = False) -> None:
        """Tell the elements of a set from the others."""
        column = np.isin(self.universe.ids, ids).astype(np.int64)
        if column.any() and not column.all():
            (self.own if own else self.kind).append(column)

    def table(self, index: IntArray, value: IntArray, own: bool, sparse: bool = False) -> None:
        """Tell elements apart by the rows of a table [r, slots] that hold them, and the value [r] of each.

        Rows that hold two elements or more set each of them apart: as single ones alone if ``sparse``.
        """
        if not len(index):
            return
        inside = self.universe.holds(index)
        count = inside.sum(axis=1)
        self.name(index[count > 1].ravel(), sparse)
        for slot in range(index.shape[1]):
            rows = np.flatnonzero((count == 1) & inside[:, slot])
            if not len(rows):
                continue
            rest = np.delete(index[rows], slot, axis=1)
            self._add(index[rows, slot], np.column_stack([rest, value[rows]]), own)

    def _add(self, element: IntArray, said: IntArray, own: bool) -> None:
        """What is ``said`` [r, k] of ``element`` [r], perhaps several times of one."""
        _, number = unique_rows(said)
        place = self.universe.position(element)
        column = np.zeros(len(self.universe.ids), dtype=np.int64)
        first = np.unique(place, return_index=True, return_counts=True)
        if (first[2] == 1).all():
            column[place] = 1 + number
        else:
            order = np.lexsort([number, place])
            groups = np.split(number[order], np.cumsum(first[2])[:-1])
            seen: dict[bytes, int] = {}
            numbers = [seen.setdefault(group.tobytes(), len(seen)) for group in groups]
            column[first[0]] = 1 + np.array(numbers, dtype=np.int64)
        if (column != column[0]).any():
            (self.own if own else self.kind).append(column)

    def said(self, element: IntArray, value: IntArray, own: bool) -> None:
        """Tell elements apart by a value [r] of each of some [r], and from all others."""
        self._add(element, value[:, None], own)

    def groups(self) -> tuple[IntArray, IntArray]:
        """The kind [n] of every element, and its class [n]: kinds that single elements may differ in."""
        kind = _numbered(len(self.universe.ids), self.kind)
        return kind, _numbered(len(self.universe.ids), [kind, *self.own])


def _numbered(n: int, columns: Sequence[IntArray]) -> IntArray:
    if not columns:
        return np.zeros(n, dtype=np.int64)
    _, number = unique_rows(np.column_stack(columns))
    return number
