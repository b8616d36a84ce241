"""The tables of an LALR(1) parser, run over words that have been split already.

lark makes the tables; its own loop is left to mistakes, as it calls a function for every level of precedence
that an operand passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol

END: Final = "$END"
"""The kind of what comes after the last word."""


class Kinded(Protocol):
    """A word of a kind, which is a terminal of the grammar."""

    @property
    def type(self) -> str:
        """The terminal."""


class StuckError(Exception):
    """Raised at the first word that cannot come next; ``position`` is its place, or the number of words."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


Reduction = tuple[int, str, Callable[[list[Any]], Any] | None]
"""How many values become one, the nonterminal that it is, and what makes it; None where it stays as it is."""


@dataclass(frozen=True)
class Automaton:
    """What to do in each state with a word of each kind: a state to go to, or a reduction."""

    steps: dict[int, dict[str, int | Reduction]]
    start: int
    end: int

    def read(self, words: Iterable[Kinded]) -> Any:
        """What the words are built to. Raises StuckError, and what the builders raise."""
        states: list[int] = [self.start]
        values: list[Any] = []
        position = -1
        for position, word in enumerate(words):
            self._reduce(states, values, word.type, position)
            states.append(self.steps[states[-1]][word.type])  # type: ignore[arg-type]
            values.append(word)
        self._reduce(states, values, END, position + 1)
        return values[-1]

    def _reduce(self, states: list[int], values: list[Any], kind: str, position: int) -> None:
        """Reduce until the word can be taken; at the end, until all is one."""
        steps = self.steps
        while True:
            step = steps[states[-1]].get(kind)
            if step.__class__ is int:
                return
            if step is None:
                raise StuckError(position)
            size, name, build = step  # type: ignore[misc]
            if build is None:
                states.pop()
            elif size:
                values[-size:] = [build(values[-size:])]
                del states[-size:]
            else:
                values.append(build([]))
            state = steps[states[-1]][name]
            states.append(state)  # type: ignore[arg-type]
            if state == self.end and kind == END:
                return


def automaton(conf: Any) -> Automaton:
    """The tables of a lark parser, given its ``ParseConf``."""
    steps = {
        state: {kind: _step(action.name, to, conf.callbacks) for kind, (action, to) in row.items()}
        for state, row in conf.states.items()
    }
    return Automaton(steps, conf.start_state, conf.end_state)


def _step(action: str, to: Any, callbacks: Any) -> int | Reduction:
    if action == "Shift":
        return int(to)
    size = len(to.expansion)
    stays = size == 1 and to.options.expand1 and to.alias is None
    return size, to.origin.name, None if stays else callbacks[to]
