"""A kernel is known by what it is made of, and by nothing else."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

import plx
from plx.jit import Kernel
from plx.jit.digest import parts, plain

KERNEL_FILES = sorted(
    file
    for pattern in ("*/kernels.py", "*/kernels/[!_]*.py")
    for file in Path(plx.__file__).parent.glob(pattern)
)

INNER = """
import numpy as np
SIZE, TABLE = 3, np.arange(4.0)
def helper(x: int) -> int:
    return x + SIZE
"""
OUTER = """
def outer(x: int) -> int:
    return helper(x) + int(TABLE[1])
"""


def module(name: str, text: str, **names: Any) -> ModuleType:
    out = ModuleType(name)
    vars(out).update(names)
    exec(compile(text, name, "exec"), vars(out))
    return out


def outer(inner: str = INNER, text: str = OUTER) -> list[str]:
    """The parts of a function that calls one of another file."""
    there = module("inner", inner)
    here = module("outer", text, helper=there.helper, TABLE=there.TABLE)
    return list(parts(here.outer))


def test_places_and_comments_do_not_matter() -> None:
    assert outer("# moved\n\n" + INNER.replace("return", "# why\n    return"), "\n\n" + OUTER) == outer()


@pytest.mark.parametrize(
    ("old", "new"),
    [("SIZE, TABLE = 3", "SIZE, TABLE = 4"), ("arange(4.0)", "arange(4)"), ("arange(4.0)", "ones(4)"),
     ("x + SIZE", "x - SIZE"), ("x + SIZE", "x + SIZE + 0.0"), ("x + SIZE", "abs(x) + SIZE")],
)  # fmt: skip
def test_what_a_called_function_of_another_file_does_matters(old: str, new: str) -> None:
    assert old in INNER
    assert outer(INNER.replace(old, new)) != outer()


def test_how_a_called_function_is_to_be_compiled_matters() -> None:
    made = "from plx.jit import inner\n" + INNER.replace("def helper", "@inner\ndef helper")
    assert outer(made) != outer(made.replace("@inner", "@inner(inline=True)"))


def test_whatever_else_a_kernel_could_name_is_refused() -> None:
    with pytest.raises(TypeError, match="type dict"):
        outer(INNER.replace("3", "{}"))


def test_functions_that_call_themselves_have_an_end() -> None:
    there = module("inner", "def f(n: int) -> int:\n    return f(n - 1) if n else 0\n")
    assert list(parts(there.f))


@pytest.mark.parametrize("file", KERNEL_FILES, ids=lambda file: f"{file.parent.name}.{file.stem}")
def test_every_compiled_function_of_plx_is_known_by_its_parts(file: Path) -> None:
    names = file.relative_to(Path(plx.__file__).parent.parent).with_suffix("").parts
    found = vars(import_module(".".join(names)))
    made = re.findall(r"Kernel\((\w+), ", file.read_text(encoding="utf-8"))
    own = [
        value
        for value in found.values()
        if isinstance(value, FunctionType) and value.__module__ == ".".join(names)
    ]
    compiled = [found[name] for name in made] + [
        value for value in found.values() if isinstance(value, Kernel) or hasattr(value, "inner_options")
    ]
    compiled = compiled or own  # a file of nothing but what other kernels call
    assert compiled
    for function in compiled:
        assert len(list(parts(plain(function)))) > 3


def test_no_kernel_is_kept_by_numba_itself() -> None:
    assert not [file for file in KERNEL_FILES if "cache=True" in file.read_text(encoding="utf-8")]
