"""From the distribution of a query's targets to its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from plx.graph.model import GroundModel, GroundQuery, QueryKind
from plx.graph.queries import QueryBlock, singles
from plx.infer.inference import Answer, AnswerBlock, Inference, World
from plx.sequences import parts, replaced
from plx.values import FloatArray, IntArray, Values


def free_nodes(query: GroundQuery) -> tuple[int, ...]:
    """The nodes of a query that evidence left open; its joint distribution is over these."""
    if len(query.targets) == 1:
        node = query.targets[0].node
        return (node,) if node >= 0 else ()
    return tuple(target.node for target in query.targets if target.node >= 0)


def numbers(model: GroundModel, query: GroundQuery) -> FloatArray:
    """The value of each state of a query's first target, shape (states,); NaN where it is no number."""
    return model.values.floats(query.targets[0].labels)


def is_number(model: GroundModel, query: GroundQuery) -> bool:
    """Whether an answer has a mean: that of a number, or of an unknown all of whose values are numbers."""
    return bool(query.targets) and reads_numbers(model.values, query.kind, query.targets[0].labels)


def reads_numbers(values: Values, kind: QueryKind, labels: IntArray) -> bool:
    """As `is_number`, of a query over a first target with these labels."""
    if kind != "distribution":
        return kind == "number"
    return bool(np.isfinite(values.floats(labels)).all())


def exact_answer(model: GroundModel, query: GroundQuery, p: FloatArray) -> Answer:
    """The answer when ``p`` is the exact distribution of ``free_nodes(query)`` in C order.

    A query that evidence decided has no free node and p = [1].
    """
    answer = Answer(p=p, mcse=np.zeros(len(p)))
    if not is_number(model, query):
        return answer
    x = numbers(model, query)
    mean, sd = map(float, moments(x, p))
    return replace(answer, mean=mean, sd=sd, mean_mcse=0.0, sd_mcse=0.0)


def moments(x: FloatArray, p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means and standard deviations of a number with values x and probabilities p [..., states]."""
    unit = float(power_of_two(np.abs(x).max(initial=0.0)))
    x = x / unit  # squares of the largest doubles would overflow
    mean = np.asarray(p @ x)
    variance = ((x - mean[..., None]) ** 2 * p).sum(axis=-1)
    return unit * mean, unit * np.sqrt(np.maximum(0.0, variance))


def power_of_two(largest: npt.ArrayLike) -> FloatArray:
    """Powers of two of about these sizes; 1 for 0. Nothing is rounded when doubles are divided by one."""
    _, exponent = np.frexp(largest)
    return np.asarray(np.ldexp(1.0, np.maximum(exponent - 1, -1000)))


def map_answer(worlds: tuple[World, ...]) -> Answer:
    """The answer to `query map`: the best worlds, best first."""
    return Answer(worlds=worlds, converged=all(world.optimal for world in worlds))


def worlds_wanted(queries: Sequence[GroundQuery]) -> dict[int, int]:
    """How many worlds each `map` asks for, by its position."""
    return {i: query.best for i, query in singles(queries) if query.kind == "map"}


def with_maps(found: Inference, wanted: Mapping[int, int], worlds: tuple[World, ...]) -> Inference:
    """The answers with those to `map`, from the best worlds, best first."""
    return replace(
        found, answers=replaced(found.answers, {i: map_answer(worlds[:n]) for i, n in wanted.items()})
    )


def log_z_answer(log_z: float | None) -> Answer:
    """The exact answer to `query logz`; None where it is not known."""
    return Answer(log_z=log_z, converged=log_z is not None)


def exact_answers(model: GroundModel, block: QueryBlock, p: FloatArray, begin: IntArray) -> AnswerBlock:
    """As `exact_answer`, for a block: the distribution of instance i begins at ``p[begin[i]]``."""
    found = AnswerBlock.of(block, begin, p, np.zeros(len(p)))
    for form, rows in block.rows_by_form():
        if not reads_numbers(model.values, block.kind, form.labels):
            continue
        x = model.values.floats(form.labels)
        found.mean[rows], found.sd[rows] = moments(x, p[begin[rows][:, None] + np.arange(len(x))])
        found.mean_mcse[rows] = found.sd_mcse[rows] = 0.0
    return found


Nodes = tuple[int, ...]


def asked_together(queries: Sequence[GroundQuery]) -> list[Nodes]:
    """The distinct nodes that each query is about, each tuple once, in order; () for what is decided."""
    found: dict[Nodes, None] = {}
    for part in parts(queries):
        if isinstance(part, QueryBlock):
            found |= dict.fromkeys((node,) if node >= 0 else () for node in part.node.tolist())
        else:
            found |= dict.fromkeys(distinct(free_nodes(query)) for query in part if query.targets)
    return list(found)


def distinct(nodes: Sequence[int]) -> Nodes:
    """The nodes without repetitions, in order."""
    return tuple(dict.fromkeys(nodes))


def repeated(model: GroundModel, free: Nodes, joint: FloatArray) -> FloatArray:
    """The distribution of nodes that may repeat, from that of the distinct ones."""
    nodes = distinct(free)
    if len(nodes) == len(free):
        return joint
    cards = model.graph.card[list(nodes)].tolist()
    states = np.unravel_index(np.arange(len(joint)), cards)
    at = tuple(states[nodes.index(node)] for node in free)
    out = np.zeros(model.graph.card[list(free)].tolist())
    out[at] = joint
    return out.ravel()
