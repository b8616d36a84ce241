"""Whole numbers of any size: of python-flint where it is installed, which multiplies large ones sooner."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

Whole = Any
"""An int, or a ``flint.fmpz``."""


def _maker() -> Callable[[int], Whole]:
    try:
        found: Callable[[int], Whole] = import_module("flint").fmpz
    except ImportError:
        return int
    return found


whole: Callable[[int], Whole] = _maker()
"""A whole number from an int."""
