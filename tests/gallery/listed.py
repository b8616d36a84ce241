"""Programs of the gallery whose worlds are listed one by one, in plain Python."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from math import exp, floor, log, prod, sqrt

from tests.gallery.found import Found, World, Worlds, assignments, spread, truth
from tests.use.expected import Answers, rows

NEVER = float("-inf")


# --------------------------------------------------------------------------- ranking


def ranking() -> Found:
    votes = [(a, b, int(n)) for a, b, n in rows("ranking/duels.csv")]
    soups = sorted({soup for a, b, _ in votes for soup in (a, b)})

    def orders() -> Iterator[tuple[World, float]]:
        for places in itertools.permutations(range(1, 7)):
            place = dict(zip(soups, places, strict=True))
            yield dict(place), sum(n * log(2) for a, b, n in votes if place[a] < place[b])

    worlds = Worlds(orders())
    first = {f"first({s})": worlds.where(lambda w, s=s: w[s] == 1) for s in soups}  # type: ignore[misc]
    behind = worlds.given(lambda w: w["bean"] != 1)
    return Found(
        {
            **worlds.each("place"),
            **first,
            "place(fish) = 1 given place(bean) > 1": behind.where(lambda w: w["fish"] == 1),
        },
        best=worlds.best,
    )


# ------------------------------------------------------------------------- colouring

NEIGHBOURS = {
    "argentina": "bolivia brazil chile paraguay uruguay",
    "bolivia": "argentina brazil chile paraguay peru",
    "brazil": ("argentina bolivia colombia french_guiana guyana paraguay peru suriname uruguay venezuela"),
    "chile": "argentina bolivia peru",
    "colombia": "brazil ecuador peru venezuela",
    "ecuador": "colombia peru",
    "french_guiana": "brazil suriname",
    "guyana": "brazil suriname venezuela",
    "paraguay": "argentina bolivia brazil",
    "peru": "bolivia brazil chile colombia ecuador",
    "suriname": "brazil french_guiana guyana",
    "uruguay": "argentina brazil",
    "venezuela": "brazil colombia guyana",
}


def colourings(colours: str = "otpg") -> Iterator[dict[str, str]]:
    """Country after country, in all ways that go on."""

    def after(done: dict[str, str]) -> Iterator[dict[str, str]]:
        if len(done) == len(NEIGHBOURS):
            yield done
            return
        country = list(NEIGHBOURS)[len(done)]
        for colour in colours:
            if all(done.get(other) != colour for other in NEIGHBOURS[country].split()):
                yield from after({**done, country: colour})

    return after({})


def colouring() -> Found:
    worlds = Worlds((dict(world), 0.0) for world in colourings())
    return Found(
        {
            "alike": worlds.where(lambda w: w["brazil"] == w["chile"]),
            "north": worlds.where(lambda w: w["ecuador"] == w["venezuela"]),
            "greys": worlds.of(lambda w: list(w.values()).count("g")),
        },
        worlds.log_z,
        0.0,
    )


# ------------------------------------------------------------------------- arguments

ATTACKERS = {
    "close": ["shops_lose", "no_parking"],
    "shops_lose": ["study_says_no"],
    "study_says_no": ["study_is_old"],
    "study_is_old": ["study_says_no"],
    "no_parking": ["bus"],
    "bus": ["bus_costs"],
    "bus_costs": ["grant"],
    "grant": ["no_grant"],
    "no_grant": ["grant"],
}


def arguments() -> Found:
    trust = {"study_says_no": 0.5, "grant": 1.2}

    def labelled(world: World, argument: str) -> str:
        attackers = [world[other] for other in ATTACKERS[argument]]
        if "accepted" in attackers:
            return "rejected"
        return "undecided" if "undecided" in attackers else "accepted"

    worlds = Worlds(
        (world, sum(w for a, w in trust.items() if world[a] == "accepted"))
        for world in assignments(dict.fromkeys(ATTACKERS, ("accepted", "rejected", "undecided")))
        if all(world[a] == labelled(world, a) for a in world)
    )
    granted = worlds.given(lambda w: w["grant"] == "accepted")
    return Found(
        {
            **worlds.each("label"),
            "label(close) given label(grant) = accepted": granted.of(lambda w: w["close"]),
        },
        best=worlds.best,
    )


# ------------------------------------------------------------------------- diagnosis

PRIOR = {
    "cold": 0.1,
    "flu": 0.03,
    "hay_fever": 0.05,
    "migraine": 0.03,
    "food_poisoning": 0.02,
    "pneumonia": 0.005,
    "anaemia": 0.04,
}


def diagnosis() -> Found:
    strength = {(d, s): float(p) for d, s, p in rows("diagnosis/causes.csv")}
    seen = {s: value == "true" for s, value in rows("diagnosis/findings.csv")}

    def absent(world: World, symptom: str) -> float:
        return 0.98 * prod(1 - strength.get((d, symptom), 0) for d in world if world[d])

    def weight(world: World) -> float:
        p = prod(PRIOR[d] if world[d] else 1 - PRIOR[d] for d in world)
        return log(p * prod(1 - absent(world, s) if there else absent(world, s) for s, there in seen.items()))

    worlds = Worlds((world, weight(world)) for world in assignments(dict.fromkeys(PRIOR, (False, True))))
    aching = sum(exp(w) * (1 - absent(world, "headache")) for world, w in worlds.listed) / exp(worlds.log_z)
    flu = worlds.given(lambda w: bool(w["flu"]))
    return Found(
        {
            **{f"has({d})": worlds.where(lambda w, d=d: bool(w[d])) for d in PRIOR},  # type: ignore[misc]
            "shows(headache)": truth(aching),
            "has(pneumonia) given has(flu)": flu.where(lambda w: bool(w["pneumonia"])),
        },
        worlds.log_z,
    )


# ------------------------------------------------------------------------- crossword

CROSSINGS = [
    (f"across{a}", i, f"down{d}", j) for j, a in ((0, 1), (2, 4), (4, 5)) for i, d in ((0, 1), (2, 2), (4, 3))
]


def crossword() -> Found:
    likely: dict[str, dict[str, float]] = {}
    for slot, word, p in rows("crossword/guesses.csv"):
        likely.setdefault(slot, {})[word] = float(p)

    def crossed(a: str, i: int, d: str, j: int) -> float:
        if "other" in (a, d):
            return -log(12)
        return 0.0 if a[i] == d[j] else NEVER

    def weight(world: World) -> float:
        guesses = sum(log(likely[slot][str(word)]) for slot, word in world.items())
        return guesses + sum(crossed(str(world[a]), i, str(world[d]), j) for a, i, d, j in CROSSINGS)

    worlds = Worlds((world, weight(world)) for world in assignments({s: list(p) for s, p in likely.items()}))
    return Found(worlds.each("word"), best=worlds.best)


# ------------------------------------------------------------------------------- crf

LISTS = {
    "amount": ["1", "2", "3", "half", "an"],
    "unit": ["cups", "cloves", "teaspoon"],
    "how": ["crushed", "ground", "chopped"],
}
FOLLOWS = {
    "amount": {"unit": 1.0, "food": 1.0},
    "unit": {"food": 2.0, "how": 1.0},
    "food": {"how": 2.0, "food": 0.5},
    "how": {"food": 2.0, "amount": -2.0, "unit": -2.0},
}


def looks(word: str, label: str) -> float:
    """What the word itself says for a label."""
    listed = {name for name, words in LISTS.items() if word in words}
    if label == "food":
        return 0.0 if listed else 2.0
    return {"amount": 3.0, "unit": 2.0, "how": 3.0}[label] * (label in listed)


def crf() -> Found:
    lines: dict[str, list[str]] = {}
    for line, _, word in rows("crf/words.csv"):
        lines.setdefault(line, []).append(word)
    answers: Answers = {}
    best = 0.0
    for line, words in lines.items():
        places = [f"{line}, {position}" for position in range(1, len(words) + 1)]
        worlds = Worlds(
            (
                world,
                sum(looks(word, str(label)) for word, label in zip(words, world.values(), strict=True))
                + sum(FOLLOWS[str(a)].get(str(b), 0.0) for a, b in itertools.pairwise(world.values())),
            )
            for world in assignments(dict.fromkeys(places, tuple(FOLLOWS)))
        )
        answers |= worlds.each("label")
        best += worlds.best
    return Found(answers, best=best)


# -------------------------------------------------------------------------- pedigree

ALLELES = {"A": 0.28, "B": 0.07, "O": 0.65}


def shown(genes: tuple[str, str]) -> str:
    """The blood group of two alleles: A and B show over O."""
    return "".join(sorted({*genes} - {"O"})) or "O"


def pedigree() -> Found:
    parents: dict[str, dict[str, str]] = {}
    for child, side, parent in rows("pedigree/family.csv"):
        parents.setdefault(child, {})[side] = parent
    tested = dict(rows("pedigree/tested.csv"))
    families: dict[tuple[tuple[str, tuple[str, str]], ...], float] = {(): 1.0}
    for person in ("anna", "ben", "finn", "ida", "dora", "emil", "gus", "hedy", "jon", "baby"):
        grown: dict[tuple[tuple[str, tuple[str, str]], ...], float] = {}
        for family, p in families.items():
            known = dict(family)
            sources = [
                Counter({allele: known[parents[person][side]].count(allele) / 2 for allele in ALLELES})
                if person in parents
                else Counter(ALLELES)
                for side in ("mother", "father")
            ]
            for genes in itertools.product(ALLELES, repeat=2):
                q = p * sources[0][genes[0]] * sources[1][genes[1]]
                if q > 0 and tested.get(person, shown(genes)) == shown(genes):
                    grown[(*family, (person, genes))] = q
        families = grown
    worlds = Worlds((dict(family), log(p)) for family, p in families.items())
    people = worlds.listed[0][0]
    return Found(
        {
            **{f"blood({x})": worlds.of(lambda w, x=x: shown(w[x])) for x in people},  # type: ignore[misc, arg-type]
            "gene(hedy, mother)": worlds.of(lambda w: w["hedy"][0]),  # type: ignore[index]
        },
        worlds.log_z,
    )


# ---------------------------------------------------------------------------- fusion

BEACONS = {"north": (4, 9), "east": (9, 5), "south": (6, 0), "west": (0, 2)}


def fusion() -> Found:
    reading = {beacon: int(metres) for beacon, metres in rows("fusion/readings.csv")}
    places: dict[object, float] = {}
    broken = dict.fromkeys(BEACONS, 0.0)
    for x, y in itertools.product(range(10), repeat=2):
        works, lies = {}, 0.1 / 16
        for beacon, (bx, by) in BEACONS.items():
            away = floor(10 * sqrt((x - bx) ** 2 + (y - by) ** 2)) / 10
            shows = [exp(-((m - away) ** 2)) for m in range(16)]
            works[beacon] = 0.9 * shows[reading[beacon]] / sum(shows)
        places[f"({x}, {y})"] = prod(p + lies for p in works.values())
        for beacon in BEACONS:
            rest = prod(p + lies for other, p in works.items() if other != beacon)
            broken[beacon] += lies * rest
    joint = spread(places)
    total = sum(places.values())
    answers: Answers = {"(x, y)": joint, **{f"broken({b})": truth(p / total) for b, p in broken.items()}}
    for at, name in ((1, "x"), (4, "y")):
        answers[name] = {
            str(v): sum(p for place, p in joint.items() if place[at] == str(v)) for v in range(10)
        }
    return Found(answers)
