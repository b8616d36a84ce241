"""numpy where addresses have 32 bits, as in a browser.

There it takes no int64 for a count or a place, which is what plx writes everywhere. Here the functions
concerned take both. Values past 2^31 cannot be meant: no array is so large there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

_ARGUMENTS: dict[str, tuple[int, ...]] = {
    "bincount": (0,),
    "repeat": (1,),
    "split": (1,),
    "take": (1,),
    "unravel_index": (0,),
    "delete": (1,),
}
"""Functions of numpy, and which of their arguments are counts or places."""

_UFUNCS = ("add", "multiply", "minimum", "maximum", "logical_and", "logical_or", "logaddexp")
"""Those whose ``reduceat`` takes places."""


class _Ufunc:
    """A ufunc whose ``reduceat`` takes places of any width."""

    def __init__(self, ufunc: Any) -> None:
        self._ufunc = ufunc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._ufunc(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ufunc, name)

    def reduceat(self, array: Any, indices: Any, *args: Any, **kwargs: Any) -> Any:
        """As that of the ufunc."""
        return self._ufunc.reduceat(array, _narrow(indices), *args, **kwargs)


def _narrow(value: Any) -> Any:
    """Integers as addresses; all else as it is."""
    if isinstance(value, (np.ndarray, np.integer)) and value.dtype.kind in "iu":
        return value.astype(np.intp)
    return value


def _narrowing(function: Callable[..., Any], places: tuple[int, ...]) -> Callable[..., Any]:
    @wraps(function)
    def narrowed(*args: Any, **kwargs: Any) -> Any:
        return function(*(_narrow(one) if i in places else one for i, one in enumerate(args)), **kwargs)

    return narrowed


def widen() -> None:
    """Make numpy take both, in this process, where addresses have 32 bits."""
    if np.dtype(np.intp).itemsize > 4:
        return
    for name, places in _ARGUMENTS.items():
        setattr(np, name, _narrowing(getattr(np, name), places))
    for name in _UFUNCS:
        setattr(np, name, _Ufunc(getattr(np, name)))
