"""Integer numbers of any size: of python-flint where it is installed, which multiplies large ones sooner."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

Integer = Any
"""An int, or a ``flint.fmpz``."""


def _maker() -> Callable[[int], Integer]:
    try:
        found: Callable[[int], Integer] = import_module("flint").fmpz
    except ImportError:
        return int
    return found


integer: Callable[[int], Integer] = _maker()
"""A whole number from an int."""
