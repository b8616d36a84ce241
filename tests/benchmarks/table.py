"""What a section of the benchmarks hands over: tables of figures, and times with their spread."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """How thoroughly to measure.

    ``repeats`` figures are taken of everything that is repeated, each over about ``seconds``;
    ``rivals`` are the Python interpreters that other tools are looked for in; ``figures`` is where
    plots go, None for nowhere.
    """

    quick: bool = False
    repeats: int = 5
    seconds: float = 0.4
    rivals: tuple[str, ...] = ()
    figures: Path | None = None


QUICK = Settings(quick=True, repeats=1, seconds=0.005)
"""Only whether it runs."""


@dataclass(frozen=True)
class Spread:
    """Repeated measurements of one figure."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def __str__(self) -> str:
        """The median, and half the range as a share of it."""
        if len(self.values) == 1:
            return number(self.median)
        half = (max(self.values) - min(self.values)) / 2
        return f"{number(self.median)} ± {half / self.median:.0%}"


@dataclass(frozen=True)
class Table:
    """A heading, columns, rows of cells, and what to know about them."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[object, ...]] = field(default_factory=list)
    notes: tuple[str, ...] = ()

    def shown(self, figure: str) -> Table:
        """The table with a figure below it, which lies beside the page."""
        return replace(self, notes=(*self.notes, f"![{self.title}](figures/{figure}.svg)"))

    def markdown(self) -> str:
        """The table as Markdown; numbers stand right."""
        cells = [[text(cell) for cell in row] for row in self.rows]
        right = [
            any(isinstance(row[i], int | float | Spread) for row in self.rows)
            for i in range(len(self.columns))
        ]
        rule = ["---:" if flush else "---" for flush in right]
        lines = [f"| {' | '.join(row)} |" for row in ([*self.columns], rule, *cells)]
        return "\n".join([f"**{self.title}**", "", *lines, *(f"\n{note}" for note in self.notes)])


def text(cell: object) -> str:
    """A cell as text; None is a dash."""
    if cell is None:
        return "–"
    return number(cell) if isinstance(cell, float) else str(cell)


def number(value: float) -> str:
    """Three digits, in powers of ten where that is shorter."""
    if value == 0 or 1e-3 <= abs(value) < 1e4:
        return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def timed(work: Callable[[], object], repeats: int) -> Spread:
    """Wall-clock seconds of a call."""
    return Spread(tuple(_seconds(work) for _ in range(repeats)))


def rate(work: Callable[[int], object], unit: float, settings: Settings) -> Spread:
    """Units per second of ``work(n)``, which does ``n * unit``; n is doubled until it takes long enough."""
    n = 1
    while (spent := _seconds(work, n)) < settings.seconds / 2:
        n = max(2 * n, int(n * settings.seconds / (2 * spent)) if spent > settings.seconds / 20 else 0)
    return Spread(tuple(n * unit / _seconds(work, n) for _ in range(settings.repeats)))


def ratio(above: Spread | None, below: Spread | None) -> str | None:
    """How many times larger a median is."""
    return None if above is None or below is None else f"{number(above.median / below.median)}×"


def _seconds(work: Callable[..., object], *arguments: int) -> float:
    begin = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - begin
