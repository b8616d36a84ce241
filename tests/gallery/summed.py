"""Programs of the gallery with too many worlds to list: sums over chains, grids and groups, with numpy."""

from __future__ import annotations

import itertools
from math import comb, log

import numpy as np

from tests.gallery.found import Found, truth
from tests.use.expected import Answers, rows

# ------------------------------------------------------------------------------- hmm

STATES = ("fine", "slow", "down")
START = np.array([0.8, 0.1, 0.1])
MOVE = np.array([[0.85, 0.1, 0.05], [0.2, 0.7, 0.1], [0.3, 0.1, 0.6]])
PING = {"fast": [0.9, 0.3, 0.0], "late": [0.08, 0.5, 0.05], "none": [0.02, 0.2, 0.95]}


def hmm() -> Found:
    """Forwards and backwards (Rabiner 1989, III A), the best path, and the hours spent in one state."""
    seen = dict(rows("hmm/pings.csv"))
    like = np.array([PING[seen[str(hour)]] for hour in range(24)])
    forward, backward = [START * like[0]], [np.ones(3)]
    hours = np.zeros((3, 25))  # by state, and how often it was `down` so far
    hours[[0, 1, 2], [0, 0, 1]] = forward[0]
    with np.errstate(divide="ignore"):  # what cannot be seen has log 0
        best, log_like = np.log(forward[0]), np.log(like)
    for hour in range(1, 24):
        forward.append((forward[-1] @ MOVE) * like[hour])
        backward.append(MOVE @ (like[24 - hour] * backward[-1]))
        best = (best[:, None] + np.log(MOVE)).max(axis=0) + log_like[hour]
        hours = (MOVE.T @ hours) * like[hour][:, None]
        hours[2] = np.roll(hours[2], 1)
    z = forward[-1].sum()
    answers: Answers = {
        f"state({hour})": dict(zip(STATES, forward[hour] * backward[23 - hour] / z, strict=True))
        for hour in range(24)
    }
    answers["hours_down"] = {str(n): float(p) for n, p in enumerate(hours.sum(axis=0) / z)}
    return Found(answers, log(z), float(best.max()))


# --------------------------------------------------------------------------- denoise

N, FLIPPED, ALIKE = 9, 0.12, 0.8


def denoise() -> Found:
    """Row after row, each of whose 512 states is a vector of pixels."""
    scanned = np.zeros((N, N), dtype=bool)
    for r, c in rows("denoise/scanned.csv"):
        scanned[int(r) - 1, int(c) - 1] = True
    states = (np.arange(2**N)[:, None] >> np.arange(N)) & 1 == 1
    inside = ALIKE * (states[:, 1:] == states[:, :-1]).sum(axis=1)
    between = ALIKE * (states[:, None] == states[None]).sum(axis=2)
    flips = np.array([(states != row).sum(axis=1) for row in scanned])
    seen = flips * log(FLIPPED) + (N - flips) * log(1 - FLIPPED) + inside
    step, local = np.exp(between), np.exp(seen)
    forward, backward = [local[0]], [np.ones(2**N)]
    best = seen[0]
    counted = np.zeros((2**N, N * N + 1))
    counted[np.arange(2**N), flips[0]] = local[0]
    for r in range(1, N):
        forward.append((forward[-1] @ step) * local[r])
        backward.append(step @ (local[N - r] * backward[-1]))
        best = (best[:, None] + between).max(axis=0) + seen[r]
        moved = (step.T @ counted) * local[r][:, None]
        counted = np.zeros_like(moved)
        for k in range(N + 1):
            here = flips[r] == k
            counted[here, k:] = moved[here, : N * N + 1 - k]
    z = forward[-1].sum()
    black = [(forward[r] * backward[N - 1 - r] / z) @ states for r in range(N)]
    answers: Answers = {f"black({r + 1}, {c + 1})": truth(float(black[r][c])) for r, c in np.ndindex(N, N)}
    answers["flips"] = {str(n): float(p) for n, p in enumerate(counted.sum(axis=0) / z)}
    return Found(answers, best=float(best.max()))


# ---------------------------------------------------------------------------- blocks


def blocks() -> Found:
    people = [f"m{i:02}" for i in range(1, 13)]
    talked = {(x, y) for x, y in rows("blocks/talks.csv")}
    pairs = [*itertools.combinations(range(12), 2)]
    seen = np.array([(people[i], people[j]) in talked for i, j in pairs])
    left = (np.arange(2**11)[:, None] >> np.arange(11)) & 1 == 1
    left = np.hstack([np.ones((2**11, 1), dtype=bool), left])
    alike = np.array([left[:, i] == left[:, j] for i, j in pairs])
    within_yes, within_no = alike[seen].sum(axis=0), alike[~seen].sum(axis=0)
    across_yes, across_no = (~alike[seen]).sum(axis=0), (~alike[~seen]).sum(axis=0)
    p = np.zeros((10, 10, 2**11))
    for w, a in itertools.product(range(1, 10), repeat=2):
        if a < w:
            p[w, a] = (w / 10) ** within_yes * (1 - w / 10) ** within_no
            p[w, a] *= (a / 10) ** across_yes * (1 - a / 10) ** across_no
    p /= p.sum()
    answers: Answers = {}
    for i, name in enumerate(people):
        share = float(p[:, :, left[:, i]].sum())
        answers[f"group({name})"] = {"left": share, "right": 1 - share}
    for axis, name in enumerate(("within", "across")):
        marginal = p.sum(axis=tuple({0, 1, 2} - {axis}))
        answers[name] = {str(level): float(marginal[level]) for level in range(1, 10)}
    return Found(answers)


# ----------------------------------------------------------------------------- skill

PLAYERS = ("ada", "ben", "cem", "dua", "eli", "fay")


def skill() -> Found:
    levels = np.array([*itertools.product(range(5), repeat=6)])
    of = dict(zip(PLAYERS, levels.T, strict=True))
    p = np.exp(-((levels - 2) ** 2) / 2).prod(axis=1)
    for game, won in rows("skill/results.csv"):
        ahead = np.zeros(len(levels))
        for g, side, player in rows("skill/lineups.csv"):
            if g == game:
                ahead += of[player] if side == "home" else -of[player]
        p *= 1 / (1 + np.exp(-0.7 * ahead if won == "true" else 0.7 * ahead))
    p /= p.sum()
    answers: Answers = {
        f"skill({x})": {str(v): float(p[of[x] == v].sum()) for v in range(5)} for x in PLAYERS
    }
    for x in PLAYERS[1:]:
        answers[f"ada_better({x})"] = truth(float(p[of["ada"] > of[x]].sum()))
    ahead = of["ada"] + of["eli"] - of["ben"] - of["dua"]
    answers["next"] = truth(float((p / (1 + np.exp(-0.7 * ahead))).sum()))
    return Found(answers)


# -------------------------------------------------------------------------- epidemic

PERSONS = ("ann", "ben", "cat", "dov", "eve", "fred")
WELL, ILL, OVER = range(3)


def epidemic() -> Found:
    """The Markov chain over the 729 joint states of six people, once for each source."""
    met = {frozenset(pair) for pair in rows("epidemic/contacts.csv")}
    tests = [(PERSONS.index(x), int(d), value == "true") for x, d, value in rows("epidemic/tests.csv")]
    states = [*itertools.product(range(3), repeat=6)]
    at = {state: i for i, state in enumerate(states)}
    step = np.array([_next_day(state, met) for state in states])
    rows_of = np.array(states)
    p = np.zeros((6, 729))  # by source, and the state of today
    for source in range(6):
        p[source, at[tuple(ILL if x == source else WELL for x in range(6))]] = 1 / 6
    for day in range(6):
        p = p @ step if day else p
        for x, when, positive in tests:
            if when == day:
                chance = np.where(rows_of[:, x] == ILL, 0.9, 0.1)
                p = p * (chance if positive else 1 - chance)
    z = p.sum()
    answers: Answers = {"source": dict(zip(PERSONS, p.sum(axis=1) / z, strict=True))}
    today = p.sum(axis=0) / z
    for x, name in enumerate(PERSONS):
        answers[f"state({name}, 5)"] = {
            text: float(today[rows_of[:, x] == value].sum())
            for value, text in enumerate(("well", "ill", "over"))
        }
    reached = (rows_of != WELL).sum(axis=1)
    answers["reached"] = {str(n): float(today[reached == n].sum()) for n in range(7)}
    return Found(answers, log(z))


def _next_day(state: tuple[int, ...], met: set[frozenset[str]]) -> np.ndarray:
    """The distribution of tomorrow's joint state: people move on their own, given today."""
    joint = np.ones(1)
    for x, name in enumerate(PERSONS):
        near = sum(s == ILL and frozenset((name, PERSONS[y])) in met for y, s in enumerate(state))
        stays = 0.7**near
        move = {WELL: [stays, 1 - stays, 0], ILL: [0, 0.8, 0.2], OVER: [0, 0, 1]}[state[x]]
        joint = np.outer(joint, move).ravel()
    return joint


# --------------------------------------------------------------------------- capture


def capture() -> Found:
    """Given how many share the pond and how easily they are caught, each newt is on its own."""
    most, nights = 40, 4
    caught = list(rows("capture/caught.csv"))
    seen = len({newt for newt, _ in caught})
    newts, ease, lives = np.zeros(most + 1), np.zeros(10), 0.0
    for share, tenths in itertools.product(np.arange(21) / 20, range(1, 10)):
        e = tenths / 10
        known = share**seen * e ** len(caught) * (1 - e) ** (seen * nights - len(caught))
        hidden, none = share * (1 - e) ** nights, 1 - share
        for n in range(most - seen + 1):
            p = known * comb(most - seen, n) * hidden**n * none ** (most - seen - n)
            newts[seen + n] += p
            ease[tenths] += p
            lives += p * n / (most - seen)
    z = newts.sum()
    return Found(
        {
            "newts": {str(n): float(p / z) for n, p in enumerate(newts)},
            "ease": {str(t): float(ease[t] / z) for t in range(1, 10)},
            "lives(n40)": truth(lives / z),
        }
    )
