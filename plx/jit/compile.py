"""Compiling with numba, and numba's results on disk.

Numba's own cache knows a function by the file that it is in: it does not see that a function which is
called from another file has changed, leaves files behind, takes one signature's code for another's if two
processes start it at once, and raises where a file is damaged. So files are `store`'s.
"""

from __future__ import annotations

import platform
from importlib import import_module
from types import FunctionType
from typing import Any

import llvmlite  # type: ignore[import-untyped]
import numba
import numpy as np
from numba.core import config as numba_config
from numba.core.sigutils import normalize_signature

from plx import deadline
from plx.jit import object_code, store
from plx.jit.digest import called, digest, file_stem, parts
from plx.jit.types import signature_from, signature_of

_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""What only compiled code calls needs no way in for Python and C: one for many arrays takes long."""

config: Any = numba_config
njit: Any = numba.njit

_dispatchers: dict[FunctionType, Any] = {}


def compiled(function: Any, signature: object = None) -> Any:
    """A function compiled for one signature, by default that of its annotations; kept on disk.

    A list has the annotations of its arguments; all else is in the notation of numba. With
    NUMBA_DISABLE_JIT=1 the function itself.
    """
    if config.DISABLE_JIT:
        return function
    if signature is None or isinstance(signature, list):
        signature = signature_of(function) if signature is None else signature_from(signature)
    arguments, result = normalize_signature(signature)  # type: ignore[no-untyped-call]
    chosen = result(*arguments)
    dispatcher = njit(nogil=True, no_cfunc_wrapper=True)(function)
    place = _place(function, chosen, dispatcher.targetctx)
    if (known := _load(place, function, chosen, dispatcher.targetctx)) is not None:
        dispatcher.targetctx.insert_user_function(known.entry_point, known.fndesc, [known.library])
        dispatcher.add_overload(known)
    else:
        with deadline.paused():
            dispatcher = njit(nogil=True, no_cfunc_wrapper=True)(_linked(function))
            dispatcher.compile(chosen)
        store.write(*place, object_code.to_bytes(dispatcher.overloads[arguments]))
    dispatcher.disable_compile()
    return dispatcher


def named(module: str, name: str, signature: object) -> Any:
    """The compiled function that has a name in a module, as another process knew it."""
    found = getattr(import_module(module), name)
    return compiled(getattr(found, "function", found), signature)


def _load(place: tuple[str, str], function: FunctionType, signature: Any, context: Any) -> Any:
    data = store.read(*place)
    if data is None:
        return None
    context.refresh()
    try:
        return object_code.from_bytes(data, function, signature, context)
    except Exception:  # whatever the bytes of another numba lead to
        return None


def _place(function: FunctionType, signature: Any, context: Any) -> tuple[str, str]:
    """The kind and the name of a file: versions of one kernel for one machine are of one kind."""
    types = [_described(kind) for kind in (*signature.args, signature.return_type)]
    machine = (*map(str, context.codegen().magic_tuple()), platform.python_version())
    settings = (str(config.OPT), str(config.BOUNDSCHECK))
    versions = (object_code.FORMAT, numba.__version__, llvmlite.__version__, np.__version__)
    kind = digest(str(signature), *machine, *settings)
    return f"{file_stem(function)}-{kind}", digest(*types, *versions, *parts(function))


def _described(kind: Any) -> str:
    """A type, with the fields and the places of the named tuples in it: what is compiled refers to these."""
    return " ".join([f"{kind} {getattr(kind, 'fields', '')}", *_places(kind)])


def _places(kind: Any) -> list[str]:
    own = getattr(kind, "instance_class", None)
    inside = [place for part in getattr(kind, "types", ()) for place in _places(part)]
    return [own.__module__, *inside] if own else inside


def _linked(function: FunctionType) -> FunctionType:
    """The function with those that it calls made callable from compiled code."""
    own, inner = function.__globals__, {}
    for name, helper in called(function).items():
        inner[name] = _dispatcher(helper)
    linked = FunctionType(function.__code__, {**own, **inner}, function.__name__, function.__defaults__)
    linked.__module__, linked.__qualname__ = function.__module__, function.__qualname__
    return linked


def _dispatcher(function: FunctionType) -> Any:
    """A function that compiled code calls: for the types of its annotations, or, if it is marked as
    `inner`, for all that it meets; what it says by itself that it is to compiled code, if it does.

    Constants in calls would otherwise count as types of their own.
    """
    if function not in _dispatchers and hasattr(function, "native"):
        _dispatchers[function] = function.native()
    if function not in _dispatchers:
        options = getattr(function, "inner_options", None)
        made = njit(**_INNER, **(options or {}))(_linked(function))
        if options is None:
            made.compile(signature_of(function))
            made.disable_compile()
        _dispatchers[function] = made
    return _dispatchers[function]
