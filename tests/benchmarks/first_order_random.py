"""Random two-variable programs without grounding, against enumeration: as many as are asked for.

``python -m tests.benchmarks.first_order_random 10000``; of five programs two have counts per member, and one
is about integers next to each other.
"""

from __future__ import annotations

import sys
from time import process_time

from tests.firstorder.comparing import compare
from tests.firstorder.programs import program, successors


def main(count: int, first: int = 0) -> None:
    """Compare so many programs; the first wrong answer ends it, with its seed."""
    begin, answered = process_time(), 0
    for seed in range(first, first + count):
        try:
            answered += compare(_text(seed))
        except AssertionError:
            print(f"seed {seed} is wrong:\n{_text(seed)}")
            raise
    seconds = process_time() - begin
    print(f"{answered:,} of {count:,} programs answered, all right, in {seconds:,.0f} CPU seconds")


def _text(seed: int) -> str:
    return successors(seed) if seed % 5 == 4 else program(seed, counting=seed % 5 < 2)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
