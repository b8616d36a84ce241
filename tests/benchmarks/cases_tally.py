"""Read and answer every public model in ../shared/cases; print a tally by folder and what failed.

    python -m tests.benchmarks.cases_tally [--detail] [--only TEXT] [--entries 2e8]

*exact*: every known answer met, to 1e-9 (5e-7 where the published digits end there). *refused*: the
size is past the budget of exact inference, which the line below says. Everything else is a failure.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from dataclasses import dataclass

from plx.errors import PlxError
from plx.formats import read_model
from plx.infer.elimination import Budget, Plan, plan, solve
from tests.formats.published import Case, cases

OUTCOMES = ("read", "exact", "impossible", "refused", "wrong", "error")


@dataclass(frozen=True)
class Outcome:
    """How a case went: one of OUTCOMES, why, and the seconds for reading and for the answers."""

    kind: str
    reason: str = ""
    reading: float = 0.0
    solving: float = 0.0


def run(case: Case, budget: Budget) -> Outcome:
    """Read a case, and answer it exactly if that stays within the budget."""
    begin = time.perf_counter()
    try:
        model = read_model(case.path, case.evidence)
        read = time.perf_counter()
        chosen = plan(model)
        if not chosen.fits(budget):
            return Outcome("refused", _size(chosen), read - begin, time.perf_counter() - read)
        result = solve(model, chosen)
    except PlxError as mistake:
        message = str(mistake).splitlines()[0]
        return Outcome("impossible" if case.impossible else "error", message, time.perf_counter() - begin)
    wrong = case.differences(model, result)
    if case.impossible:
        wrong = [*wrong, "an answer to evidence of probability 0"]
    kind = "wrong" if wrong else "exact"
    return Outcome(kind, "; ".join(wrong[:3]), read - begin, time.perf_counter() - read)


def _size(chosen: Plan) -> str:
    if not chosen.complete:
        return "wider than the search for an order looks"
    return f"largest clique {chosen.largest_clique:.1e} states, all tables {chosen.entries:.1e} entries"


def main() -> None:
    """Run all cases and print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--detail", action="store_true", help="a line for every case")
    options.add_argument("--only", default="", help="only cases whose folder or name holds this text")
    options.add_argument("--entries", type=float, default=Budget.entries, help="budget in table entries")
    chosen = options.parse_args()
    budget = Budget(entries=chosen.entries)
    tally: dict[str, Counter[str]] = defaultdict(Counter)
    for case in cases():
        if chosen.only in f"{case.folder}/{case.name}":
            outcome = run(case, budget)
            tally[case.folder].update(["cases", outcome.kind])
            tally[case.folder]["read"] += outcome.kind != "error"
            if chosen.detail or outcome.kind not in ("exact", "impossible"):
                times = f"{outcome.reading:.2f} s + {outcome.solving:.2f} s"
                print(f"{outcome.kind:10} {case.folder}/{case.name} ({times}) {outcome.reason}", flush=True)
    print_table(tally)


def print_table(tally: dict[str, Counter[str]]) -> None:
    """One line per folder."""
    columns = ("cases", *OUTCOMES)
    print(f"\n{'folder':24}" + "".join(f"{column:>12}" for column in columns))
    for folder, counts in [*tally.items(), ("all", sum(tally.values(), Counter()))]:
        print(f"{folder:24}" + "".join(f"{counts[column]:>12}" for column in columns))


if __name__ == "__main__":
    main()
