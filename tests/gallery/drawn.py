"""The data of examples that were drawn with a seed: ``python -m tests.gallery.drawn`` writes them anew.

Each is drawn as its program says, in plain Python, whose generator gives the same numbers everywhere.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from math import exp
from pathlib import Path
from random import Random

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

Rows = Iterator[tuple[object, ...]]


def _one_of(random: Random, p: dict[str, float]) -> str:
    return random.choices(list(p), list(p.values()))[0]


# ------------------------------------------------------------------------------- hmm

MOVE = {
    "fine": {"fine": 0.85, "slow": 0.1, "down": 0.05},
    "slow": {"fine": 0.2, "slow": 0.7, "down": 0.1},
    "down": {"fine": 0.3, "slow": 0.1, "down": 0.6},
}
PING = {
    "fine": {"fast": 0.9, "late": 0.08, "none": 0.02},
    "slow": {"fast": 0.3, "late": 0.5, "none": 0.2},
    "down": {"fast": 0.0, "late": 0.05, "none": 0.95},
}


def pings() -> Rows:
    random, state = Random(5), "fine"
    yield "hour", "value"
    for hour in range(24):
        yield hour, _one_of(random, PING[state])
        state = _one_of(random, MOVE[state])


# --------------------------------------------------------------------------- denoise

PICTURE = [
    ".........",
    ".#######.",
    ".#######.",
    "...###...",
    "...###...",
    "...###...",
    "...###...",
    "...###...",
    ".........",
]
FLIPPED = 0.12


def scanned() -> Rows:
    """The black pixels of the picture, of which each was flipped by chance."""
    random = Random(6)
    yield "row", "column"
    for r, line in enumerate(PICTURE, start=1):
        for c, pixel in enumerate(line, start=1):
            if (pixel == "#") != (random.random() < FLIPPED):
                yield r, c


# ---------------------------------------------------------------------------- blocks

PEOPLE = [f"m{i:02}" for i in range(1, 13)]
WITHIN, ACROSS = 0.7, 0.15


def group(person: int) -> int:
    return 1 if person in (0, 1, 3, 6, 7, 10, 12) else 2


def talks() -> Rows:
    random = Random(3)
    yield "x", "y"
    for (i, x), (j, y) in itertools.combinations(enumerate(PEOPLE), 2):
        if random.random() < (WITHIN if group(i) == group(j) else ACROSS):
            yield x, y


# ----------------------------------------------------------------------------- skill

SKILL = {"ada": 4, "ben": 2, "cem": 1, "dua": 3, "eli": 0, "fay": 2}
GAMES = 20


def games() -> Iterator[tuple[Sequence[str], Sequence[str], bool]]:
    """Both teams of two, and whether the first one won."""
    random = Random(8)
    for _ in range(GAMES):
        four = random.sample(sorted(SKILL), 4)
        ahead = sum(SKILL[p] for p in four[:2]) - sum(SKILL[p] for p in four[2:])
        yield four[:2], four[2:], random.random() < 1 / (1 + exp(-0.7 * ahead))


def lineups() -> Rows:
    yield "game", "side", "player"
    for number, (home, away, _) in enumerate(games(), start=1):
        yield from ((number, "home", player) for player in home)
        yield from ((number, "away", player) for player in away)


def results() -> Rows:
    yield "game", "value"
    for number, (_, _, won) in enumerate(games(), start=1):
        yield number, str(won).lower()


# --------------------------------------------------------------------------- capture

NIGHTS = (0.3, 0.3, 0.3, 0.3)
NEWTS = 24


def caught() -> Rows:
    random = Random(2)
    histories = [[random.random() < p for p in NIGHTS] for _ in range(NEWTS)]
    yield "newt", "night"
    for newt, history in enumerate((h for h in histories if any(h)), start=1):
        yield from ((f"n{newt}", night) for night, seen in enumerate(history, start=1) if seen)


FILES: dict[str, Callable[[], Rows]] = {
    "hmm/pings.csv": pings,
    "denoise/scanned.csv": scanned,
    "blocks/talks.csv": talks,
    "skill/lineups.csv": lineups,
    "skill/results.csv": results,
    "capture/caught.csv": caught,
}


def text(name: str) -> str:
    return "".join(",".join(map(str, row)) + "\n" for row in FILES[name]())


if __name__ == "__main__":
    for name in FILES:
        (EXAMPLES / name).write_text(text(name), encoding="utf-8")
