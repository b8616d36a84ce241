"""Products of polynomials with coefficients ≥ 0 that are kept as logs, compiled.

Of each coefficient of a product the largest term is found first, and exponentials are taken only of those
that are not negligible beside it. Nothing cancels, and coefficients may span any range.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from plx.jit import inner, kernel

Floats = npt.NDArray[np.float64]

NEGLIGIBLE = -45.0
"""The exponential of less than this is lost beside 1."""


@inner
def _place(degree: int, size: int, back: int) -> int:
    """Where a degree is kept, −1 if it is dropped."""
    if degree < size:
        return degree
    if back < 0:
        return -1
    return back + (degree - back) % (size - back)


@kernel
def log_convolution(a: Floats, b: Floats, back: int, best: bool, out: Floats) -> None:
    """``out`` [S] becomes the logs of the coefficients of a product; ``best``: the largest term of each.

    Degree S and above are dropped if ``back`` is −1, else count as the degree from ``back`` on that is as
    far from it modulo S − back.
    """
    size = len(out)
    total = np.zeros(size)
    out[:] = -np.inf
    for i in range(len(a)):
        if a[i] == -np.inf:
            continue
        plain = min(len(b), size - i)
        for j in range(plain):
            out[i + j] = max(out[i + j], a[i] + b[j])
        for j in range(max(plain, 0), len(b) if back >= 0 else 0):
            at = _place(i + j, size, back)
            out[at] = max(out[at], a[i] + b[j])
    if best:
        return
    for i in range(len(a)):
        if a[i] == -np.inf:
            continue
        plain = min(len(b), size - i)
        for j in range(plain):
            x = a[i] + b[j] - out[i + j]
            if x > NEGLIGIBLE:
                total[i + j] += np.exp(x)
        for j in range(max(plain, 0), len(b) if back >= 0 else 0):
            at = _place(i + j, size, back)
            x = a[i] + b[j] - out[at]
            if x > NEGLIGIBLE:
                total[at] += np.exp(x)
    for k in range(size):
        if total[k] > 0.0:
            out[k] += np.log(total[k])
