"""Interchangeable blocks of unknowns among factors over one and two of them.

Unknowns are coloured by all that they meet (colour refinement). Cells of one colour whose members
are matched one to one form blocks: all that belongs to one person. Then every pair of blocks must
meet alike, which is verified in full, so a wrong guess costs only the chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plx import deadline
from plx.graph.components import component_numbers
from plx.graph.rows import unique_rows
from plx.infer.counting.limits import MOST_CELLS
from plx.values import IntArray

NONE = -1
"""The label of a pair that no factor joins."""


_ROUNDS = 30
"""Where colours are not stable after so many rounds, unknowns differ by how far they are from an end."""


@dataclass(frozen=True)
class Pairs:
    """What joins two unknowns: ``label`` is that of ``left`` towards ``right``; no pair occurs twice.

    ``back[label]`` is the label of the same pair seen from the other side.
    """

    left: IntArray
    right: IntArray
    label: IntArray
    back: IntArray

    def sorted_by(self, color: IntArray) -> Pairs:
        """The same pairs, each from the lower colour to the higher."""
        swap = color[self.left] > color[self.right]
        return Pairs(
            np.where(swap, self.right, self.left),
            np.where(swap, self.left, self.right),
            np.where(swap, self.back[self.label], self.label) if len(swap) else self.label,
            self.back,
        )


@dataclass(frozen=True)
class Family:
    """Interchangeable blocks: ``members`` [n, w], one cell per column.

    ``inner[a, b]`` (a < b) is the label within a block from cell a to cell b, ``outer[a, b]`` that
    from cell a of one block to cell b of another; `NONE` where nothing joins them.
    """

    members: IntArray
    inner: IntArray
    outer: IntArray


def find_families(
    color: IntArray, pairs: Pairs
) -> tuple[list[Family], dict[tuple[int, int], IntArray]] | None:
    """The families of blocks, and the labels ``[a, b]`` between the cells of two families i < j.

    ``color`` [n] tells apart what must not be exchanged. None if some cells do not meet alike.
    """
    stable = _refine(color, pairs)
    if stable is None:
        return None
    color, count = stable, np.bincount(stable)
    pairs = pairs.sorted_by(color)
    block = _blocks(color, count, pairs)
    members = _members(color, count, block)
    if members is None:
        return None
    number, column = np.empty(len(count), dtype=np.int64), np.empty(len(count), dtype=np.int64)
    for i, rows in enumerate(members):
        number[color[rows[0]]], column[color[rows[0]]] = i, np.arange(rows.shape[1])
    labels = _labels(color, count, number, block, pairs)
    if labels is None or any(pairs.back[k] != k for (a, b, _), k in labels.items() if a == b):
        return None
    return _assembled(members, labels, number, column, pairs.back)


def _refine(color: IntArray, pairs: Pairs) -> IntArray | None:
    """The coarsest colours that tell apart what meets different labels or colours; None if many."""
    n = len(color)
    shape = (2, len(pairs.back) + n + 1)
    words = np.random.default_rng(20170420).integers(1, 2**63, size=shape, dtype=np.uint64)
    source = np.concatenate([pairs.left, pairs.right])
    target = np.concatenate([pairs.right, pairs.left])
    label = np.concatenate([pairs.label, pairs.back[pairs.label] if len(pairs.label) else pairs.label])
    by_source = np.argsort(source, kind="stable")
    source, target, label = source[by_source], target[by_source], label[by_source]
    first = np.flatnonzero(np.diff(source, prepend=-1))
    color = unique_rows(color[:, None])[1]
    if not len(source):
        return color
    for _ in range(_ROUNDS):
        deadline.check()
        mixed = words[0, label] * words[1, color[target]] + words[0, color[target]] * words[1, label]
        met = np.zeros(n, dtype=np.uint64)
        met[source[first]] = np.add.reduceat(mixed, first)
        finer = unique_rows(np.column_stack([color, met.view(np.int64)]))[1]
        if finer.max() == color.max():
            return color
        color = finer
        if color.max() > MOST_CELLS:
            break
    return None


def _blocks(color: IntArray, count: IntArray, pairs: Pairs) -> IntArray:
    """The block of every unknown: two cells that are matched one to one are joined along the match.

    What matches them is a label, or that nothing joins them (one's own) where all others are joined.
    Cells that are joined already by way of others are not joined again.
    """
    a, b = color[pairs.left], color[pairs.right]
    cell_pair, group = unique_rows(np.column_stack([a, b]))
    by_group = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[by_group], np.arange(len(cell_pair) + 1))
    root = list(range(len(count)))
    joins: list[tuple[IntArray, IntArray]] = []
    for g, edge in enumerate(cell_pair):
        deadline.check()
        p, q, n = int(a[edge]), int(b[edge]), int(count[a[edge]])
        if p == q or n != count[q] or n == 1 or _root(root, p) == _root(root, q):
            continue
        mine = by_group[bounds[g] : bounds[g + 1]]
        others = np.flatnonzero(color == q)
        match = _match(pairs.left[mine], pairs.right[mine], pairs.label[mine], others, n)
        if match is not None:
            joins.append(match)
            root[_root(root, p)] = _root(root, q)
    empty = np.empty(0, dtype=np.int64)
    left, right = (np.concatenate([empty, *(side[i] for side in joins)]) for i in (0, 1))
    return component_numbers(len(color), left, right)


def _root(root: list[int], cell: int) -> int:
    while root[cell] != cell:
        cell = root[cell]
    return cell


def _match(
    left: IntArray, right: IntArray, label: IntArray, others: IntArray, n: int
) -> tuple[IntArray, IntArray] | None:
    """A one-to-one match between two cells of n unknowns, of which these are all joined pairs."""
    kinds, size = np.unique(label, return_counts=True)
    for kind in kinds[size == n]:
        pairs = label == kind
        if len(np.unique(left[pairs])) == len(np.unique(right[pairs])) == n:
            return left[pairs], right[pairs]
    if len(left) != n * n - n:
        return None
    members, row = np.unique(left, return_inverse=True)
    met = np.bincount(row, weights=right, minlength=len(members)).astype(np.int64)
    missing = int(others.sum()) - met
    one_each = (np.bincount(row) == n - 1).all() and len(np.unique(missing)) == n
    return (members, missing) if one_each and np.isin(missing, others).all() else None


def _members(color: IntArray, count: IntArray, block: IntArray) -> list[IntArray] | None:
    """Blocks as rows of members, by kind; None if blocks that share a cell differ in kind."""
    order = np.lexsort((color, block))
    begin = np.flatnonzero(np.diff(block[order], prepend=-1))
    width = np.diff(np.append(begin, len(order)))
    lead = color[order[begin]]
    found, covered = [], 0
    for cell in np.unique(lead):
        mine = np.flatnonzero(lead == cell)
        if (width[mine] != width[mine[0]]).any():
            return None
        rows = order[begin[mine][:, None] + np.arange(width[mine[0]])]
        cells = color[rows]
        if (cells != cells[0]).any() or (count[cells[0]] != len(rows)).any():
            return None
        if len(np.unique(cells[0])) < len(cells[0]):
            return None
        found.append(rows)
        covered += rows.size
    return found if covered == len(color) else None


def _labels(
    color: IntArray, count: IntArray, number: IntArray, block: IntArray, pairs: Pairs
) -> dict[tuple[int, int, bool], int] | None:
    """The one label of all pairs of two cells, within blocks and between; None if there are several."""
    a, b = color[pairs.left], color[pairs.right]
    same = block[pairs.left] == block[pairs.right]
    first, kind = unique_rows(np.column_stack([a, b, same, pairs.label]))
    size = np.bincount(kind, minlength=len(first))
    out: dict[tuple[int, int, bool], int] = {}
    for k, edge in enumerate(first):
        p, q, within = int(a[edge]), int(b[edge]), bool(same[edge])
        n, m = int(count[p]), int(count[q])
        if p == q:
            expected = 0 if within else n * (n - 1) // 2
        elif number[p] == number[q]:
            expected = n if within else n * m - n
        else:
            expected = n * m
        if (p, q, within) in out or size[k] != expected:
            return None
        out[p, q, within] = int(pairs.label[edge])
    return out


def _assembled(
    members: Sequence[IntArray],
    labels: dict[tuple[int, int, bool], int],
    number: IntArray,
    column: IntArray,
    back: IntArray,
) -> tuple[list[Family], dict[tuple[int, int], IntArray]]:
    inner = [np.full((m.shape[1], m.shape[1]), NONE, dtype=np.int64) for m in members]
    outer = [grid.copy() for grid in inner]
    between: dict[tuple[int, int], IntArray] = {}
    for (a, b, same), label in labels.items():
        i, j, p, q = int(number[a]), int(number[b]), int(column[a]), int(column[b])
        if i == j:
            grid = inner[i] if same else outer[i]
            grid[p, q], grid[q, p] = label, back[label]
            continue
        if i > j:
            i, j, p, q, label = j, i, q, p, int(back[label])
        shape = (members[i].shape[1], members[j].shape[1])
        between.setdefault((i, j), np.full(shape, NONE, dtype=np.int64))[p, q] = label
    families = [Family(m, a, b) for m, a, b in zip(members, inner, outer, strict=True)]
    return families, between
