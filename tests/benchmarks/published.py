"""The paper's methods on its published models, beside the published programs' own curves.

Their curves (``*_rerun_kl.csv`` in ../shared/paper) are of one chain that counts after every update of
one unknown; they are measured against exact marginals, as ours are.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

import plx
from plx.answer.comparison import plot, read_truth
from plx.api import compare
from plx.infer.compare.curves import Comparison, Curve
from tests.benchmarks.kernel_models import PAPER
from tests.benchmarks.table import Settings, Table, number

METHODS = ("gibbs", "orbital", "vv", "nec", "lifted")
NAMES = {"vv_orbital": "vv", "nec_orbital": "nec"}
"""What the published files call methods, and what plx does."""

BARS = {
    "ring_test4_size500": 1e-7,
    "ring_size1000_norenaming": 1e-7,
    "sc_10_5": None,
    "sc_20_10": 2e-6,
}
"""The KL divergence that ``lifted`` should reach in a second."""

FASTER = 300
"""How many times sooner than the published method ``lifted`` should reach that one's last KL divergence."""

TRIAL = """
type T = 0..5
random f(T)
weight 1: f(i) | !f((i + 1) % 6) for i in T
query f(0)
"""


@dataclass(frozen=True)
class Published:
    """Where a published method ended, and after how many seconds; means over its runs."""

    method: str
    seconds: float
    kl: float


def measure(settings: Settings) -> list[Table]:
    """KL divergence over time on each published model."""
    if settings.quick:
        model = plx.compile(TRIAL)
        found = compare(model, METHODS, seconds=0.01, chains=1, lanes=2, seed=1)
        single = compare(model, METHODS[:-1], seconds=0.01, chains=1, lanes=1, protocol="paper", seed=1)
        ends = [Published("vv", 9.0, 1e-3)]
        return [_curves("a ring of 6", found), _races("a ring of 6", found, ends), _single("", single, ends)]
    if not PAPER.exists():
        return [Table("Published models", ("model",), [("../shared/paper is not there",)])]
    return [table for name in BARS for table in _model(name, settings)]


def _model(name: str, settings: Settings) -> list[Table]:
    path = PAPER / f"{name}.json"
    model, truth, ends = plx.load(path), read_truth(path), published(PAPER / f"{name}_rerun_kl.csv")
    seconds, chains = 12.5 * settings.seconds, min(2, settings.repeats)
    found = compare(model, METHODS, seconds=seconds, chains=chains, truth=truth, seed=1)
    single = compare(
        model, METHODS[:-1], seconds=seconds / 2, chains=1, lanes=1, truth=truth, protocol="paper", seed=1
    )
    if settings.figures is not None:
        plot(found, settings.figures / f"kl_{name}.svg")
        plot(single, settings.figures / f"kl_{name}_paper.svg")
    tables = [_curves(name, found), _races(name, found, ends), _single(name, single, ends)]
    if settings.figures is None:
        return tables
    return [tables[0].shown(f"kl_{name}"), tables[1], tables[2].shown(f"kl_{name}_paper")]


def published(path: Path) -> list[Published]:
    """The last line of every run, averaged by method."""
    last: dict[tuple[str, str], tuple[float, float]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = row["algorithm"], row["iteration"]
            last[key] = max(last.get(key, (0.0, 0.0)), (float(row["time_s"]), float(row["kl_exact"])))
    ends = defaultdict(list)
    for (method, _), end in last.items():
        ends[NAMES.get(method, method)].append(end)
    return [
        Published(method, fmean(s for s, _ in pairs), fmean(kl for _, kl in pairs))
        for method, pairs in ends.items()
    ]


def _curves(name: str, found: Comparison) -> Table:
    rows: list[tuple[object, ...]] = []
    plain = next((curve for curve in found.curves if curve.method == "gibbs"), found.curves[0])
    for curve in found.curves:
        speed = curve.samples[-1] / curve.seconds[-1]
        same_work = (curve.mean[-1] * curve.samples[-1]) / (plain.mean[-1] * plain.samples[-1])
        cells = (at(curve, 1.0), _end(curve), float(speed), float(same_work), curve.symmetry_seconds)
        rows.append((curve.method, *cells))
    bar = BARS.get(name)
    notes = (
        f"Truth: {found.truth}; {found.chains} runs of {found.lanes} lanes.",
        *((f"To reach with lifted: {bar:g} after 1 s.",) if bar else ()),
    )
    columns = (
        "method",
        "KL after 1 s",
        "KL at the end",
        "updates/s",
        "KL after as many updates ÷ gibbs",
        "finding symmetries, s",
    )
    return Table(f"{name}: {found.curves[0].seconds[-1]:.3g} s per run", columns, rows, notes)


def at(curve: Curve, seconds: float) -> float | None:
    """The mean KL divergence at the first mark from a time on."""
    late = np.flatnonzero(curve.seconds >= 0.95 * seconds)
    return float(curve.mean[late[0]]) if len(late) else None


def _end(curve: Curve) -> str:
    return f"{number(float(curve.mean[-1]))} ± {number(float(curve.spread[-1]))}"


def reached(curve: Curve, kl: float) -> float | None:
    """Seconds until the mean KL divergence is this or less, between marks on a straight line of logs."""
    below = np.flatnonzero(curve.mean <= kl)
    if not len(below):
        return None
    k = int(below[0])
    if k == 0:
        return float(curve.seconds[0])
    times, values = (
        np.log(curve.seconds[k - 1 : k + 1]),
        np.log(np.maximum(curve.mean[k - 1 : k + 1], 1e-300)),
    )
    share = (values[0] - np.log(kl)) / (values[0] - values[1])
    return float(np.exp(times[0] + share * (times[1] - times[0])))


def _races(name: str, found: Comparison, ends: list[Published]) -> Table:
    curves = {curve.method: curve for curve in found.curves}
    rows: list[tuple[object, ...]] = []
    for end in ends:
        cells = [_race(curves[method], end) for method in (end.method, "lifted")]
        rows.append((end.method, end.kl, end.seconds, *(cell for pair in cells for cell in pair)))
    columns = (
        "published method",
        "its last KL",
        "its seconds",
        "same method in plx, s",
        "times sooner",
        "lifted, s",
        "times sooner (lifted)",
    )
    note = f"To reach with lifted: {FASTER}×. The clock of plx starts with the model in memory."
    return Table(f"{name}: seconds until the published method's last KL is reached", columns, rows, (note,))


def _single(name: str, found: Comparison, ends: list[Published]) -> Table:
    theirs = {end.method: end for end in ends}
    rows: list[tuple[object, ...]] = []
    for curve in found.curves:
        end = theirs.get(curve.method)
        cells = (end.kl, end.seconds) if end else (None, None)
        speed = float(curve.samples[-1] / curve.seconds[-1])
        rows.append((curve.method, at(curve, 1.0), float(curve.mean[-1]), speed, *cells))
    columns = ("method", "KL after 1 s", "KL at the end", "updates and counts/s", "their last KL", "after, s")
    title = f"{name}, as the paper sampled: one chain, a count after every update"
    return Table(f"{title}, {found.curves[0].seconds[-1]:.3g} s", columns, rows)


def _race(curve: Curve, end: Published) -> tuple[float | None, str | None]:
    seconds = reached(curve, end.kl)
    return seconds, None if seconds is None else f"{number(end.seconds / seconds)}×"
