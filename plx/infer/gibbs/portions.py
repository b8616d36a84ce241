"""Arrays that are found portion by portion."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class Portions:
    """Parts of named arrays, one after the other."""

    def __init__(self) -> None:
        self._parts: dict[str, list[npt.NDArray[Any]]] = {}

    def add(self, **parts: npt.NDArray[Any]) -> None:
        """The next part of each array."""
        for name, part in parts.items():
            self._parts.setdefault(name, []).append(part)

    def all(self, name: str) -> npt.NDArray[Any]:
        """A whole array; its parts are let go."""
        parts = self._parts.pop(name)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
