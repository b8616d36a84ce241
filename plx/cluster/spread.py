"""Chains that stand in for parts of them on the workers of a cluster.

Parts are ranges of chains. Each has the states and random streams that it would have among the others, so
counts, put together in the order of chains, are those of a single process. A worker that dies costs what its
part did since it was last kept: another worker does that again, to the same states, and goes on.
"""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from plx import deadline
from plx.cluster.part import Counts, Part, fixed_in, packed, unpacked
from plx.errors import Diagnostic
from plx.infer.chains import Chains, InParts, LostChainsError, PartedChains
from plx.infer.mcmc.samplers import Sampler
from plx.values import IntArray

if TYPE_CHECKING:
    from plx.cluster.connect import Crew

LOOK = 0.5
"""Seconds to wait for a worker before it is asked whether it is there."""

_EVERY, _SHARE = 2.0, 0.05
"""Seconds between two times that parts are kept, and the share of the time that this may take."""

_GRACE = 2.0
"""Seconds for the last call of a run whose time is over."""

PATIENCE = 20.0
"""Seconds to wait for a worker where there is none."""


@dataclass
class _Place:
    """A part: where it is, what it was when it was kept, and the calls of `step` since."""

    kept: bytes
    turns: int = 0
    since: list[tuple[int, int]] = field(default_factory=list)
    address: str = ""
    actor: Any = None


class SpreadChains(InParts):
    """Chains whose parts the workers of a crew move."""

    def __init__(self, crew: Crew, sampler: Sampler[Any], begun: Chains, parts: list[Chains]) -> None:
        super().__init__(begun)
        self._crew, self._sampler, self._key = crew, sampler, uuid.uuid4().hex
        self._known = fixed_in(begun, parts[0])
        self._fixed = packed(list(self._known))
        self._places = [_Place(packed((sampler, part, 0), self._known)) for part in parts]
        self._next = time.monotonic() + _EVERY
        alive = list(crew.workers())
        sent = crew.client.scatter(self._fixed, workers=alive, broadcast=True, hash=False)
        for place, address in zip(self._places, cycle(alive), strict=False):
            self._start(place, address, sent)

    def __reduce__(self) -> tuple[Any, ...]:
        """As a checkpoint keeps them: parts that move without workers. Raises LostChainsError."""
        self._keep()
        parts = [unpacked(place.kept, self._known)[1] for place in self._places]
        return PartedChains, (self.begun, parts, self._sampler)

    def step(self, draws: int, thin: int) -> Counts:
        """Counts [chains, Σ states]. Ctrl-C loses the counts of the call, and leaves no chain behind."""
        for place in self._places:
            place.since.append((draws, thin))
        counts = self._all("step", [(self._turn(place) - 1, draws, thin) for place in self._places])
        if time.monotonic() >= self._next:
            self._keep()
        return np.concatenate(counts)

    def states(self, variables: IntArray) -> npt.NDArray[np.integer]:
        """Where the chains stand."""
        found: list[npt.NDArray[np.integer]] = self._all("states", [(variables,)] * len(self._places))
        return np.concatenate(found, axis=1)

    def _keep(self) -> None:
        """Note where every part stands."""
        began = time.monotonic()
        for place, kept in zip(self._places, self._all("kept", [()] * len(self._places)), strict=True):
            place.turns, place.kept, place.since = self._turn(place), kept, []
        now = time.monotonic()
        self._next = now + max(_EVERY, (now - began) / _SHARE)

    @staticmethod
    def _turn(place: _Place) -> int:
        return place.turns + len(place.since)

    def _all(self, what: str, given: list[tuple[Any, ...]]) -> list[Any]:
        """What all parts answer to a call of a method."""
        asked = [
            self._asked(place, what, one) if place.actor is not None else None
            for place, one in zip(self._places, given, strict=True)
        ]
        triples = zip(self._places, asked, given, strict=True)
        return [self._answer(place, future, what, one) for place, future, one in triples]

    def _asked(self, place: _Place, what: str, given: tuple[Any, ...]) -> Any:
        """The answer to come; None where the worker is known to be lost."""
        try:
            with self._crew.client.as_current():
                return getattr(place.actor, what)(*given)
        except (RuntimeError, OSError):
            return None

    def _answer(self, place: _Place, future: Any, what: str, given: tuple[Any, ...]) -> Any:
        """The answer of a part, which moves to another worker where its own is lost."""
        while True:
            found = None if future is None else self._waited(place, future)
            if found is not None:
                return found
            self._move(place, place.since[:-1] if what == "step" else place.since)
            future = self._asked(place, what, given)

    def _waited(self, place: _Place, future: Any) -> Any:
        """The result of a call; None where the worker is lost. Raises LostChainsError where it is there, and
        silent when the time of the run is over."""
        late = 0.0
        while True:
            try:
                return future.result(timeout=LOOK)
            except TimeoutError:
                if place.address not in self._crew.workers():
                    return None
                late += LOOK if deadline.over() else 0.0
                if late > _GRACE:
                    raise lost_chains(f"the worker {place.address} did not answer in time") from None
            except (OSError, RuntimeError):
                return None

    def _move(self, place: _Place, calls: list[tuple[int, int]]) -> None:
        """Bring a part to a worker that is there, and up to date. Raises LostChainsError where none comes."""
        give_up = time.monotonic() + min(PATIENCE, max(1.0, deadline.seconds_left()))
        lost, place.actor = place.address, None
        while time.monotonic() < give_up:
            alive = [address for address in self._crew.workers() if address != lost]
            if not alive:
                time.sleep(LOOK / 5)
                continue
            taken = [other.address for other in self._places if other is not place]
            address = min(alive, key=taken.count)
            try:
                sent = self._crew.client.scatter(self._fixed, workers=[address], hash=False)
                self._start(place, address, sent)
                future = self._asked(place, "again", (calls,))
            except (OSError, RuntimeError, TimeoutError):
                continue
            if future is not None and self._done(place, future):
                return
        raise lost_chains("no worker of the cluster is left")

    def _done(self, place: _Place, future: Any) -> bool:
        """Whether a part has caught up; else its worker was lost, too."""
        while True:
            try:
                future.result(timeout=LOOK)
                return True
            except TimeoutError:
                if place.address not in self._crew.workers():
                    return False
            except (OSError, RuntimeError):
                return False

    def _start(self, place: _Place, address: str, fixed: Any) -> None:
        """A part as it was kept on a worker."""
        client = self._crew.client
        kept = client.scatter(place.kept, workers=[address], hash=False)
        begun = client.submit(
            Part, self._key, fixed, kept, workers=[address], allow_other_workers=False, actor=True, pure=False
        )
        place.address = address
        place.actor = self._crew.actor(begun, Part, address)


def lost_chains(message: str) -> LostChainsError:
    """The error where nothing can go on."""
    return LostChainsError(Diagnostic(message, hint="start workers, and run it again"))


def spread(crew: Crew, sampler: Sampler[Any], chains: Chains, count: int) -> Chains:
    """So many chains in parts, moved by workers: as many for each as it has threads, or the parts that a
    checkpoint kept."""
    if isinstance(chains, PartedChains):
        return SpreadChains(crew, sampler, chains.begun, chains.parts)
    threads = np.array(list(crew.workers().values()), dtype=np.int64)
    ends = np.round(np.cumsum(threads) * (count / threads.sum())).astype(np.int64).tolist()
    parts = []
    for first, last, n in zip([0, *ends], ends, threads.tolist(), strict=False):
        part = chains.taken(first, last, n) if last > first else None
        if part is not None:
            parts.append(part)
    return SpreadChains(crew, sampler, chains, parts)
