"""Several runs, one per distinct ``given``, become one result in the order of the program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from plx.answer.estimate import name_answers, without_answer
from plx.answer.result import QueryResult, Result
from plx.graph.model import GroundModel, GroundQuery
from plx.infer.inference import Answer, Inference

_WORST_LAST = ("done", "limit", "interrupted")


@dataclass(frozen=True)
class QueryGroup:
    """The run of the queries that share a ``given``: where they stand among those of the program, the
    model that was run, conditioned by the ``given``, and what came out."""

    positions: tuple[int, ...]
    model: GroundModel
    inference: Inference
    given: bool = False


def collect(
    program: str, parts: Sequence[QueryGroup], asked: Sequence[GroundQuery] = (), interrupted: bool = False
) -> Result:
    """The answers of all parts by name. What else was ``asked`` has none, as there was no time for it;
    ``interrupted``: Ctrl-C came before some parts, and they are left out."""
    named = [] if interrupted else _without_answer(parts, asked)
    for part in parts:
        answers = part.inference.answers
        named += zip(part.positions, name_answers(part.model, answers), answers, strict=True)
    named.sort(key=lambda item: item[0])
    merged = _merge([part.inference for part in parts])
    inference = replace(
        merged,
        answers=tuple(item[2] for item in named),
        log_z=next((part.inference.log_z for part in parts if not part.given), None),
        status="interrupted" if interrupted else merged.status,
    )
    return Result(program, tuple(item[1] for item in named), inference)


def _without_answer(
    parts: Sequence[QueryGroup], asked: Sequence[GroundQuery]
) -> list[tuple[int, QueryResult, Answer]]:
    """The queries that no part is about, unless Ctrl-C ended the last one."""
    if any(part.inference.status == "interrupted" for part in parts):
        return []
    reached = {position for part in parts for position in part.positions}
    late = Answer(converged=False)
    return [(at, without_answer(query), late) for at, query in enumerate(asked) if at not in reached]


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
