"""Random two-variable programs without grounding, against enumeration: as many as are asked for.

``python -m tests.benchmarks.first_order_random 10000``; every third program has counts per member.
"""

from __future__ import annotations

import sys
from time import process_time

from tests.firstorder.comparing import compare
from tests.firstorder.programs import program


def main(count: int, first: int = 0) -> None:
    """Compare so many programs; the first wrong answer ends it, with its seed."""
    begin, answered = process_time(), 0
    for seed in range(first, first + count):
        try:
            answered += compare(program(seed, counting=seed % 3 == 0))
        except AssertionError:
            print(f"seed {seed} is wrong:\n{program(seed, counting=seed % 3 == 0)}")
            raise
    seconds = process_time() - begin
    print(f"{answered:,} of {count:,} programs answered, all right, in {seconds:,.0f} CPU seconds")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
