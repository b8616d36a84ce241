"""The command ``plx sample``."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from plx.cli.arguments import (
    Asked,
    Bind,
    Evidence,
    File,
    FitFile,
    Inputs,
    MaxGround,
    Observed,
    check_number,
    load,
)
from plx.cli.output import form_of, put
from plx.questions import Questions


class SampleFormat(StrEnum):
    """How worlds are printed."""

    csv = "csv"
    json = "json"


def sample(
    file: File,
    n: Annotated[int, typer.Option("-n", callback=check_number, help="How many worlds.")] = 1,
    seed: Annotated[
        int | None, typer.Option(callback=check_number, help="Draws the same worlds again.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(callback=check_number, help="Give up after this many seconds.")
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Every unknown, not only what the queries ask for.")
    ] = False,
    asked: Asked = None,
    observed: Observed = None,
    max_ground: MaxGround = None,
    bind: Bind = None,
    evidence: Evidence = None,
    fit: FitFile = None,
    format: Annotated[
        SampleFormat | None, typer.Option(help="How to print them: as the suffix of -o says, else csv.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the worlds here.")] = None,
) -> None:
    """Draw worlds exactly: independent, each with its probability. One row each.

    Example: `plx sample smokers.plx -n 100 --seed 1 -o draws.csv`,
    `plx sample smokers.plx --whole --observe "smokes(anna)"`
    """
    form = form_of(format, output, SampleFormat.csv)
    questions = Questions(tuple(asked or ()), (), tuple(observed or ()))
    model = load(Inputs(file, bind, evidence, max_ground, questions=questions, fit=fit))
    found = model.sample(n, whole=whole, seed=seed, seconds=seconds, progress=True)
    put(found.to_csv() if form is SampleFormat.csv else found.to_json() + "\n", output)
    sys.stderr.write(f"seed {found.seed}; {found.reason}\n")
    for note in found.notes:
        sys.stderr.write(f"note: {note}\n")
