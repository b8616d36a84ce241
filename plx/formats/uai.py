"""The UAI format: MARKOV and BAYES networks.

The form is that of the UAI 2006-2022 inference competitions: a preamble (kind, cards, scopes), then
one table per scope, the last variable of the scope fastest. Lines that start with ``c`` are comments, and
what follows a ``#``, as aGrUM has it.
Variables are ``x(0)``, ``x(1)``, … with states 0, 1, …, unless the comments that `write_uai` leaves
give them names.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

import numpy as np

from plx.errors import Diagnostic, PlxError
from plx.formats.network import Network, Table, numbered
from plx.formats.numbers import LogNumbers
from plx.formats.words import Words
from plx.graph.model import AtomBlock
from plx.numerals import counted
from plx.source import Source
from plx.values import FloatArray, IntArray, Values

COMMENT: Final = re.compile(r"^[ \t]*c(?:[ \t].*)?\r?$|#.*", re.MULTILINE)
NAME: Final = re.compile(r"^[ \t]*c plx (\[.*\])\s*$", re.MULTILINE)
"""The comment that keeps a name: ``c plx ["smokes(anna)", "false", "true"]``, one per variable."""

_ROW_ERROR: Final = 1e-6


def read_uai(source: Source, values: Values) -> Network:
    """The network of a UAI file. Raises PlxError for a file that is not one."""
    words = Words(source, COMMENT)
    bayes = _kind(words) == "BAYES"
    cards = words.sizes(words.integer("the number of variables"), "a number of states")
    scopes = _read_scopes(words, len(cards))
    blocks, states = _names(source, values, cards)
    tables = _read_tables(words, cards, scopes, values)
    warnings = _trailing(words)
    if bayes:
        warnings += _check_rows(values, cards, tables)
    return Network(values, blocks, states, tables, warnings=warnings)


def _kind(words: Words) -> str:
    if not words.left:
        raise PlxError(Diagnostic(f"{words.source.name} is empty; a UAI file starts with MARKOV or BAYES"))
    kind = words.take(1, "the kind of network")[0].upper()
    if kind not in ("MARKOV", "BAYES"):
        words.fail(f"a UAI file starts with MARKOV or BAYES, and this one with `{words.span(0).text}`")
    return kind


def _read_scopes(words: Words, n: int) -> list[IntArray]:
    scopes = []
    for _ in range(words.integer("the number of tables")):
        size = words.integer("the number of variables in a scope")
        scope = words.integers(size, "a variable of a scope")
        _check_scope(words, scope, n)
        scopes.append(scope)
    return scopes


def _check_scope(words: Words, scope: IntArray, n: int) -> None:
    first = words.at - len(scope)
    for i in np.flatnonzero(scope >= n):
        words.fail(f"there is no variable {scope[i]}: the file has {n:,}, numbered from 0", first + int(i))
    if len(set(scope.tolist())) < len(scope):
        words.fail("a variable stands twice in one scope")


def _read_tables(words: Words, cards: IntArray, scopes: list[IntArray], values: Values) -> tuple[Table, ...]:
    numbers = LogNumbers(values)
    tables = []
    for f, scope in enumerate(scopes):
        size = math.prod(cards[scope].tolist())
        count = words.integer(f"the size of table {f}")
        if count != size:
            shape = " × ".join(str(card) for card in cards[scope]) + " = " if len(scope) > 1 else ""
            words.fail(f"table {f} should have {shape}{counted(size, 'entry')}, and the file says {count:,}")
        start = words.at
        weight = words.log_weights(size, f"the entries of table {f}", numbers)
        tables.append(Table(scope, weight, f"table {f}", words.span(start, words.at)))
    return tuple(tables)


def _trailing(words: Words) -> tuple[Diagnostic, ...]:
    if not words.left:
        return ()
    message = f"{words.left} words after the last table are ignored"
    return (Diagnostic(message, words.span(words.at), severity="warning"),)


def _check_rows(values: Values, cards: IntArray, tables: tuple[Table, ...]) -> tuple[Diagnostic, ...]:
    """A warning if the tables of a BAYES file are no conditional distributions of their last variable."""
    off = [table for table in tables if len(table.scope) and _row_error(values, cards, table) > _ROW_ERROR]
    if not off:
        return ()
    message = (
        f"the file says BAYES, but {len(off)} of {len(tables)} tables do not sum to 1 over their last "
        f"variable ({off[0].text} is the first); they are taken as weights, as they are"
    )
    return (Diagnostic(message, off[0].span, severity="warning"),)


def _row_error(values: Values, cards: IntArray, table: Table) -> float:
    with np.errstate(over="ignore"):  # past the range of doubles a row is off in any case
        rows: FloatArray = np.exp(values.floats(table.weight)).reshape(-1, int(cards[table.scope[-1]]))
    return float(np.abs(rows.sum(axis=1) - 1).max())


def _names(
    source: Source, values: Values, cards: IntArray
) -> tuple[tuple[AtomBlock, ...], tuple[IntArray, ...]]:
    """Blocks and states: from the comments of `write_uai` if every variable has one, else numbers."""
    named = [_entry(match[1]) for match in NAME.finditer(source.text)]
    fitting = [entry for entry, card in zip(named, cards, strict=False) if len(entry) == card + 1]
    if len(named) == len(fitting) == len(cards) == len({str(entry[0]) for entry in fitting}):
        empty = np.zeros((1, 0), dtype=np.int64)
        blocks = tuple(AtomBlock(str(entry[0]), empty, i) for i, entry in enumerate(named))
        return blocks, tuple(values.ids(_state(text) for text in entry[1:]) for entry in named)
    ranges = {int(card): values.ids(range(int(card))) for card in set(cards.tolist())}
    return numbered(values, range(len(cards))), tuple(ranges[int(card)] for card in cards)


def _entry(text: str) -> list[Any]:
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return entry if isinstance(entry, list) else []


def _state(text: object) -> str | bool | int:
    return text if isinstance(text, bool | int) else str(text)
