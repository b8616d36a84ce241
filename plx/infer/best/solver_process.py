"""toulbar2 in a process of its own, which can be stopped: its time limit counts processor time, in seconds.

The only door to pytoulbar2. Run as a program, it reads a `Problem` from its input and writes a `Solution`.
"""

from __future__ import annotations

import math
import os
import pickle
import signal
import subprocess
import sys
from contextlib import suppress
from typing import NamedTuple

from plx import deadline
from plx.infer.own_process import Process, apart, tied

_GRACE = 0.5
"""Seconds that the solver has to hand over what it found when its time is over."""

_FEW_BITS = 30.0
"""With at most 2^30 states of all variables together there is nothing to be stopped."""

_NEVER = 10**9
"""A time limit in seconds, without which the solver does not hand over what it found when it is stopped."""


class Problem(NamedTuple):
    """Costs over ``scopes`` of variables with so many states.

    Worlds ``taken`` are not to be found again, and none that does not cost less than ``below``.
    """

    cards: list[int]
    scopes: list[list[int]]
    tables: list[list[float]]
    taken: list[list[int]]
    below: float | None = None


class Solution(NamedTuple):
    """``states`` is empty if every world is forbidden, None if none was found; the dual bound on costs."""

    states: list[int] | None
    bound: float = 0.0
    proven: bool = True


def solve(problem: Problem) -> Solution:
    """The best world, or the best found when the time was over. Raises OutOfTime if it is over already."""
    deadline.check()
    if sum(map(math.log2, problem.cards)) <= _FEW_BITS:
        return _solved(problem)
    output = apart(__name__, pickle.dumps(problem), _asked_to_end).output
    return Solution(*pickle.loads(output)) if output else Solution(None, proven=False)


def _asked_to_end(process: Process) -> bytes:
    """What the solver has found when its time is over."""
    if hasattr(signal, "SIGVTALRM"):
        process.send_signal(signal.SIGVTALRM)  # what its own timer sends
    with suppress(subprocess.TimeoutExpired):
        return process.communicate(timeout=_GRACE)[0]
    return b""


def _solved(problem: Problem) -> Solution:
    from pytoulbar2 import CFN

    network = CFN(ubinit=problem.below, resolution=0)
    try:
        for v, card in enumerate(problem.cards):
            network.AddVariable(f"x{v}", [f"s{state}" for state in range(card)])
        for scope, table in zip(problem.scopes, problem.tables, strict=True):
            network.AddFunction(scope, table)
        for states in problem.taken:  # some variable must differ
            chosen = [(v, s, 1) for v, s in enumerate(states)]
            network.AddGeneralizedLinearConstraint(chosen, "<=", len(states) - 1)
        found = network.Solve(timeLimit=_NEVER)
    except network.Contradiction:
        return Solution([])
    limited = bool(network.Option.limited)
    if found is None:
        return Solution(None, proven=False) if limited else Solution([])
    return Solution([int(state) for state in found[0]], float(network.GetDDualBound()), not limited)


def _main() -> None:
    tied()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # the solver prints
    with answers:
        answers.write(pickle.dumps(tuple(_solved(Problem(*pickle.loads(sys.stdin.buffer.read()))))))


if __name__ == "__main__":
    _main()
