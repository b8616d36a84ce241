"""The names of a network → names of a program: unlike one another, and no words of plx."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from plx.check.operators import FUNCTIONS
from plx.formats.mln import logic
from plx.syntax.words import is_name

_INTEGER: Final = re.compile(r"-?(0|[1-9]\d{0,999})", re.ASCII)


class Names:
    """What everything is called in the program; ``changed`` lists what has another name than in the files."""

    def __init__(self, network: logic.Network) -> None:
        self.taken: set[str] = set()
        self.changed: list[tuple[str, str]] = []
        self.constants = {text for domain in network.domains.values() for text in domain.members}
        self.predicates = self._all(network.predicates)
        self.functions = self._all(network.functions)
        self.types = self._all(network.domains)

    def _all(self, names: Iterable[str]) -> dict[str, str]:
        found = {}
        for name in names:
            found[name] = self.fresh(name)
            if found[name] != name:
                self.changed.append((name, found[name]))
        return found

    def fresh(self, wanted: str) -> str:
        """A name for something declared, as near to the wanted one as can be."""
        name = free(wanted, self.taken)
        self.taken.add(name)
        return name

    def is_bare(self, symbol: str) -> bool:
        """Whether a symbol means itself without quotes."""
        return is_name(symbol) and symbol not in self.taken


class RuleNames:
    """The names of one rule's variables: unlike one another, what is declared, and all constants."""

    def __init__(self, names: Names) -> None:
        self.taken = names.taken | names.constants
        self.found: dict[int, str] = {}

    def __getitem__(self, variable: logic.Variable) -> str:
        if id(variable) not in self.found:
            self.found[id(variable)] = self.fresh(variable.name)
        return self.found[id(variable)]

    def fresh(self, wanted: str) -> str:
        """A name that nothing in the rule has."""
        name = free(wanted, self.taken)
        self.taken = self.taken | {name}
        return name


def free(wanted: str, taken: Iterable[str]) -> str:
    """The wanted name if it may be used, else with the fewest ``_`` after it."""
    name = re.sub(r"[^\w']", "_", wanted)
    name = name if re.match(r"[^\W\d]", name) else f"n{name}"
    name = re.sub(r"'(?!'*$)", "_", name)
    known = set(taken)
    while name in known or name in FUNCTIONS or not is_name(name):
        primes = len(name) - len(name.rstrip("'"))
        name = name[: len(name) - primes] + "_" + "'" * primes
    return name


def is_integer(constant: logic.Constant) -> bool:
    """Whether a constant is an integer of plx; ``007`` and ``"7"`` are symbols."""
    return not constant.quoted and _INTEGER.fullmatch(constant.text) is not None and constant.text != "-0"
