"""Some of the chains of a run in the process of a worker.

What all parts share, and no chain changes (the model, plans, symmetries), is pickled once and sent to each
worker once. A part itself is small: states and random streams, by which it goes on anywhere.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from io import BytesIO
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from plx.infer.chains import Chains
from plx.infer.mcmc.samplers import Sampler
from plx.jit.pickles import Pickler
from plx.values import IntArray

Counts = npt.NDArray[np.number]


class Fixed(list[Any]):
    """Objects that all parts share, in an order that all processes know."""


_known: WeakValueDictionary[str, Fixed] = WeakValueDictionary()


def fixed_in(whole: Chains, part: Chains) -> Fixed:
    """What chains and some of them have in common."""
    return Fixed(_shared(whole, part))


def _shared(whole: Any, part: Any) -> Iterator[Any]:
    for one in fields(whole):
        mine, other = getattr(whole, one.name), getattr(part, one.name)
        if mine is other and not isinstance(mine, int | float | str | bytes | None):
            yield mine
        elif is_dataclass(mine) and type(mine) is type(other):
            yield from _shared(mine, other)


def packed(what: object, fixed: Iterable[object] = ()) -> bytes:
    """A pickle that names what is fixed by its place."""
    stream = BytesIO()
    _PartPickler(stream, fixed).dump(what)
    return stream.getvalue()


class _PartPickler(Pickler):
    def __init__(self, stream: BytesIO, fixed: Iterable[object]) -> None:
        super().__init__(stream, protocol=pickle.HIGHEST_PROTOCOL)
        self._place = {id(one): place for place, one in enumerate(fixed)}

    def persistent_id(self, obj: Any) -> int | None:
        return self._place.get(id(obj))


class _PartUnpickler(pickle.Unpickler):
    def __init__(self, content: bytes, fixed: Fixed) -> None:
        super().__init__(BytesIO(content))
        self._fixed = fixed

    def persistent_load(self, pid: int) -> Any:
        return self._fixed[pid]


def unpacked(content: bytes, fixed: Fixed) -> Any:
    """What was packed, with what is fixed in its places."""
    return _PartUnpickler(content, fixed).load()


class Part:
    """Chains of a run that a worker moves, an actor of Dask. ``key`` names the run, ``turns`` is how many
    calls of `step` they have had."""

    def __init__(self, key: str, fixed: bytes, kept: bytes) -> None:
        known = _known.get(key)
        if known is None:
            known = _known[key] = Fixed(pickle.loads(fixed))
        self._fixed = known
        self._sampler: Sampler[Any]
        self._chains: Chains
        self._sampler, self._chains, self.turns = unpacked(kept, known)

    def step(self, turn: int, draws: int, thin: int) -> Counts:
        """The counts [chains, Σ states] of call number ``turn``. Raises RuntimeError where these chains are
        not those that had the calls before it."""
        if turn != self.turns:
            raise RuntimeError(f"chains that have had {self.turns} calls cannot have call {turn}")
        self.turns += 1
        return self._sampler.step(self._chains, draws, thin)

    def again(self, calls: list[tuple[int, int]]) -> None:
        """Make calls whose counts are known."""
        for draws, thin in calls:
            self.step(self.turns, draws, thin)

    def states(self, variables: IntArray) -> npt.NDArray[np.integer]:
        """Where the chains stand, shape (variables, chains)."""
        standing = self._chains.standing()
        assert standing is not None
        return standing.states(variables)

    def kept(self) -> bytes:
        """These chains as they are now."""
        return packed((self._sampler, self._chains, self.turns), self._fixed)
