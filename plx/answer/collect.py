"""Several runs, one per distinct ``given``, become one result in the order of the program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plx.answer.estimate import name_answers, observed, without_answer
from plx.answer.named import Subject
from plx.answer.result import QueryResult, Result
from plx.graph.model import GroundQuery
from plx.ground.given import QueryGroup
from plx.infer.inference import Answer, Inference

_WORST_LAST = ("done", "limit", "interrupted")


def collect(
    program: str,
    runs: Sequence[tuple[QueryGroup, Inference]],
    asked: Sequence[GroundQuery] = (),
    interrupted: bool = False,
    subject: Subject | None = None,
) -> Result:
    """The answers of all runs by name. What else was ``asked`` has none, as there was no time for it;
    ``interrupted``: Ctrl-C came before some runs, and what they were to answer is left out. ``subject`` is
    what was asked about."""
    merged = _merge([run for _, run in runs])
    status = "interrupted" if interrupted else merged.status
    named = [] if status == "interrupted" else _without_answer(runs, asked)
    for group, run in runs:
        named += zip(group.positions, name_answers(group.model, run.answers), run.answers, strict=True)
    named.sort(key=lambda item: item[0])
    inference = replace(
        merged,
        answers=tuple(item[2] for item in named),
        log_z=next((run.log_z for group, run in runs if not group.given), None),
        status=status,
        log_weights=next((run.log_weights for group, run in runs if not group.given), None),
    )
    seen = observed(runs[0][0].model) if any(answer.drawn for _, answer, _ in named) else ()
    return Result(program, tuple(item[1] for item in named), inference, seen, subject)


def _without_answer(
    runs: Sequence[tuple[QueryGroup, Inference]], asked: Sequence[GroundQuery]
) -> list[tuple[int, QueryResult, Answer]]:
    """The queries that no run is about."""
    reached = {position for group, _ in runs for position in group.positions}
    late, model = Answer(converged=False), runs[0][0].model
    return [(at, without_answer(model, query), late) for at, query in enumerate(asked) if at not in reached]


def _merge(runs: Sequence[Inference]) -> Inference:
    """What holds of all runs together; the reason is that of the first."""
    return replace(
        runs[0],
        method=" + ".join(dict.fromkeys(run.method for run in runs)),
        chains=max((run.chains for run in runs if run.chains is not None), default=None),
        draws=sum(run.draws for run in runs if run.draws is not None) or None,
        seconds=sum(run.seconds for run in runs),
        status=max((run.status for run in runs), key=_WORST_LAST.index),
        advice=tuple(dict.fromkeys(line for run in runs for line in run.advice)),
        notes=tuple(dict.fromkeys(note for run in runs for note in run.notes)),
    )
