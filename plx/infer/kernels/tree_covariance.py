"""The covariance of sums of statistics over a junction tree, in one pass from the leaves, compiled.

By the law of total covariance: the sums below a clique, given the states that it shares with its parent,
have a mean for each of these; at the parent it counts as one more statistic. What is left over at each clique
is the covariance given those states, and all of it adds up (the second moments of Li & Eisner 2009, *First-
and second-order expectation semirings*, kept centred, so that nothing large cancels).
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.junction_tree import Floats, Ints, Stop, Tree, derive, gather, index_of, room
from plx.infer.kernels.junction_tree import block_size as block_of
from plx.jit import kernel

FloatGrid = Annotated[npt.NDArray[np.float64], 2]


def _add_outer(out: FloatGrid, vector: Floats, times: float, found: Ints) -> None:
    """Add times · vector vectorᵀ to the lower triangle of ``out``; ``found`` is room for K positions."""
    n = 0
    for a in range(len(vector)):
        if vector[a] != 0.0:
            found[n] = a
            n += 1
    for i in range(n):
        part = times * vector[found[i]]
        for j in range(i + 1):
            out[found[i], found[j]] += part * vector[found[j]]


@kernel
def covariance(
    tree: Tree,
    data: Floats,
    own: int,
    rows: Ints,
    row_start: Ints,
    number: Ints,
    coefficient: Floats,
    times: Floats,
    table: Floats,
    mean: FloatGrid,
    out: FloatGrid,
    stop: Stop,
) -> None:
    """Add the covariance of K statistics to the lower triangle of ``out``, (K, K).

    ``data`` holds the log tables of the factors, then the messages that `collect` left, then, from ``own``
    on, those of `distribute`. The entry of a factor at ``data[i]`` has the statistics
    ``row_start[rows[i]] … row_start[rows[i] + 1] - 1``: numbers and coefficients. Clique c counts
    ``times[c]`` times. ``mean``, (entries of all messages, K), is zero.
    """
    derived, index = room(tree)
    vector = np.zeros((len(index), out.shape[0]))
    found = np.zeros(out.shape[0], dtype=np.int64)
    middle = np.zeros(out.shape[0])
    for c in range(len(tree.parent)):
        if stop[0]:
            return
        first, last = tree.message_start[c], tree.message_start[c + 1]
        gather(tree, c, data, own + first, table, derived, index, stop)
        weight = np.zeros(last - first)
        block = block_of(tree, c)
        chunks = (tree.entry_start[c + 1] - tree.entry_start[c]) // block
        for again in range(2):  # the means first, then what is left over
            for chunk in range(chunks):
                k = derive(tree, c, chunk, block, derived, index)
                for j in range(block):
                    vector[j, :] = 0.0
                for i in range(tree.item_start[c], tree.item_start[c + 1]):
                    child = tree.item_child[i]
                    index_of(tree, c, tree.item_link[i], chunk, block, 1, k, derived, index)
                    if child >= 0:
                        begin = tree.message_start[child]
                        for j in range(block):
                            vector[j, :] += mean[begin + index[j], :]
                    else:
                        begin = tree.item_source[i]
                        for j in range(block):
                            row = rows[begin + index[j]]
                            for q in range(row_start[row], row_start[row + 1]):
                                vector[j, number[q]] += coefficient[q]
                index_of(tree, c, tree.own_link[c], chunk, block, 1, k, derived, index)
                for j in range(block):
                    p = math.exp(table[chunk * block + j])
                    if p > 0.0:
                        at = index[j]
                        if again == 0:
                            weight[at] += p
                            mean[first + at, :] += p * vector[j, :]
                        else:
                            vector[j, :] -= mean[first + at, :]
                            _add_outer(out, vector[j], times[c] * p, found)
            if again == 0:
                for s in range(last - first):
                    if weight[s] > 0.0:
                        mean[first + s, :] /= weight[s]
        middle[:] = 0.0
        for s in range(last - first):
            middle += weight[s] * mean[first + s, :]
        for s in range(last - first):
            if weight[s] > 0.0:
                mean[first + s, :] -= middle
