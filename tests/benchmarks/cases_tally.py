"""Read and answer every public model in ../shared/cases; print a tally by folder and what failed.

    python -m tests.benchmarks.cases_tally [--detail] [--only TEXT] [--seconds SECONDS] [--sample SECONDS]
        [--map SECONDS]
    python -m tests.benchmarks.cases_tally --mln [--detail] [--only TEXT]
    python -m tests.benchmarks.cases_tally --all [--detail] [--only TEXT]

*exact*: every known answer met, to 1e-9 (5e-7 where the published digits end there). *refused*: exact
inference is out of reach, for the reason given; ``--seconds`` is what it gets. With ``--sample`` these are
sampled instead, and *sampled* answers are within 6 of their standard errors of the known ones, unless they
are marked as not converged. With ``--map``, *best* counts the known most probable worlds that were reached.

With ``--mln``, the Markov logic networks instead. *right*: every known answer met, to 1e-9. *read*:
translated, and no answer is known. *wide*: translated, and too wide for exact answers. *refused*:
something that plx does not do is named with its line, or something that is wrong in the file.

With ``--all``, whatever lies in the folder: networks, Markov logic, and files in languages that plx does not
read, which are refused by name. *right*: every known answer met (that evidence is impossible, too). *read*:
no answer is known, or it is too wide for exact ones.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import plx
from plx.errors import NoWorldError, PlxError
from plx.formats import read_model
from plx.graph.model import GroundModel
from plx.infer.exact.elimination import plan, solve
from plx.infer.exact.limits import ExactBudget
from plx.infer.infer import infer
from plx.infer.inference import Inference
from plx.infer.options import Options
from tests.formats.published import CASES, Case, cases
from tests.formats.published_mln import MlnCase, known_cases, other_cases

OUTCOMES = ("exact", "impossible", "sampled", "refused", "wrong", "error")
COLUMNS = ("cases", "read", *OUTCOMES, "best", "best known")
FINE = ("exact", "impossible")


@dataclass(frozen=True)
class Outcome:
    """How a case went: one of OUTCOMES, why, and the seconds for reading and for the answers."""

    kind: str
    reason: str = ""
    reading: float = 0.0
    solving: float = 0.0


def run(
    case: Case, budget: ExactBudget | None = None, sample: float = 0.0, seconds: float | None = None
) -> Outcome:
    """Read a case; answer it exactly, within the budget of elimination or else by the best way that there is
    in so many seconds; if that is refused, by sampling if asked to."""
    begin = time.perf_counter()
    try:
        model = read_model(case.path, case.evidence)
    except PlxError as mistake:
        kind = "impossible" if case.impossible else "error"
        return Outcome(kind, str(mistake).splitlines()[0], time.perf_counter() - begin)
    read = time.perf_counter()
    try:
        kind, reason = _exact(case, model, seconds) if budget is None else _eliminated(case, model, budget)
        if kind == "refused" and sample:
            kind, reason = _sampled(case, model, sample, reason)
    except PlxError as mistake:
        kind, reason = "impossible" if case.impossible else "error", str(mistake).splitlines()[0]
    return Outcome(kind, reason, read - begin, time.perf_counter() - read)


def _exact(case: Case, model: GroundModel, seconds: float | None) -> tuple[str, str]:
    try:
        found = infer(model, "exact", Options(seconds=seconds))
    except NoWorldError:
        raise
    except PlxError as refused:
        return "refused", str(refused).splitlines()[0]
    return _compared(case, model, found)


def _eliminated(case: Case, model: GroundModel, budget: ExactBudget) -> tuple[str, str]:
    chosen = plan(model)
    return _compared(case, model, solve(model, chosen)) if chosen.fits(budget) else ("refused", "wide")


def _compared(case: Case, model: GroundModel, found: Inference) -> tuple[str, str]:
    wrong = case.differences(model, found)
    return ("wrong", "; ".join(wrong[:3])) if wrong or case.impossible else ("exact", found.reason)


def _sampled(case: Case, model: GroundModel, seconds: float, refused: str) -> tuple[str, str]:
    result = infer(model, "gibbs", Options(seed=1, seconds=seconds))
    settled = all(answer.converged for answer in result.answers)
    wrong = case.differences(model, result)
    off = max((off for _, off, _ in case.errors(model, result)), default=None)
    known = "no known marginals" if off is None else f"off by {off:.4f} at most"
    state = "converged" if settled else "marked as not converged"
    return "wrong" if wrong and settled else "sampled", f"{state}, {known}; {refused}"


def best_found(case: Case, seconds: float) -> tuple[float, bool]:
    """The log weight of the best world found, and whether it is proved."""
    model = read_model(case.path, case.evidence, best=1)
    result = infer(replace(model, queries=model.queries[-1:]), "auto", Options(seed=1, seconds=seconds))
    world = result.answers[0].worlds[0]
    return world.log_weight + model.log_constant, world.optimal


MLN_OUTCOMES = ("right", "read", "wide", "refused", "wrong", "failed")


def run_mln(case: MlnCase) -> tuple[str, str]:
    """One of MLN_OUTCOMES, and why."""
    try:
        model = case.read()
    except PlxError as mistake:
        return "refused", str(mistake).splitlines()[0]
    except Exception as fault:
        return "failed", repr(fault)
    if case.log_z is None:
        return "read", ""
    try:
        wrong = case.differences(model)
    except PlxError as mistake:
        return "wide", str(mistake).splitlines()[0]
    return ("wrong", "; ".join(wrong[:3])) if wrong else ("right", "")


def tally_mln(only: str, detail: bool) -> dict[str, Counter[str]]:
    """How the Markov logic networks went, by folder."""
    tally: dict[str, Counter[str]] = defaultdict(Counter)
    with TemporaryDirectory() as folder:
        known = known_cases(Path(folder))
        for case in sorted([*known, *other_cases(known)], key=lambda case: (case.folder, case.name)):
            if only in f"{case.folder}/{case.name}":
                kind, reason = run_mln(case)
                tally["/".join(Path(case.folder).parts[:3])].update(("cases", kind))
                if detail or kind in ("wrong", "failed"):
                    print(f"{kind:8} {case.folder}/{case.name} {reason}", flush=True)
    return tally


ALL_OUTCOMES = ("right", "read", "refused", "wrong", "failed")
_AS_ALL = {"exact": "right", "impossible": "right", "refused": "read", "wide": "read", "error": "refused"}


def tally_all(only: str, detail: bool, seconds: float | None) -> dict[str, Counter[str]]:
    """How every model in the folder went, by folder."""
    tally: dict[str, Counter[str]] = defaultdict(Counter)

    def add(folder: str, name: str, kind: str, reason: str) -> None:
        tally[folder].update(("cases", kind))
        if detail or kind in ("wrong", "failed"):
            print(f"{kind:8} {folder}/{name} {reason}", flush=True)

    for case in cases():
        if only in f"{case.folder}/{case.name}":
            try:
                outcome = run(case, seconds=seconds)
                add(case.folder, case.name, _AS_ALL.get(outcome.kind, outcome.kind), outcome.reason)
            except Exception as fault:
                add(case.folder, case.name, "failed", repr(fault))
    with TemporaryDirectory() as folder:
        known = known_cases(Path(folder))
        for mln in [*known, *other_cases(known)]:
            place = "/".join(Path(mln.folder).parts[1:3]) or mln.folder
            if mln.path.is_relative_to(CASES) and only in f"{place}/{mln.name}":
                kind, reason = run_mln(mln)
                add(place, mln.name, _AS_ALL.get(kind, kind), reason)
    for path in sorted(path for suffix in UNREAD for path in CASES.rglob(suffix)):
        place = str(path.parent.relative_to(CASES))
        if only in f"{place}/{path.name}":
            add(place, path.name, *_refused(path))
    return dict(sorted(tally.items()))


UNREAD = ("lifted/forclift/*.fg", "*.praise", "*.wfomcs")
"""Files in languages that plx does not read."""


def _refused(path: Path) -> tuple[str, str]:
    """How a file ends that plx does not read: refused, or failed."""
    try:
        plx.load(path)
    except PlxError as mistake:
        return "refused", str(mistake).splitlines()[0]
    except Exception as fault:
        return "failed", repr(fault)
    return "read", ""


def main() -> None:
    """Run all cases and print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--detail", action="store_true", help="a line for every case")
    options.add_argument("--only", default="", help="only cases whose folder or name holds this text")
    options.add_argument("--sample", type=float, default=0.0, help="sample what is refused, so many seconds")
    options.add_argument("--seconds", type=float, help="seconds for exact answers to a case")
    options.add_argument("--map", type=float, default=0.0, help="look for most probable worlds, so long")
    options.add_argument("--mln", action="store_true", help="the Markov logic networks")
    options.add_argument("--all", action="store_true", help="whatever lies there, in one table")
    chosen = options.parse_args()
    if chosen.all:
        print_table(tally_all(chosen.only, chosen.detail, chosen.seconds), ("cases", *ALL_OUTCOMES))
        return
    if chosen.mln:
        print_table(tally_mln(chosen.only, chosen.detail), ("cases", *MLN_OUTCOMES))
        return
    tally: dict[str, Counter[str]] = defaultdict(Counter)
    for case in cases():
        if chosen.only in f"{case.folder}/{case.name}":
            tally[case.folder].update(_events(case, chosen))
    print_table(tally)


def _events(case: Case, chosen: argparse.Namespace) -> Iterator[str]:
    """What to count for a case; prints what is worth a line."""
    outcome = run(case, sample=chosen.sample, seconds=chosen.seconds)
    yield from ("cases", outcome.kind)
    if outcome.kind != "error":
        yield "read"
    if chosen.detail or outcome.kind not in FINE:
        times = f"{outcome.reading:.2f} s + {outcome.solving:.2f} s"
        print(f"{outcome.kind:10} {case.folder}/{case.name} ({times}) {outcome.reason}", flush=True)
    if chosen.map and case.best is not None:
        found, proved = best_found(case, chosen.map)
        yield "best known"
        if abs(found - case.best) < 1e-6:
            yield "best"
        proof = "proved" if proved else "not proved"
        print(
            f"map        {case.folder}/{case.name} {found:.6f} ({proof}), known {case.best:.6f}", flush=True
        )


def print_table(tally: dict[str, Counter[str]], names: tuple[str, ...] = COLUMNS) -> None:
    """One line per folder."""
    total: Counter[str] = sum(tally.values(), Counter())
    columns = [name for name in names if total[name] or name in ("wrong", "failed")]
    print(f"\n{'folder':24}" + "".join(f"{column:>12}" for column in columns))
    for folder, counts in [*tally.items(), ("all", total)]:
        print(f"{folder:24}" + "".join(f"{counts[column]:>12}" for column in columns))


if __name__ == "__main__":
    main()
