"""Symmetries as renamings: symbols of the program that can change places in every unknown at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from plx.lift.layers import Layer
from plx.lift.names import PointNames
from plx.values import IntArray


def interchangeable_symbols(names: PointNames) -> list[list[int]]:
    """Sets of value ids: every permutation of a set, applied to the arguments and values of all unknowns, is
    a symmetry.

    Two kinds are looked for: values that are of one class wherever they are values, and symbols that tell the
    blocks of a symmetric layer apart. There may be others, as of a layer that a solver found.
    """
    arguments = _mentions(names)
    return [*_of_layers(names, arguments), *_of_values(names, arguments)]


def _mentions(names: PointNames) -> dict[int, set[int]]:
    """The unknowns of which each value is an argument."""
    found: dict[int, set[int]] = defaultdict(set)
    for variable in range(len(names.start) - 1):
        for value in names.index(variable):
            found[value].add(variable)
    return found


def _of_values(names: PointNames, arguments: dict[int, set[int]]) -> Iterator[list[int]]:
    """Values that share their class in each unknown that has them, and are no arguments."""
    classes: dict[int, list[int]] = defaultdict(list)
    start, state = names.symmetry.start.tolist(), names.symmetry.quotient.state.tolist()
    for variable, first in enumerate(start[:-1]):
        for k, value in enumerate(names.model.atoms.states(variable).tolist()):
            classes[value].append(state[first + k])
    alike: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for value, found in classes.items():
        if value not in arguments:
            alike[tuple(found)].append(value)
    yield from (values for values in alike.values() if len(values) > 1)


def _of_layers(names: PointNames, arguments: dict[int, set[int]]) -> Iterator[list[int]]:
    """What tells the blocks of a symmetric layer apart, where to exchange blocks is to rename it."""
    domains = {int(v) for domain in names.model.atoms.domains for v in domain}
    for layer in names.symmetry.group.layers:
        keys = block_keys(names, layer) if layer.is_symmetric and len(layer.points) == 1 else []
        if not keys or domains.intersection(keys):
            continue
        variables = names.variable[layer.points[0]]
        moved = set(variables.ravel().tolist())
        if all(arguments[key] <= moved for key in keys) and _are_renamings(names, variables, layer, keys):
            yield keys


def block_keys(names: PointNames, layer: Layer) -> list[int]:
    """The one argument of each block that all its unknowns share and no other block has; none if there is
    none."""
    variables = names.variable[layer.points[0]]
    shared = [frozenset.intersection(*(names.arguments(v) for v in set(row))) for row in variables.tolist()]
    count: dict[int, int] = defaultdict(int)
    for arguments in shared:
        for argument in arguments:
            count[argument] += 1
    own = [[a for a in arguments if count[a] == 1] for arguments in shared]
    return [a for (a,) in own] if all(len(arguments) == 1 for arguments in own) else []


def _are_renamings(names: PointNames, variables: IntArray, layer: Layer, keys: list[int]) -> bool:
    """Whether blocks are the first with its key renamed, unknown by unknown and value by value."""
    whole = np.diff(names.start)[np.unique(variables)].sum() == variables.size
    return (
        bool(whole)
        and len({tuple(_block(names, *pair)) for pair in zip(layer.points[0], keys, strict=True)}) == 1
    )


def _block(names: PointNames, points: IntArray, key: int) -> Iterator[tuple[str, tuple[int, ...], str]]:
    """The points of a block, with its key left out."""
    for point in points.tolist():
        variable = int(names.variable[point])
        index = tuple(-1 if value == key else value for value in names.index(variable))
        yield names.function(variable), index, names.value(point)
