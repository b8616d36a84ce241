"""Numba's types from annotations.

``int`` and ``float`` have 64 bits, ``bool`` a byte; numpy's scalars are what they are. ``NDArray[np.int64]``
is an array of one dimension, ``Annotated[NDArray[np.int64], 2]`` of two, in C order without gaps;
``Annotated[…, 1, "A"]`` may have gaps. Tuples and named tuples of these work too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numba
import numpy as np
from numba import types

_SCALARS = {
    int: types.int64,
    float: types.float64,
    bool: types.boolean,
    None: types.void,
    type(None): types.void,
}


def signature_of(function: Callable[..., object]) -> Any:
    """The signature that the annotations of a function name. Raises TypeError where one has no type."""
    hints = get_type_hints(function, include_extras=True)
    result = hints.pop("return")
    return signature_from(hints.values(), result)


def signature_from(hints: Iterable[Any], result: Any = None) -> Any:
    """The signature of a function whose arguments are of the types that annotations name, by default without
    a result. Raises TypeError as `type_of`."""
    return type_of(result)(*map(type_of, hints))


def type_of(hint: Any, dimensions: int = 1, layout: Any = "C") -> Any:
    """The type that an annotation names. Raises TypeError if it names none."""
    if hint in _SCALARS:
        return _SCALARS[hint]
    if isinstance(hint, type) and issubclass(hint, np.generic):
        return numba.from_dtype(np.dtype(hint))
    if hasattr(hint, "__value__"):
        return type_of(_meant(hint), dimensions, layout)
    if get_origin(hint) is Annotated:
        return type_of(*get_args(hint))
    if get_origin(hint) is np.ndarray:
        (item,) = get_args(get_args(hint)[1])
        return types.Array(numba.from_dtype(np.dtype(item)), dimensions, layout)
    if get_origin(hint) is tuple:
        return types.BaseTuple.from_types([type_of(item) for item in get_args(hint)])  # type: ignore[no-untyped-call]
    if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        fields = get_type_hints(hint, include_extras=True)
        return types.BaseTuple.from_types([type_of(fields[name]) for name in hint._fields], hint)  # type: ignore[no-untyped-call]
    raise TypeError(f"no type of compiled code: {hint}")


def _meant(alias: Any) -> Any:
    """What an alias of a type stands for, with its arguments: NDArray is one from numpy 2.5 on."""
    given = dict(zip(alias.__type_params__, get_args(alias), strict=True))
    return (
        alias.__value__[tuple(given[name] for name in alias.__value__.__parameters__)]
        if given
        else alias.__value__
    )
