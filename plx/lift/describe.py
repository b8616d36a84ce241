"""Symmetries in words and by name."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np

from plx.graph.model import GroundModel
from plx.lift.layers import Layer
from plx.lift.names import PointNames
from plx.lift.structure import full_orbits
from plx.lift.symbols import block_keys, interchangeable_symbols
from plx.lift.symmetry import TITLE, Kind, Symmetry
from plx.markup import html_text
from plx.numerals import readable
from plx.values import IntArray

_LIST = 6
"""Names that a sentence lists."""

Pair = tuple[str, str]


@dataclass(frozen=True, eq=False, repr=False)
class Symmetries:
    """The symmetries of a model, by name.

    Terms and values are written as in the program. Under ``nec``, a class of interchangeable values
    counts as one value in ``generators``, and pairs whose classes are in one orbit are in one orbit.
    """

    _symmetry: Symmetry
    _model: GroundModel

    @property
    def kind(self) -> Kind:
        """``variable``, ``vv`` or ``nec``."""
        return self._symmetry.kind

    @property
    def order(self) -> int:
        """The number of symmetries, exactly."""
        return self._symmetry.order

    @property
    def order_text(self) -> str:
        """The order with separators, or as a power of ten where it is long."""
        return order_text(self.order)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was given up in the search, if anything."""
        return self._symmetry.notes

    @cached_property
    def value_classes(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """A term and values of it that can be exchanged in every world; several to a term."""
        names = self._names
        return tuple(
            (names.term(i), tuple(names.value_of(i, s) for s in states.tolist()))
            for i, states in self._symmetry.value_classes
        )

    @cached_property
    def symbols(self) -> tuple[tuple[str, ...], ...]:
        """Sets of symbols that can change places in all unknowns at once; there may be others."""
        found = interchangeable_symbols(self._names)
        return tuple(tuple(map(self._model.atoms.value_name, values)) for values in found)

    @cached_property
    def orbits(self) -> tuple[tuple[Pair, ...], ...]:
        """The orbits of several pairs (term, value)."""
        return tuple(tuple(self._names.pair(p) for p in orbit.tolist()) for orbit in self._orbits())

    @cached_property
    def structure(self) -> tuple[str, ...]:
        """What the group is made of, a sentence each."""
        return tuple(dict.fromkeys(self._sentences()))

    @cached_property
    def generators(self) -> tuple[str, ...]:
        """Generators in cycle notation."""
        return tuple(self._cycles(most=1_000_000))

    def to_sympy(self) -> Any:
        """The group on the pairs as a sympy ``PermutationGroup``; for small groups."""
        return self._symmetry.to_sympy()

    def to_dict(self, most: int | None = None) -> dict[str, Any]:
        """Plain data; lists are cut after ``most`` entries. An order of over 3 900 digits is text."""
        return {
            "kind": self.kind,
            "order": _plain(self.order),
            "order_text": self.order_text,
            "symbols": [list(names[:most]) for names in self.symbols[:most]],
            "value_classes": [{"term": t, "values": list(v)} for t, v in self.value_classes[:most]],
            "orbits": [[list(pair) for pair in orbit[:most]] for orbit in self.orbits[:most]],
            "structure": list(self.structure[:most]),
            "generators": list(self.generators[:most]),
            "notes": list(self.notes),
        }

    def text(self, most: int = 12) -> str:
        """A page of text; lists are cut after ``most`` entries."""
        order = "none but the identity" if self.order == 1 else f"a group of order {self.order_text}"
        lines = [f"{TITLE[self.kind]}: {order}"]
        lines += [f"  {names} are interchangeable" for names in _cut(tuple(map(_joined, self.symbols)), most)]
        lines += [f"  {sentence}" for sentence in _cut(self.structure, most)]
        if self.value_classes:
            lines.append("interchangeable values:")
            lines += [f"  {t}: {', '.join(v)}" for t, v in _cut_pairs(self.value_classes, most)]
        orbits = list(self._orbits())
        if orbits:
            lines.append(f"orbits of several (unknown, value): {len(orbits):,}")
            for orbit in orbits[:most]:
                shown = [" = ".join(self._names.pair(p)) for p in orbit[:most].tolist()]
                lines.append(f"  {len(orbit):,}: {', '.join(shown)}{', …' if len(orbit) > most else ''}")
            if len(orbits) > most:
                lines.append("  …")
        cycles = [c for _, c in zip(range(most + 1), self._cycles(most), strict=False)]
        if cycles:
            lines.append("generators:")
            lines += [f"  {c}" for c in cycles[:most]] + ["  …"] * (len(cycles) > most)
        return readable("\n".join([*lines, *self.notes]))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Symmetries {self.kind}: order {self.order_text}>"

    def _repr_html_(self) -> str:
        return html_text(self.text())

    @cached_property
    def _names(self) -> PointNames:
        return PointNames(self._symmetry, self._model)

    def _orbits(self) -> Iterator[IntArray]:
        label = self._symmetry.orbits
        order = np.argsort(label, kind="stable")
        for orbit in np.split(order, np.flatnonzero(np.diff(label[order])) + 1):
            if len(orbit) > 1:
                yield orbit

    def _cycles(self, most: int) -> Iterator[str]:
        return (self._names.cycles(*generator, most) for generator in self._symmetry.generators())

    def _sentences(self) -> Iterator[str]:
        for layer in self._symmetry.group.layers:
            yield _Sentence(self._names, layer).text()


def describe(symmetry: Symmetry, model: GroundModel) -> Symmetries:
    """The symmetries of a model by name."""
    return Symmetries(symmetry, model)


def order_text(order: int) -> str:
    """``1,200``, ``1,307,674,368,000 (about 10^12.1)`` or, past 40 digits, ``about 10^57.3``."""
    if order < 10**12:
        return f"{order:,}"
    shift = max(0, order.bit_length() - 900)
    about = f"about 10^{(np.log2(float(order >> shift)) + shift) * np.log10(2):,.1f}"
    return f"{order:,} ({about})" if order < 10**40 else about


def _plain(order: int) -> int | str:
    """The order; as text where it has more digits than Python turns into text of itself."""
    return order if order.bit_length() < 13_000 else str(Decimal(order))


class _Sentence:
    """What one layer does, in words."""

    def __init__(self, names: PointNames, layer: Layer) -> None:
        self.names, self.layer = names, layer
        self.copies, self.blocks, self.width = layer.points.shape

    def text(self) -> str:
        """The sentence; for several copies it tells of the first."""
        first = self.layer.points[0]
        variables = self.names.variable[first]
        if not self.layer.is_symmetric:
            what = self._of_generated(variables[0])
        elif (variables == variables[0, 0]).all():
            values = [self.names.value(int(p)) for p in first[:, 0]]
            kind = "values" if self.width == 1 else "sets of values"
            what = f"{self.blocks:,} interchangeable {kind} of {self.names.term(int(variables[0, 0]))}"
            what += f": {_listed(values)}"
        elif (variables == variables[:, :1]).all():
            what = f"{self.blocks:,} interchangeable unknowns: {self._unknowns(variables)}"
        else:
            what = self._of_blocks(variables)
        return f"in each of {self.copies:,} places alike, {what}" if self.copies > 1 else what

    def _of_generated(self, variables: IntArray) -> str:
        """What the solver found, by unknowns that it permutes in all ways where that is the whole of it."""
        for places in full_orbits(self.layer, variables):
            if self.layer.order == math.factorial(len(places)):
                own = variables[places[:, 0]]
                more = len(np.unique(variables)) - len(own)
                along = f"; {more:,} more move along" if more else ""
                return f"{len(own):,} interchangeable unknowns: {self._unknowns(own)}{along}"
        what = f"a group of order {order_text(self.layer.order)} on {_count(variables, 'unknown')}"
        return f"{what}: {self._unknowns(variables)}"

    def _of_blocks(self, variables: IntArray) -> str:
        """Blocks of several unknowns, by what tells them apart where there is such a thing."""
        keys = self._keys()
        about = f" ({_listed(keys)})" if keys else ""
        of = f" of {_count(variables[0], 'unknown')}, the first: {self._unknowns(variables[0])}"
        return f"{self.blocks:,} interchangeable blocks{about}{of}"

    def _keys(self) -> list[str]:
        """What tells the blocks apart, by name."""
        return [self.names.model.atoms.value_name(a) for a in block_keys(self.names, self.layer)]

    def _unknowns(self, variables: IntArray) -> str:
        distinct = list(dict.fromkeys(variables.ravel().tolist()))
        return _listed([self.names.term(v) for v in distinct[: _LIST + 1]], len(distinct))


def _count(variables: IntArray, noun: str) -> str:
    n = len(np.unique(variables))
    return f"{n:,} {noun}{'s' * (n != 1)}"


def _listed(names: list[str], total: int | None = None) -> str:
    """``a, b, c`` or ``a, b, c, …``."""
    total = len(names) if total is None else total
    return ", ".join(names[:_LIST]) + (", …" if total > _LIST else "")


def _joined(names: tuple[str, ...]) -> str:
    """``s3…s50`` for a run, else the names, the first few of many."""
    parts = [re.fullmatch(r"(.*?)(\d+)", name) for name in names]
    if len(names) > 2 and all(parts):
        found = [(part[1], part[2]) for part in parts if part]
        first = int(found[0][1])
        if found == [(found[0][0], str(first + k)) for k in range(len(found))]:
            return f"{names[0]}…{names[-1]}"
    return _listed(list(names)) if len(names) > _LIST else ", ".join(names[:-1]) + f" and {names[-1]}"


def _cut(lines: tuple[str, ...], most: int) -> list[str]:
    return [*lines[:most], *(["…"] if len(lines) > most else [])]


def _cut_pairs(
    classes: tuple[tuple[str, tuple[str, ...]], ...], most: int
) -> list[tuple[str, tuple[str, ...]]]:
    return [*classes[:most], *([("…", (f"{len(classes) - most:,} more",))] if len(classes) > most else [])]
