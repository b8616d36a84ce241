"""The models that updates per second are measured on, and the same ones as other tools read them."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import plx
from plx.graph.model import GroundModel
from plx.infer.compare.compare import with_marginals
from tests.benchmarks import ceiling
from tests.benchmarks.ceiling import ByHand
from tests.benchmarks.models import potts

PAPER = Path(__file__).parents[3] / "shared" / "paper"

Plain = dict[str, Any]
"""A model as `rival_runs` reads it."""

FRIENDS = """
type Person
random smokes(Person)
random friends(Person, Person)
weight 1.4: smokes(x)                                   for x in Person
weight 1.1 / {people}: friends(x, y) & smokes(x) => smokes(y)    for x, y in Person
query smokes(x) for x in Person
"""

COUNTS = """
type Person = p1..p{people}
type Course = c1..c10
random takes(Person, Course)
factor -abs(count(takes(p, c) for p in Person) - 0.3 * {people}) / 40    for c in Course
query takes(p, c) for p in Person, c in Course
"""


@dataclass(frozen=True)
class KernelModel:
    """A model, the updates per second to reach on it, chains of it by hand with so many lanes, and the
    model for other tools, if they can read it."""

    name: str
    make: Callable[[], GroundModel]
    bar: float
    by_hand: Callable[[int], ByHand]
    plain: Callable[[], Plain] | None = None


def grid(side: int, states: int) -> GroundModel:
    """A grid of unknowns that like to agree with their neighbours (weight 0.4)."""
    return with_marginals(potts(side, states, Fraction(2, 5)))


def friends(people: int) -> GroundModel:
    """Friends and smokers: people² friendships."""
    names = [f"p{i}" for i in range(people)]
    return plx.compile(FRIENDS.format(people=people), Person=names).ground


def counts(people: int) -> GroundModel:
    """Ten courses; how many of the people take it has a weight."""
    return plx.compile(COUNTS.format(people=people)).ground


def published(name: str) -> GroundModel:
    """A published model."""
    return with_marginals(plx.load(PAPER / f"{name}.json").ground)


def plain_grid(side: int, states: int) -> Plain:
    """`grid` for other tools."""
    right = [[i, i + 1, 0.4] for i in range(side**2) if (i + 1) % side]
    down = [[i, i + side, 0.4] for i in range(side * (side - 1))]
    return {"cards": [states] * side**2, "equal": right + down, "all": []}


def plain_friends(people: int) -> Plain:
    """`friends` for other tools: an implication is a constant less one conjunction."""
    flat = [[1.4, [[x, 1]]] for x in range(people)]
    for x, y in itertools.product(range(people), repeat=2):
        if x != y:  # with oneself the rule always holds
            flat.append([-1.1 / people, [[people + x * people + y, 1], [x, 1], [y, 0]]])
    return {"cards": [2] * (people + people**2), "equal": [], "all": flat}


def plain_published(name: str) -> Plain:
    """`published` for other tools: a clause is a sum of conjunctions, by inclusion and exclusion."""
    data = json.loads((PAPER / f"{name}.json").read_text(encoding="utf-8"))
    cards = [variable["domain_size"] for variable in data["variables"]]
    total: defaultdict[tuple[tuple[int, int], ...], float] = defaultdict(float)
    for feature in data["features"]:
        literals = [_positive(cards, *literal) for literal in feature["clause"]]
        for size in range(1, len(literals) + 1):
            for part in itertools.combinations(sorted(literals), size):
                total[part] -= feature["weight"] * (-1) ** size
    return {"cards": cards, "equal": [], "all": [[w, [list(x) for x in part]] for part, w in total.items()]}


def _positive(cards: list[int], variable: int, value: int, sign: int) -> tuple[int, int]:
    if sign:
        return variable, value
    assert cards[variable] == 2
    return variable, 1 - value


def kernel_models(quick: bool) -> list[KernelModel]:
    """The models of the benchmark; small ones for a trial. Published models are left out if absent."""
    side, people, crowd = (6, 8, 20) if quick else (50, 300, 1000)
    found = [
        KernelModel(
            f"Ising grid {side}×{side}",
            lambda: grid(side, 2),
            1e8,
            lambda lanes: ceiling.ising(side, 0.4, lanes),
            lambda: plain_grid(side, 2),
        ),
        KernelModel(
            f"Potts grid {side}×{side}, 5 values",
            lambda: grid(side, 5),
            3e7,
            lambda lanes: ceiling.potts(side, 5, 0.4, lanes),
            lambda: plain_grid(side, 5),
        ),
        KernelModel(
            f"friends and smokers, {people} people",
            lambda: friends(people),
            3e7,
            lambda lanes: ceiling.friends(people, lanes),
            lambda: plain_friends(people),
        ),
        KernelModel(
            f"10 counts over {crowd} literals",
            lambda: counts(crowd),
            2e7,
            lambda lanes: ceiling.counts(crowd, 10, lanes),
        ),
    ]
    if quick or not PAPER.exists():
        return found
    ring = KernelModel(
        "ring_test4",
        lambda: published("ring_test4_size500"),
        1.5e8,
        lambda lanes: ceiling.ring(published("ring_test4_size500").graph, lanes),
        lambda: plain_published("ring_test4_size500"),
    )
    students = KernelModel(
        "sc_20_10",
        lambda: published("sc_20_10"),
        5e7,
        lambda lanes: ceiling.curriculum(published("sc_20_10").graph, 20, 10, lanes),
        lambda: plain_published("sc_20_10"),
    )
    return [ring, *found[:2], students, *found[2:]]
