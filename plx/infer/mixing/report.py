"""What a diagnosis of a program hands over: how its parts mix, how methods compare, and what would help."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from plx.markup import html_table

_SHOWN = 12
"""So many families, and as many rules, are in the table; JSON has all."""


@dataclass(frozen=True)
class Part:
    """How a family of unknowns, or those that a rule is about, mix.

    ``unknowns`` were looked at; ``rhat`` is the largest R-hat of any of their states, infinite where there
    were too few draws to tell, ``ess_per_second`` the least number of effective samples of any of them.
    ``worst`` is the slowest of those of about the largest R-hat; ``stuck`` of them differ between chains and
    hardly move within them. ``strength`` is by how much the log weights of a rule's instances differ at most,
    infinite for a hard one; None for a family.
    """

    name: str
    line: int | None
    unknowns: int
    rhat: float
    ess_per_second: float
    worst: str
    stuck: int
    strength: float | None = None


@dataclass(frozen=True)
class Trial:
    """A short run of a method: the largest R-hat, and effective samples per second of the slowest unknown.

    ``missed``: no chain came near the most probable world. ``why`` says why there was no run.
    """

    method: str
    rhat: float = math.inf
    ess_per_second: float = 0.0
    stuck: int = 0
    seconds: float = 0.0
    why: str = ""
    missed: bool = False

    @property
    def mixes(self) -> bool:
        """Whether its chains agree, so that its effective samples are to be believed."""
        return not (self.why or self.stuck or self.missed) and self.rhat < AGREE


AGREE = 1.05
"""An R-hat that a short run of chains that mix stays below."""


@dataclass(frozen=True, eq=False, repr=False)
class Mixing:
    """How the parts of a program mix under ``method``, worst first; ``help`` says what to do about it."""

    program: str
    method: str
    seed: int
    families: tuple[Part, ...]
    rules: tuple[Part, ...]
    trials: tuple[Trial, ...]
    help: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """All of it in words and tables."""
        return "\n".join(self._lines())

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data; what is not finite is None, and a hard rule has ``hard`` true."""
        return {
            "program": self.program,
            "method": self.method,
            "seed": self.seed,
            "families": [_plain(part) for part in self.families],
            "rules": [{**_plain(part), "hard": part.strength == math.inf} for part in self.rules],
            "methods": [_plain(trial) for trial in self.trials],
            "help": list(self.help),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return f"<Mixing of {self.program} under {self.method}: {'; '.join(self.help)}>"

    def _repr_html_(self) -> str:
        rows = [_row(part) for part in (*self.families, *self.rules)]
        return html_table(["part", *_HEADINGS], rows, [*self.help, *self.notes])

    def _lines(self) -> Iterator[str]:
        if self.families:
            yield f"{self.program} under {self.method}, worst parts first"
        for title, parts in (("unknowns", self.families), ("rule", self.rules)):
            if parts:
                yield ""
                yield from _columns([title, *_HEADINGS], [_row(part) for part in parts[:_SHOWN]])
                if len(parts) > _SHOWN:
                    yield f"… and {len(parts) - _SHOWN:,} more, which mix better"
        if self.trials:
            yield ""
            yield from _columns(["method", *_HEADINGS[1:]], [_trial_row(trial) for trial in self.trials])
        if self.families:
            yield ""
        yield from self.help
        yield from (f"note: {note}" for note in self.notes)


_HEADINGS = ["worst", "R-hat", "ESS per second", "stuck"]


def _plain(part: Part | Trial) -> dict[str, Any]:
    return {key: None if value in (math.inf, -math.inf) else value for key, value in asdict(part).items()}


def _row(part: Part) -> list[str]:
    name = part.name if part.line is None else f"line {part.line}: {part.name}"
    stuck = f"{part.stuck:,} of {part.unknowns:,}" if part.stuck else ""
    return [name, part.worst, rhat_text(part.rhat), f"{part.ess_per_second:,.0f}", stuck]


def _trial_row(trial: Trial) -> list[str]:
    if trial.why:
        return [trial.method, trial.why, "", ""]
    return [
        trial.method,
        rhat_text(trial.rhat),
        f"{trial.ess_per_second:,.0f}",
        f"{trial.stuck:,}" if trial.stuck else "",
    ]


def rhat_text(rhat: float) -> str:
    """``1.003``, or ``inf`` where there were too few draws."""
    return f"{rhat:.3f}" if math.isfinite(rhat) else "inf"


def _columns(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Text in columns; the first stands left."""
    lines = [headings, *rows]
    width = [max(len(line[i]) for line in lines) for i in range(len(headings))]
    for line in lines:
        yield "  ".join(cell.ljust(w) for cell, w in zip(line, width, strict=True)).rstrip()
