"""The names that stand beside a file which knows unknowns by numbers: ``model.uai.names``.

A line for each variable, in their order: a JSON array of its name and its states, ``["rain", "yes", "no"]``.
Blank lines, and lines that begin with ``#``, are skipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np

from plx.errors import Diagnostic, Note, PlxError
from plx.formats.network import Network
from plx.graph.model import AtomBlock, GroundModel
from plx.numerals import counted
from plx.source import Source, Span
from plx.values import Value
from plx.weights import Number, text

NAMED_FORMS: Final = (".uai", ".fg")
"""The suffixes of files that have one."""


def names_file(path: Path) -> Path:
    """Where the names of a file stand."""
    return path.with_name(f"{path.name}.names")


def name_line(model: GroundModel, node: int) -> str:
    """The name and the states of a free variable as JSON."""
    states = [_state(model.values[int(value)]) for value in model.atoms.states(node)]
    return json.dumps([model.atoms.name(int(model.atoms.atom_of[node])), *states], ensure_ascii=False)


def write_names(model: GroundModel) -> str:
    """The names file of a model that is written with its free variables by numbers; empty where these are all
    that there is to say."""
    n = range(model.graph.n_variables)
    lines = [name_line(model, node) for node in n]
    usual = [json.dumps([f"x({node})", *range(int(model.graph.card[node]))]) for node in n]
    return "" if lines == usual else "".join(f"{line}\n" for line in lines)


def with_names(network: Network, source: Source) -> Network:
    """A network with the names and states of a names file, if there are some in it. Raises PlxError where it
    does not fit."""
    lines = list(_lines(source))
    if not lines:
        return network
    entries = [_entry(line, span) for line, span in lines]
    if len(lines) != len(network.states):
        named = counted(len(lines), "variable")
        message = f"the file names {named}, and the network has {len(network.states):,}"
        end = len(source.text.rstrip())
        raise PlxError(Diagnostic(message, Span(source, max(0, end - 1), end), _FORM))
    blocks, states, seen = [], [], dict[str, Span]()
    for variable, (name, mine, span) in enumerate(entries):
        _check_states(network, variable, name, mine, span)
        if name in seen:
            _fail(f"a second variable `{name}`", span, notes=(Note("the first one", seen[name]),))
        seen[name] = span
        blocks.append(AtomBlock(name, np.zeros((1, 0), dtype=np.int64), variable))
        states.append(network.values.ids(mine))
    numbers = network.numbers or tuple(range(len(lines)))
    return replace(network, blocks=tuple(blocks), states=tuple(states), numbers=numbers)


def _entry(line: str, span: Span) -> tuple[str, list[Any], Span]:
    """The name on a line, and the states after it."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, list) or not entry or not isinstance(entry[0], str) or not entry[0].strip():
        _fail("this is no JSON array of a name and its states", span)
    return entry[0], entry[1:], span


def _check_states(network: Network, variable: int, name: str, states: list[Any], span: Span) -> None:
    card = len(network.states[variable])
    if len(states) != card:
        _fail(f"`{name}` has {card:,} states in the network, and {len(states):,} names here", span)
    if not all(isinstance(state, str | bool | int) for state in states):
        _fail("a state is a text, true, false or a whole number", span)
    if len(set(map(str, states))) < card:
        _fail(f"two states of `{name}` are called the same", span)


def _lines(source: Source) -> Iterator[tuple[str, Span]]:
    at = 0
    for line in source.text.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            start = at + len(line) - len(line.lstrip())
            yield line.strip(), Span(source, start, at + len(line.rstrip()))
        at += len(line) + 1


def _state(value: Value) -> str | bool | int:
    if isinstance(value, str | bool | int):
        return value
    number: Number = value
    return text(number)


_FORM = 'a line for each variable, in their order: ["rain", "yes", "no"]'


def _fail(message: str, span: Span, notes: tuple[Note, ...] = ()) -> NoReturn:
    raise PlxError(Diagnostic(message, span, _FORM, notes))
