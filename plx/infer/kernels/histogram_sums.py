"""Sums over histograms: how many elements of each group are in each cell, compiled.

The log weight of a histogram h is log n! of every group
+ Σ_c (h_c own_c − log h_c! + h_c (h_c − 1)/2 pair_cc) + Σ_{c<d} h_c h_d pair_cd.
All cells but the last two of the last group are counted through one by one, with running sums; those two are
an inner loop of a few additions, and exponentials are taken only of terms within the range of doubles of the
largest so far. Positive terms alone are added, so nothing cancels.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt

from plx.jit import inner, kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Grid = Annotated[npt.NDArray[np.float64], 2]

NEGLIGIBLE = -745.0
"""The exponential of less than this is 0."""


@inner
def _clashes(h: Ints, at: int, count: int, pair: Grid) -> bool:
    """Whether some count of the cells before clashes with those of one, or these with each other."""
    if count == 0:
        return False
    if count > 1 and pair[at, at] == -np.inf:
        return True
    for c in range(at):  # noqa: SIM110
        if h[c] > 0 and pair[c, at] == -np.inf:
            return True
    return False


@inner
def _added(h: Ints, at: int, count: int, own: Floats, pair: Grid, factorial: Floats) -> float:
    """What a count of one cell adds to the log weight, given those before."""
    if count == 0:
        return 0.0
    total = own[at]
    for c in range(at):
        if h[c] > 0:
            total += h[c] * pair[c, at]
    if count > 1:
        total += 0.5 * (count - 1) * pair[at, at]
    return float(count * total - factorial[count])


@kernel
def histogram_sums(
    start: Ints,
    size: Ints,
    own: Floats,
    pair: Grid,
    factorial: Floats,
    step: Ints,
    by_total: Floats,
    totals: Floats,
    first: Floats,
    second: Grid,
) -> float:
    """The log of the sum over all histograms, −inf if none is possible.

    Group g has the cells ``start[g] … start[g + 1] - 1`` and ``size[g]`` elements; the last one has two cells
    or more unless all have one. ``factorial`` [n + 1] are logs. Σ_c h_c step_c is the *total* of a histogram:
    its weight is multiplied by e^by_total, and ``totals`` becomes the log sums by it. Where ``first`` [C] is
    not empty, it becomes the means of h_c, and ``second`` [C, C] those of h_c h_d.
    """
    groups, cells = len(size), len(own)
    wanted, counted = len(first) > 0, len(totals) > 1
    a, b = cells - 2, cells - 1
    inner_two = start[groups] - start[groups - 1] >= 2
    outer = cells - 2 if inner_two else cells
    h = np.zeros(cells, dtype=np.int64)
    rest = np.zeros(cells + 1, dtype=np.int64)
    log = np.zeros(cells + 1)
    group_of = np.zeros(cells, dtype=np.int64)
    last_of = np.zeros(cells, dtype=np.int64)
    constant = 0.0
    longest = 0
    for g in range(groups):
        constant += factorial[size[g]]
        longest = max(longest, size[g])
        for c in range(start[g], start[g + 1]):
            group_of[c] = g
            last_of[c] = start[g + 1] - 1
    terms = np.empty(longest + 1)
    largest = -np.inf
    total = 0.0
    scale_of = np.full(len(totals), -np.inf)
    sum_of = np.zeros(len(totals))
    d = 0
    rest[0] = size[0]
    if outer > 0:
        h[0] = size[0] if last_of[0] == 0 else 0
    going = True
    forward = True
    while going:
        # Cell d has a new count: go on to the next one, or to the inner loop.
        if d < outer and forward:
            if _clashes(h, d, h[d], pair):
                forward = False
                continue
            log[d + 1] = log[d] + _added(h, d, h[d], own, pair, factorial)
            if log[d + 1] == -np.inf:
                forward = False
                continue
            left = rest[d] - h[d]
            d += 1
            if d < outer:
                rest[d] = left if last_of[d - 1] != d - 1 else size[group_of[d]]
                h[d] = rest[d] if last_of[d] == d else 0
            else:
                rest[d] = left if outer > 0 and last_of[d - 1] != d - 1 else size[groups - 1]
            continue
        if d == outer and forward:
            base = log[d]
            if inner_two:
                r = rest[d]
                low, high = 0, r
                field_a, field_b = own[a], own[b]
                for c in range(outer):
                    if h[c] > 0:
                        if pair[c, a] == -np.inf:
                            high = 0
                        else:
                            field_a += h[c] * pair[c, a]
                        if pair[c, b] == -np.inf:
                            low = r
                        else:
                            field_b += h[c] * pair[c, b]
                same_a, same_b, both = pair[a, a], pair[b, b], pair[a, b]
                if field_a == -np.inf:
                    high, field_a = 0, 0.0
                if field_b == -np.inf:
                    low, field_b = r, 0.0
                if same_a == -np.inf:
                    high, same_a = min(high, 1), 0.0
                if same_b == -np.inf:
                    low, same_b = max(low, r - 1), 0.0
                apart = both == -np.inf
                if apart:
                    both = 0.0
                peak = -np.inf
                at_total = 0
                if counted:
                    for c in range(outer):
                        at_total += h[c] * step[c]
                for k in range(low, high + 1):
                    j = r - k
                    if apart and k > 0 and j > 0:
                        terms[k] = -np.inf
                        continue
                    t = base + k * (field_a + 0.5 * (k - 1) * same_a + j * both)
                    t += j * (field_b + 0.5 * (j - 1) * same_b) - factorial[k] - factorial[j]
                    if counted:
                        t += by_total[at_total + k * step[a] + j * step[b]]
                    terms[k] = t
                    if t > peak:
                        peak = t
                if peak > largest + NEGLIGIBLE or counted:
                    if peak > largest:
                        if largest > -np.inf:
                            ratio = np.exp(largest - peak)
                            total *= ratio
                            if wanted:
                                for c in range(cells):
                                    first[c] *= ratio
                                    for e in range(cells):
                                        second[c, e] *= ratio
                        largest = peak
                    s0, s1, s2 = 0.0, 0.0, 0.0
                    for k in range(low, high + 1):
                        t = terms[k]
                        if t > largest + NEGLIGIBLE:
                            x = np.exp(t - largest)
                            s0 += x
                            s1 += k * x
                            s2 += k * k * x
                        if counted and t > -np.inf:
                            i = at_total + k * step[a] + (r - k) * step[b]
                            if t > scale_of[i]:
                                if scale_of[i] > -np.inf:
                                    sum_of[i] *= np.exp(scale_of[i] - t)
                                scale_of[i] = t
                                sum_of[i] += 1.0
                            elif t > scale_of[i] + NEGLIGIBLE:
                                sum_of[i] += np.exp(t - scale_of[i])
                    total += s0
                    if wanted and s0 > 0:
                        for c in range(outer):
                            if h[c] == 0:
                                continue
                            first[c] += h[c] * s0
                            for e in range(outer):
                                second[c, e] += h[c] * h[e] * s0
                            second[c, a] += h[c] * s1
                            second[c, b] += h[c] * (r * s0 - s1)
                        first[a] += s1
                        first[b] += r * s0 - s1
                        second[a, a] += s2
                        second[a, b] += r * s1 - s2
                        second[b, b] += r * r * s0 - 2.0 * r * s1 + s2
            else:
                t = base
                i = 0
                if counted:
                    for c in range(cells):
                        i += h[c] * step[c]
                    t += by_total[i]
                if t > -np.inf:
                    if t > largest:
                        if largest > -np.inf:
                            ratio = np.exp(largest - t)
                            total *= ratio
                            for c in range(len(first)):
                                first[c] *= ratio
                                for e in range(len(first)):
                                    second[c, e] *= ratio
                        largest = t
                    x = np.exp(t - largest)
                    total += x
                    for c in range(len(first)):
                        first[c] += h[c] * x
                        for e in range(len(first)):
                            second[c, e] += h[c] * h[e] * x
                    if counted:
                        top = max(scale_of[i], t)
                        old = sum_of[i] * np.exp(scale_of[i] - top) if sum_of[i] > 0 else 0.0
                        sum_of[i] = old + np.exp(t - top)
                        scale_of[i] = top
            forward = False
            continue
        # Back to the last cell whose count can grow.
        d -= 1
        while d >= 0 and (last_of[d] == d or h[d] == rest[d]):
            h[d] = 0
            d -= 1
        if d < 0:
            going = False
        else:
            h[d] += 1
            forward = True
    if not total > 0.0:
        for i in range(len(totals)):
            totals[i] = -np.inf
        return -np.inf
    for c in range(len(first)):
        first[c] /= total
        for e in range(c, len(first)):
            second[c, e] /= total
            second[e, c] = second[c, e]
    for i in range(len(totals)):
        totals[i] = constant + scale_of[i] + np.log(sum_of[i]) if sum_of[i] > 0 else -np.inf
    return float(constant + largest + np.log(total))
