"""Evidence on a network: UAI evidence files, and ``NAME=STATE`` pairs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np

from plx import weights
from plx.errors import Diagnostic, Note, PlxError, did_you_mean
from plx.formats.network import FileEvidence, Network, Observed, Table
from plx.formats.numbers import LogNumbers
from plx.formats.uai import COMMENT
from plx.formats.words import Words
from plx.graph.model import AtomBlock
from plx.source import Source, Span
from plx.values import Value, Values

_SHOWN = 12
"""Longer lists of names are cut in messages."""


class NetworkNames:
    """Variables and states of a network by the text that a user would write for them."""

    def __init__(self, network: Network) -> None:
        self._network = network

    @cached_property
    def variables(self) -> Mapping[str, int]:
        """``x(3)``, and the bare number ``3`` where it is no name itself."""
        names: dict[str, int] = {}
        for block in self._network.blocks:
            for i, index in enumerate(block.index):
                arguments = ", ".join(plain(self._network.values[int(a)]) for a in index)
                names[f"{block.name}({arguments})" if arguments else block.name] = block.first + i
                names.setdefault(arguments, block.first + i)
        names.pop("", None)
        for variable, number in enumerate(self._network.numbers or ()):
            names.setdefault(str(number), variable)
        return names

    def states(self, variable: int) -> Mapping[str, int]:
        """The states of a variable by their text."""
        ids = self._network.states[variable]
        return {plain(self._network.values[int(value)]): state for state, value in enumerate(ids)}

    def split(self, text: str) -> tuple[str, str]:
        """Name and state of ``NAME=STATE``; where names hold ``=`` too, a split that makes sense."""
        parts = text.split("=")
        splits = [("=".join(parts[:i]).strip(), "=".join(parts[i:]).strip()) for i in range(1, len(parts))]
        named = [split for split in splits if split[0] in self.variables]
        fitting = [split for split in named if split[1] in self.states(self.variables[split[0]])]
        return next(iter([*fitting, *named, *splits]), (text.strip(), ""))

    def observed(self, variable: str, state: str, span: Span | None) -> Observed:
        """A named variable in a named state. Raises PlxError if there is no such one."""
        v = self.variables.get(variable)
        if v is None:
            message = f"the evidence is about `{variable}`, and the model has no such variable"
            raise PlxError(Diagnostic(message, span, _hint(variable, self.variables, "variables")))
        states = self.states(v)
        if state not in states:
            message = f"the evidence puts `{variable}` in the state `{state}`, which it does not have"
            raise PlxError(Diagnostic(message, span, _hint(state, states, f"states of `{variable}`")))
        return Observed(v, states[state], span)


def plain(value: Value) -> str:
    """A value as the file that it came from writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else weights.text(value)


def read_pairs(network: Network, pairs: Mapping[str, object]) -> FileEvidence:
    """Evidence from names and states: ``{"smoke": "yes", "x(3)": 1}``."""
    names = NetworkNames(network)
    states = {
        name: str(state).lower() if isinstance(state, bool) else str(state) for name, state in pairs.items()
    }
    return FileEvidence(tuple(names.observed(name, state, None) for name, state in states.items()))


def read_lines(source: Source, network: Network) -> FileEvidence:
    """Evidence from lines ``NAME=STATE``; blank lines and lines that start with ``#`` are skipped."""
    names = NetworkNames(network)
    return FileEvidence(tuple(names.observed(*names.split(text), span) for text, span in _lines(source)))


def _lines(source: Source) -> Iterator[tuple[str, Span]]:
    at = 0
    for line in source.text.splitlines(keepends=True):
        text = line.strip()
        if text and not text.startswith("#"):
            start = at + line.index(text)
            yield text, Span(source, start, start + len(text))
        at += len(line)


def read_evidence(source: Source, network: Network) -> FileEvidence:
    """A UAI evidence file, in any of the forms in use.

    ``N v x v x …``; the 2008 form, with the number of samples (0 or 1) before it; an empty file. Words
    after ``0`` are stray. Raises PlxError for anything else, and for variables and states that are not there.
    """
    words = Words(source, COMMENT)
    if not words.left:
        return FileEvidence()
    if words.left % 2 == 0:
        found = words.left - 1
        samples = words.integer("the number of evidence samples")
        if samples > 1 and found < 2 * samples:  # too few for samples, and as `N v1 x1 …` it is cut short
            words.fail(_miscounted(samples, found), hint=_FORM)
        if samples > 1:
            words.fail(f"{samples} evidence samples in one file; one is taken", hint="write a file for each")
        if samples == 0:
            return FileEvidence(warnings=_stray(words))
    count = words.integer("the number of observed variables")
    if count == 0:
        return FileEvidence(warnings=_stray(words))
    if words.left != 2 * count:
        words.fail(_miscounted(count, words.left), hint=_FORM)
    return FileEvidence(tuple(_read_observed(words, network) for _ in range(count)))


def _miscounted(count: int, found: int) -> str:
    return f"{count:,} observed variables are announced, and {found:,} numbers follow, not {2 * count:,}"


_FORM = "an evidence file is `N v1 x1 v2 x2 …`: how many variables, then each with its state"


def _read_observed(words: Words, network: Network) -> Observed:
    variable = _read_variable(words, network)
    state = words.integer("a state")
    card = len(network.states[variable])
    if state >= card:
        number = variable if network.numbers is None else network.numbers[variable]
        words.fail(f"variable {number} has no state {state}: its states are numbered 0 to {card - 1}")
    return Observed(variable, state, words.span(words.at - 2, words.at))


def _read_variable(words: Words, network: Network) -> int:
    number, count = words.integer("an observed variable"), len(network.states)
    if network.numbers is None:
        if number >= count:
            words.fail(f"there is no variable {number}: the model has {count:,}, numbered from 0")
        return number
    place = bisect_left(network.numbers, number)
    if place == count or network.numbers[place] != number:
        first, last = network.numbers[0] if count else 0, network.numbers[-1] if count else 0
        gaps = ", with gaps" if last - first >= count else ""
        words.fail(
            f"there is no variable {number}: the model has {count:,}, numbered {first} to {last}{gaps}"
        )
    return place


def _stray(words: Words) -> tuple[Diagnostic, ...]:
    if not words.left or all(word == "0" for word in words.take(words.left, "")):
        return ()
    message = "the file announces no evidence; what follows is ignored"
    return (Diagnostic(message, words.span(words.at - 1), _FORM, severity="warning"),)


def read_likelihoods(source: Source, network: Network) -> FileEvidence:
    """A file of virtual evidence: ``N``, then per variable ``v card l0 l1 …``, a likelihood per state."""
    words = Words(source, COMMENT)
    numbers = LogNumbers(network.values)
    count = words.integer("the number of variables with virtual evidence")
    tables = [_read_likelihood(words, network, numbers) for _ in range(count)]
    if words.left:
        words.fail(f"{words.left} words too many after the last likelihood", words.at)
    return FileEvidence(likelihoods=tuple(tables))


def _read_likelihood(words: Words, network: Network, numbers: LogNumbers) -> Table:
    variable = _read_variable(words, network)
    card = words.integer("the number of likelihoods", least=1)
    if card != len(network.states[variable]):
        words.fail(f"variable {variable} has {len(network.states[variable]):,} states, not {card:,}")
    start = words.at
    weight = words.log_weights(card, f"the likelihoods of variable {variable}", numbers)
    text = f"virtual evidence on variable {variable}"
    return Table(np.array([variable]), weight, text, words.span(start, words.at))


def join(parts: list[FileEvidence], network: Network) -> FileEvidence:
    """All evidence together. Raises PlxError where it puts one variable in two states."""
    seen: dict[int, Observed] = {}
    for observed in (item for part in parts for item in part.observed):
        first = seen.setdefault(observed.variable, observed)
        if first.state != observed.state:
            name = variable_name(network.blocks, network.values, observed.variable)
            note = Note("the first one", first.span)
            message = f"the evidence puts `{name}` in two states, so it has probability 0"
            raise PlxError(Diagnostic(message, observed.span, notes=(note,)))
    return FileEvidence(
        tuple(seen.values()),
        tuple(table for part in parts for table in part.likelihoods),
        tuple(warning for part in parts for warning in part.warnings),
    )


def variable_name(blocks: tuple[AtomBlock, ...], values: Values, variable: int) -> str:
    """The name of a variable: ``x(3)`` or ``smoke``."""
    block = next(block for block in reversed(blocks) if block.first <= variable)
    arguments = ", ".join(plain(values[int(a)]) for a in block.index[variable - block.first])
    return f"{block.name}({arguments})" if arguments else block.name


def _hint(name: str, known: Mapping[str, int], what: str) -> str | None:
    if len(known) <= _SHOWN:
        return f"the {what} are {', '.join(f'`{k}`' for k in known)}"
    return did_you_mean(name, known)
