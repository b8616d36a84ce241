"""The instances of one query as arrays: each is a GroundQuery when it is looked at, and only then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import SupportsIndex, TypeVar, overload

import numpy as np

from plx.graph.model import GroundQuery, QueryKind, Target
from plx.graph.rows import AnyInt, unique_keys
from plx.sequences import joined, parts, taken
from plx.source import Span
from plx.values import IntArray

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Names(Sequence[str]):
    """Names of one form: ``pieces``, and between them one of the texts of each column, by ``codes`` [n]."""

    pieces: tuple[str, ...]  # one more than columns
    codes: tuple[IntArray, ...]
    texts: tuple[Sequence[str], ...]
    n: int

    def __len__(self) -> int:
        return self.n

    @overload
    def __getitem__(self, position: SupportsIndex) -> str: ...

    @overload
    def __getitem__(self, position: slice) -> list[str]: ...

    def __getitem__(self, position: SupportsIndex | slice) -> str | list[str]:
        if isinstance(position, slice):
            return self.take(np.arange(self.n)[position]).filled()
        cells = zip(self.texts, self.codes, strict=True)
        return self._form % tuple(texts[int(codes[position])] for texts, codes in cells)

    def __iter__(self) -> Iterator[str]:
        return iter(self.filled())

    def filled(self) -> list[str]:
        """All texts."""
        if not self.codes:
            return [self._form % ()] * self.n
        columns = []
        for texts, codes in zip(self.texts, self.codes, strict=True):
            first, inverse = unique_keys(codes)
            used = taken(texts, codes[first].tolist())
            columns.append([used[i] for i in inverse.tolist()])
        return [self._form % row for row in zip(*columns, strict=True)]

    def take(self, rows: AnyInt) -> Names:
        """Those of some instances."""
        return replace(self, codes=tuple(codes[rows] for codes in self.codes), n=len(rows))

    @cached_property
    def _form(self) -> str:
        return "%s".join(piece.replace("%", "%%") for piece in self.pieces)


@dataclass(frozen=True, eq=False)
class QueryBlock(Sequence[GroundQuery]):
    """Instances of one query of one target each, without a ``given``.

    Instance i asks about ``node[i]`` (-1: evidence decided it), whose states are those of ``forms[form[i]]``,
    a target over no node.
    """

    kind: QueryKind
    span: Span | None
    term: str
    names: Names
    texts: Names
    slots: tuple[str, ...]
    places: tuple[IntArray, ...] = field(repr=False)  # [n] value ids of each slot
    node: AnyInt = field(repr=False)  # [n]
    form: AnyInt = field(repr=False)  # [n]
    forms: tuple[Target, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.node)

    @overload
    def __getitem__(self, position: SupportsIndex) -> GroundQuery: ...

    @overload
    def __getitem__(self, position: slice) -> tuple[GroundQuery, ...]: ...

    def __getitem__(self, position: SupportsIndex | slice) -> GroundQuery | tuple[GroundQuery, ...]:
        at = range(len(self))[position]
        return tuple(map(self._one, at)) if isinstance(at, range) else self._one(at)

    def __iter__(self) -> Iterator[GroundQuery]:
        return map(self._one, range(len(self)))

    def take(self, rows: AnyInt) -> QueryBlock:
        """Some of the instances."""
        return replace(
            self,
            names=self.names.take(rows),
            texts=self.texts.take(rows),
            places=tuple(column[rows] for column in self.places),
            node=self.node[rows],
            form=self.form[rows],
        )

    def rows_by_form(self) -> Iterator[tuple[Target, IntArray]]:
        """Each form with the instances that have it."""
        if len(self.forms) == 1:
            yield self.forms[0], np.arange(len(self))
            return
        order = np.argsort(self.form, kind="stable")
        ends = np.cumsum(np.bincount(self.form, minlength=len(self.forms)))
        for form, rows in zip(self.forms, np.split(order, ends[:-1]), strict=True):
            if len(rows):
                yield form, rows

    def moved(self, node: IntArray, state: IntArray) -> QueryBlock:
        """The block over another graph: as `NodeMap`, for the nodes of all instances."""
        decided = (self.node >= 0) & (node < 0)
        if not decided.any():
            return replace(self, node=node)
        width = int(state.max()) + 2
        keys = self.form * np.int64(width) + np.where(decided, np.maximum(state, 0) + 1, 0)
        first, form = unique_keys(keys)
        forms = []
        for key in keys[first].tolist():
            own = self.forms[key // width]
            at = key % width - 1
            forms.append(own if at < 0 else replace(own, labels=own.labels[at : at + 1]))
        return replace(self, node=node, form=form, forms=tuple(forms))

    def _one(self, at: int) -> GroundQuery:
        form = self.forms[self.form[at]]
        return GroundQuery(
            kind=self.kind,
            name=self.names[at],
            text=self.texts[at],
            targets=(Target(int(self.node[at]), form.labels, form.domain),),
            given=(),
            span=self.span,
            term=self.term,
            slots=tuple(
                (name, int(column[at])) for name, column in zip(self.slots, self.places, strict=True)
            ),
        )


def singles(queries: Sequence[GroundQuery]) -> Iterator[tuple[int, GroundQuery]]:
    """The queries that stand in no block, with their positions."""
    first = 0
    for part in parts(queries):
        if not isinstance(part, QueryBlock):
            yield from enumerate(part, first)
        first += len(part)


def blocks(queries: Sequence[GroundQuery]) -> Iterator[tuple[slice, QueryBlock]]:
    """The blocks, with the positions of their queries."""
    first = 0
    for part in parts(queries):
        if isinstance(part, QueryBlock):
            yield slice(first, first + len(part)), part
        first += len(part)


def each_part(
    queries: Sequence[GroundQuery],
    block: Callable[[slice, QueryBlock], Sequence[T]],
    single: Callable[[int, GroundQuery], T],
) -> Iterator[Sequence[T]]:
    """What becomes of each block and, as tuples, of each of the other queries, by position."""
    first = 0
    for part in parts(queries):
        if isinstance(part, QueryBlock):
            yield block(slice(first, first + len(part)), part)
        else:
            yield tuple(single(at, query) for at, query in enumerate(part, first))
        first += len(part)


def with_targets(queries: Sequence[GroundQuery]) -> Sequence[GroundQuery]:
    """The queries that have targets: all but `map` and `logz`."""
    return joined(
        part if isinstance(part, QueryBlock) else tuple(query for query in part if query.targets)
        for part in parts(queries)
    )
