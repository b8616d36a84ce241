"""What a comparison of methods hands over: how far each is from the truth, over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plx.markup import html_table
from plx.values import FloatArray


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False, repr=False)
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

    @property
    def headings(self) -> list[str]:
        """The headings of its table."""
        return [
            "method", *(f"KL at {time:g} s" for time in self._times),
            "end", "± spread", "updates/s", "symmetries",
        ]  # fmt: skip

    @property
    def rows(self) -> list[list[str]]:
        """One row per method: its KL divergence at round times and at the end, speed and set-up."""
        return [self._row(curve) for curve in self.curves]

    @property
    def summary(self) -> list[str]:
        """What stands below the table."""
        runs = f"{self.chains} chains of {self.lanes} lanes per method"
        lines = [f"truth: {self.truth}; {runs}; protocol {self.protocol}; seed {self.seed}"]
        notes = [f"{curve.method}: {note}" for curve in self.curves for note in curve.notes]
        return lines + [f"note: {note}" for note in (*self.notes, *notes)]

    def __repr__(self) -> str:
        ends = ", ".join(f"{curve.method} {curve.mean[-1]:.2e}" for curve in self.curves)
        return f"<Comparison of {self.program}, KL at the end: {ends}>"

    def _repr_html_(self) -> str:
        return html_table(self.headings, self.rows, self.summary)

    @property
    def _times(self) -> list[float]:
        end = max((float(curve.seconds[-1]) for curve in self.curves), default=0.0)
        return [time for time in (0.1, 1.0, 10.0, 100.0) if time < 0.9 * end]

    def _row(self, curve: Curve) -> list[str]:
        at = [_at(curve, time) for time in self._times]
        speed = curve.samples[-1] / curve.seconds[-1]
        end = [f"{curve.mean[-1]:.2e}", f"{curve.spread[-1]:.1e}", f"{speed:.2e}"]
        return [curve.method, *at, *end, f"{curve.symmetry_seconds:.3f} s"]


def _at(curve: Curve, time: float) -> str:
    k = int(np.searchsorted(curve.seconds, time * 0.95))
    return f"{curve.mean[k]:.2e}" if k < len(curve.mean) and curve.seconds[k] < 1.5 * time else "–"
