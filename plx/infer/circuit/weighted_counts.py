"""Answers by counting models: log Z, and joint distributions of nodes from a count for each joint state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from plx import deadline
from plx.deadline import OutOfTimeError
from plx.infer.answers import Nodes, distinct
from plx.infer.circuit.clauses import Clauses, clauses_of
from plx.infer.circuit.compiled import Compilation
from plx.infer.circuit.counter_process import Formula, counts_apart
from plx.infer.circuit.limits import COUNTER_SHARE, COUNTS, FAR
from plx.infer.exact.junction_tree import ImpossibleError
from plx.infer.exact_plan import GaveUpError
from plx.values import FloatArray, IntArray


class Sums(NamedTuple):
    """The log of the sum over worlds, and the joint distributions of nodes of the network, flat in C
    order."""

    log_sum: float
    joints: dict[Nodes, FloatArray]


def counts_needed(compiling: Compilation, wanted: Sequence[Nodes]) -> int:
    """How many models are counted for the joint distributions of nodes of the network."""
    return 1 + sum(math.prod(_cards(compiling, nodes)) for nodes in _kept(compiling, wanted))


def weighted_counts(compiling: Compilation, wanted: Sequence[Nodes]) -> Sums:
    """What is wanted, by the counter. Raises ImpossibleError, GaveUpError where it takes too long or too much
    memory, and OutOfTimeError at the deadline."""
    if (many := counts_needed(compiling, wanted)) > COUNTS:
        raise GaveUpError(f"{many:,} counts are needed")
    clauses = clauses_of(compiling.factors, compiling.pool)
    formula, scale = _formula(clauses, compiling.unit)
    kept = _kept(compiling, wanted)
    at = compiling.factors.state_at
    literal = _literals(clauses, int(at[-1]))
    fixed = [
        [int(literal[at[n] + s]) for n, s in zip(nodes, states, strict=True) if literal[at[n] + s]]
        for nodes in kept
        for states in product(*map(range, _cards(compiling, nodes)))
    ]
    whole, *logs = _in_time(formula, fixed)
    if whole == -math.inf:
        raise ImpossibleError
    joints = dict[Nodes, FloatArray]()
    for nodes in kept:
        size = math.prod(_cards(compiling, nodes))
        weights = np.exp(np.array(logs[:size]) - whole)
        logs = logs[size:]
        joints[nodes] = weights / weights.sum()
    log_sum = whole + scale + compiling.log * compiling.unit
    merged = compiling.merged
    spread = {nodes: merged.spread(nodes, key, joints[key]) for nodes, key in _keys(compiling, wanted)}
    return Sums(log_sum, {(): np.ones(1), **spread})


def _in_time(formula: Formula, fixed: list[list[int]]) -> list[float]:
    left = deadline.seconds_left()
    try:
        with deadline.within(None if math.isinf(left) else COUNTER_SHARE * left):
            return counts_apart(formula, fixed)
    except OutOfTimeError:
        deadline.check()
        raise GaveUpError(f"it had not ended after {COUNTER_SHARE * left:.0f} s") from None


def _keys(compiling: Compilation, wanted: Sequence[Nodes]) -> list[tuple[Nodes, Nodes]]:
    """The nodes that are wanted, and those that they were merged into."""
    of = compiling.merged.of
    return [(nodes, distinct([int(of[node]) for node in nodes])) for nodes in wanted if nodes]


def _kept(compiling: Compilation, wanted: Sequence[Nodes]) -> list[Nodes]:
    return list(dict.fromkeys(key for _, key in _keys(compiling, wanted)))


def _cards(compiling: Compilation, nodes: Nodes) -> list[int]:
    return [int(card) for card in compiling.factors.card[list(nodes)]]


def _literals(clauses: Clauses, states: int) -> IntArray:
    """The literal of every state; 0 where a node has one."""
    row = np.flatnonzero(clauses.state >= 0)
    literal = np.zeros(states, dtype=np.int64)
    literal[clauses.state[row]] = np.where(row % 2, -(row // 2), row // 2)
    return literal


def _formula(clauses: Clauses, unit: float) -> tuple[Formula, float]:
    """The clauses with weights whose larger ones are 1, and the log of what was taken out of these."""
    pair = clauses.log.reshape(-1, 2) * unit
    pair = np.where(pair == -math.inf, pair[:, ::-1], pair)  # clauses forbid these literals
    pair = np.where(pair == -math.inf, 0.0, pair)
    top = pair.max(axis=1)
    weight = (pair - top[:, None]).ravel()
    if weight.min() < -FAR:
        raise GaveUpError(f"weights lie further apart than exp({FAR:.0f})")
    row = np.flatnonzero(weight)
    literal = np.where(row % 2, -(row // 2), row // 2)
    log = dict(zip(literal.tolist(), weight[row].tolist(), strict=True))
    return Formula(clauses.propositions, clauses.clauses, log), float(top.sum())
