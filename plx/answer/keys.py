"""Values as the keys of a dict, none of which is lost: Python takes 1 and True for one key."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False, repr=False)
class Truth:
    """A truth value where numbers may stand too: equal to the bool, and to no number."""

    value: bool

    def __bool__(self) -> bool:
        return self.value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, bool | np.bool_ | Truth) and bool(other) is self.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return repr(self.value)


class Distribution(dict[Any, float]):
    """Value → probability where some coordinate holds truth values and numbers.

    The truth values are kept as `Truth`; they are found by ``True`` and ``False`` as everywhere else.
    ``mixed`` says of each coordinate whether it is such a one.
    """

    def __init__(self, pairs: Iterable[tuple[Any, float]] = (), mixed: Sequence[bool] = ()) -> None:
        super().__init__(pairs)
        self._mixed = tuple(mixed)

    def __getitem__(self, key: Any) -> float:
        return super().__getitem__(_key(key, self._mixed))

    def __contains__(self, key: object) -> bool:
        return super().__contains__(_key(key, self._mixed))

    def get(self, key: Any, default: Any = None) -> Any:
        """The probability of a value, or the default where it is none of the values."""
        return super().get(_key(key, self._mixed), default)

    def copy(self) -> Distribution:
        """A copy, which tells values apart as this one does."""
        return Distribution(self.items(), self._mixed)


def keyed(values: Sequence[Any], p: Iterable[float]) -> dict[Any, float]:
    """Value → probability; numbers that no double tells apart are one value, and their sum its probability.

    A plain dict, but for a `Distribution` where a value is a truth value here and a number there.
    """
    joint = bool(values) and isinstance(values[0], tuple)
    mixed = tuple(map(_mixes, zip(*values, strict=True))) if joint else (_mixes(values),)
    keys = [_key(value, mixed) for value in values] if any(mixed) else values
    found: dict[Any, float] = {}
    for key, share in zip(keys, p, strict=True):
        found[key] = found.get(key, 0.0) + share
    return Distribution(found.items(), mixed) if any(mixed) else found


def _mixes(values: Iterable[Any]) -> bool:
    kinds = set(map(type, values))
    return bool in kinds and not kinds.isdisjoint((int, float))


def _key(value: Any, mixed: Sequence[bool]) -> Hashable:
    if isinstance(value, tuple):
        return tuple(map(_one_key, value, mixed)) if len(value) == len(mixed) else value
    return _one_key(value, mixed[0]) if len(mixed) == 1 else value  # type: ignore[no-any-return]


def _one_key(value: Any, mixed: bool) -> Any:
    return Truth(bool(value)) if mixed and isinstance(value, bool | np.bool_) else value
