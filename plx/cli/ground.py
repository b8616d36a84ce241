"""``plx ground``: what a program grounds to, as a report or as a model for other tools."""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plx.cli.arguments import Bind, Evidence, File, Inputs, MaxGround, MaxMemory, load
from plx.cli.output import GroundFormat, console_on, form_of, put, say

if TYPE_CHECKING:
    from plx.firstorder.choice import FirstOrderWay
    from plx.graph.model import GroundModel
    from plx.model import Model


def ground(
    file: File,
    dump: Annotated[bool, typer.Option("--dump", help="Print every variable and factor by name.")] = False,
    max_ground: MaxGround = None,
    memory: MaxMemory = None,
    bind: Bind = None,
    evidence: Evidence = None,
    format: Annotated[
        GroundFormat | None,
        typer.Option(
            help="How to print the report; or the model itself: uai for other tools, plx as a program of"
            " its unknowns and factors. As the suffix of -o says, else a table."
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write it here.")] = None,
) -> None:
    """Report what a program grounds to, in sizes and seconds per rule, and how it would be answered.

    Of a large program that is answered without it: how large it would be.

    Example: `plx ground smokers.plx --dump`, `plx ground smokers.plx --format uai -o smokers.uai`
    """
    from plx.ground.memory import within

    form = form_of(format, output, GroundFormat.table)
    if dump and form is not GroundFormat.table:
        raise typer.BadParameter(f"--dump has a form of its own: it is not {form.value}")
    with within(memory):
        model = load(Inputs(file, bind, evidence, max_ground))
        if form is GroundFormat.plx:
            put(model.origin.ground_text(), output)
            return
        if not dump and form is GroundFormat.table and (way := model.without_grounding()) is not None:
            put(_not_needed(way, colour=output is None), output)
            return
        put(_ground_dump(model.ground) if dump else _ground_text(model, form, colour=output is None), output)


def _ground_dump(grounded: GroundModel) -> str:
    from plx.answer import ground_report

    return "".join(line + "\n" for line in ground_report.dump(grounded))


def _ground_text(model: Model, form: GroundFormat, colour: bool) -> str:
    from plx.answer import ground_report
    from plx.answering import outlooks

    grounded = model.ground
    if form is GroundFormat.uai:
        from plx.writing import network_text

        found = network_text(grounded)
        say(found.notes)
        return found.text
    if form is GroundFormat.csv:
        return ground_report.to_csv(grounded)
    ahead = [(group.positions, found) for group, found in outlooks(model.origin, grounded)]
    if form is GroundFormat.json:
        return ground_report.to_json(grounded, ahead)
    console = console_on(sys.stdout if colour else StringIO())
    with console.capture() as shown:
        console.print(ground_report.table(grounded), "", sep="\n")
        console.print(ground_report.summary(grounded), highlight=False)
        for line in dict.fromkeys(found.words for _, found in ahead):
            console.print(line, highlight=False, soft_wrap=True)
    return shown.get()


def _not_needed(way: FirstOrderWay, colour: bool) -> str:
    from plx.answer import ground_report

    console = console_on(sys.stdout if colour else StringIO())
    with console.capture() as shown:
        console.print(ground_report.not_needed(way.words, way.sizes))
    return shown.get()
