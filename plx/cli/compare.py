"""``plx compare``: how fast samplers approach the true marginals."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plx.cli.arguments import (
    Bind,
    Cluster,
    Evidence,
    File,
    Inputs,
    MaxGround,
    Protocol,
    Workers,
    check_number,
    load,
)
from plx.cli.output import Format, check_output, console_on, put

if TYPE_CHECKING:
    from plx.infer.compare.curves import Comparison


def compare(
    file: File,
    methods: Annotated[
        str, typer.Option(help="Samplers, separated by commas.")
    ] = "gibbs,orbital,vv,nec,lifted",
    seconds: Annotated[float, typer.Option(callback=check_number, help="Seconds per chain.")] = 10.0,
    chains: Annotated[int, typer.Option(callback=check_number, help="Independent chains per method.")] = 4,
    lanes: Annotated[
        int, typer.Option(callback=check_number, help="States that one chain moves at once.")
    ] = 64,
    truth: Annotated[
        str, typer.Option(metavar="exact|long|FILE.json", help="Where the true marginals are from.")
    ] = "exact",
    protocol: Annotated[
        Protocol, typer.Option(help="Count after whole sweeps, or after every update as in the paper.")
    ] = Protocol.sweeps,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the curves: kl.svg, kl.png, kl.pdf.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(callback=check_number, help="Makes the chains repeatable.")
    ] = None,
    cluster: Cluster = None,
    workers: Workers = None,
    max_ground: MaxGround = None,
    bind: Bind = None,
    evidence: Evidence = None,
    format: Annotated[Format, typer.Option(help="How to print the curves.")] = Format.table,
) -> None:
    """Measure how fast samplers approach the true marginals: KL divergence over time.

    It takes methods × chains × seconds in all. Example: `plx compare ring.plx --seconds 5 --plot kl.svg`
    """
    from plx.answer import comparison
    from plx.answer.drawing import require_plot
    from plx.api import compare as measure

    if plot is not None:
        check_output(plot)
        require_plot(plot)
    found = measure(
        load(Inputs(file, bind, evidence, max_ground)),
        [method.strip() for method in methods.split(",")],
        seconds=seconds,
        chains=chains,
        lanes=lanes,
        truth=truth if truth in ("exact", "long") else comparison.read_truth(Path(truth)),
        protocol=protocol.value,
        seed=seed,
        cluster=cluster,
        workers=workers,
        progress=True,
    )
    if plot is not None:
        comparison.plot(found, plot)
    put(_comparison_text(found, format))


def _comparison_text(found: Comparison, format: Format) -> str:
    from plx.answer import comparison

    if format is not Format.table:
        return comparison.to_csv(found) if format is Format.csv else comparison.to_json(found) + "\n"
    console = console_on(sys.stdout)
    with console.capture() as shown:
        console.print(comparison.table(found), "", *found.summary, sep="\n", highlight=False)
    return shown.get()
