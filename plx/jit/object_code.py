"""What numba compiles as plain bytes, and back: names as JSON, then object code and bitcode as they are.

Numba's own form is a pickle, which may run anything while it is read. Here nothing runs before the kernel is
called: modules that a file names are those of the kernel's own functions and numba's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from types import FunctionType
from typing import Any

import numpy as np
from numba.core.compiler import compile_result
from numba.core.environment import Environment, lookup_environment
from numba.core.funcdesc import PythonFunctionDescriptor

from plx.jit.digest import reachable

FORMAT = "1"
"""Of the bytes; part of what a file on disk is named by."""

_LENGTH = 8
"""Bytes of each length that stands before a part."""
_DESCRIBED = ("unique_name", "args", "mangled_name", "env_name", "abi_tags", "uid")


def to_bytes(result: Any) -> bytes:
    """The code of a kernel that was compiled. Raises TypeError for constants other than dtypes."""
    name, _, (code, bitcode) = result.library.serialize_using_object_code()
    others = [env for env in result._find_referenced_environments() if env is not result.environment]
    header = {
        "library": name,
        "function": {field: getattr(result.fndesc, field) for field in _DESCRIBED},
        "environments": [_described(env) for env in (result.environment, *others)],
    }
    parts = json.dumps(header).encode(), code, bitcode
    return b"".join(len(part).to_bytes(_LENGTH) + part for part in parts)


def from_bytes(data: bytes, function: FunctionType, signature: Any, context: Any) -> Any:
    """The compiled kernel. Raises LookupError, TypeError or ValueError for bytes that are not its code."""
    text, code, bitcode = _parts(data)
    header = json.loads(text)
    descriptor = _descriptor(header["function"], function, signature)
    spaces = {one.__globals__.get("__name__"): one.__globals__ for one in reachable(function)}
    environments = [_restored(described, spaces) for described in header["environments"]]
    library = context.codegen().unserialize_library((header["library"], "object", (code, bitcode)))
    entry_point = context.get_executable(library, descriptor, environments[0])
    for environment in environments:
        library.codegen.set_env(environment.env_name, environment)
    return compile_result(  # type: ignore[no-untyped-call]
        typing_context=context.typing_context,
        target_context=context,
        entry_point=entry_point,
        signature=signature,
        objectmode=False,
        fndesc=descriptor,
        library=library,
        environment=environments[0],
        reload_init=[],
        referenced_envs=environments,
    )


def _parts(data: bytes) -> list[bytes]:
    found, at = [], 0
    while at < len(data):
        start = at + _LENGTH
        at = start + int.from_bytes(data[at:start])
        found.append(data[start:at])
    return found


def _descriptor(described: dict[str, Any], function: FunctionType, signature: Any) -> Any:
    """What numba calls a function by; all that is not in the file is known from the kernel."""
    mangled = described["mangled_name"]
    return PythonFunctionDescriptor(  # type: ignore[no-untyped-call]
        native=True,
        modname=function.__module__,
        qualname=function.__qualname__,
        unique_name=described["unique_name"],
        doc=None,
        typemap=None,
        restype=signature.return_type,
        calltypes=None,
        args=tuple(described["args"]),
        kws=(),
        mangler=lambda *_, **__: mangled,
        argtypes=signature.args,
        env_name=described["env_name"],
        abi_tags=tuple(described["abi_tags"]),
        uid=described["uid"],
    )


def _described(environment: Any) -> dict[str, Any]:
    """An environment holds the globals of a function and the Python objects that its code needs."""
    return {
        "name": environment.env_name,
        "module": environment.globals.get("__name__"),
        "dtypes": [_dtype_text(constant) for constant in environment.consts],
    }


def _restored(described: dict[str, Any], spaces: Mapping[str | None, dict[str, Any]]) -> Any:
    if (known := lookup_environment(described["name"])) is not None:  # type: ignore[no-untyped-call]
        return known
    environment = Environment(_globals(described["module"], spaces))
    environment.consts[:] = [np.dtype(text) for text in described["dtypes"]]
    environment.env_name = described["name"]
    Environment._memo[environment.env_name] = environment
    return environment


def _globals(module: str, spaces: Mapping[str | None, dict[str, Any]]) -> dict[str, Any]:
    """The globals of one of the kernel's functions, or of a module of numba's."""
    if module in spaces:
        return spaces[module]
    if module.partition(".")[0] != "numba":
        raise LookupError(module)
    return vars(import_module(module))


def _dtype_text(constant: object) -> str:
    if isinstance(constant, np.dtype):
        return constant.str
    raise TypeError(f"compiled code with a constant of type {type(constant).__name__} cannot be kept")
