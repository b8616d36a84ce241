"""Learned numbers as files: read back, and written into the program that they belong to."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from numbers import Real
from pathlib import Path

from plx.decoding import decode
from plx.errors import Diagnostic, PlxError, did_you_mean
from plx.learn.numbers import Learned, prior_text
from plx.syntax import ast
from plx.syntax.printer import print_statement, print_value
from plx.weights import Number, WeightError, parse


def fitted(text: str, learned: Iterable[Learned], weights: Mapping[str, float]) -> str:
    """A program's text with values as the starts of its ``learn`` statements; all else stays as it is."""
    groups: dict[int, list[Learned]] = {}
    for one in learned:
        groups.setdefault(one.node.span.start, []).append(one)
    for start, group in sorted(groups.items(), reverse=True):
        end = group[0].node.span.end
        text = text[:start] + _statement(group, weights) + text[end:]
    return text


def _statement(group: Sequence[Learned], weights: Mapping[str, float]) -> str:
    node = group[0].node
    head = print_statement(ast.LearnDecl(node.name, node.slots, None, None, span=node.span))
    prior = f" ~ {prior_text(group[0].prior)}" if node.prior is not None else ""
    if not node.slots:
        return f"{head} = {weights[group[0].name]!r}{prior}"
    entries = (f"{_key(one)}: {weights[one.name]!r}" for one in group)
    return f"{head} = {{{', '.join(entries)}}}{prior}"


def _key(one: Learned) -> str:
    cells = [print_value(value) for value in one.key]
    return cells[0] if len(cells) == 1 else f"({', '.join(cells)})"


def read_weights(path: str | os.PathLike[str]) -> dict[str, Number]:
    """The numbers in a file of a fit, by name: CSV with columns ``number`` and ``value``, or JSON.

    Raises PlxError where the file is none, OSError where it cannot be read.
    """
    file = Path(path)
    text = decode(str(file), file.read_bytes()).text
    try:
        rows = _from_json(text) if file.suffix.lower() == ".json" else _from_csv(text)
        return {name: parse(value) for name, value in rows}
    except (ValueError, KeyError, TypeError, WeightError) as error:
        hint = "it is written by `plx learn -o weights.csv`: a column `number` and a column `value`"
        raise PlxError(Diagnostic(f"{file} is no file of learned numbers: {error}", hint=hint)) from None


def _from_csv(text: str) -> list[tuple[str, str]]:
    reader = csv.DictReader(io.StringIO(text))
    if not {"number", "value"} <= set(reader.fieldnames or ()):
        raise ValueError("its first line does not name the columns `number` and `value`")
    return [(row["number"], row["value"]) for row in reader]


def _from_json(text: str) -> list[tuple[str, str]]:
    return [(one["name"], repr(float(one["value"]))) for one in json.loads(text)["numbers"]]


def as_numbers(weights: Mapping[str, float | Number], names: Iterable[str]) -> dict[str, Number]:
    """Numbers by name, exactly. Raises PlxError for a name that is not learned, and for no number."""
    known = set(names)
    wrong = [name for name in weights if name not in known]
    if wrong:
        message = f"a value is given for `{wrong[0]}`, which the program does not learn"
        raise PlxError(Diagnostic(message, hint=did_you_mean(wrong[0], known)))
    return {name: _finite(name, value) for name, value in weights.items()}


def _finite(name: str, value: object) -> Number:
    """A number of Python or numpy, exactly."""
    if isinstance(value, int | Fraction):
        return value
    if isinstance(value, Real) and math.isfinite(value):
        return Fraction(float(value))
    hint = "learned numbers are finite: a rule that must hold is a `require`"
    raise PlxError(Diagnostic(f"the value that is given for `{name}` is no number: {value!r}", hint=hint))
