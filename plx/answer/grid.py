"""The answers to all instances of a query as arrays, with an axis for each slot."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from plx.answer.lookup import canonical
from plx.answer.named import Kind, NamedAnswer, NamedAnswers
from plx.errors import nearest
from plx.values import FloatArray, IntArray

VALUE = "value"
"""The last axis of distributions."""

_OF_NUMBERS = {"mean": "mean", "mean_mcse": "mcse", "sd": "sd", "sd_mcse": "sd_mcse"}
"""Arrays of numbers, and the fields of `Moments` that they hold."""

_MOST_CELLS = 1 << 26
"""An array has at most so many cells."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Answers to the instances of one query: ``coordinates`` of the axes by name, in order.

    ``arrays`` has, by name, ``estimate`` and its standard error ``mcse``: the probability that a formula is
    true, the mean of a number, or for every other query the probability of each value along the last axis,
    ``value``; ``ess``, ``rhat`` and ``converged``; where every answer has them, ``mean``, ``mean_mcse``,
    ``sd`` and ``sd_mcse``. What was not asked, is not known or does not exist is NaN, and has not
    ``converged``; an exact answer has standard errors of 0, and NaN for ``ess`` and ``rhat``.
    """

    term: str
    kind: Kind
    coordinates: Mapping[str, tuple[Any, ...]]
    arrays: Mapping[str, npt.NDArray[Any]] = field(repr=False)

    def array(self, what: str) -> npt.NDArray[Any]:
        """One of the arrays. Raises KeyError, which names those that there are."""
        if what not in self.arrays:
            raise KeyError(f"`{self.term}` has no `{what}`: there are {', '.join(self.arrays)}")
        return self.arrays[what]


@dataclass(frozen=True, eq=False)
class Layout:
    """Where answers stand in a grid: each in its cell, counted in C order over the ``coordinates``."""

    term: str
    queries: Sequence[NamedAnswer]
    coordinates: Mapping[str, tuple[Any, ...]]
    cells: IntArray

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of coordinates of each axis."""
        return tuple(map(len, self.coordinates.values()))


def grid(result: NamedAnswers, name: str) -> Grid:
    """The answers to a query by its term: a random function, the name after ``as``, or the formula.

    Raises KeyError, with the nearest term, if there is none, or if its answers do not fit one grid.
    """
    found = _by_term(result.queries)
    wanted = (
        name if name in found else next((term for term in found if canonical(term) == canonical(name)), None)
    )
    if wanted is None:
        best = nearest(name, found)
        hint = f": did you mean `{best}`?" if best else f": there are {', '.join(list(found)[:5])}"
        raise KeyError(f"no query is about `{name}`{hint}")
    return _grid(_layout(wanted, found[wanted]))


def grids(result: NamedAnswers) -> list[Grid]:
    """The grids of all queries but ``map`` and ``logz``; answers that fit no common grid have one each."""
    return [_grid(found) for found in layouts(result)]


def layouts(result: NamedAnswers) -> list[Layout]:
    """How all answers but those to ``map`` and ``logz`` are laid out; those that fit no common one alone."""
    out: list[Layout] = []
    for term, queries in _by_term(result.queries).items():
        try:
            out.append(_layout(term, queries))
        except KeyError:
            out += map(alone, _distinct(queries))
    return out


def alone(query: NamedAnswer) -> Layout:
    """The layout of one answer, without axes."""
    return Layout(query.text, [query], {}, np.zeros(1, dtype=np.int64))


def _by_term(queries: Iterable[NamedAnswer]) -> dict[str, list[NamedAnswer]]:
    found: dict[str, list[NamedAnswer]] = {}
    for query in queries:
        if query.kind not in ("map", "logz"):
            found.setdefault(query.term or query.name, []).append(query)
    return found


def _distinct(queries: Sequence[NamedAnswer]) -> list[NamedAnswer]:
    """What is asked twice in the same words once."""
    found: dict[str, NamedAnswer] = {}
    for query in queries:
        found.setdefault(query.text, query)
    return list(found.values())


def _layout(term: str, queries: Sequence[NamedAnswer]) -> Layout:
    queries = _distinct(queries)
    first = queries[0]
    for query in queries:
        if tuple(query.slots) != tuple(first.slots) or query.kind != first.kind:
            raise KeyError(_unlike(term, first, query))
    coordinates: dict[str, tuple[Any, ...]] = {}
    cells = np.zeros(len(queries), dtype=np.int64)
    for axis in first.slots:
        coordinates[axis], places = coded([query.slots[axis] for query in queries])
        cells = cells * len(coordinates[axis]) + places
    _require_single(term, queries, cells)
    if (size := math.prod(map(len, coordinates.values()))) > _MOST_CELLS:
        raise KeyError(f"`{term}` would be an array of {size:,} cells: go through the answers instead")
    return Layout(term, queries, coordinates, cells)


def _grid(layout: Layout) -> Grid:
    kind, coordinates = layout.queries[0].kind, dict(layout.coordinates)
    values = None
    if kind not in ("probability", "number"):
        values, _ = coded([e.value for q in layout.queries for e in q.estimates])
        coordinates[VALUE if VALUE not in coordinates else f"{VALUE}_"] = values
    if (size := math.prod(map(len, coordinates.values()))) > _MOST_CELLS:
        message = f"`{layout.term}` would be an array of {size:,} cells: go through the answers instead"
        raise KeyError(message)
    return Grid(layout.term, kind, coordinates, _arrays(layout, values))


def _unlike(term: str, a: NamedAnswer, b: NamedAnswer) -> str:
    what = f"`{term}` is asked over ({', '.join(a.slots)}) and over ({', '.join(b.slots)})"
    return f"{what}, by `{a.text}` and `{b.text}`: name one of the queries with `as`"


def _require_single(term: str, queries: Sequence[NamedAnswer], cells: IntArray) -> None:
    """Raises KeyError where two answers stand in one cell, as with different `given`."""
    seen: dict[int, NamedAnswer] = {}
    for cell, query in zip(cells.tolist(), queries, strict=True):
        if (other := seen.setdefault(cell, query)) is not query:
            both = f"`{other.text}` and `{query.text}`"
            raise KeyError(f"`{term}` has two answers at one index, {both}: name the queries with `as`")


def _arrays(layout: Layout, values: tuple[Any, ...] | None) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a grid."""
    queries, cells, shape = layout.queries, layout.cells, layout.shape

    def spread(numbers: Iterable[float | None]) -> FloatArray:
        out = np.full(math.prod(shape), np.nan)
        out[cells] = [np.nan if x is None else x for x in numbers]
        return out.reshape(shape)

    out: dict[str, npt.NDArray[Any]] = {}
    if values is not None:
        out["estimate"], out["mcse"] = _distributions(queries, cells, shape, values)
    else:
        out["estimate"] = spread(map(_estimate, queries))
        out["mcse"] = spread(q.mcse if q.answered else None for q in queries)
    out["ess"], out["rhat"] = spread(q.ess for q in queries), spread(q.rhat for q in queries)
    converged = np.zeros(math.prod(shape), dtype=bool)
    converged[cells] = [query.converged for query in queries]
    out["converged"] = converged.reshape(shape)
    moments = [query.moments for query in queries]
    if any(moments) and all(m or not q.answered for m, q in zip(moments, queries, strict=True)):
        for name, of in _OF_NUMBERS.items():
            out[name] = spread(getattr(m, of) if m else None for m in moments)
    return out


def _distributions(
    queries: Sequence[NamedAnswer], cells: IntArray, shape: tuple[int, ...], values: tuple[Any, ...]
) -> tuple[FloatArray, FloatArray]:
    """Probabilities along the last axis, and their standard errors; a value that an answered query does not
    have is impossible there."""
    place = {_key(value): i for i, value in enumerate(values)}
    p = np.full((math.prod(shape), len(values)), np.nan)
    mcse = p.copy()
    for cell, query in zip(cells.tolist(), queries, strict=True):
        if not query.answered:
            continue
        where = [place[_key(estimate.value)] for estimate in query.estimates]
        p[cell], mcse[cell] = 0.0, 0.0
        p[cell, where] = [estimate.p for estimate in query.estimates]
        mcse[cell, where] = [estimate.mcse for estimate in query.estimates]
    return p.reshape(*shape, -1), mcse.reshape(*shape, -1)


def _estimate(query: NamedAnswer) -> float | None:
    if query.kind == "number":
        return query.moments.mean if query.moments else None
    return next((estimate.p for estimate in query.estimates if estimate.value is True), None)


def _key(value: Any) -> tuple[Any, ...]:
    """Values with their kinds: Python takes 1 and True for one."""
    if isinstance(value, tuple):
        return tuple(map(_key, value))
    return isinstance(value, bool), value


def coded(values: Sequence[Any]) -> tuple[tuple[Any, ...], IntArray]:
    """The distinct values, in the order of the first of each, and which of them each one is."""
    found: dict[tuple[Any, ...], int] = {}
    codes = [found.setdefault(_key(value), len(found)) for value in values]
    first = dict(zip(reversed(codes), reversed(values), strict=True))
    return tuple(first[code] for code in range(len(found))), np.array(codes, dtype=np.int64)
