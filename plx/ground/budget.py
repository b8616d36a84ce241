"""How large a grounding will be, known before the work, and the refusal of what is too large."""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plx.check.program import Scope
from plx.deadline import OutOfTimeError, seconds_left
from plx.errors import Diagnostic, PlxError
from plx.graph.model import GroundStep
from plx.graph.room import current
from plx.ground.bind import count_candidates, instances
from plx.ground.env import ROOT, Env
from plx.ground.evaluate import Evaluator
from plx.ground.limits import raise_limit
from plx.ground.memory import Memory, size_text
from plx.ground.tasks import Task
from plx.ground.terms import elements_bound, random_terms, set_sizes
from plx.source import Span

_BYTES_PER_INSTANCE = 20
_BYTES_PER_TERM = 12
"""Memory at the peak per instance, and more for each random term in it: measured on 10^7 instances."""

_LEAST_SECONDS_PER_BYTE = 2.5e-9
"""Seconds that grounding takes at the least for each byte of memory: a third of what was measured."""


@dataclass(frozen=True)
class RuleSize:
    """``instances``: what binding will try, exact; above the limit an upper bound. ``bytes`` at the peak."""

    span: Span
    instances: int
    bytes: int


def measure(evaluator: Evaluator, tasks: Sequence[Task], max_ground: int) -> tuple[RuleSize, ...]:
    """The size of every rule, from the parts that rules were split into."""
    program = evaluator.program
    instances, memory = ([0] * len(program.rules) for _ in range(2))
    for task in tasks:
        count = count_candidates(evaluator, ROOT, task.scope, max_ground)
        inner = elements_bound(program, evaluator.terms, task.body, count, set_sizes(program, task.scope))
        instances[task.rule] += count
        per_instance = _BYTES_PER_INSTANCE + _BYTES_PER_TERM * random_terms(task.body)
        memory[task.rule] += (count + inner) * per_instance
    columns = zip(program.rules, instances, memory, strict=True)
    return tuple(RuleSize(rule.span, *numbers) for rule, *numbers in columns)


def refuse_large(sizes: Sequence[RuleSize], max_ground: int) -> None:
    """Raises PlxError that names every rule over the limit."""
    large = [size for size in sizes if size.instances > max_ground]
    if large:
        raise PlxError([_refusal(s.span, s.instances, s.bytes, max_ground) for s in large])


def refuse_slow(sizes: Sequence[RuleSize]) -> None:
    """Raises OutOfTimeError where grounding cannot be done in the time that is left."""
    if sum(size.bytes for size in sizes) * _LEAST_SECONDS_PER_BYTE > seconds_left():
        raise OutOfTimeError


def make_room(sizes: Sequence[RuleSize], memory: Memory) -> None:
    """Have large arrays made in files where ``memory`` is less than all rules are predicted to need.

    Raises PlxError, which names the largest rules, where this does not help: outside of a `Room`, in little
    memory, and on a small disk.
    """
    needed, room = sum(size.bytes for size in sizes), current()
    if needed <= memory.bytes:
        return
    words = memory.words
    if room is not None and memory.bytes >= _LEAST_MEMORY and needed <= _MOST_SPILLED * memory.bytes:
        folder, free = _disk()
        if needed <= free:
            room.folder = folder
            return
        words += f", and {size_text(free)} are free in `{folder}` (TMPDIR=/folder plx … names another)"
    largest = sorted(sizes, key=lambda size: -size.bytes)[:_SHOWN]
    raise PlxError([_past_memory(size, needed, words) for size in largest if size.bytes >= needed / 10])


def _disk() -> tuple[str, float]:
    """The folder for temporary files, and the bytes that are free in it."""
    try:
        folder = tempfile.gettempdir()
        return folder, shutil.disk_usage(folder).free
    except OSError:  # no folder can be written to
        return ".", 0.0


_SHOWN = 3
"""At most so many rules are named where all are too large together."""

_LEAST_MEMORY = 1 << 28
"""With less than so many bytes nothing is gained by files: a portion takes as much."""

_MOST_SPILLED = 8
"""Times as much as the memory that files may take: sorting goes over them again and again."""


def _past_memory(size: RuleSize, needed: int, words: str) -> Diagnostic:
    whole = "" if size.bytes == needed else f", and all rules together about {size_text(needed)}"
    return Diagnostic(
        f"this has up to {size.instances:,} ground instances, which take about {size_text(size.bytes)}"
        f"{whole}; {words}",
        size.span,
        hint="bind over a relation or add a guard that leaves fewer, or allow more with "
        f"`--memory {math.ceil(needed / 1e8) / 10:g}GB`",
    )


class GroundBudget:
    """Instances that one query, or one rule with the aggregates inside it, may still use.

    ``steps``: how the instances of the rule's own scopes were found.
    """

    def __init__(self, span: Span | None, limit: int) -> None:
        self.span = span
        self.limit = limit
        self.used = 0
        self.steps: list[GroundStep] = []

    def instances(self, evaluator: Evaluator, scope: Scope, portion: int) -> Iterator[Env]:
        """The instances of a scope outside of all others; what each of its joins left is noted."""
        steps = evaluator.plan(scope, frozenset()).steps
        rows = [0] * len(steps)
        yield from instances(evaluator, ROOT, scope, portion, rows)
        if len(steps) > 1:
            self.steps += [GroundStep(step.text, step.on, n) for step, n in zip(steps, rows, strict=True)]

    def spend(self, evaluator: Evaluator, env: Env, scope: Scope) -> int:
        """Count the instances of a scope before they are built; too many are refused."""
        count = count_candidates(evaluator, env, scope, self.limit - self.used)
        self.use(count)
        return count

    def use(self, count: int) -> None:
        """Count instances; too many are refused."""
        self.used += count
        if self.used > self.limit:
            memory = self.used * _BYTES_PER_INSTANCE
            raise PlxError(_refusal(self.span, self.used, memory, self.limit))


def _refusal(span: Span | None, instances: int, memory: int, limit: int) -> Diagnostic:
    return Diagnostic(
        f"this has up to {instances:,} ground instances (about {size_text(memory)}); the limit is {limit:,}",
        span,
        hint=f"bind over a relation or add a guard that leaves fewer, or {raise_limit(instances)}",
    )
