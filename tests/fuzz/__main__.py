"""A long run by hand: ``python -m tests.fuzz --minutes 30``."""

from __future__ import annotations

import argparse
import faulthandler
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random, SystemRandom

from tests.fuzz.inputs import kinds
from tests.fuzz.trial import SECONDS, case, fault, memory_bounded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(1 << 32))
    parser.add_argument("--kind", choices=kinds(), help="only inputs of this kind")
    parser.add_argument("--keep", type=Path, default=Path("found"), help="a folder for inputs that fail")
    given = parser.parse_args()
    given.keep.mkdir(parents=True, exist_ok=True)
    print(f"seed {given.seed}")
    with tempfile.TemporaryDirectory() as folder, memory_bounded():
        tally, faults = _search(given, Path(folder))
    print(", ".join(f"{kind} {n}" for kind, n in sorted(tally.items())))
    print(f"{tally.total()} inputs, {faults.total()} faults of {len(faults)} kinds")
    raise SystemExit(min(1, len(faults)))


def _search(given: argparse.Namespace, folder: Path) -> tuple[Counter[str], Counter[str]]:
    """Inputs tried by kind, and faults by the last lines of what they raise."""
    inputs = {given.kind: kinds()[given.kind]} if given.kind else kinds()
    names = [*inputs, *(["program"] * 5 if "program" in inputs else [])]
    random, end = Random(given.seed), time.monotonic() + 60 * given.minutes
    tally, faults = Counter[str](), Counter[str]()
    while time.monotonic() < end:
        kind = random.choice(names)
        content = case(inputs[kind], f"{given.seed} {tally.total()}")
        tally[kind] += 1
        (given.keep / "last").write_bytes(content)  # what a crash or a hang leaves behind
        faulthandler.dump_traceback_later(100 * SECONDS, exit=True)
        found = fault(inputs[kind], content, folder)
        faulthandler.cancel_dump_traceback_later()
        if found is not None and not faults[_sort(found)]:
            print(f"\n{kind}, kept as {given.keep / str(tally.total())}\n{found}", flush=True)
            (given.keep / str(tally.total())).write_bytes(content)
        if found is not None:
            faults[_sort(found)] += 1
    return tally, faults


def _sort(found: str) -> str:
    """Faults that end alike are one kind."""
    return "\n".join(line for line in found.splitlines()[-6:] if "File" in line) or found


if __name__ == "__main__":
    main()
