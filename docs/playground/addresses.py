"""numpy where addresses have 32 bits, as in a browser, made to count with 64 bits as everywhere else.

There it takes no int64 for a count or a place, and gives int32 for both, of which products overflow without a
word. plx writes and expects int64. Here the functions concerned take both, and give int64. Places past 2^31
cannot be meant: no array is so large there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

_TAKING: dict[str, tuple[int, ...]] = {
    "bincount": (0,),
    "repeat": (1,),
    "split": (1,),
    "take": (1,),
    "unravel_index": (0,),
    "delete": (1,),
    "searchsorted": (),
}
"""Functions of numpy, and which of their arguments are counts or places; a ``sorter`` is so everywhere."""

_GIVING = (
    *(
        "arange",
        "array",
        "asarray",
        "full",
        "stack",
        "concatenate",
        "indices",
        "cumsum",
        "cumprod",
        "sum",
        "prod",
    ),
    *("argsort", "lexsort", "argmax", "argmin", "argpartition", "nonzero", "flatnonzero", "where", "unique"),
    *("searchsorted", "bincount", "digitize", "count_nonzero", "ravel_multi_index", "unravel_index", "outer"),
)
"""Functions that give int32 where nobody asks for it."""

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


def _wide(value: Any) -> Any:
    """Addresses, in tuples too, as int64; all else as it is."""
    if isinstance(value, tuple):
        wide = [_wide(one) for one in value]
        return type(value)(*wide) if hasattr(value, "_fields") else tuple(wide)
    if isinstance(value, (np.ndarray, np.integer)) and value.dtype == np.intp:
        return value.astype(np.int64)
    return value


def _asks_for_32(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call names a type, a place for the result, or an array of 32 bits."""
    given = [*args, *(kwargs.get(name) for name in ("dtype", "out"))]
    given += [one for many in args if isinstance(many, (list, tuple)) for one in many]
    return any(
        (isinstance(one, type) and issubclass(one, np.generic))
        or (isinstance(one, (np.ndarray, np.generic)) and one.dtype == np.int32)
        or isinstance(one, np.dtype)
        for one in given
    )


def _narrowing(function: Callable[..., Any], places: tuple[int, ...]) -> Callable[..., Any]:
    @wraps(function)
    def narrowed(*args: Any, **kwargs: Any) -> Any:
        if "sorter" in kwargs:
            kwargs["sorter"] = _narrow(kwargs["sorter"])
        return function(*(_narrow(one) if i in places else one for i, one in enumerate(args)), **kwargs)

    return narrowed


def _widening(function: Callable[..., Any], values_too: bool) -> Callable[..., Any]:
    """``values_too``: what it gives are values of its arguments, so int32 may be what is wanted."""

    @wraps(function)
    def widened(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        return found if values_too and _asks_for_32(args, kwargs) else _wide(found)

    return widened


_PLACES = (
    *("argsort", "lexsort", "argmax", "argmin", "argpartition", "nonzero", "flatnonzero", "searchsorted"),
    *("bincount", "digitize", "count_nonzero", "ravel_multi_index", "unravel_index", "indices"),
)
"""Those that give counts and places whatever they take."""


def widen() -> None:
    """Make numpy do so in this process, where addresses have 32 bits."""
    if np.dtype(np.intp).itemsize > 4:
        return
    for name, places in _TAKING.items():
        setattr(np, name, _narrowing(getattr(np, name), places))
    for name in _GIVING:
        setattr(np, name, _widening(getattr(np, name), name not in _PLACES))
    for name in _UFUNCS:
        setattr(np, name, _Ufunc(getattr(np, name)))
