"""The cell of every element where their order matters, chosen from the last one back to the first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plx.deadline import check
from plx.firstorder.cell_worlds import Chosen, joint_states
from plx.firstorder.ordered import MOST_KEPT, OrderedSums, Step
from plx.firstorder.picks import Pick
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.structure import Structure
from plx.values import FloatArray, IntArray


class OrderedCells:
    """As `plx.firstorder.cell_worlds.Chooser`: the steps of `OrderedSums` are kept, and gone back along."""

    def __init__(self, structure: Structure, pick: Pick) -> None:
        self.structure, self._pick = structure, pick
        self.sums = OrderedSums(structure)
        if self.sums.steps > MOST_KEPT:
            raise NotLiftableError(
                f"the order of members matters, and there are {self.sums.steps:,.0f} states to keep",
                structure.base.rules.ordered,
            )
        self._kept: tuple[int, list[Step], FloatArray] | None = None

    def total(self, g: int) -> float:
        """See `Chooser`."""
        logs = self._steps(g)[1]
        return self._pick.total(logs) if len(logs) else -np.inf

    def cells_of(self, g: int, count: int) -> Chosen:
        """See `Chooser`."""
        base, (steps, logs) = self.structure.base, self._steps(g)
        state = self._pick.many(logs, count)
        weight = logs[state]
        cell = np.zeros((len(steps), count), dtype=np.int64)
        before = [np.zeros(1), *(step.logs for step in steps[:-1])]
        for step, start in zip(steps[::-1], before[::-1], strict=True):
            check()
            way = _way(step, start, state, self._pick)
            state = step.source[way]
            merged, own = self.structure.merged[base.kind[step.group]], base.own[step.group][g]
            cell[step.group] = joint_states(merged, own, step.cell[way], self._pick)
        return Chosen(weight, cell)

    def _steps(self, g: int) -> tuple[Sequence[Step], FloatArray]:
        """The steps, and the log weights of the last states."""
        if self._kept is None or self._kept[0] != g:
            steps, ruled = self.sums.kept(g, self._pick.plus)
            self._kept = g, steps, steps[-1].logs + ruled
        return self._kept[1:]


def _way(step: Step, start: FloatArray, state: IntArray, pick: Pick) -> IntArray:
    """By which of its ways [W] a step came to states [W]; ``start`` are the logs of the states before."""
    order = np.argsort(step.target, kind="stable")
    first = np.searchsorted(step.target[order], np.arange(len(step.key) + 1))
    states, at = np.unique(state, return_inverse=True)
    many = first[states + 1] - first[states]
    row = np.minimum(first[states][:, None] + np.arange(many.max(initial=1))[None], len(order) - 1)
    ways = order[row]
    logs = start[step.source[ways]] + step.weight[ways]
    logs[np.arange(ways.shape[1])[None] >= many[:, None]] = -np.inf
    found: IntArray = ways[at, pick.rows(logs, at)]
    return found
