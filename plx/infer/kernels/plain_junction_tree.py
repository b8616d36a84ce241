"""Message passing on a junction tree in plain numbers, compiled: for large trees whose tables are not far
from 1.

Nothing is exponentiated, and no table of a clique is kept: each block of it is made, added up, and forgotten.
Tables and messages are scaled so that their largest entry is 1. Where a product might fall below what doubles
hold, the pass gives up, and the one in log space takes over.
"""

from __future__ import annotations

import math

import numpy as np

from plx.infer.kernels.junction_tree import (
    Floats,
    IntGrid,
    Ints,
    Stop,
    Tree,
    block_size,
    derive,
    index_of,
    repeats,
    room,
    sum_of,
)
from plx.jit import kernel

WORTH = 4
"""Shorter runs of entries are looked up one by one: that takes less than a loop for each."""

LEAST = 1e-300
"""No product of positive numbers is let fall below this."""


def _follows(tree: Tree, c: int, link: int, block: int) -> int:
    """How many neighbouring entries of a block lead to neighbours, one after the other."""
    begin = tree.axis_start[c]
    for d in range(tree.derived_start[c], tree.derived_start[c + 1]):
        if tree.stride[link + tree.derived_axis[d]]:
            return 1
    span = 1
    for a in range(tree.axis_start[c + 1] - 1, begin - 1, -1):
        if tree.axis_base[a]:
            if span == block or tree.stride[link + a - begin] != span:
                break
            span *= tree.axis_card[a]
    return span


def _pattern(tree: Tree, c: int, link: int, block: int) -> tuple[int, int]:
    """How many neighbouring entries agree, and else how many follow each other; 1 where it is few."""
    run = repeats(tree, c, link, block)
    span = _follows(tree, c, link, block) if run == 1 else 1
    return run if run >= WORTH else 1, span if span >= WORTH else 1


def _multiply(
    tree: Tree,
    c: int,
    link: int,
    source: Floats,
    chunk: int,
    block: int,
    k: int,
    part: Floats,
    derived: IntGrid,
    index: Ints,
) -> None:
    """Multiply a block of clique c by the entries of ``source`` that the link leads to."""
    run, span = _pattern(tree, c, link, block)
    index_of(tree, c, link, chunk, block, max(run, span), k, derived, index)
    if run > 1:
        for q in range(block // run):
            value = source[index[q]]
            for j in range(q * run, (q + 1) * run):
                part[j] *= value
    elif span > 1:
        for q in range(block // span):
            first = index[q]
            for j in range(span):
                part[q * span + j] *= source[first + j]
    else:
        for j in range(block):
            part[j] *= source[index[j]]


def _add(
    tree: Tree,
    c: int,
    link: int,
    part: Floats,
    chunk: int,
    block: int,
    k: int,
    out: Floats,
    derived: IntGrid,
    index: Ints,
) -> None:
    """Add a block of clique c to the entries of ``out`` that the link leads to."""
    run, span = _pattern(tree, c, link, block)
    index_of(tree, c, link, chunk, block, max(run, span), k, derived, index)
    if run > 1:
        for q in range(block // run):
            out[index[q]] += sum_of(part[q * run : (q + 1) * run])
    elif span > 1:
        for q in range(block // span):
            first = index[q]
            for j in range(span):
                out[first + j] += part[q * span + j]
    else:
        for j in range(block):
            out[index[j]] += part[j]


def _least(part: Floats) -> float:
    """The least positive number of some that are at most 1; 1 if there is none."""
    out = 1.0
    for j in range(len(part)):
        if part[j] > 0.0:
            out = min(out, part[j])
    return out


def _gather(
    tree: Tree,
    c: int,
    data: Floats,
    item_least: Floats,
    chunk: int,
    block: int,
    k: int,
    part: Floats,
    derived: IntGrid,
    index: Ints,
) -> bool:
    """A block of the product of what clique c gathers; False where it might be too small for doubles."""
    part[:] = 1.0
    least = 1.0
    for i in range(tree.item_start[c], tree.item_start[c + 1]):
        if least * item_least[i] < LEAST:
            least = _least(part)
            if least * item_least[i] < LEAST:
                return False
        least *= item_least[i]
        _multiply(
            tree, c, tree.item_link[i], data[tree.item_source[i] :], chunk, block, k, part, derived, index
        )
    return True


@kernel
def collect_plain(
    tree: Tree, data: Floats, messages: int, item_least: Floats, scale: Floats, stop: Stop
) -> int:
    """Send messages from the leaves to the roots.

    ``data`` holds the tables of the factors, at most 1, and from ``messages`` on zeros for the messages, each
    scaled so that its largest entry is 1; ``scale[c]`` is the log of what it was. ``item_least`` are the
    least positive entries of what cliques gather, filled in for messages. 0 where no state is possible, -1
    where numbers might become too small, 1 otherwise.
    """
    derived, index = room(tree)
    rows = np.empty(len(index))
    sent_at = np.full(len(tree.parent), -1, dtype=np.int64)
    for i in range(len(tree.item_child)):
        if tree.item_child[i] >= 0:
            sent_at[tree.item_child[i]] = i
    for c in range(len(tree.parent)):
        block = block_size(tree, c)
        part = rows[:block]
        message = data[messages + tree.message_start[c] : messages + tree.message_start[c + 1]]
        for chunk in range((tree.entry_start[c + 1] - tree.entry_start[c]) // block):
            if stop[0]:
                return 0
            k = derive(tree, c, chunk, block, derived, index)
            if not _gather(tree, c, data, item_least, chunk, block, k, part, derived, index):
                return -1
            _add(tree, c, tree.own_link[c], part, chunk, block, k, message, derived, index)
        largest = 0.0
        for j in range(len(message)):
            largest = max(largest, message[j])
        if largest == 0.0:
            return 0
        scale[c] = math.log(largest)
        for j in range(len(message)):
            message[j] /= largest
        if sent_at[c] >= 0:
            item_least[sent_at[c]] = _least(message)
    return 1


@kernel
def distribute_plain(
    tree: Tree,
    data: Floats,
    messages: int,
    scale: Floats,
    target_start: Ints,
    target_link: Ints,
    out_start: Ints,
    out: Floats,
    stop: Stop,
) -> None:
    """Send messages back after `collect_plain`, and read the joint distributions of targets on the way.

    Targets are as in `distribute`. A message is overwritten by P(its states) / itself / its scale: the table
    of its clique times that is a distribution.
    """
    derived, index = room(tree)
    rows = np.empty(len(index))
    back_at = np.zeros(len(tree.parent), dtype=np.int64)
    for c in range(len(tree.parent) - 1, -1, -1):
        own = messages + tree.message_start[c]
        if tree.parent[c] < 0:
            data[own] = math.exp(-scale[c])
        size = 0
        for i in range(tree.item_start[c], tree.item_start[c + 1]):
            child = tree.item_child[i]
            if child >= 0:
                back_at[child] = size
                size += tree.message_start[child + 1] - tree.message_start[child]
        back = np.zeros(size)
        block = block_size(tree, c)
        part = rows[:block]
        for chunk in range((tree.entry_start[c + 1] - tree.entry_start[c]) // block):
            if stop[0]:
                return
            k = derive(tree, c, chunk, block, derived, index)
            part[:] = 1.0
            for i in range(tree.item_start[c], tree.item_start[c + 1]):
                source = data[tree.item_source[i] :]
                _multiply(tree, c, tree.item_link[i], source, chunk, block, k, part, derived, index)
            _multiply(tree, c, tree.own_link[c], data[own:], chunk, block, k, part, derived, index)
            for i in range(tree.item_start[c], tree.item_start[c + 1]):
                child = tree.item_child[i]
                if child >= 0:
                    room_of = back[back_at[child] :]
                    _add(tree, c, tree.item_link[i], part, chunk, block, k, room_of, derived, index)
            for t in range(target_start[c], target_start[c + 1]):
                _add(tree, c, target_link[t], part, chunk, block, k, out[out_start[t] :], derived, index)
        for i in range(tree.item_start[c], tree.item_start[c + 1]):
            child = tree.item_child[i]
            if child >= 0:
                size = tree.message_start[child + 1] - tree.message_start[child]
                message = data[tree.item_source[i] : tree.item_source[i] + size]
                share = math.exp(-scale[child])
                for j in range(size):
                    if message[j] > 0.0:
                        message[j] = back[back_at[child] + j] / message[j] * share
