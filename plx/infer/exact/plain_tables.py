"""Tables of a tree in plain numbers, as far as doubles hold them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from plx.graph.ragged import owners
from plx.infer.kernels.junction_tree import Tree
from plx.infer.kernels.plain_junction_tree import LEAST
from plx.values import FloatArray


class PlainTables(NamedTuple):
    """Tables whose largest entries are 1, and room for messages; see `collect_plain`."""

    data: FloatArray
    item_least: FloatArray
    shift: FloatArray  # [C] the log of what the factors of each clique were divided by


def plain_tables(tree: Tree, tables: FloatArray) -> PlainTables | None:
    """The exponentials of log tables; None where entries of one table are too far apart."""
    factor = np.flatnonzero(tree.item_child < 0)
    begin, which = np.unique(tree.item_source[factor], return_inverse=True)
    if not len(begin):
        return None
    size = np.diff(np.append(begin, len(tables)))
    peak = np.maximum.reduceat(tables, begin)
    if (peak == -np.inf).any():
        return None
    moved = tables - np.repeat(peak, size)
    possible = moved > -np.inf
    if moved[possible].min() < math.log(LEAST):
        return None
    plain = np.exp(moved)
    item_least = np.ones(len(tree.item_child))
    item_least[factor] = np.minimum.reduceat(np.where(possible, plain, 1.0), begin)[which]
    shift = np.zeros(len(tree.parent))
    np.add.at(shift, owners(tree.item_start)[factor], peak[which])
    return PlainTables(np.concatenate([plain, np.zeros(tree.message_start[-1])]), item_least, shift)
