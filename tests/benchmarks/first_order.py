"""CPU seconds from the text of a program to log Z without grounding, beside published figures of others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from time import process_time

import plx
from tests.benchmarks import first_order_rival
from tests.benchmarks.table import Settings, Table

GRAPH = """
type V = v1..v{n}
random e(x: V, y: V) if x != y
require e(x, y) => e(y, x) for x, y in V if x != y
"""

DEGREE = "require count(e(x, y) for y in V if y != x) {rule} for x in V\n"

ONE = "require count(p(x, y) for y in V) = 1 for x in V\n"

SMOKERS = """
type P = p1..p{n}
random smokes(P)
random friends(P, P)
weight 1.4 / {n}: smokes(x) for x in P
weight 1.1 / {n}: friends(x, y) & smokes(x) => smokes(y) for x, y in P
"""

PROGRAMS = {
    "smokers": SMOKERS,
    "hard friends and smokers": """
type P = p1..p{n}
random smokes(P)
random cancer(P)
random friends(P, P)
require friends(x, y) & smokes(x) => smokes(y) for x, y in P
require smokes(x) => cancer(x) for x in P
""",
    "smokers who drink": """
type P = p1..p{n}
random smokes(P)
random drinks(P)
random friends(x: P, y: P) if x < y
weight 1.2: friends(x, y) => (smokes(x) <=> smokes(y)) for x, y in P if x < y
weight 0.7: friends(x, y) => (drinks(x) <=> drinks(y)) for x, y in P if x < y
weight 0.5: smokes(x) => drinks(x) for x in P
""",
    "4-coloured graphs": """
type V = v1..v{n}
random c(V): {{red, green, blue, yellow}}
random e(x: V, y: V) if x < y
require e(x, y) => c(x) != c(y) for x, y in V if x < y
""",
    "no isolated vertex": GRAPH + "require exists(e(x, y) for y in V if y != x) for x in V\n",
    "even degrees": GRAPH + DEGREE.format(rule="% 2 = 0"),
    "3-regular graphs": GRAPH + DEGREE.format(rule="= 3"),
    "4-regular graphs": GRAPH + DEGREE.format(rule="= 4"),
    "functions": "type V = v1..v{n}\nrandom p(V, V)\n" + ONE,
    "permutations": "type V = v1..v{n}\nrandom p(V, V)\n" + ONE + ONE.replace("p(x, y)", "p(y, x)"),
    "100 friendships of people": """
type P = p1..p{n}
random smokes(P)
random friends(x: P, y: P) if x < y
weight 1.2: friends(x, y) => (smokes(x) <=> smokes(y)) for x, y in P if x < y
require count(friends(x, y) for x, y in P if x < y) = 100
""",
    "30 known friends in a chain": SMOKERS
    + "".join(f"observe friends(p{i}, p{i + 1})\n" for i in range(1, 31)),
    "heads, middle and tails in order": """
type P = p1..p{n}
random head(P)
random tail(P)
require !(head(x) & tail(x)) for x in P
require head(y) => head(x) for x, y in P if x < y
require tail(x) => tail(y) for x, y in P if x < y
""",
    "derangements": "type V = v1..v{n}\nrandom p(V, V)\nrequire !p(x, x) for x in V\n"
    + ONE
    + ONE.replace("p(x, y)", "p(y, x)"),
}

CASES: list[tuple[str, int, str | None]] = [
    ("smokers", 1_000, None),
    ("smokers", 100_000, None),
    ("hard friends and smokers", 1_024, "465 (FastWFOMC, 80 cores)"),
    ("hard friends and smokers", 8_192, "2,240 (Gantry, 80 cores)"),
    ("smokers who drink", 100, "3.8 (FastWFOMC)"),
    ("smokers who drink", 200, "50 (FastWFOMC)"),
    ("smokers who drink", 300, None),
    ("smokers who drink", 1_000, None),
    ("4-coloured graphs", 40, "0.09 (FastWFOMC)"),
    ("no isolated vertex", 100, "0.10 (FastWFOMC)"),
    ("no isolated vertex", 1_000, None),
    ("even degrees", 50, "0.8 (FastWFOMC)"),
    ("3-regular graphs", 50, "1.4 (FastWFOMC)"),
    ("3-regular graphs", 100, "4.1 (FastWFOMC)"),
    ("4-regular graphs", 30, "2.3 (FastWFOMC)"),
    ("4-regular graphs", 60, "17.7 (FastWFOMC)"),
    ("functions", 100, "3.7 (FastWFOMC)"),
    ("functions", 10_000, None),
    ("permutations", 100, "0.2 (FastWFOMC)"),
    ("derangements", 100, None),
    ("100 friendships of people", 60, None),
    ("30 known friends in a chain", 10_000, None),
    ("heads, middle and tails in order", 100, "1.65 (FastWFOMC)"),
]
"""Programs, numbers of members, and published seconds of others."""


def measure(settings: Settings) -> list[Table]:
    """Every case once; kernels are compiled before."""
    cases = [("smokers", 300, None), ("3-regular graphs", 12, None)] if settings.quick else CASES
    for name in ("smokers who drink", "3-regular graphs", "100 friendships of people"):
        _seconds(name, 40)
    note = (
        "FastWFOMC: in the same run, without its start and the reading of its modules, by an algorithm of "
        "its that suits the program; `times` is how much longer it takes. Published: seconds of FastWFOMC on "
        "two cores, but for the hard smokers on the 80 cores of Gantry's paper (SAT 2025)."
    )
    python = first_order_rival.python_with(settings.rivals)
    columns = ("program", "members", "log Z", "CPU seconds", "FastWFOMC, CPU s", "times", "published, s")
    return [Table("Answers without grounding", columns, [*_rows(cases, python)], (note,))]


def _rows(cases: list[tuple[str, int, str | None]], python: str | None) -> Iterator[tuple[object, ...]]:
    """``python`` is one that has FastWFOMC; its log Z is that of all orders of members."""
    for name, members, published in cases:
        seconds, log_z = _seconds(name, members)
        other = None if python is None else first_order_rival.seconds_of(python, name, members)
        if other is not None:
            theirs = other[1] - (math.lgamma(members + 1) if "order" in name else 0.0)
            assert math.isclose(log_z, theirs, rel_tol=1e-9), f"{name}: {log_z} and {theirs}"
        gain = None if other is None else f"{other[0] / seconds:,.0f}"
        yield name, f"{members:,}", f"{log_z:.10g}", seconds, other and other[0], gain, published


def _seconds(name: str, members: int) -> tuple[float, float]:
    begin = process_time()
    result = plx.compile(PROGRAMS[name].format(n=members) + "query logz\n").run(method="exact")
    assert result.log_z is not None
    return process_time() - begin, result.log_z
