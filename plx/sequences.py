"""Sequences one after another as one, without a copy of what they hold."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any, SupportsIndex, TypeVar, overload

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Joined(Sequence[T_co]):
    """The items of all ``parts``, in order; equal to a sequence of equal items."""

    def __init__(self, parts: Iterable[Sequence[T_co]]) -> None:
        self.parts = tuple(parts)
        self._ends = list(accumulate(map(len, self.parts)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, position: SupportsIndex) -> T_co: ...

    @overload
    def __getitem__(self, position: slice) -> tuple[T_co, ...]: ...

    def __getitem__(self, position: SupportsIndex | slice) -> T_co | tuple[T_co, ...]:
        at = range(len(self))[position]
        if isinstance(at, range):
            return tuple(map(self._item, at))
        return self._item(at)

    def __iter__(self) -> Iterator[T_co]:
        return chain.from_iterable(self.parts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Joined | tuple):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"<{len(self):,} items>"

    def _item(self, at: int) -> T_co:
        part = bisect_right(self._ends, at)
        return self.parts[part][at - (self._ends[part - 1] if part else 0)]


class Lazy(Sequence[T_co]):
    """``n`` items, worked out where they are looked at: ``take`` gives those at some positions."""

    def __init__(self, take: Callable[[Sequence[int]], list[T_co]], n: int) -> None:
        self.take, self._n = take, n

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, position: SupportsIndex) -> T_co: ...

    @overload
    def __getitem__(self, position: slice) -> tuple[T_co, ...]: ...

    def __getitem__(self, position: SupportsIndex | slice) -> T_co | tuple[T_co, ...]:
        at = range(self._n)[position]
        return tuple(self.take(at)) if isinstance(at, range) else self.take((at,))[0]


def taken(items: Sequence[T], positions: Sequence[int]) -> list[T]:
    """The items at some positions."""
    return items.take(positions) if isinstance(items, Lazy) else [items[position] for position in positions]


def parts(items: Sequence[T]) -> tuple[Sequence[T], ...]:
    """What a sequence is joined of; itself where it is not."""
    return items.parts if isinstance(items, Joined) else (items,)


def joined(pieces: Iterable[Sequence[T]]) -> Sequence[T]:
    """Sequences as one, neighbours that are tuples as one tuple; a tuple where all are."""
    found: list[Sequence[Any]] = []
    run: list[Any] = []
    for piece in pieces:
        if isinstance(piece, tuple):
            run += piece
            continue
        if run:
            found.append(tuple(run))
            run = []
        found.append(piece)
    if run or not found:
        found.append(tuple(run))
    return found[0] if len(found) == 1 and isinstance(found[0], tuple) else Joined(found)


def replaced(items: Sequence[T], at: Mapping[int, T]) -> Sequence[T]:
    """The items with others at some positions; parts without any stay as they are."""
    out: list[Sequence[T]] = []
    first = 0
    for part in parts(items):
        here = [position for position in at if first <= position < first + len(part)]
        if here:
            own = list(part)
            for position in here:
                own[position - first] = at[position]
            part = tuple(own)
        out.append(part)
        first += len(part)
    return joined(out)


def inserted(items: Sequence[T], at: Mapping[int, T]) -> Sequence[T]:
    """The items, and between them others, each at its position in the whole; none stands inside a part that
    is no tuple."""
    out: list[Sequence[T]] = []
    place = 0
    for part in (*parts(items), ()):
        for piece in [(item,) for item in part] + [()] if isinstance(part, tuple) else [part]:
            while place in at:
                out.append((at[place],))
                place += 1
            out.append(piece)
            place += len(piece)
    return joined(out)


def in_order(pieces: Iterable[tuple[int, Sequence[T]]]) -> Sequence[T]:
    """Pieces as one sequence, sorted by the position of the first item of each."""
    return joined(piece for _, piece in sorted(pieces, key=lambda one: one[0]))
