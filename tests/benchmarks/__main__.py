"""Measures everything and writes the tables into docs/performance.md.

    python -m tests.benchmarks [--only SECTION]… [--quick] [--print] [--rivals PYTHON]…

``--quick`` takes seconds, says only whether everything runs, and writes nothing; so does ``--print``
with the full setting. ``--rivals`` names a Python that has numbskull, dwave-samplers, pyAgrum, pgmpy,
blackjax, numpyro or wfomc, where this one has not.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tests.benchmarks import (
    bounds,
    deadline,
    exact,
    first_order,
    grounding,
    ideas,
    joins,
    kernels,
    machine,
    page,
    published,
    rivals,
    sampling_rivals,
    scale,
    startup,
    symmetry,
    wide,
)
from tests.benchmarks.table import QUICK, Settings, Table

SECTIONS: dict[str, Callable[[Settings], list[Table]]] = {
    "kernels": kernels.measure,
    "rivals": rivals.measure,
    "sampling_rivals": sampling_rivals.measure,
    "bounds": bounds.measure,
    "ideas": ideas.measure,
    "published": published.measure,
    "symmetry": symmetry.measure,
    "exact": exact.measure,
    "first_order": first_order.measure,
    "deadline": deadline.measure,
    "grounding": grounding.measure,
    "joins": joins.measure,
    "startup": startup.measure,
    "scale": scale.measure,
    "wide": wide.measure,
}

DOCS = Path(__file__).parents[2] / "docs"


def main() -> None:
    """Run the chosen sections one after the other; each is written as soon as it is there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--only", action="append", choices=list(SECTIONS), help="repeatable")
    options.add_argument("--quick", action="store_true", help="only whether it runs")
    options.add_argument("--print", action="store_true", help="leave docs/performance.md as it is")
    options.add_argument("--rivals", action="append", default=[], metavar="PYTHON", help="repeatable")
    chosen = options.parse_args()
    writes = not (chosen.quick or chosen.print)
    if writes:
        (DOCS / "figures").mkdir(exist_ok=True)
    settings = replace(
        QUICK if chosen.quick else Settings(),
        rivals=tuple(chosen.rivals),
        figures=DOCS / "figures" if writes else None,
    )
    for name in chosen.only or SECTIONS:
        text = section(name, settings)
        print(f"# {name}\n\n{text}\n", flush=True)
        if writes:
            page.write(DOCS / "performance.md", name, text)


def section(name: str, settings: Settings) -> str:
    """The tables of one section, and what they were measured on."""
    load, begin = machine.load(), time.perf_counter()
    tables = [table.markdown() for table in SECTIONS[name](settings)]
    took = f"Measured in {time.perf_counter() - begin:.0f} s on {machine.machine()}; {load}."
    return "\n\n".join([*tables, took])


if __name__ == "__main__":
    main()
