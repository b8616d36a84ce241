"""Several runs, one per distinct ``given``, become one result in the order of the program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from plx.answer.estimate import name_answers, observed, without_answer
from plx.answer.named import Subject
from plx.answer.result import QueryResult, Result
from plx.answer.wide import loose
from plx.graph.model import GroundQuery
from plx.ground.given import QueryGroup
from plx.infer.inference import Answer, Inference
from plx.sequences import in_order, parts

T = TypeVar("T")

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
    named: list[tuple[int, Sequence[QueryResult]]] = []
    given: list[tuple[int, Sequence[Answer]]] = []
    for group, run in runs:
        named += _placed(group.positions, name_answers(group.model, run.answers))
        given += _placed(group.positions, run.answers)
    if status != "interrupted":
        late = _late(runs, asked)
        named += [(at, (without_answer(runs[0][0].model, query),)) for at, query in late]
        given += [(at, (Answer(converged=False),)) for at, _ in late]
    first = next((run for group, run in runs if not group.given), None)
    queries = in_order(named)
    inference = replace(
        merged,
        answers=in_order(given),
        log_z=None if first is None else first.log_z,
        status=status,
        log_weights=None if first is None else first.log_weights,
    )
    seen = observed(runs[0][0].model) if any(query.drawn for query in loose(queries)) else ()
    return Result(program, queries, inference, seen, subject)


def _placed(positions: Sequence[int], items: Sequence[T]) -> Iterator[tuple[int, Sequence[T]]]:
    """Parts that are arrays whole, other items one by one, each with the position of its first."""
    first = 0
    for part in parts(items):
        if isinstance(part, tuple):
            yield from ((positions[first + i], (item,)) for i, item in enumerate(part))
        else:
            yield positions[first], part
        first += len(part)


def _late(
    runs: Sequence[tuple[QueryGroup, Inference]], asked: Sequence[GroundQuery]
) -> list[tuple[int, GroundQuery]]:
    """The queries that no run is about. Those without a ``given``, arrays among them, are answered first."""
    if sum(len(group.positions) for group, _ in runs) == len(asked):
        return []
    reached = {position for group, _ in runs for position in group.positions}
    return [(at, query) for at, query in enumerate(asked) if at not in reached]


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
