"""A result as labelled arrays: an xarray Dataset of answers, and a DataTree of draws as ArviZ reads it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from plx.answer.grid import VALUE, Layout, alone, coded, grids, layouts
from plx.answer.named import Draws, NamedAnswers, Observed, Value
from plx.answer.wide import WideAnswers, loose
from plx.errors import CallError, Diagnostic
from plx.extras import library

if TYPE_CHECKING:
    import xarray as xr

_MOST_DRAWN = 1 << 27
"""Numbers of one variable of draws; past that the answers of a sparse index have a variable each."""

Variable = tuple[tuple[str, ...], npt.NDArray[Any], dict[str, Any]]
"""Dimensions, data and attributes."""


def to_xarray(result: NamedAnswers) -> xr.Dataset:
    """The answers as a Dataset: per query ``f`` and its standard error ``f_mcse``, over its slots.

    Beside them ``f_ess``, ``f_rhat``, ``f_converged`` and of numbers ``f_sd`` and so on; the worlds of
    ``map`` are not in it. Raises MissingLibraryError.
    """
    xarray = library("xarray", "xarray datasets")
    dataset = _Dataset()
    for found in grids(result):
        axes = {
            axis if axis != VALUE else f"{found.term}_value": at for axis, at in found.coordinates.items()
        }
        dims = dataset.dimensions(found.term, axes)
        for what, data in found.arrays.items():
            name = found.term if what == "estimate" else f"{found.term}_{what}"
            dataset.variables[_path(name)] = (dims[: data.ndim], data, {})
    made: xr.Dataset = xarray.Dataset(dataset.variables, dataset.coordinates, _attributes(result))
    return made


def to_arviz(result: NamedAnswers) -> xr.DataTree:
    """Draws as a DataTree of the groups posterior, sample_stats and observed_data, as ArviZ lays them out.

    Every variable has the dimensions chain, draw and the slots of its query. Truth values are 0 and 1,
    symbols numbers, which the attribute ``values`` spells out; what was not asked is NaN. ``lp`` is the log
    weight of the world. Raises CallError where no draws were kept, MissingLibraryError.
    """
    if not any(query.drawn for query in loose(result.queries)):
        raise CallError(Diagnostic("no draws were kept", hint="model.run(draws=1000) keeps some"))
    xarray = library("xarray", "trees of draws")
    posterior, stats, observed = _Dataset(), _Dataset(), _Dataset()
    for layout in layouts(result):
        for name, part, drawn in _drawn(layout):
            dims = posterior.dimensions(name, part.coordinates)
            data, attributes = _draws(part, drawn)
            posterior.variables[_path(name)] = (("chain", "draw", *dims), data, attributes)
    if (weights := result.inference.log_weights) is not None:
        stats.variables["lp"] = (("chain", "draw"), weights, {})
    for function in result.observed:
        _observe(observed, function)
    for group in (posterior, stats):
        _count(group)
    groups = {"posterior": posterior, "sample_stats": stats, "observed_data": observed}
    tree: xr.DataTree = xarray.DataTree.from_dict(
        {name: xarray.Dataset(g.variables, g.coordinates, _attributes(result)) for name, g in groups.items()}
    )
    return tree


class _Dataset:
    """The variables of a dataset, and the coordinates of its dimensions."""

    def __init__(self) -> None:
        self.variables: dict[str, Variable] = {}
        self.coordinates: dict[str, npt.NDArray[Any]] = {}

    def dimensions(self, variable: str, axes: Mapping[str, Sequence[Any]]) -> tuple[str, ...]:
        """The names of the axes of a variable; one that has other coordinates elsewhere is named after it."""
        names = []
        for axis, values in axes.items():
            labels = _labels(values)
            name = axis if axis not in ("chain", "draw") else f"{axis}_"
            if name in self.coordinates and not _same(self.coordinates[name], labels):
                name = f"{variable}_{axis}"
            self.coordinates[name] = labels
            names.append(name)
        return tuple(names)


def _path(name: str) -> str:
    """A name without the sign that leads from group to group."""
    return name.replace("/", "∕")


def _same(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    return a.dtype == b.dtype and np.array_equal(a, b)


def _labels(values: Sequence[Any]) -> npt.NDArray[Any]:
    """Coordinates as numbers where all are, else as texts."""
    kinds = set(map(type, values))
    return np.array([*values] if kinds in ({int}, {float}, {int, float}, {bool}) else [*map(_text, values)])


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_text, value))})"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _attributes(result: NamedAnswers) -> dict[str, Any]:
    run = result.inference
    found = {
        "inference_library": "plx",
        "inference_library_version": version("plx"),
        "program": result.program,
        "method": run.method,
        "seed": run.seed,
        "log_z": run.log_z,
        "sweeps_between_draws": run.apart,
    }
    return {name: value for name, value in found.items() if value is not None}


def _count(group: _Dataset) -> None:
    """Chains and draws are numbered from 0."""
    for _, data, _ in group.variables.values():
        for axis, name in enumerate(("chain", "draw")):
            group.coordinates[name] = np.arange(data.shape[axis])


def _drawn(layout: Layout) -> Iterator[tuple[str, Layout, list[Draws]]]:
    """The coordinates of a query, each as a variable; answers alone where one would be too large."""
    if isinstance(layout.queries, WideAnswers):
        return
    drawn = [(q, int(cell)) for q, cell in zip(layout.queries, layout.cells, strict=True) if q.drawn]
    if not drawn:
        return
    width = len(drawn[0][0].drawn)
    size = math.prod(layout.shape) * drawn[0][0].drawn[0].codes.size
    cells = np.array([cell for _, cell in drawn], dtype=np.int64)
    together = [Layout(layout.term, [query for query, _ in drawn], layout.coordinates, cells)]
    for part in together if size <= _MOST_DRAWN else [alone(query) for query, _ in drawn]:
        for k in range(width):
            name = part.term if width == 1 else f"{part.term}[{k + 1}]"
            yield name, part, [query.drawn[k] for query in part.queries]


def _draws(part: Layout, drawn: Sequence[Draws]) -> tuple[npt.NDArray[Any], dict[str, Any]]:
    """The draws of answers in their cells, and what their numbers stand for."""
    kinds = {draws.kind for draws in drawn}
    symbols = not (kinds <= {int, float} or kinds == {bool})
    values, _ = coded([value for draws in drawn for value in draws.values])
    whole = len(drawn) == math.prod(part.shape) and float not in kinds
    number = np.int8 if kinds == {bool} else np.int64
    chains, count = drawn[0].codes.shape
    data = np.full(
        (chains, count, math.prod(part.shape)), 0 if whole else np.nan, number if whole else np.float64
    )
    for cell, draws in zip(part.cells.tolist(), drawn, strict=True):
        data[:, :, cell] = _codes(draws, values) if symbols else draws.array()
    return data.reshape(chains, count, *part.shape), {"values": [*map(_text, values)]} if symbols else {}


def _codes(draws: Draws, values: Sequence[Value]) -> npt.NDArray[np.int64]:
    _, places = coded([*values, *draws.values])
    found: npt.NDArray[np.int64] = places[len(values) :][draws.codes]
    return found


def _observe(group: _Dataset, function: Observed) -> None:
    """The observations of a random function; what is not observed is NaN, or the empty text."""
    axes: dict[str, tuple[Any, ...]] = {}
    cells = np.zeros(len(function.values), dtype=np.int64)
    for k, slot in enumerate(function.slots):
        axes[slot], places = coded([index[k] for index in function.index])
        cells = cells * len(axes[slot]) + places
    shape = tuple(map(len, axes.values()))
    if math.prod(shape) > _MOST_DRAWN:
        return
    symbols = any(isinstance(value, str) for value in function.values)
    data: npt.NDArray[Any] = np.full(
        math.prod(shape), "" if symbols else np.nan, object if symbols else np.float64
    )
    data[cells] = [*map(_text, function.values)] if symbols else function.values
    if symbols:
        data = data.astype(str)
    group.variables[function.function] = (group.dimensions(function.function, axes), data.reshape(shape), {})
