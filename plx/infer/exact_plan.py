"""What an exact way hands over before the work: its plan, or why it cannot be taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from plx.graph.model import GroundModel, GroundQuery, GroundRule
from plx.graph.queries import QueryBlock, each_part
from plx.graph.ragged import starts
from plx.infer.answers import (
    Nodes,
    distinct,
    exact_answer,
    exact_answers,
    free_nodes,
    log_z_answer,
    repeated,
)
from plx.infer.inference import Answer, Assignments, Inference
from plx.sequences import joined
from plx.values import FloatArray


class ExactPlan(Protocol):
    """How a problem will be answered exactly, laid out before the work. It fits the limits of its way."""

    @property
    def reason(self) -> str:
        """Why it is taken, for people."""

    @property
    def operations(self) -> float | None:
        """About how many table entries are read or written; None where only trying tells."""

    @property
    def memory(self) -> float:
        """About how many bytes are held at once."""

    def run(self) -> Inference:
        """The answers, in the order of the queries, and log Z.

        `map` may be left without worlds. Raises NoWorldError if no world is possible, and OutOfTimeError at
        the deadline.
        """


@runtime_checkable
class Drawing(Protocol):
    """What a plan has besides where worlds can be drawn from it."""

    def draw(self, count: int, random: np.random.Generator) -> Assignments:
        """Independent worlds of the model, each with its probability; no random numbers come from elsewhere.

        Raises as ``run``.
        """


@dataclass(frozen=True)
class Refusal:
    """Why an exact way cannot be taken.

    ``needs`` says what it would take, as in "counting needs 10^12 count vectors (at most …)", and ``couples``
    which rules are to blame, where that is known; both are called for the error alone. ``operations`` are as
    in a plan, infinite where they are not known.
    """

    needs: Callable[[], str]
    operations: float
    couples: Callable[[], Sequence[GroundRule]] | None = None


class GaveUpError(Exception):
    """A plan whose cost only trying tells has become too large; the message says how, in words for people."""


def exact_inference(
    model: GroundModel, reason: str, log_sum: float, joint: Callable[[Nodes], FloatArray]
) -> Inference:
    """All answers but those to `map`, from the log of the sum over worlds, and joint distributions.

    ``joint`` gives that of distinct nodes, flat in C order.
    """
    log_z = log_sum + model.log_constant

    def block(_: slice, queries: QueryBlock) -> Sequence[Answer]:
        each = [joint((node,) if node >= 0 else ()) for node in queries.node.tolist()]
        begin = starts([len(p) for p in each])[:-1]
        return exact_answers(model, queries, np.concatenate(each), begin)

    def single(_: int, query: GroundQuery) -> Answer:
        if query.kind == "map":
            return Answer()
        if query.kind == "logz":
            return log_z_answer(log_z)
        free = free_nodes(query)
        return exact_answer(model, query, repeated(model, free, joint(distinct(free))))

    return Inference("exact", reason, joined(each_part(model.queries, block, single)), log_z=log_z)
