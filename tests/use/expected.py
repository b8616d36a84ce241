"""What the examples must answer, worked out by hand for each: no code of plx is used here."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Callable, Iterable, Iterator
from math import exp, log
from pathlib import Path

import numpy as np

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

Answers = dict[str, dict[str, float]]
"""Query name → value as text → probability."""


def marginal(worlds: Iterable[tuple[object, float]]) -> dict[str, float]:
    """Normalised weights per value, from (value, weight) pairs."""
    total: dict[str, float] = {}
    for value, weight in worlds:
        text = str(value).lower() if isinstance(value, bool) else str(value)
        total[text] = total.get(text, 0.0) + weight
    z = sum(total.values())
    return {value: weight / z for value, weight in total.items()}


def truth(p: float) -> dict[str, float]:
    return {"true": p, "false": 1 - p}


# ------------------------------------------------------------------ curriculum

COURSES = {
    "theory": ["logic", "sets"],
    "systems": ["os", "db", "nets"],
    "ai": ["ml", "nlp", "vision", "robots"],
}


def _student(leniency: float, seen: dict[str, str]) -> Iterator[tuple[dict[str, str], float]]:
    """Every way one student's grades can be, with its weight; students are independent."""
    for grades in itertools.product(*(["fail", *courses] for courses in COURSES.values())):
        world = dict(zip(COURSES, grades, strict=True))
        if all(world[area] == course for area, course in seen.items()):
            passed = sum(grade != "fail" for grade in grades)
            yield world, exp(-leniency * (3 - passed) + 0.4 * passed * (passed - 1) / 2)


def _broad(world: dict[str, str]) -> bool:
    return sum(grade != "fail" for grade in world.values()) >= 2


def curriculum() -> Answers:
    first = list(_student(0.2, {"theory": "logic", "systems": "fail"}))
    second = list(_student(1.5, {"theory": "sets"}))
    other = list(_student(0.7, {}))
    broad = [marginal((_broad(w), p) for w, p in who) for who in (first, second, other)]
    graduates = np.array([1.0])
    for p in [broad[0], broad[1]] + [broad[2]] * 18:
        graduates = np.convolve(graduates, [p["false"], p["true"]])
    return {
        "passed(s1, ai)": marginal((w["ai"], p) for w, p in first),
        "broad(s2)": broad[1],
        "broad(s3)": broad[2],
        "graduates": {str(k): float(p) for k, p in enumerate(graduates)},
        "(passed(s3, theory), passed(s3, systems))": marginal(
            (f"({w['theory']}, {w['systems']})", p) for w, p in other
        ),
        "broad(s3) given passed(s3, theory) = fail": marginal(
            (_broad(w), p) for w, p in other if w["theory"] == "fail"
        ),
    }


# ------------------------------------------------------------------------ ring


def ring() -> Answers:
    n, renamed = 20, {3, 7, 8, 15, 16, 19}

    def steps(start: int, end: int) -> np.ndarray:
        """The product of the edge matrices from place start to place end."""
        out = np.eye(2)
        for i in range(start, end):
            same, other = (1.0, 9.0) if i in renamed else (9.0, 1.0)
            out = out @ np.array([[same, other], [other, same]])
        return out

    answers: Answers = {}
    for i in range(n):
        p = steps(0, i)[1] * steps(i, n)[:, 1]
        answers[f"bit({i})"] = truth(float(p[1] / p.sum()))
    p = steps(9, 10)[1] * (steps(10, n)[:, 1])
    answers["bit(10) given bit(9)"] = truth(float(p[1] / p.sum()))
    pairs = steps(0, 5)[1][:, None] * steps(5, 6) * steps(6, n)[:, 1][None, :]
    answers["odd_neighbours"] = truth(float((pairs[0, 1] + pairs[1, 0]) / pairs.sum()))
    return answers


# --------------------------------------------------------------------- smokers


def smokers() -> Answers:
    """Friendships are summed out: given who smokes, each pair is on its own."""
    n = 5

    def pair(x: bool, y: bool, friends: bool | None = None) -> float:
        terms = [exp(1.1 * (not (f and x) or y)) for f in (False, True) if friends in (None, f)]
        return sum(terms)

    def worlds(fixed: dict[tuple[int, int], bool]) -> Iterator[tuple[tuple[bool, ...], float]]:
        for s in itertools.product([False, True], repeat=n):
            p = exp(1.4 * sum(s))
            for x, y in itertools.product(range(n), repeat=2):
                p *= pair(s[x], s[y], fixed.get((x, y)))
            yield s, p

    free = list(worlds({}))
    known = list(worlds({(1, 0): True}))
    names = ["anna", "bob", "cleo", "dan", "eva"]
    befriended = sum(p for _, p in worlds({(0, 1): True})) / sum(p for _, p in free)
    return {
        **{f"smokes({name})": marginal((s[i], p) for s, p in free) for i, name in enumerate(names)},
        "friends(anna, bob)": truth(befriended),
        "smokers": marginal((sum(s), p) for s, p in free),
        "smokes(anna) given !smokes(bob), friends(bob, anna)": marginal(
            (s[0], p) for s, p in known if not s[1]
        ),
    }


# ----------------------------------------------------------------------- links


def links() -> Answers:
    met = {("anna", "bob"), ("bob", "cleo"), ("bob", "dan"), ("cleo", "eva"), ("dan", "eva")}
    know = met | {(y, x) for x, y in met}
    people = ["anna", "bob", "cleo", "dan", "eva"]
    unknown = [pair for pair in itertools.combinations(people, 2) if pair not in know]

    def log_weight(meet: dict[tuple[str, str], bool]) -> float:
        total = 0.0
        for x, z in unknown:
            shared = sum((x, y) in know and (y, z) in know for y in people)
            total += (1.2 * shared - 2) * meet[x, z]
        for (x, y), (other, z) in itertools.product(unknown, repeat=2):
            if x == other and (y, z) in know:
                total += 0.7 * (not meet[x, y] or meet[x, z])
        return total

    worlds = [dict(zip(unknown, w, strict=True)) for w in itertools.product([False, True], repeat=5)]
    weighed = [(world, exp(log_weight(world))) for world in worlds]
    return {
        **{f"meet({x}, {z})": marginal((w[x, z], p) for w, p in weighed) for x, z in unknown},
        "met_by_anna": marginal((sum(w["anna", z] for z in ("cleo", "dan", "eva")), p) for w, p in weighed),
        "meet(anna, eva) given meet(anna, cleo)": marginal(
            (w["anna", "eva"], p) for w, p in weighed if w["anna", "cleo"]
        ),
    }


# ----------------------------------------------------------------------- potts


def potts() -> Answers:
    """By transfer matrix, row after row; 3**6 states of a row."""
    n, q, j = 6, 3, 0.8
    row = np.array(list(itertools.product(range(q), repeat=n)))
    within = np.exp(j * (row[:, :-1] == row[:, 1:]).sum(1))
    between = np.exp(j * (row[:, None, :] == row[None, :, :]).sum(2))
    first = within * (row[:, 0] == 0)

    def total(masks: dict[int, np.ndarray]) -> float:
        v = first * masks.get(0, 1.0)
        for r in range(1, n):
            v = (v @ between) * within * masks.get(r, 1.0)
        return float(v.sum())

    z = total({})
    answers: Answers = {}
    colours = ["red", "green", "blue"]
    for name, (r, c) in {"colour(1, 2)": (0, 1), "colour(n, n)": (5, 5)}.items():
        answers[name] = {colours[k]: total({r: row[:, c] == k}) / z for k in range(q)}
    alike = sum(total({2: row[:, 2] == k, 3: row[:, 3] == k}) for k in range(q)) / z
    answers["alike"] = truth(alike)
    reds = (row == 0).sum(1)
    count = np.zeros((n * n + 1, len(row)))
    count[reds, np.arange(len(row))] = first
    for _ in range(1, n):
        moved = (count @ between) * within
        count = np.zeros_like(count)
        for k in range(n + 1):
            here = reds == k
            count[k:, here] += moved[: n * n + 1 - k, here]
    answers["reds"] = {str(k): float(p) for k, p in enumerate(count.sum(1) / z)}
    return answers


# --------------------------------------------------------------------- puzzles

SUDOKU = [
    "283594671", "147368952", "695271384",
    "976485123", "314726895", "852913746",
    "528639417", "469157238", "731842569",
]  # fmt: skip
"""The one way to fill it in, proven to be alone by a solver that plx has no part in."""


def sudoku() -> Answers:
    return {f"cell(1, {c})": {digit: 1.0} for c, digit in enumerate(SUDOKU[0], 1)}


def queens() -> Answers:
    rows = [
        p
        for p in itertools.permutations(range(1, 9))
        if all(abs(p[a] - p[b]) != b - a for a, b in itertools.combinations(range(8), 2))
    ]
    return {
        "corner": marginal((p[0] == 1, 1.0) for p in rows),
        "centre": marginal((p[3] == 4, 1.0) for p in rows),
        "row(1)": marginal((p[0], 1.0) for p in rows),
    }


# ------------------------------------------------------------------- timetable

LESSONS = ["algebra", "geometry", "physics", "optics", "poetry", "drama"]
SLOTS = ["monday_early", "monday_late", "tuesday_early", "tuesday_late"]


def timetables() -> Iterator[tuple[dict[str, str], float]]:
    """Every timetable that keeps the rules, with its log weight."""
    for places in itertools.product(range(4), repeat=6):
        kim, lee, mia = places[0:2], places[2:4], places[4:6]
        clash = kim[0] == kim[1] or lee[0] == lee[1] or mia[0] == mia[1]
        fits = all(1 <= places.count(s) <= 2 for s in range(4))
        if clash or not fits or kim[0] >= kim[1]:
            continue
        early = [s in (0, 2) for s in places]
        weight = 0.8 * sum(early[0:2]) - 0.5 * sum(early[4:6]) + 1.5 * (places[5] == 3)
        yield {lesson: SLOTS[s] for lesson, s in zip(LESSONS, places, strict=True)}, weight


def timetable() -> Answers:
    worlds = [(world, exp(weight)) for world, weight in timetables()]

    def given(where: Callable[[dict[str, str]], bool]) -> dict[str, float]:
        return marginal((w["drama"], p) for w, p in worlds if where(w))

    return {
        **{f"at({lesson})": marginal((w[lesson], p) for w, p in worlds) for lesson in LESSONS},
        "at(drama) given at(optics) = tuesday_late, at(poetry) = monday_late": given(
            lambda w: w["optics"] == "tuesday_late" and w["poetry"] == "monday_late"
        ),
        "mia_early": marginal(
            (w["poetry"].endswith("early") or w["drama"].endswith("early"), p) for w, p in worlds
        ),
    }


# ------------------------------------------------------------------------- flu


def rows(name: str, delimiter: str = ",") -> list[list[str]]:
    """The rows of a file beside an example, without the header."""
    with (EXAMPLES / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=delimiter))[1:]


def flu() -> Answers:
    """The untested results sum out: with either result, the weights add up to 1."""
    people = [row[0] for row in rows("flu/people.csv")]
    risk = {name: float(p) for name, p in rows("flu/risk.csv")}
    met = [(people.index(a), people.index(b)) for a, b in rows("flu/contacts.csv")]
    seen = {people.index(name): value == "true" for name, value in rows("flu/tests.csv")}
    worlds = []
    for ill in itertools.product([False, True], repeat=len(people)):
        weight = sum(log(risk[x] / (1 - risk[x])) for x, i in zip(people, ill, strict=True) if i)
        weight += sum(1.8 for a, b in met if ill[a] and ill[b])
        for x, positive in seen.items():
            weight += log((0.8 if positive else 0.2) if ill[x] else (0.05 if positive else 0.95))
        worlds.append((ill, exp(weight)))
    quoted = [f'"{name}"' if " " in name else name for name in people]
    return {
        **{f"flu({name})": marginal((ill[i], p) for ill, p in worlds) for i, name in enumerate(quoted)},
        "ill": marginal((sum(ill), p) for ill, p in worlds),
    }


# -------------------------------------------------------------------- entities


def entities() -> Answers:
    pairs = {(a, b): float(score) for a, b, score, _ in rows("entities/alike.csv")}
    triangles = [(ab, bc, (ab[0], bc[1])) for ab in pairs for bc in pairs if ab[1] == bc[0]]
    triangles = [three for three in triangles if three[2] in pairs]
    worlds = []
    for same in itertools.product([False, True], repeat=len(pairs)):
        world = dict(zip(pairs, same, strict=True))
        if not world["r1", "r4"] and all(sum(world[pair] for pair in three) != 2 for three in triangles):
            worlds.append((world, exp(sum(score for pair, score in pairs.items() if world[pair]))))
    apart = [(world, p) for world, p in worlds if not world["r1", "r2"]]
    return {
        **{f"same({a}, {b})": marginal((w[a, b], p) for w, p in worlds) for a, b in pairs},
        **{f"if_r1_is_not_r2({b})": marginal((w["r2", b], p) for w, p in apart) for b in ("r3", "r4")},
        "pairs": marginal((sum(w.values()), p) for w, p in worlds),
    }


# ------------------------------------------------------------------- citations


def citations() -> Answers:
    papers = [key for key, *_ in rows("citations/papers.csv")]
    cites = [(p, q) for p, q, _ in rows("citations/cites.csv", ";")]
    known = dict(rows("citations/topics.csv"))
    worlds = []
    for topics in itertools.product(["logic", "learning", "search"], repeat=len(papers)):
        topic = dict(zip(papers, topics, strict=True))
        if any(topic[paper] != seen for paper, seen in known.items()):
            continue
        weight = sum(1.2 for p, q in cites if topic[p] == topic[q])
        for (p, q), (s, r) in itertools.product(cites, repeat=2):
            if p == s and papers.index(q) < papers.index(r) and topic[q] == topic[r]:
                weight += 0.4
            if q == s and topic[p] == topic[r]:
                weight += 0.6
        worlds.append((topic, exp(weight)))
    citing = dict.fromkeys(p for p, _ in cites)
    return {
        **{f"topic({x})": marginal((w[x], p) for w, p in worlds) for x in citing},
        "on_learning": marginal((list(w.values()).count("learning"), p) for w, p in worlds),
        'topic("rs91") given topic("ml98") = learning': marginal(
            (w["rs91"], p) for w, p in worlds if w["ml98"] == "learning"
        ),
    }


# ----------------------------------------------------------------------- paper


def _scattered(i: int) -> int:
    """The irregular rule that the programs use in place of random numbers."""
    return int((i * i * i * 7919 + i * 4561) % 1009)


def paper_ring() -> Answers:
    """By transfer matrix, once around; what a place holds is its bit, or the other where renamed."""
    n = 20
    steps = [np.array([[exp(w), exp(w)], [1.0, exp(w)]]) for w in (1.2, 1.9)]

    def around(start: int) -> np.ndarray:
        out = np.eye(2)
        for i in range(n):
            out = out @ steps[(start + i) % 2]
        return np.diag(out) / np.trace(out)

    holds = [float(around(i)[1]) for i in range(2)]
    return {
        f"bit({i})": truth(1 - holds[i % 2] if _scattered(i) % 2 == 1 else holds[i % 2]) for i in range(n)
    }


def _leniency(student: int) -> float:
    return 1 + (student * student * 7919 + student * 4561) % 1009 / 1009


def _passed(student: int, areas: int, pair: float) -> list[tuple[tuple[int, ...], float]]:
    """Every way to pass or fail (0) in areas 1, 2, …, where each pair passed multiplies by ``pair``."""
    ways = itertools.product(*(range(a + 1) for a in range(1, areas + 1)))
    found = []
    for way in ways:
        k = sum(course != 0 for course in way)
        found.append((way, exp(_leniency(student) * (areas - k)) * pair ** (k * (k - 1) // 2)))
    return found


def paper_curriculum() -> Answers:
    areas = 3
    answers: Answers = {}
    for s in range(1, 5):
        ways = _passed(s, areas, exp(1.2))
        for a in range(areas):
            answers[f"passed({s}, {a + 1})"] = marginal((way[a], p) for way, p in ways)
    first = _passed(1, areas, exp(1.2))
    answers["areas_of_1"] = marginal((sum(course != 0 for course in way), p) for way, p in first)
    return answers


def paper_curriculum_published() -> Answers:
    """A pair passed forbids nothing, but its two requirements, one per order, then cost exp(1.2)."""
    areas, both = 5, (1 + exp(-1.2)) / 2
    answers: Answers = {}
    for s in range(1, 11):
        ways = _passed(s, areas, both**2)
        z = sum(p for _, p in ways)
        for a in range(areas):
            answers[f"passed({s}, {a + 1})"] = marginal((way[a], p) for way, p in ways)
            for b in range(areas):
                joint = sum(p for way, p in ways if way[a] and way[b]) / z if a != b else 0.0
                required = joint * exp(-1.2) / (1 + exp(-1.2)) + (1 - joint) / 2
                answers[f"required({s}, {a + 1}, {b + 1})"] = truth(required)
    return answers


# ----------------------------------------------------------------------- embed


def route(right: float) -> dict[str, float]:
    """A road that is said to be open, or blocked, is free with these odds; roads are independent."""
    good = 0.8 * right / (0.8 * right + 0.2 * (1 - right))
    bad = 0.8 * (1 - right) / (0.8 * (1 - right) + 0.2 * right)
    return {"short_free": good * bad, "long_free": good**3}


# ----------------------------------------------------------------------- water

GRID = {False: {"up": 0.99, "shaky": 0.01}, True: {"up": 0.6, "shaky": 0.3, "down": 0.1}}
POWER = {"up": 1.0, "shaky": 0.7, "down": 0.0}
WORN_MOTION = {"running": 0.5, "weak": 0.3, "stopped": 0.2}
PRESSURE = {
    (0, False): {"none": 1.0}, (0, True): {"none": 1.0},
    (1, False): {"low": 0.6, "good": 0.4}, (1, True): {"none": 0.3, "low": 0.7},
    (2, False): {"good": 1.0}, (2, True): {"low": 0.8, "good": 0.2},
}  # fmt: skip
COMPLAINS = {"none": 1 - 0.99 * 0.1, "low": 1 - 0.99 * 0.6, "good": 0.01}


def _motions(power: bool) -> dict[str, float]:
    if not power:
        return {"stopped": 1.0}
    return {m: 0.2 * p + 0.8 * (m == "running") for m, p in WORN_MOTION.items()}


Zone = tuple[str, bool, str, bool]
"""Motion of its first pump, leak, pressure and complaint."""


def _zones(grid: str) -> dict[Zone, float]:
    """The distribution of one zone, given the grid."""
    found: dict[Zone, float] = {}
    for power, leak in itertools.product((False, True), repeat=2):
        chance = (POWER[grid] if power else 1 - POWER[grid]) * (0.05 if leak else 0.95)
        for first, p in _motions(power).items():
            for second, q in _motions(power).items():
                pumping = (first != "stopped") + (second != "stopped")
                for pressure, r in PRESSURE[pumping, leak].items():
                    for complaint in (False, True):
                        c = COMPLAINS[pressure] if complaint else 1 - COMPLAINS[pressure]
                        key = first, leak, pressure, complaint
                        found[key] = found.get(key, 0.0) + chance * p * q * r * c
    return found


def _water() -> Iterator[tuple[dict[str, object], float]]:
    """What is asked for, in worlds with the evidence, and their probabilities."""
    for storm, weather in ((False, 0.9), (True, 0.1)):
        for grid, g in GRID[storm].items():
            zones = _zones(grid)
            quiet = [(z, p) for z, p in zones.items() if not z[3]]
            loud = [(z, p) for z, p in zones.items() if z[3]]
            rest: dict[tuple[bool, bool], float] = {}
            for (a, p), (b, q) in itertools.product(zones.items(), repeat=2):
                key = "none" in (a[2], b[2]), a[3] or b[3]
                rest[key] = rest.get(key, 0.0) + p * q
            for (one, p), (two, q), ((none, more), r) in itertools.product(loud, quiet, rest.items()):
                if none or "none" in (one[2], two[2]):
                    world = {"storm": storm, "grid": grid, "leak(z1)": one[1], "motion(p1)": one[0]}
                    yield {**world, "several": more}, weather * g * p * q * r


def water_evidence() -> float:
    """The probability of what was seen."""
    return sum(p for _, p in _water())


def water() -> Answers:
    worlds = list(_water())
    asked = ("storm", "grid", "leak(z1)", "motion(p1)")
    answers = {name: marginal((world[name], p) for world, p in worlds) for name in asked}
    several = marginal((world["several"], p) for world, p in worlds)["true"]
    return {**answers, "tanker": truth(0.8 * several)}
