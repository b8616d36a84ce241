"""Pickles that hold kernels by their names and signatures."""

from __future__ import annotations

import pickle
from typing import Any


class Pickler(pickle.Pickler):
    """Kernels are pickled by name and signature; numba would pickle their code, and compile it anew."""

    def reducer_override(self, obj: Any) -> Any:
        if not hasattr(obj, "py_func"):
            return NotImplemented
        from plx.jit.compile import named

        return named, (obj.py_func.__module__, obj.py_func.__qualname__, obj.nopython_signatures[0])
