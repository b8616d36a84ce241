"""What a kernel is made of: its own code, that of the functions it calls, and the constants they name.

Where a file lies, when it was written and what else it holds do not matter, so code on disk stays good
when a project is moved, and is never taken for that of another version.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np


def digest(*parts: str) -> str:
    """A short name for texts: different texts have different names."""
    return sha256("\0".join(parts).encode()).hexdigest()[:20]


def called(function: FunctionType) -> dict[str, FunctionType]:
    """The functions among the globals that a function names."""
    found = ((name, plain(value)) for name, value in _globals(function))
    return {name: value for name, value in found if isinstance(value, FunctionType)}


def plain(value: Any) -> Any:
    """The Python function of a kernel; any other value as it is."""
    inner = getattr(value, "function", None)
    return inner if isinstance(inner, FunctionType) else value


def reachable(function: FunctionType) -> list[FunctionType]:
    """A function and all that it calls, directly or not."""
    found = {function: None}
    waiting = [function]
    while waiting:
        fresh = [one for one in called(waiting.pop()).values() if one not in found]
        found.update(dict.fromkeys(fresh))
        waiting += fresh
    return list(found)


def parts(function: FunctionType) -> Iterator[str]:
    """Texts that are equal for functions that compile to the same. Raises TypeError for odd constants."""
    for one in reachable(function):
        if one.__closure__:
            raise TypeError(f"{one.__qualname__} is no kernel: it names variables of a function around it")
        yield one.__name__
        yield from _code_parts(one.__code__)
        if hasattr(one, "native"):
            yield from _code_parts(one.native.__code__)
        yield repr(one.__defaults__)
        for name, given in _globals(one):
            value = plain(given)
            if isinstance(value, FunctionType):
                options = getattr(value, "inner_options", {})
                yield f"{name} calls {value.__name__} {sorted(options.items())}"
            else:
                yield f"{name} = {_constant(value)}"


def _code_parts(code: CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_parts(constant)
        else:
            yield _constant(constant)


def _globals(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The globals that a function may read, by name; some may be attributes that are called the same."""
    names = sorted(_names(function.__code__))
    return ((name, function.__globals__[name]) for name in names if name in function.__globals__)


def _names(code: CodeType) -> set[str]:
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inner)


def _constant(value: Any) -> str:
    if value is None or isinstance(value, (int, float, str, np.number)):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_constant, value))})"
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, (ModuleType, BuiltinFunctionType)):
        return value.__name__
    if isinstance(value, type):
        return f"{value.__name__} {getattr(value, '_fields', '')}"
    raise TypeError(f"a kernel cannot be known by a global of type {type(value).__name__}")


def file_stem(function: Callable[..., object]) -> str:
    """A readable name that can be that of a file."""
    return re.sub(r"\W+", "_", f"{function.__module__}.{function.__qualname__}")
