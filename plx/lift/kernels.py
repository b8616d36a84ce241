"""Compiled loops of the search for symmetries: colour refinement, value classes."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from plx.jit import kernel

Whole = npt.NDArray[np.int64]
Ints = Annotated[npt.NDArray[np.int64], 1, "A"]
Int32s = Annotated[npt.NDArray[np.int32], 1, "A"]
Words = Annotated[npt.NDArray[np.uint64], 1, "A"]
Int32Rows = Annotated[npt.NDArray[np.int32], 2, "A"]


class Partition(NamedTuple):
    """Cells of n vertices that are being refined, and which of them have yet to split others.

    All but ``ring`` are by vertex, or by the first place of a cell, some one longer than n.
    """

    element: Whole  # the vertices, cell by cell
    position: Whole  # of each vertex
    cell: Whole  # the first place of the cell of each vertex
    length: Whole  # of each cell
    queue: Whole  # cells that wait: a ring; every cell is in it at most once
    waiting: Whole
    ring: Whole  # where it begins, and how many wait
    counts: Whole  # zeros between steps, as moved
    moved: Whole  # vertices of a cell that the splitter touches
    touched: Whole
    cells: Whole
    spare: Whole


def _sort(element: Ints, low: int, end: int, count: Ints, spare: Ints) -> None:
    """Sort ``element[low:end]`` by count, stably, merging ever longer runs."""
    width = 1
    while width < end - low:
        for first in range(low, end, 2 * width):
            middle, last = min(first + width, end), min(first + 2 * width, end)
            i, j = first, middle
            for k in range(first, last):
                if j >= last or (i < middle and count[element[i]] <= count[element[j]]):
                    spare[k] = element[i]
                    i += 1
                else:
                    spare[k] = element[j]
                    j += 1
        for k in range(low, end):
            element[k] = spare[k]
        width *= 2


@kernel
def refine_some(start: Ints, neighbor: Int32s, partition: Partition, steps: int) -> bool:
    """Split cells by others until none splits another, or about so many edges were looked at: then False.

    ``neighbor[start[v] : start[v + 1]]`` are the neighbours of v. All but the largest part of a split cell
    become splitters: O((n + m) log n) steps (Cardon & Crochemore 1982).
    """
    element, position, cell, length, queue, waiting, ring, count, moved, touched, cells, spare = partition
    n = len(element)
    head, size = ring[0], ring[1]
    while size > 0 and steps > 0:
        splitter = queue[head]
        steps -= length[splitter]
        head = (head + 1) % (n + 1)
        size -= 1
        waiting[splitter] = 0
        n_touched, n_cells = 0, 0
        for i in range(splitter, splitter + length[splitter]):
            steps -= start[element[i] + 1] - start[element[i]]
            for e in range(start[element[i]], start[element[i] + 1]):
                w = neighbor[e]
                if length[cell[w]] > 1:
                    if count[w] == 0:
                        touched[n_touched] = w
                        n_touched += 1
                    count[w] += 1
        for i in range(n_touched):  # touched vertices go to the end of their cell
            w = touched[i]
            c = cell[w]
            if moved[c] == 0:
                cells[n_cells] = c
                n_cells += 1
            moved[c] += 1
            place = c + length[c] - moved[c]
            other = element[place]
            element[position[w]] = other
            position[other] = position[w]
            element[place] = w
            position[w] = place
        for k in range(n_cells):
            c = cells[k]
            end = c + length[c]
            low = end - moved[c]
            moved[c] = 0
            uniform = True
            for i in range(low, end):
                if count[element[i]] != count[element[low]]:
                    uniform = False
            if uniform and low == c:
                continue
            if not uniform:
                _sort(element, low, end, count, spare)
                for i in range(low, end):
                    position[element[i]] = i
            was_waiting = waiting[c] > 0
            largest, largest_at = low - c, c
            if low > c:
                length[c] = low - c
            first = low
            for i in range(low + 1, end + 1):
                if i == end or count[element[i]] != count[element[i - 1]]:
                    length[first] = i - first
                    for j in range(first, i):
                        cell[element[j]] = first
                    if i - first > largest:
                        largest, largest_at = i - first, first
                    first = i
            first = c
            while first < end:
                if waiting[first] == 0 and (was_waiting or first != largest_at):
                    queue[(head + size) % (n + 1)] = first
                    waiting[first] = 1
                    size += 1
                first += length[first]
        for i in range(n_touched):
            count[touched[i]] = 0
    ring[0], ring[1] = head, size
    return bool(size == 0)


@kernel
def split_classes(representative: Ints, start: Ints, variable: Ints, label_start: Ints, label: Ints) -> None:
    """Refine value classes, in place, by labels.

    ``representative[start[i] : start[i + 1]]`` are the smallest equal states of the states of
    variable i. Each incidence e says that states of ``variable[e]`` are equal only if their
    entries of ``label[label_start[e] : …]`` are; labels are ≥ 0 and below the number of states.
    """
    largest = 1
    for i in range(len(start) - 1):
        largest = max(largest, start[i + 1] - start[i])
    slots = 1
    while slots < 2 * largest:
        slots *= 2
    stamp = np.full(slots, -1, np.int64)
    left = np.empty(slots, np.int64)
    right = np.empty(slots, np.int64)
    first = np.empty(slots, np.int64)
    for e in range(len(variable)):
        begin, end = start[variable[e]], start[variable[e] + 1]
        for v in range(end - begin):
            a = representative[begin + v]
            b = label[label_start[e] + v]
            slot = (a * 2654435761 + b * 40503) % slots
            while stamp[slot] == e and (left[slot] != a or right[slot] != b):
                slot = (slot + 1) % slots
            if stamp[slot] != e:
                stamp[slot], left[slot], right[slot], first[slot] = e, a, b, v
            representative[begin + v] = first[slot]


@kernel
def adjacency(n: int, left: Ints, right: Ints) -> tuple[Ints, Int32s]:
    """The neighbour lists of an undirected graph on n vertices with these edges."""
    start = np.zeros(n + 1, np.int64)
    for e in range(len(left)):
        start[left[e] + 1] += 1
        start[right[e] + 1] += 1
    for v in range(n):
        start[v + 1] += start[v]
    fill = start[:-1].copy()
    neighbor = np.empty(2 * len(left), np.int32)
    for e in range(len(left)):
        a, b = left[e], right[e]
        neighbor[fill[a]] = b
        fill[a] += 1
        neighbor[fill[b]] = a
        fill[b] += 1
    return start, neighbor


def _mix(a: np.uint64, b: np.uint64) -> np.uint64:
    """A well-mixed function of two words (the finaliser of splitmix64, twice)."""
    x = a ^ np.uint64(0x9E3779B97F4A7C15)
    for word in (b, np.uint64(0x2545F4914F6CDD1D)):
        x += word
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
    return x


def _look_alike(
    x: int, y: int, start: Ints, feature: Ints, around: Words, inside: Words, total: Words, color: Words
) -> bool:
    """Whether blocks x and y see the same features, each less the other."""
    i, j = start[x], start[y]
    balance = np.uint64(0)
    while i < start[x + 1] or j < start[y + 1]:
        if j == start[y + 1] or (i < start[x + 1] and feature[i] < feature[j]):
            f = feature[i]
            balance += _mix(_mix(total[f] - around[i], inside[i]), color[f])
            i += 1
        elif i == start[x + 1] or feature[j] < feature[i]:
            f = feature[j]
            balance -= _mix(_mix(total[f] - around[j], inside[j]), color[f])
            j += 1
        else:
            f = feature[i]
            rest = _mix(total[f] - around[i] - around[j], color[f])
            balance += _mix(_mix(rest, inside[i]), inside[j])
            balance -= _mix(_mix(rest, inside[j]), inside[i])
            i += 1
            j += 1
    return bool(balance == 0)


@kernel
def interchangeable(
    start: Ints,
    feature: Ints,
    around: Words,
    inside: Words,
    total: Words,
    color: Words,
    kept: Words,
    reader_start: Ints,
    reader: Ints,
    tries: int,
) -> Ints:
    """For each block the first block that it looks interchangeable with, by hash.

    Features ``feature[start[x] : start[x + 1]]``, increasing, touch block x. ``total[f]`` is the sum
    of the random words of all vertices next to feature f, ``around`` the part of it from block x,
    ``inside`` the sum of words that name the places within the block. ``reader[reader_start[f] : …]``
    are the blocks that feature f touches, increasing. Blocks with different ``kept`` are different.
    Two blocks can be exchanged iff their features agree once both are taken out, so a block is
    compared with the first blocks of classes only: with those beside it (up to ``tries``), and with
    the one of equal hash apart from it.
    """
    n = len(start) - 1
    out = np.arange(n)
    tested = np.full(n, -1, np.int64)
    slots = 1
    while slots < 2 * n:
        slots *= 2
    table = np.full(slots, -1, np.int64)
    key = np.zeros(n, np.uint64)
    for x in range(n):
        for i in range(start[x], start[x + 1]):
            f = feature[i]
            key[x] += _mix(_mix(total[f] - around[i], inside[i]), color[f])
        slot = np.int64(key[x] % np.uint64(slots))
        while table[slot] >= 0 and key[table[slot]] != key[x]:
            slot = (slot + 1) % slots
        if table[slot] < 0:
            table[slot] = x
        elif _look_alike(x, out[table[slot]], start, feature, around, inside, total, color):
            out[x] = out[table[slot]]
            continue
        budget = tries
        for i in range(start[x], start[x + 1]):
            f = feature[i]
            for r in range(reader_start[f], reader_start[f + 1]):
                if reader[r] >= x or budget == 0 or out[x] != x:
                    break  # readers come in increasing order
                y = out[reader[r]]
                if tested[y] != x:
                    tested[y] = x
                    budget -= 1
                    alike = kept[x] == kept[y]
                    if alike and _look_alike(x, y, start, feature, around, inside, total, color):
                        out[x] = y
            if out[x] != x or budget == 0:
                break
    return out


@kernel
def schreier_tree(
    elements: Int32Rows, rows: Ints, base: int, orbit: Ints, via: Int32s, parent: Int32s
) -> int:
    """The orbit of a point under some elements, breadth first; returns its length.

    ``elements`` [r, n] are images of the points, ``rows`` says which to use. Fills ``orbit``,
    ``via`` (the element that reached each point, -1 outside the orbit, -2 at the base) and ``parent``.
    """
    via[:] = -1
    orbit[0] = base
    via[base] = -2
    size = 1
    i = 0
    while i < size:
        p = orbit[i]
        for r in rows:
            q = elements[r, p]
            if via[q] == -1:
                via[q] = r
                parent[q] = p
                orbit[size] = q
                size += 1
        i += 1
    return size


@kernel
def sift(image: Int32s, inverses: Int32Rows, base: Ints, via: Int32Rows, parent: Int32Rows) -> int:
    """Divide a permutation, in place, by transversal elements, level by level.

    Returns the level at which it leaves the orbit of the base point, or the number of levels.
    """
    n = len(image)
    for level in range(len(base)):
        point = image[base[level]]
        if via[level, point] == -1:
            return level
        while via[level, point] >= 0:
            r = via[level, point]
            for i in range(n):
                image[i] = inverses[r, image[i]]
            point = parent[level, point]
    return len(base)
