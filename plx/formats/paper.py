"""The published models of Anand et al. (AISTATS 2017) as JSON: variables and weighted clauses.

``{"variables": [{"name": "P1R1", "domain_size": 2}, …], "features": [{"weight": 1.2, "clause":
[[variable, value, sign], …]}, …]}``: P(x) ∝ exp(Σ weights of satisfied clauses). A literal holds iff
(x[variable] == value) is what its sign, 1 or 0, says. Other keys are ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NoReturn

import numpy as np

from plx.errors import Diagnostic, PlxError
from plx.formats.network import Clause, Network
from plx.formats.words import LARGEST_DOMAIN
from plx.graph.model import AtomBlock
from plx.source import Source, Span
from plx.values import IntArray, Values
from plx.weights import WeightError, parse


def read_paper(source: Source, values: Values) -> Network:
    """The network of such a file; weights are the exact decimals of the text.

    Raises PlxError for JSON of another kind.
    """
    content = _load(source)
    names, cards = _variables(source, content)
    ranges = {card: values.ids(range(card)) for card in set(cards)}
    empty = np.zeros((1, 0), dtype=np.int64)
    features = content.get("features")
    if not isinstance(features, list):
        _fail(source, "the list `features` is missing")
    return Network(
        values=values,
        blocks=tuple(AtomBlock(name, empty, i) for i, name in enumerate(names)),
        states=tuple(ranges[card] for card in cards),
        tables=(),
        clauses=tuple(_clause(source, values, cards, i, feature) for i, feature in enumerate(features)),
    )


def _load(source: Source) -> Mapping[str, Any]:
    try:
        content = json.loads(source.text, parse_float=parse, parse_int=parse)
    except json.JSONDecodeError as mistake:
        place = Span(source, mistake.pos, mistake.pos + 1)
        raise PlxError(Diagnostic(f"this is no JSON: {mistake.msg}", place)) from None
    except WeightError as mistake:
        _fail(source, str(mistake))
    except RecursionError:
        _fail(source, "lists and objects are nested too deeply")
    if not isinstance(content, dict):
        _fail(source, "a model is an object with the keys `variables` and `features`")
    return content


def _variables(source: Source, content: Mapping[str, Any]) -> tuple[list[str], list[int]]:
    listed = content.get("variables")
    if not isinstance(listed, list):
        _fail(source, "the list `variables` is missing: .json is read as a model of Anand et al. alone")
    names, cards = [], []
    for i, entry in enumerate(listed):
        match entry:
            case {"name": str(name), "domain_size": int(card)} if 1 <= card <= LARGEST_DOMAIN:
                names.append(name)
                cards.append(card)
            case _:
                message = f"variable {i} needs a `name` and a `domain_size` from 1 to {LARGEST_DOMAIN:,}"
                _fail(source, message, ("variables", i))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        second = names.index(twice, names.index(twice) + 1)
        _fail(source, f"two variables are called `{twice}`", ("variables", second))
    return names, cards


def _clause(source: Source, values: Values, cards: list[int], i: int, feature: object) -> Clause:
    match feature:
        case {"weight": weight, "clause": [_, *_] as literals} if _is_number(weight):
            sets = _literals(source, cards, i, literals)
        case _:
            message = f"feature {i} needs a `weight` and a `clause` with a literal or more"
            _fail(source, message, ("features", i))
    scope = np.array(list(sets), dtype=np.int64)
    return Clause(scope, tuple(sets.values()), values.id(weight), f"feature {i}")


def _literals(source: Source, cards: list[int], i: int, literals: list[object]) -> dict[int, IntArray]:
    """For each variable of a clause, the states (1) that satisfy it."""
    sets: dict[int, IntArray] = {}
    for literal in literals:
        match literal:
            case [int(variable), int(value), 0 | 1 as sign] if (
                0 <= variable < len(cards) and 0 <= value < cards[variable]
            ):
                holds = (np.arange(cards[variable]) == value) == bool(sign)
                sets[variable] = sets.get(variable, np.zeros(cards[variable], dtype=np.int64)) | holds
            case _:
                message = f"feature {i}: {_shown(literal)} is no [variable, value, sign] of this model"
                _fail(source, message, ("features", i))
    return sets


def _shown(literal: object) -> str:
    try:
        return json.dumps(literal, default=str)
    except ValueError:  # raised for integers that Python does not write out
        return "a list with a very long number"


def _is_number(weight: object) -> bool:
    return not isinstance(weight, bool | str | list | dict | float) and weight is not None


def _fail(source: Source, message: str, at: tuple[str, int] | None = None) -> NoReturn:
    """Raises PlxError at an entry of a list, told by the key of the list and by its number."""
    span = None if at is None else _entry(source, *at)
    raise PlxError(Diagnostic(message, span) if span else Diagnostic(f"{source.name}: {message}"))


def _entry(source: Source, key: str, number: int) -> Span | None:
    """Where an entry of a list stands, as `json` does not say."""
    start = re.search(rf'"{key}"\s*:\s*\[\s*', source.text)
    if start is None:
        return None
    end, decoder = start.end(), json.JSONDecoder()
    for _ in range(number):
        _, end = decoder.raw_decode(source.text, end)
        after = _BETWEEN.match(source.text, end)
        end = after.end() if after else end
    return Span(source, end, decoder.raw_decode(source.text, end)[1])


_BETWEEN: Final = re.compile(r"[\s,]*")
