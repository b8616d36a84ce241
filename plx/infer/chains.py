"""What a run asks of chains, of whatever kind."""

from __future__ import annotations

from typing import Protocol

from plx.infer.inference import Standing
from plx.values import FloatArray


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

    def standing(self) -> Standing | None:
        """Where the chains stand, so that a run sees whether they move; None: it sees only what is asked."""
        return None
