"""What a comparison of methods hands over: how far each is from the truth, over time."""

from __future__ import annotations

from dataclasses import dataclass

from plx.values import FloatArray


@dataclass(frozen=True)
class Curve:
    """One method over time.

    ``kl[c, k]`` is the KL divergence of chain c at its k-th mark: the mean over unknowns of
    Σ m̂ ln(m̂ / m), m̂ the estimated marginal and m the true one, in nats. ``seconds[k]`` and
    ``samples[k]`` are means over chains: the clock, which includes setting up, and the updates of
    single unknowns made until then. ``symmetry_seconds`` is what setting up takes beyond what
    plain Gibbs needs.
    """

    method: str
    seconds: FloatArray  # [marks]
    kl: FloatArray  # [chains, marks]
    samples: FloatArray  # [marks]
    symmetry_seconds: float
    notes: tuple[str, ...] = ()

    @property
    def mean(self) -> FloatArray:
        """The mean KL divergence over chains, shape (marks,)."""
        mean: FloatArray = self.kl.mean(axis=0)
        return mean

    @property
    def spread(self) -> FloatArray:
        """The standard deviation of the KL divergence over chains, shape (marks,)."""
        spread: FloatArray = self.kl.std(axis=0, ddof=min(1, len(self.kl) - 1))
        return spread


@dataclass(frozen=True)
class Comparison:
    """Curves of several methods on one model, against one truth; ``protocol`` says what a sample was."""

    program: str
    truth: str
    chains: int
    lanes: int
    seed: int
    protocol: str
    curves: tuple[Curve, ...]
    notes: tuple[str, ...] = ()
