"""What a run asks of chains, of whatever kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from plx.errors import PlxError
from plx.infer.inference import Standing
from plx.values import FloatArray, IntArray


class BridgeSums(NamedTuple):
    """What some rounds add to an estimate of log Z; K pairs of neighbouring temperatures, each chain by
    itself.

    With w the log weight of a world at β = 1, m the middle of a pair and d the difference of its
    temperatures: ``above`` [K, chains] is Σ exp(d/2 (w - m)) at the hotter one, ``below`` Σ exp(-d/2 (w - m))
    at the colder one, ``total`` [K + 1, chains] Σ w at each temperature, ``line`` [2, chains] the sum and
    that of squares of Σ d/2 (w + w' - 2 m) over the pairs, ``trips`` [chains] how many worlds have come from
    β = 0 to β = 1. ``control`` [controls, K + 1, chains] are sums of what has mean 0 at each temperature,
    all 0 where there is none.
    """

    above: FloatArray
    below: FloatArray
    total: FloatArray
    line: FloatArray
    control: FloatArray
    trips: IntArray
    rounds: int

    def __add__(self, other: BridgeSums) -> BridgeSums:  # type: ignore[override]
        """The sums of both."""
        return BridgeSums(
            self.above + other.above,
            self.below + other.below,
            self.total + other.total,
            self.line + other.line,
            self.control + other.control,
            self.trips + other.trips,
            self.rounds + other.rounds,
        )


@dataclass
class Bridges:
    """Sums for log Z, batch by batch; ``start`` is log Z at β = 0, None where it is not known.

    ``step`` [K] are the differences of neighbouring inverse temperatures, ``middle`` [K] the middles of
    pairs. ``cold`` says which chains began at cold worlds, the others having begun at random ones. ``alone``:
    moves of clusters cross between modes at each temperature, so that no world need pass through all.
    ``flat``: there are no weights, so that log Z is that at β = 0. ``least``: what one world weighs, so that
    log Z is no less.
    """

    start: float | None
    step: FloatArray
    middle: FloatArray
    cold: npt.NDArray[np.bool_]
    alone: bool = False
    flat: bool = False
    least: float = -math.inf
    batches: list[BridgeSums] = field(default_factory=list)
    open: BridgeSums | None = None

    def add(self, sums: BridgeSums) -> None:
        """Add to the batch that is open."""
        self.open = sums if self.open is None else self.open + sums

    def look(self) -> None:
        """Close a batch."""
        assert self.open is not None
        self.batches.append(self.open)
        self.open = None

    def drop(self, batches: int) -> None:
        """Forget the first batches."""
        self.batches = self.batches[batches:]

    def merge(self) -> None:
        """Make one of each pair of batches."""
        self.batches = [a + b for a, b in zip(self.batches[::2], self.batches[1::2], strict=True)]


class Chains(Protocol):
    """Markov chains that a sampler made; a class derived from this one inherits the answers below."""

    def notes(self) -> tuple[str, ...]:
        """What the user should know after a run."""
        return ()

    def pooled(self) -> FloatArray | None:
        """Of how many counts each one is an average, shape (Σ states,); None: they are plain counts."""
        return None

    def sweeps(self) -> int:
        """Sweeps that are made for each one asked for."""
        return 1

    def rounds_before(self) -> int:
        """Of the sweeps that are asked for, how many chains made before the first one, while they were
        tuned."""
        return 0

    def standing(self) -> Standing | None:
        """Where the chains stand, so that a run sees whether they move; None: it sees only what is asked."""
        return None

    def missed(self) -> bool:
        """Whether the chains, which look for themselves, know of heavier worlds than most have met."""
        return False

    def bridges(self) -> Bridges | None:
        """What log Z is estimated from; None: the method has no estimate."""
        return None

    def want_log_z(self) -> None:
        """From here on more is done for the estimate of log Z, as it is asked for."""
        return

    def taken(self, first: int, last: int, threads: int) -> Chains | None:
        """Chains ``first`` to ``last - 1`` alone, which move as they would among the others, for so many
        threads; None where chains depend on each other. What is the same object in both never changes."""
        return None


class InParts(Chains):
    """Chains that are moved in parts, each a range of them; ``begun`` are all where they were parted."""

    def __init__(self, begun: Chains) -> None:
        self.begun = begun

    def step(self, draws: int, thin: int) -> npt.NDArray[np.number]:
        """What the sampler's `step` does."""
        raise NotImplementedError

    def states(self, variables: IntArray) -> npt.NDArray[np.integer]:
        """Where all chains stand, shape (variables, chains)."""
        raise NotImplementedError

    def notes(self) -> tuple[str, ...]:
        """What the user should know after a run."""
        return self.begun.notes()

    def pooled(self) -> FloatArray | None:
        """Of how many counts each one is an average, shape (Σ states,); None: they are plain counts."""
        return self.begun.pooled()

    def sweeps(self) -> int:
        """Sweeps that are made for each one asked for."""
        return self.begun.sweeps()

    def rounds_before(self) -> int:
        """Of the sweeps that are asked for, how many chains made before the first one."""
        return self.begun.rounds_before()

    def standing(self) -> Standing | None:
        """Where the chains stand."""
        own = self.begun.standing()
        return None if own is None else own._replace(states=self.states)


class Mover(Protocol):
    """A sampler (`plx.infer.mcmc.samplers.Sampler`), of which its step is used."""

    @property
    def step(self) -> Callable[[Any, int, int], npt.NDArray[np.number]]:
        """Moves chains."""
        ...


class PartedChains(InParts):
    """Parts in one process, as those of a cluster are kept: one moves after the other."""

    def __init__(self, begun: Chains, parts: list[Chains], sampler: Mover) -> None:
        super().__init__(begun)
        self.parts, self._sampler = parts, sampler

    def step(self, draws: int, thin: int) -> npt.NDArray[np.number]:
        """Counts [chains, Σ states]."""
        return np.concatenate([self._sampler.step(part, draws, thin) for part in self.parts])

    def states(self, variables: IntArray) -> npt.NDArray[np.integer]:
        """Where the chains stand."""
        found = [standing.states(variables) for part in self.parts if (standing := part.standing())]
        return np.concatenate(found, axis=1)


class LostChainsError(PlxError):
    """Chains that another process moved are lost, and nothing is left that could go on with them."""
