"""Factor graphs of libDAI (.fg): positive variable ids, the first variable fastest, zeros left out."""

from __future__ import annotations

import math
import re
from typing import Final

import numpy as np

from plx.formats.network import Network, Table, numbered
from plx.formats.numbers import LogNumbers
from plx.formats.words import Words
from plx.source import Source
from plx.values import IMPOSSIBLE, IntArray, Values

COMMENT: Final = re.compile(r"#.*")


_LARGEST_TABLE = 1 << 27
"""The most entries of a factor; a file lists only those that are not 0."""


def read_fg(source: Source, values: Values) -> Network:
    """The network of a libDAI file: variables ``x(id)``, states 0, 1, …

    Raises PlxError for a file that is none.
    """
    words = Words(source, COMMENT)
    if words.left and words.take(1, "")[0] in ("domain", "predicate"):
        words.fail("this .fg is a model of Forclift, with logical variables; plx reads those of libDAI")
    words.at = 0
    numbers = LogNumbers(values)
    card: dict[int, int] = {}
    tables = [_read_table(words, f, card, numbers) for f in range(words.integer("the number of factors"))]
    if words.left:
        words.fail(f"{words.left} words too many after the last factor", words.at)
    ids = sorted(card)
    place = {identity: variable for variable, identity in enumerate(ids)}
    states = {size: values.ids(range(size)) for size in set(card.values())}
    return Network(
        values,
        numbered(values, ids),
        tuple(states[card[identity]] for identity in ids),
        tuple(_renumber(table, place) for table in tables),
        numbers=tuple(ids),
    )


def _read_table(words: Words, f: int, card: dict[int, int], numbers: LogNumbers) -> Table:
    count = words.integer(f"the number of variables of factor {f}")
    scope = words.integers(count, f"a variable of factor {f}")
    cards = words.sizes(count, f"the number of states of a variable of factor {f}")
    for i, (identity, size) in enumerate(zip(scope.tolist(), cards.tolist(), strict=True)):
        if card.setdefault(identity, size) != size:
            message = f"variable {identity} has {size:,} states here and {card[identity]:,} before"
            words.fail(message, words.at - count + i)
    if len(set(scope.tolist())) < count:
        words.fail(f"a variable stands twice in factor {f}", words.at - 2 * count)
    size = math.prod(cards.tolist())
    if size > _LARGEST_TABLE:
        words.fail(
            f"factor {f} has {size:,} entries; the limit is {_LARGEST_TABLE:,}", words.at - 2 * count - 1
        )
    start = words.at
    weight = _read_entries(words, f, size, numbers)
    # The file has the first variable fastest: that is C order over the reversed scope.
    return Table(scope[::-1].copy(), weight, f"factor {f}", words.span(start, words.at))


def _read_entries(words: Words, f: int, size: int, numbers: LogNumbers) -> IntArray:
    """All weights of a factor, from pairs of a place and a number."""
    count = words.integer(f"the number of entries of factor {f} that are not 0")
    if count > size:
        words.fail(f"factor {f} has {size:,} entries, and {count:,} are announced")
    start = words.at
    pairs = words.take(2 * count, f"the entries of factor {f}")
    place = words.whole(pairs[::2], start, 2, f"the place of an entry of factor {f}")
    for i in np.flatnonzero(place >= size):
        words.fail(f"factor {f} has entries 0 to {size - 1}, and this one is {place[i]}", start + 2 * int(i))
    weight = np.full(size, IMPOSSIBLE, dtype=np.int64)
    if len(np.unique(place)) < count:
        words.fail(f"an entry of factor {f} is given twice", start)
    weight[place] = numbers.ids(pairs[1::2], lambda message, i: words.fail(message, start + 2 * i + 1))
    return weight


def _renumber(table: Table, place: dict[int, int]) -> Table:
    scope = np.array([place[identity] for identity in table.scope.tolist()], dtype=np.int64)
    return Table(scope, table.weight, table.text, table.span)
