"""Evidence on pairs of elements: summed over by eliminating the elements in it, one after the other.

Elements that evidence joins are like all others to the rest. So all that the rest needs of them is how many
are in each cell: a polynomial with a variable for each cell. Eliminating an element leaves one for every
joint cell of its neighbours, as for any factor graph, so that a tree or a chain of known pairs takes time in
its length. (Elimination with counts of the rest as separators; de Salvo Braz, Amir & Roth 2005, Taghipour et
al. 2013.)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plx.deadline import check
from plx.firstorder.own_weights import log_sums_by
from plx.firstorder.refusal import NotLiftableError
from plx.values import FloatArray, IntArray

_MOST_TABLE = 1 << 12
"""Joint cells of the neighbours of an element."""

_MOST_TERMS = 1 << 24
"""Terms of a product of two polynomials."""


@dataclass(frozen=True, eq=False)
class Terms:
    """A polynomial: ``key`` [N] is how many elements are in each cell, Σ_c count_c radix^c; and ``logs``."""

    key: IntArray
    logs: FloatArray

    def times(self, other: Terms) -> Terms:
        """The product. Raises NotLiftableError where it is too large."""
        if len(self.key) * len(other.key) > _MOST_TERMS:
            raise NotLiftableError("evidence on pairs joins too many members")
        key = np.add.outer(self.key, other.key).ravel()
        return gathered(key, np.add.outer(self.logs, other.logs).ravel())


def gathered(key: IntArray, logs: FloatArray) -> Terms:
    """Terms of which equal ones are added."""
    keys, index = np.unique(key, return_inverse=True)
    return Terms(keys, log_sums_by(index, logs, len(keys)))


@dataclass(frozen=True, eq=False)
class Linked:
    """An element that evidence joins with others: the log weight of each cell, and the key of each."""

    own: Mapping[int, float]
    key: Mapping[int, int]


Message = tuple[tuple[int, ...], dict[tuple[int, ...], Terms]]
"""Elements, and a polynomial for each of their joint cells that is possible."""


def eliminated(elements: Mapping[int, Linked], links: Mapping[tuple[int, int], FloatArray]) -> Terms:
    """How many elements are in each cell, all summed over. ``links`` are log weights [m, m'] of two of them.

    Raises NotLiftableError where they are joined too closely.
    """
    messages: list[Message] = []
    for (a, b), weights in links.items():
        joint: dict[tuple[int, ...], Terms] = {}
        for c, d in itertools.product(elements[a].own, elements[b].own):
            if weights[c, d] > -np.inf:
                joint[c, d] = _constant(float(weights[c, d]))
        messages.append(((a, b), joint))
    total = _constant(0.0)
    for one, around in _order(elements, links):
        check()
        mine = [message for message in messages if one in message[0]]
        messages = [message for message in messages if one not in message[0]]
        scope, table = _without(one, elements, mine, around)
        if not scope:
            total = total.times(table.get((), Terms(np.zeros(0, dtype=np.int64), np.zeros(0))))
        else:
            messages.append((scope, table))
    return total


def joint_cells(cells: Mapping[int, int], links: Iterable[tuple[int, int]]) -> int:
    """How many joint cells of an element and its neighbours `eliminated` goes through; ``cells`` is how many
    each element has."""
    return sum(math.prod(cells[e] for e in (one, *around)) for one, around in _order(cells, links))


def _order(elements: Iterable[int], links: Iterable[tuple[int, int]]) -> list[tuple[int, list[int]]]:
    """Elements, each with the neighbours that it has when its turn comes: the fewest are next."""
    around: dict[int, set[int]] = {e: set() for e in elements}
    for a, b in links:
        around[a].add(b)
        around[b].add(a)
    found = []
    while around:
        one = min(around, key=lambda e: (len(around[e]), e))
        scope = around.pop(one)
        for e in scope:
            around[e] = (around[e] | scope) - {one, e}
        found.append((one, sorted(scope)))
    return found


def _without(
    one: int, elements: Mapping[int, Linked], messages: Sequence[Message], scope: Sequence[int]
) -> Message:
    """The message of an element to its neighbours."""
    size = math.prod(len(elements[e].own) for e in scope)
    if size > _MOST_TABLE:
        raise NotLiftableError(f"evidence on pairs joins members so that {size:,} joint cells are needed")
    table = {}
    for cells in itertools.product(*(elements[e].own for e in scope)):
        at = dict(zip(scope, cells, strict=True))
        found = []
        for cell, own in elements[one].own.items():
            at[one] = cell
            parts = [message.get(tuple(at[e] for e in names)) for names, message in messages]
            if any(part is None for part in parts):
                continue
            product = Terms(np.array([elements[one].key[cell]]), np.array([own]))
            for part in sorted((p for p in parts if p is not None), key=lambda p: len(p.key)):
                product = product.times(part)
            found.append(product)
        if found:
            key = np.concatenate([terms.key for terms in found])
            table[cells] = gathered(key, np.concatenate([terms.logs for terms in found]))
    return tuple(scope), table


def _constant(log: float) -> Terms:
    return Terms(np.zeros(1, dtype=np.int64), np.array([log]))
