"""Message passing in log space on a junction tree held as flat arrays, compiled.

A clique's table runs over its *base* axes only. Its other axes are functions of them (a partial
sum is a function of its parts), so no table is ever spent on states that cannot occur. Tables are
walked in blocks of at most a few thousand entries, whose indices into a message or a factor are
filled by strides.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from plx.jit import kernel

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
IntGrid = Annotated[npt.NDArray[np.int64], 2]
Stop = npt.NDArray[np.bool_]
"""A flag [1]: once it is set, a kernel returns soon, and its results are of no use."""

BLOCK = 4096
"""Entries of a clique walked at a time, about."""

SHORTEST = 64
"""No block is shorter than this where the clique is longer, whatever the cards."""


class Tree(NamedTuple):
    """C cliques, children before parents. A *link* is a row of strides, one per axis of a clique."""

    axis_start: Ints  # [C + 1]
    axis_card: Ints
    axis_base: Ints  # 1 for a base axis, 0 for a function of base axes
    entry_start: Ints  # [C + 1] where the table of a clique begins
    derived_start: Ints  # [C + 1] derived axes in an order of evaluation
    derived_axis: Ints  # position of the axis in its clique
    derived_map: Ints  # where its function begins in `map`
    derived_link: Ints
    map: Ints
    item_start: Ints  # [C + 1] factors, then messages of children
    item_source: Ints  # where the item begins in `data`
    item_link: Ints
    item_child: Ints  # the clique that sends it, or -1 for a factor
    parent: Ints  # [C] or -1
    message_start: Ints  # [C + 1] where the message of a clique begins
    own_link: Ints  # [C] from the message to the clique itself
    parent_link: Ints  # [C] from the message to its parent
    stride: Ints


@kernel
def row_strides(start: Ints, card: Ints) -> Ints:
    """C-order strides of the axes of tables, one row of axes per table."""
    out = np.zeros(len(card), dtype=np.int64)
    for row in range(len(start) - 1):
        size = 1
        for i in range(start[row + 1] - 1, start[row] - 1, -1):
            out[i] = size
            size *= card[i]
    return out


def block_size(tree: Tree, c: int) -> int:
    """The number of entries in the trailing base axes that fit a block."""
    size = 1
    for a in range(tree.axis_start[c + 1] - 1, tree.axis_start[c] - 1, -1):
        if tree.axis_base[a]:
            if size >= SHORTEST and size * tree.axis_card[a] > BLOCK:
                break
            size *= tree.axis_card[a]
    return size


def repeats(tree: Tree, c: int, link: int, block: int) -> int:
    """How many neighbouring entries of a block always agree on what the link leads to."""
    begin = tree.axis_start[c]
    for d in range(tree.derived_start[c], tree.derived_start[c + 1]):
        if tree.stride[link + tree.derived_axis[d]]:
            return 1
    run = 1
    for a in range(tree.axis_start[c + 1] - 1, begin - 1, -1):
        if tree.axis_base[a]:
            if run == block or tree.stride[link + a - begin]:
                break
            run *= tree.axis_card[a]
    return run


def index_of(
    tree: Tree,
    c: int,
    link: int,
    chunk: int,
    block: int,
    run: int,
    n_derived: int,
    derived: IntGrid,
    out: Ints,
) -> None:
    """Where each run of entries of a chunk lies in what the link leads to."""
    begin = tree.axis_start[c]
    size, offset, rest = 1, 0, chunk
    out[0] = 0
    for a in range(tree.axis_start[c + 1] - 1, begin - 1, -1):
        if tree.axis_base[a]:
            card, stride = tree.axis_card[a], tree.stride[link + a - begin]
            if size < run:
                size *= card
            elif size < block:
                filled = size // run
                for v in range(1, card):
                    for j in range(filled):
                        out[v * filled + j] = out[j] + v * stride
                size *= card
            else:
                offset += (rest % card) * stride
                rest //= card
    if offset:
        for j in range(block // run):
            out[j] += offset
    for d in range(n_derived):
        stride = tree.stride[link + tree.derived_axis[tree.derived_start[c] + d]]
        if stride:
            for j in range(block):
                out[j] += stride * derived[d, j]


def derive(tree: Tree, c: int, chunk: int, block: int, derived: IntGrid, scratch: Ints) -> int:
    """The states of the derived axes over a chunk; returns how many there are."""
    first = tree.derived_start[c]
    count = tree.derived_start[c + 1] - first
    for d in range(count):
        index_of(tree, c, tree.derived_link[first + d], chunk, block, 1, d, derived, scratch)
        base = tree.derived_map[first + d]
        for j in range(block):
            derived[d, j] = tree.map[base + scratch[j]]
    return int(count)


def room(tree: Tree) -> tuple[IntGrid, Ints]:
    """Space for the derived states and the indices of a block of any clique."""
    rows, block = 1, 1
    for c in range(len(tree.parent)):
        rows = max(rows, tree.derived_start[c + 1] - tree.derived_start[c])
        block = max(block, block_size(tree, c))
    return np.empty((rows, block), dtype=np.int64), np.empty(block, dtype=np.int64)


def _sum_out(
    tree: Tree, c: int, link: int, table: Floats, out: Floats, derived: IntGrid, index: Ints
) -> None:
    """``out = log Σ exp table`` over the entries of clique c that agree on the link; −inf for none."""
    block = block_size(tree, c)
    chunks = (tree.entry_start[c + 1] - tree.entry_start[c]) // block
    out[:] = -np.inf
    for chunk in range(chunks):
        k = derive(tree, c, chunk, block, derived, index)
        index_of(tree, c, link, chunk, block, 1, k, derived, index)
        for j in range(block):
            out[index[j]] = max(out[index[j]], table[chunk * block + j])
    total = np.zeros(len(out))
    for chunk in range(chunks):
        k = derive(tree, c, chunk, block, derived, index)
        index_of(tree, c, link, chunk, block, 1, k, derived, index)
        for j in range(block):
            value = table[chunk * block + j]
            if value > -np.inf:
                total[index[j]] += math.exp(value - out[index[j]])
    for j in range(len(out)):
        if out[j] > -np.inf:
            out[j] += math.log(total[j])


def gather(
    tree: Tree, c: int, data: Floats, own: int, table: Floats, derived: IntGrid, index: Ints, stop: Stop
) -> None:
    """The table of clique c: its factors, its children's messages, and (``own >= 0``) its own from there."""
    block = block_size(tree, c)
    for chunk in range((tree.entry_start[c + 1] - tree.entry_start[c]) // block):
        if stop[0]:
            return
        k = derive(tree, c, chunk, block, derived, index)
        part = table[chunk * block : (chunk + 1) * block]
        part[:] = 0.0
        for i in range(tree.item_start[c], tree.item_start[c + 1]):
            run = repeats(tree, c, tree.item_link[i], block)
            index_of(tree, c, tree.item_link[i], chunk, block, run, k, derived, index)
            source = data[tree.item_source[i] :]
            if run == 1:
                for j in range(block):
                    part[j] += source[index[j]]
            else:
                for q in range(block // run):
                    value = source[index[q]]
                    for j in range(q * run, (q + 1) * run):
                        part[j] += value
        if own >= 0:
            index_of(tree, c, tree.own_link[c], chunk, block, 1, k, derived, index)
            for j in range(block):
                part[j] += data[own + index[j]]


def _largest(part: Floats) -> float:
    out = -np.inf
    for j in range(len(part)):
        out = max(out, part[j])
    return out


@kernel
def collect(tree: Tree, data: Floats, messages: int, table: Floats, scale: Floats, stop: Stop) -> bool:
    """Send messages from the leaves to the roots.

    ``data`` holds the log tables of the factors and, from ``messages`` on, room for the messages,
    each shifted so that its largest entry is 0; ``scale[c]`` is what was shifted, and Σ scale is
    log Z. ``table`` is room for the largest clique. False where no state is possible.
    """
    derived, index = room(tree)
    for c in range(len(tree.parent)):
        gather(tree, c, data, -1, table, derived, index, stop)
        if stop[0]:
            return False
        message = data[messages + tree.message_start[c] : messages + tree.message_start[c + 1]]
        _sum_out(tree, c, tree.own_link[c], table, message, derived, index)
        scale[c] = _largest(message)
        if scale[c] == -np.inf:
            return False
        message -= scale[c]
    return True


def sum_of(part: Floats) -> float:
    """A sum in four strands, which do not wait for each other."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = len(part) - len(part) % 4
    for j in range(0, whole, 4):
        a += part[j]
        b += part[j + 1]
        c += part[j + 2]
        d += part[j + 3]
    for j in range(whole, len(part)):
        a += part[j]
    return a + b + c + d


def _add_up(tree: Tree, c: int, link: int, table: Floats, out: Floats, derived: IntGrid, index: Ints) -> None:
    """Add the entries of clique c to those of ``out`` that the link leads to."""
    block = block_size(tree, c)
    run = repeats(tree, c, link, block)
    for chunk in range((tree.entry_start[c + 1] - tree.entry_start[c]) // block):
        k = derive(tree, c, chunk, block, derived, index)
        index_of(tree, c, link, chunk, block, run, k, derived, index)
        part = table[chunk * block : (chunk + 1) * block]
        if run == 1:
            for j in range(block):
                out[index[j]] += part[j]
        else:
            for q in range(block // run):
                out[index[q]] += sum_of(part[q * run : (q + 1) * run])


@kernel
def distribute(
    tree: Tree,
    data: Floats,
    messages: int,
    table: Floats,
    scale: Floats,
    target_start: Ints,
    target_link: Ints,
    out_start: Ints,
    out: Floats,
    stop: Stop,
) -> None:
    """Send messages back after `collect`, and read the joint distributions of targets on the way.

    Clique c answers the targets ``target_start[c] … target_start[c + 1] - 1``: the probability of
    each joint state is added to ``out[out_start[t] + state]``. A message is overwritten by
    log P(its states) − itself − scale: added to the table of its clique that makes a distribution.
    Sums are of plain probabilities, so only those below 1e-307 are lost.
    """
    derived, index = room(tree)
    for c in range(len(tree.parent) - 1, -1, -1):
        own = messages + tree.message_start[c]
        if tree.parent[c] < 0:
            data[own] = -scale[c]
        gather(tree, c, data, own, table, derived, index, stop)
        if stop[0]:
            return
        size = tree.entry_start[c + 1] - tree.entry_start[c]
        for j in range(size):
            table[j] = math.exp(table[j])
        for i in range(tree.item_start[c], tree.item_start[c + 1]):
            child = tree.item_child[i]
            if child >= 0:
                size = tree.message_start[child + 1] - tree.message_start[child]
                message = data[tree.item_source[i] : tree.item_source[i] + size]
                back = np.zeros(size)
                _add_up(tree, c, tree.item_link[i], table, back, derived, index)
                for j in range(size):
                    message[j] = math.log(back[j]) - message[j] - scale[child] if back[j] > 0.0 else -np.inf
        for t in range(target_start[c], target_start[c + 1]):
            _add_up(tree, c, target_link[t], table, out[out_start[t] :], derived, index)
