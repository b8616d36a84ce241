"""The k best worlds by max-sum on a junction tree, compiled.

A message holds, for each of its states, the k best log weights of what lies below, best first.
Nothing is remembered of how they came about: the way back from the root recomputes the one list
that it follows in each clique. Ties are broken by the order of entries, the same both ways.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.junction_tree import (
    Floats,
    IntGrid,
    Ints,
    Stop,
    Tree,
    block_size,
    derive,
    index_of,
    room,
)
from plx.jit import kernel

Grid = Annotated[npt.NDArray[np.float64], 2]


def _combine(a: Floats, b: Floats, out: Floats, from_a: Ints, from_b: Ints) -> None:
    """The best sums of an entry of ``a`` and one of ``b``, both sorted, and which entries they are."""
    k = len(out)
    out[:] = -np.inf
    for i in range(k):
        for j in range(k // (i + 1)):
            value = a[i] + b[j]
            if not value > out[k - 1]:
                break
            at = k - 1
            while at > 0 and out[at - 1] < value:
                out[at], from_a[at], from_b[at] = out[at - 1], from_a[at - 1], from_b[at - 1]
                at -= 1
            out[at], from_a[at], from_b[at] = value, i, j


def _insert(best: Floats, value: float) -> int:
    """Put a value into a sorted list, after its equals; where it went, or -1."""
    at = len(best) - 1
    if not value > best[at]:
        return -1
    while at > 0 and best[at - 1] < value:
        best[at] = best[at - 1]
        at -= 1
    best[at] = value
    return at


def _copy(row: Floats, out: Floats) -> None:
    """As a slice, which would take longer to compile for its messages."""
    for i in range(len(row)):
        out[i] = row[i]


def _copy_ranks(row: Ints, out: Ints) -> None:
    for i in range(len(row)):
        out[i] = row[i]


def _add_item(tree: Tree, item: int, data: Floats, messages: Grid, index: Ints, lists: Grid) -> None:
    """Add a factor to the lists of a block, or combine them with those of a message."""
    child, k = tree.item_child[item], messages.shape[1]
    spare = np.empty(k)
    from_a, from_b = np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.int64)
    for j in range(len(lists)):
        if child < 0:
            lists[j, 0] += data[tree.item_source[item] + index[j]]
        elif k == 1:
            lists[j, 0] += messages[tree.message_start[child] + index[j], 0]
        else:
            _combine(lists[j], messages[tree.message_start[child] + index[j]], spare, from_a, from_b)
            _copy(spare, lists[j])


@kernel
def collect_best(tree: Tree, data: Floats, messages: Grid, stop: Stop) -> bool:
    """Send the k best log weights from the leaves to the roots; False where no state is possible.

    ``data`` holds the log tables of the factors, ``messages`` has room for k per entry.
    """
    derived, index = room(tree)
    lists = np.empty((len(index), messages.shape[1]))
    messages[:] = -np.inf
    for c in range(len(tree.parent)):
        block = block_size(tree, c)
        first, last = tree.message_start[c], tree.message_start[c + 1]
        for chunk in range((tree.entry_start[c + 1] - tree.entry_start[c]) // block):
            if stop[0]:
                return False
            n = derive(tree, c, chunk, block, derived, index)
            lists[:block] = -np.inf
            lists[:block, 0] = 0.0
            for item in range(tree.item_start[c], tree.item_start[c + 1]):
                index_of(tree, c, tree.item_link[item], chunk, block, 1, n, derived, index)
                _add_item(tree, item, data, messages, index, lists[:block])
            index_of(tree, c, tree.own_link[c], chunk, block, 1, n, derived, index)
            for j in range(block):
                for value in lists[j]:
                    if _insert(messages[first + index[j]], value) < 0:
                        break
        possible = False
        for m in range(first, last):
            possible = possible or messages[m, 0] > -np.inf
        if not possible:
            return False
    return True


def _offset(tree: Tree, c: int, link: int, state: Ints) -> int:
    total = 0
    for a in range(tree.axis_start[c + 1] - tree.axis_start[c]):
        total += tree.stride[link + a] * state[a]
    return total


def _decode(tree: Tree, c: int, entry: int, state: Ints) -> None:
    """The state of every axis of clique c at an entry of its table."""
    begin = tree.axis_start[c]
    for a in range(tree.axis_start[c + 1] - 1, begin - 1, -1):
        if tree.axis_base[a]:
            state[a - begin] = entry % tree.axis_card[a]
            entry //= tree.axis_card[a]
    for d in range(tree.derived_start[c], tree.derived_start[c + 1]):
        state[tree.derived_axis[d]] = 0
        at = tree.derived_map[d] + _offset(tree, c, tree.derived_link[d], state)
        state[tree.derived_axis[d]] = tree.map[at]


def _list_of(
    tree: Tree, c: int, state: Ints, data: Floats, messages: Grid, values: Floats, ranks: IntGrid
) -> None:
    """The k best log weights at one entry of clique c, and the rank of each item's message in them."""
    k = len(values)
    spare, moved = np.empty(k), np.zeros_like(ranks)
    from_a, from_b = np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.int64)
    values[:] = -np.inf
    values[0] = 0.0
    for i in range(tree.item_start[c + 1] - tree.item_start[c]):
        item = tree.item_start[c] + i
        at = _offset(tree, c, tree.item_link[item], state)
        child = tree.item_child[item]
        if child < 0:
            values[0] += data[tree.item_source[item] + at]
            continue
        _combine(values, messages[tree.message_start[child] + at], spare, from_a, from_b)
        for r in range(k):
            _copy_ranks(ranks[from_a[r]], moved[r])
            moved[r, i] = from_b[r]
        for r in range(k):
            _copy_ranks(moved[r], ranks[r])
        _copy(spare, values)


def _ranked_entry(
    tree: Tree,
    c: int,
    wanted: int,
    rank: int,
    data: Floats,
    messages: Grid,
    derived: IntGrid,
    index: Ints,
    picks: Ints,
) -> int:
    """The entry of clique c that has a rank among those of one message state, and its items' ranks."""
    k, items = messages.shape[1], tree.item_start[c + 1] - tree.item_start[c]
    state = np.empty(tree.axis_start[c + 1] - tree.axis_start[c], dtype=np.int64)
    best, entry = np.full(k, -np.inf), np.zeros(k, dtype=np.int64)
    values, ranks = np.empty(k), np.zeros((k, items), dtype=np.int64)
    chosen = np.zeros((k, items), dtype=np.int64)
    block = block_size(tree, c)
    for chunk in range((tree.entry_start[c + 1] - tree.entry_start[c]) // block):
        n = derive(tree, c, chunk, block, derived, index)
        index_of(tree, c, tree.own_link[c], chunk, block, 1, n, derived, index)
        for j in range(block):
            if index[j] != wanted:
                continue
            _decode(tree, c, chunk * block + j, state)
            _list_of(tree, c, state, data, messages, values, ranks)
            for r in range(k):
                place = _insert(best, values[r])
                if place < 0:
                    break
                for s in range(k - 1, place, -1):
                    entry[s] = entry[s - 1]
                    _copy_ranks(chosen[s - 1], chosen[s])
                entry[place] = chunk * block + j
                _copy_ranks(ranks[r], chosen[place])
    _copy_ranks(chosen[rank], picks)
    return int(entry[rank])


@kernel
def trace_best(tree: Tree, axis: Ints, data: Floats, messages: Grid, rank: int, states: Ints) -> None:
    """Write the world of the given rank (from 0) at the only root into ``states``, by nodes.

    ``axis`` names the node of every axis of the tree.
    """
    derived, index = room(tree)
    ranks = np.zeros(len(tree.parent), dtype=np.int64)
    ranks[len(ranks) - 1] = rank
    most = 0
    for c in range(len(tree.parent)):
        most = max(most, tree.item_start[c + 1] - tree.item_start[c])
    picks = np.zeros(most, dtype=np.int64)
    for c in range(len(tree.parent) - 1, -1, -1):
        nodes = axis[tree.axis_start[c] : tree.axis_start[c + 1]]
        wanted = 0
        for a in range(len(nodes)):
            stride = tree.stride[tree.own_link[c] + a]
            if stride:
                wanted += stride * states[nodes[a]]
        entry = _ranked_entry(tree, c, wanted, ranks[c], data, messages, derived, index, picks)
        state = np.empty(len(nodes), dtype=np.int64)
        _decode(tree, c, entry, state)
        for a in range(len(nodes)):
            states[nodes[a]] = state[a]
        for item in range(tree.item_start[c], tree.item_start[c + 1]):
            if tree.item_child[item] >= 0:
                ranks[tree.item_child[item]] = picks[item - tree.item_start[c]]
