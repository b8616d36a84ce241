"""One limit on time for all the runs of a program, one per distinct ``given``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from plx.deadline import OutOfTimeError, within
from plx.graph.model import GroundModel
from plx.ground.given import Positions, QueryGroup
from plx.infer.inference import Inference
from plx.infer.options import Options

Run = tuple[QueryGroup, Inference]
"""A group of queries on the model that was run, and its answers."""

_TOGETHER = 0.25
"""The share of the time in which one count for several ``given`` is looked for."""


def counted_together(
    model: GroundModel, groups: Sequence[QueryGroup], options: Options
) -> Mapping[Positions, Inference]:
    """Exact answers to several ``given`` that one count gives in its share of the time, by the positions
    of their queries."""
    if len(groups) < 2:
        return {}
    from plx.infer.counting.shared_evidence import answered_together

    try:
        with within(None if options.seconds is None else _TOGETHER * options.seconds):
            positions = [tuple(group.positions) for group in groups]
            return dict(answered_together(model, positions, options.progress).items())
    except OutOfTimeError:
        return {}


def in_turn(
    groups: Sequence[QueryGroup],
    run: Callable[[QueryGroup, Options], Run],
    options: Options,
    spent: Callable[[], float],
) -> tuple[list[Run], bool]:
    """Run groups one after another, each with an equal share of the time that is left then.

    `spent` tells the seconds so far. The first is run in any case; those that come when the time is over are
    left out. Ctrl-C ends it, with the runs so far and True; KeyboardInterrupt where there are none.
    """
    runs: list[Run] = []
    try:
        for waiting, group in zip(range(len(groups), 0, -1), groups, strict=True):
            if runs and options.seconds is not None and spent() >= options.seconds:
                break
            runs.append(run(group, _share(options, spent(), waiting)))
            if runs[-1][1].status == "interrupted":
                break
    except KeyboardInterrupt:
        if not runs:
            raise
        return runs, True
    return runs, False


def _share(options: Options, spent: float, runs: int) -> Options:
    """The options of the next run of so many."""
    if options.seconds is None:
        return options
    return replace(options, seconds=max(0.0, options.seconds - spent) / runs)
