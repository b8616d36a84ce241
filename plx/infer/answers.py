"""From the distribution of a query's targets to its answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from plx.graph.model import GroundModel, GroundQuery
from plx.infer.inference import Answer, World
from plx.values import FloatArray


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
    if query.kind != "distribution":
        return query.kind == "number"
    return bool(np.isfinite(numbers(model, query)).all())


def exact_answer(model: GroundModel, query: GroundQuery, p: FloatArray) -> Answer:
    """The answer when ``p`` is the exact distribution of ``free_nodes(query)`` in C order.

    A query that evidence decided has no free node and p = [1].
    """
    answer = Answer(p=p, mcse=np.zeros(len(p)))
    if not is_number(model, query):
        return answer
    x = numbers(model, query)
    mean, sd = moments(x, p)
    return replace(answer, mean=mean, sd=sd, mean_mcse=0.0, sd_mcse=0.0)


def moments(x: FloatArray, p: FloatArray) -> tuple[float, float]:
    """Mean and standard deviation of a number with values x and probabilities p."""
    unit = float(power_of_two(np.abs(x).max(initial=0.0)))
    x = x / unit  # squares of the largest doubles would overflow
    mean = float(x @ p)
    return unit * mean, unit * float(np.sqrt(max(0.0, float((x - mean) ** 2 @ p))))


def power_of_two(largest: npt.ArrayLike) -> FloatArray:
    """Powers of two of about these sizes; 1 for 0. Nothing is rounded when doubles are divided by one."""
    _, exponent = np.frexp(largest)
    return np.asarray(np.ldexp(1.0, np.maximum(exponent - 1, -1000)))


def map_answer(worlds: tuple[World, ...]) -> Answer:
    """The answer to `query map`: the best worlds, best first."""
    return Answer(worlds=worlds, converged=all(world.optimal for world in worlds))


def log_z_answer(log_z: float | None) -> Answer:
    """The exact answer to `query logz`; None where it is not known."""
    return Answer(log_z=log_z, converged=log_z is not None)


Nodes = tuple[int, ...]


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
