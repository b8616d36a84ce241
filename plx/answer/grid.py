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
from plx.answer.wide import WideAnswers
from plx.errors import nearest
from plx.graph.ragged import owners
from plx.graph.rows import AnyInt, unique_keys
from plx.sequences import parts, taken
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


def _by_term(queries: Sequence[NamedAnswer]) -> dict[str, Sequence[NamedAnswer]]:
    """The answers by their term, as arrays where they are arrays and there are no others."""
    found: dict[str, Sequence[NamedAnswer]] = {}
    lists: dict[str, list[NamedAnswer]] = {}
    for part in parts(queries):
        if isinstance(part, WideAnswers) and part.term not in found:
            found[part.term] = part
            continue
        for query in part:
            if query.kind not in ("map", "logz"):
                term = query.term or query.name
                if term not in lists:
                    found[term] = lists[term] = [*found.get(term, ())]
                lists[term].append(query)
    return found


def _distinct(queries: Sequence[NamedAnswer]) -> list[NamedAnswer]:
    """What is asked twice in the same words once."""
    found: dict[str, NamedAnswer] = {}
    for query in queries:
        found.setdefault(query.text, query)
    return list(found.values())


def _layout(term: str, queries: Sequence[NamedAnswer]) -> Layout:
    wide = _wide_layout(queries) if isinstance(queries, WideAnswers) else None
    if wide is not None:
        return wide
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
    _require_cells(term, coordinates)
    return Layout(term, queries, coordinates, cells)


def _wide_layout(wide: WideAnswers) -> Layout | None:
    """The layout of answers that are arrays; None where two of them stand in one cell."""
    coordinates: dict[str, tuple[Any, ...]] = {}
    cells = np.zeros(len(wide), dtype=np.int64)
    for axis, place in zip(wide.slots, wide.places, strict=True):
        coordinates[axis], places = _coded_places(place, wide.coordinates)
        cells = cells * len(coordinates[axis]) + places
    if len(unique_keys(cells)[0]) < len(cells):
        return None
    _require_cells(wide.term, coordinates)
    return Layout(wide.term, wide, coordinates, cells)


def _coded_places(place: AnyInt, items: Sequence[Any]) -> tuple[tuple[Any, ...], IntArray]:
    """As `coded`, of ``items[place]``."""
    first, inverse = unique_keys(place.astype(np.int64))
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    found, codes = coded(taken(items, place[first[order]].tolist()))
    return found, codes[rank[inverse]]


def _require_cells(term: str, coordinates: Mapping[str, tuple[Any, ...]]) -> None:
    """Raises KeyError where an array would be too large."""
    if (size := math.prod(map(len, coordinates.values()))) > _MOST_CELLS:
        raise KeyError(f"`{term}` would be an array of {size:,} cells: go through the answers instead")


def _grid(layout: Layout) -> Grid:
    wide = layout.queries if isinstance(layout.queries, WideAnswers) else None
    kind, coordinates = layout.queries[0].kind, dict(layout.coordinates)
    values = codes = None
    if kind not in ("probability", "number"):
        if wide is not None:
            values, codes = _coded_places(wide.value, [value for value, _ in wide.values])
        else:
            values, _ = coded([e.value for q in layout.queries for e in q.estimates])
        coordinates[VALUE if VALUE not in coordinates else f"{VALUE}_"] = values
    _require_cells(layout.term, coordinates)
    arrays = _arrays(layout, values) if wide is None else _wide_arrays(layout, wide, values, codes)
    return Grid(layout.term, kind, coordinates, arrays)


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


def _wide_arrays(
    layout: Layout, wide: WideAnswers, values: tuple[Any, ...] | None, codes: IntArray | None
) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a grid of answers that are arrays; ``codes`` [estimates] of the values of each."""
    shape, cells = layout.shape, layout.cells
    n = math.prod(shape)

    def spread(numbers: npt.NDArray[Any], absent: float = np.nan) -> npt.NDArray[Any]:
        out = np.full(n, absent, dtype=numbers.dtype)
        out[cells] = numbers
        return out.reshape(shape)

    out: dict[str, npt.NDArray[Any]] = {}
    if values is not None and codes is not None:
        for name, found in (("estimate", wide.p), ("mcse", wide.mcse)):
            table = np.full((n, len(values)), np.nan)
            table[cells] = 0.0
            table[cells[owners(wide.start)], codes] = found
            out[name] = table.reshape(*shape, -1)
    else:
        out["estimate"] = spread(wide.mean if wide.kind == "number" else wide.probability())
        out["mcse"] = spread(wide.error())
    out["ess"], out["rhat"] = spread(wide.ess), spread(wide.rhat)
    out["converged"] = spread(wide.converged, False)
    if not np.isnan(wide.mean).any():
        out |= {name: spread(getattr(wide, name)) for name in _OF_NUMBERS}
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
