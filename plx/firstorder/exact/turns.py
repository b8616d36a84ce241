"""Members taken out one by one, in whole numbers; `plx.infer.kernels.members_in_turn` does it in doubles."""

from __future__ import annotations

import math
from collections.abc import Iterator

from plx import deadline
from plx.firstorder.counters import DEAD, CountersOf
from plx.firstorder.exact.cells import ExactCells, Ups
from plx.firstorder.exact.integers import Integer, integer
from plx.firstorder.refusal import NotLiftableError
from plx.infer.counting.compositions import compositions

_MOST_STATES = 200_000
"""States of all members that are kept at once."""

_MOST_STEPS = 20_000_000
"""Terms that are added; about a microsecond each, and more where they are long."""

State = tuple[tuple[int, int, int], ...]
"""How many members are in a class: (cell, state of counts, how many), sorted."""

Step = dict[int, dict[int, Integer]]
"""From a state of one's counts to the next, and the weight."""

Values = tuple[int, ...]


class ExactTurns:
    """The sums over what members share and count of each other."""

    def __init__(self, counters: CountersOf, cells: ExactCells) -> None:
        self.counters, self.cells = counters, cells
        self._moves: dict[tuple[int, int, int], list[tuple[int, list[Step]]]] = {}
        self._steps = 0

    def sums(self, start: dict[tuple[tuple[int, ...], Values], Integer]) -> dict[Values, Integer]:
        """The sums by the values of totals, from the weights of so many members in each cell.

        Raises NotLiftableError where they take too long.
        """
        layer: dict[tuple[State, Values], Integer] = {}
        for (counts, value), weight in start.items():
            state = tuple((c, self.cells.first[c], k) for c, k in enumerate(counts) if k)
            layer[state, value] = layer.get((state, value), 0) + weight
        while any(state for state, _ in layer):
            new: dict[tuple[State, Values], Integer] = {}
            for (state, value), weight in layer.items():
                deadline.check()
                for rest, more in self._without_one(state):
                    new[rest, value] = new.get((rest, value), 0) + weight * more
                if self._steps > _MOST_STEPS or len(new) > _MOST_STATES:
                    raise NotLiftableError(
                        "members and their counts have too many states for exact rationals"
                    )
            layer = new
        return {value: weight for (_, value), weight in layer.items()}

    def _without_one(self, state: State) -> Iterator[tuple[State, Integer]]:
        """What is left when one member has met all others, and the weight of that."""
        cell, mine, _ = max(state, key=lambda one: (one[1], -one[0]))
        found: dict[tuple[int, State], Integer] = {(mine, ()): integer(1)}
        for c, s, k in state:
            others = k - 1 if (c, s) == (cell, mine) else k
            if others:
                found = self._meet(found, cell, (c, s), others)
        rests: dict[State, Integer] = {}
        for (at, moved), weight in found.items():
            if accept := self.cells.accept[cell][at]:
                counts: dict[tuple[int, int], int] = {}
                for c, s, k in moved:
                    counts[c, s] = counts.get((c, s), 0) + k
                rest = tuple((c, s, k) for (c, s), k in sorted(counts.items()))
                rests[rest] = rests.get(rest, 0) + weight * accept
        yield from rests.items()

    def _meet(
        self, before: dict[tuple[int, State], Integer], cell: int, other: tuple[int, int], count: int
    ) -> dict[tuple[int, State], Integer]:
        """One's own state and where others went, once so many of a class are met by one of ``cell``."""
        moves = self._options(cell, other)
        after: dict[tuple[int, State], Integer] = {}
        for row in compositions(count, len(moves)).tolist() if moves else ():
            ways, left = 1, count
            for k in row:
                ways, left = ways * math.comb(left, k), left - k
            gone = tuple((other[0], to, k) for (to, _), k in zip(moves, row, strict=True) if k)
            steps = [self._power(steps, k) for (_, steps), k in zip(moves, row, strict=True) if k]
            for (at, done), weight in before.items():
                ends = {at: weight * ways}
                for step in steps:
                    ends = _after(ends, step)
                self._steps += len(ends) + 1
                for end, much in ends.items():
                    key = end, done + gone
                    after[key] = after.get(key, 0) + much
        return after

    def _options(self, cell: int, other: tuple[int, int]) -> list[tuple[int, list[Step]]]:
        """Where one of a class may go when one of ``cell`` meets it, and what each does to its state."""
        key = cell, *other
        if key not in self._moves:
            groups: dict[int, dict[Ups, Integer]] = {}
            for up, to, weight in self.cells.pair.get((cell, other[0]), ()):
                state = self.counters.after(other[1], to)
                if state != DEAD:
                    mine = groups.setdefault(state, {})
                    mine[up] = mine.get(up, 0) + weight
            self._moves[key] = [(state, [self._step(ups)]) for state, ups in groups.items()]
        return self._moves[key]

    def _step(self, ups: dict[Ups, Integer]) -> Step:
        step: Step = {}
        for state in range(self.counters.size):
            for up, weight in ups.items():
                to = self.counters.after(state, up)
                if to != DEAD:
                    row = step.setdefault(state, {})
                    row[to] = row.get(to, 0) + weight
        return step

    @staticmethod
    def _power(steps: list[Step], k: int) -> Step:
        """The k-th power of the first of some powers of a step; those up to it are added to the list."""
        while len(steps) < k:
            steps.append({state: _after(row, steps[0]) for state, row in steps[-1].items()})
        return steps[k - 1]


def _after(weights: dict[int, Integer], step: Step) -> dict[int, Integer]:
    found: dict[int, Integer] = {}
    for state, weight in weights.items():
        for to, times in step.get(state, {}).items():
            found[to] = found.get(to, 0) + weight * times
    return found
