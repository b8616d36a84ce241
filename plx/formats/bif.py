"""BIF files: Bayesian networks with names, as the bnlearn repository publishes them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, NoReturn

import numpy as np

from plx import weights
from plx.errors import Diagnostic, Note, PlxError, did_you_mean
from plx.formats.bif_syntax import BifFile, BifProbability, Row, Token, parse_bif
from plx.formats.network import Network, Table
from plx.formats.numbers import LogNumbers, log_id
from plx.graph.model import AtomBlock
from plx.source import Source
from plx.values import IMPOSSIBLE, FloatArray, IntArray, Values

_AS_WRITTEN: Final = 1e-6
"""Rows whose sum is nearer to 1 are kept as they are: published digits are rounded."""

_ROUNDING: Final = 1e-3
"""Rows further off than this are normalised with a louder warning: likely a typing error."""


def read_bif(source: Source, values: Values) -> Network:
    """The network of a BIF file; variables and states keep their names.

    Rows that do not sum to 1 are normalised, with a warning. Raises PlxError for a file that is no
    Bayesian network.
    """
    return network_of(parse_bif(source), values)


def network_of(file: BifFile, values: Values) -> Network:
    """The network of variables and probabilities that a file declares. Raises as `read_bif`."""
    return _Reader(file, values).network()


@dataclass(frozen=True)
class _Family:
    """A child and its parents: numbers of variables, and of the states of each of them."""

    block: BifProbability
    child: int
    parents: tuple[int, ...]
    cards: tuple[int, ...]  # of the parents, then of the child

    @property
    def text(self) -> str:
        given = ", ".join(parent.text for parent in self.block.parents)
        return f"probability ({self.block.child.text}{' | ' + given if given else ''})"


class _Reader:
    def __init__(self, file: BifFile, values: Values) -> None:
        self.file = file
        self.values = values
        self.numbers = LogNumbers(values)
        self.warnings: list[Diagnostic] = []
        self.names = [block.name.text for block in file.variables]
        self.variable: dict[str, int] = {}
        self.states: list[dict[str, int]] = []

    def network(self) -> Network:
        for block in self.file.variables:
            self._unique(block.name, self.variable, "variable")
            states: dict[str, int] = {}
            for state in block.states:
                self._unique(state, states, f"state of `{block.name.text}`")
            self.states.append(states)
        families = self._families()
        tables = tuple(self._table(family) for family in families)
        names, listed = self._real()
        empty = np.zeros((1, 0), dtype=np.int64)
        return Network(
            values=self.values,
            blocks=tuple(AtomBlock(name, empty, i) for i, name in enumerate(names)),
            states=tuple(self.values.ids(each) for each in listed),
            tables=tables,
            warnings=tuple(self.warnings),
        )

    def _real(self) -> tuple[list[str], list[list[str]]]:
        """Names and states as they are called where the file keeps that, else as it writes them."""
        names: dict[str, int] = {}
        states = []
        for block in self.file.variables:
            mine = block.real or (block.name.text, *(state.text for state in block.states))
            self._unique(replace(block.name, text=mine[0]), names, "variable")
            if len(set(mine[1:])) < len(mine) - 1:
                self._fail(f"two states of `{mine[0]}` are called the same", block.name)
            states.append(list(mine[1:]))
        return list(names), states

    def _unique(self, name: Token, seen: dict[str, int], what: str) -> None:
        if name.text in seen:
            self._fail(f"the {what} `{name.text}` is declared twice", name)
        seen[name.text] = len(seen)

    def _families(self) -> list[_Family]:
        found: dict[int, _Family] = {}
        for block in self.file.probabilities:
            family = self._family(block)
            if family.child in found:
                first = Note("the first one", self.file.span(found[family.child].block.child))
                self._fail(f"a second `probability` of `{block.child.text}`", block.child, notes=(first,))
            found[family.child] = family
        for child, declared in enumerate(self.file.variables):
            if child not in found:
                name = declared.name
                self._fail(f"the variable `{name.text}` has no `probability ({name.text} …)`", name)
        self._check_acyclic(found)
        return list(found.values())

    def _family(self, block: BifProbability) -> _Family:
        scope = [self._find(name, self.variable, "variable") for name in (*block.parents, block.child)]
        for name, variable in zip((*block.parents, block.child), scope, strict=True):
            if scope.count(variable) > 1:
                self._fail(f"`{name.text}` stands twice in one `probability`", name)
        cards = tuple(len(self.states[variable]) for variable in scope)
        return _Family(block, scope[-1], tuple(scope[:-1]), cards)

    def _check_acyclic(self, families: Mapping[int, _Family]) -> None:
        left = dict(families)
        while True:
            ready = [child for child, family in left.items() if not any(p in left for p in family.parents)]
            if not ready:
                break
            for child in ready:
                del left[child]
        if left:
            cycle = _cycle(left)
            arrows = " → ".join(self.names[child] for child in cycle)
            self._fail(f"the parents go round in a circle: {arrows}", left[cycle[0]].block.child)

    def _table(self, family: _Family) -> Table:
        rows = np.full((math.prod(family.cards[:-1]), family.cards[-1]), -1, dtype=np.int64)
        heads: dict[int, Row] = {}
        for row in family.block.rows:
            if row.kind in ("table", "rows"):
                self._fill_table(family, row, rows, heads)
            elif row.kind == "row":
                self._fill_row(family, row, rows, heads)
        self._fill_default(family, rows, heads)
        self._normalise(family, rows, heads)
        scope = np.array([*family.parents, family.child], dtype=np.int64)
        return Table(scope, rows.ravel(), family.text, self.file.span(family.block.child), "random")

    def _fill_table(self, family: _Family, row: Row, rows: IntArray, heads: dict[int, Row]) -> None:
        """All entries at once: a `table` has the last parent fastest and the child slowest, `rows` the child
        fastest."""
        if heads:
            self._fail(f"{family.text} has rows beside its `table`", row.head)
        ids = self._ids(row, rows.size)
        rows[:] = ids.reshape(rows.shape) if row.kind == "rows" else ids.reshape(family.cards[-1], -1).T
        heads.update(dict.fromkeys(range(len(rows)), row))

    def _fill_row(self, family: _Family, row: Row, rows: IntArray, heads: dict[int, Row]) -> None:
        index = self._row_index(family, row)
        if index in heads:
            first = Note("the first one", self.file.span(heads[index].head))
            self._fail(f"a second row for ({_comma(row.given)})", row.head, notes=(first,))
        rows[index] = self._ids(row, family.cards[-1])
        heads[index] = row

    def _fill_default(self, family: _Family, rows: IntArray, heads: dict[int, Row]) -> None:
        defaults = [row for row in family.block.rows if row.kind == "default"]
        missing = [index for index in range(len(rows)) if index not in heads]
        if len(defaults) > 1:
            self._fail(f"a second `default` in {family.text}", defaults[1].head)
        if missing and not defaults:
            states = np.unravel_index(missing[0], family.cards[:-1])
            names = [list(self.states[p])[int(s)] for p, s in zip(family.parents, states, strict=True)]
            where = f" for ({', '.join(names)})" if names else ""
            more = f", nor for {len(missing) - 1} more" if len(missing) > 1 else ""
            self._fail(f"{family.text} has no row{where}{more}, and no `default`", family.block.child)
        if missing:
            rows[missing] = self._ids(defaults[0], family.cards[-1])
            heads.update(dict.fromkeys(missing, defaults[0]))

    def _row_index(self, family: _Family, row: Row) -> int:
        if len(row.given) != len(family.parents):
            message = (
                f"{len(row.given)} states for {len(family.parents)} parents of `{family.block.child.text}`"
            )
            self._fail(message, row.head)
        index = 0
        for state, parent in zip(row.given, family.parents, strict=True):
            known = self.states[parent]
            index = index * len(known) + self._find(state, known, f"state of `{self.names[parent]}`")
        return index

    def _ids(self, row: Row, count: int) -> IntArray:
        if len(row.entries) != count:
            self._fail(f"{count} numbers are needed here, and {len(row.entries)} are given", row.head)
        return self.numbers.ids(
            [word.text for word in row.entries], lambda message, i: self._fail(message, row.entries[i])
        )

    def _normalise(self, family: _Family, rows: IntArray, heads: Mapping[int, Row]) -> None:
        with np.errstate(over="ignore"):  # past the range of doubles a row is off in any case
            sums = np.exp(self.values.floats(rows)).sum(axis=1)
        off = np.flatnonzero(np.abs(sums - 1) > _AS_WRITTEN)
        for index in off:
            if not sums[index]:
                self._fail(f"all entries of a row of {family.text} are 0", heads[int(index)].head)
            rows[index] = self._scaled(rows[index])
        if len(off):
            self.warnings.append(self._row_warning(family, sums[off], heads[int(off[0])].head))

    def _scaled(self, row: IntArray) -> IntArray:
        entries = [self._entry(int(i)) for i in row]
        shares = [entry / sum(entries) for entry in entries]
        return np.array([log_id(self.values, share) for share in shares], dtype=np.int64)

    def _entry(self, weight: int) -> Fraction:
        """The exact number whose log has this id."""
        if weight == IMPOSSIBLE:
            return Fraction(0)
        return Fraction(weights.exp(self.values[weight]))  # type: ignore[arg-type]

    def _row_warning(self, family: _Family, sums: FloatArray, head: Token) -> Diagnostic:
        worst = float(sums[np.argmax(np.abs(sums - 1))])
        count = "a row" if len(sums) == 1 else f"{len(sums)} rows"
        message = (
            f"{count} of {family.text} did not sum to 1 and {'was' if len(sums) == 1 else 'were'} normalised"
        )
        message += f" (the worst sum is {worst:.6g})"
        hint = (
            "that is more than rounding explains: look for a typing error"
            if abs(worst - 1) > _ROUNDING
            else None
        )
        return Diagnostic(message, self.file.span(head), hint, severity="warning")

    def _find(self, name: Token, known: Mapping[str, int], what: str) -> int:
        if name.text not in known:
            near = did_you_mean(name.text, known)
            listed = near or (f"there are {', '.join(known)}" if len(known) <= 12 else None)
            self._fail(f"there is no {what} called `{name.text}`", name, hint=listed)
        return known[name.text]

    def _fail(
        self, message: str, at: Token, hint: str | None = None, notes: tuple[Note, ...] = ()
    ) -> NoReturn:
        raise PlxError(Diagnostic(message, self.file.span(at), hint, notes))


def _comma(names: Sequence[Token]) -> str:
    return ", ".join(name.text for name in names)


def _cycle(families: Mapping[int, _Family]) -> list[int]:
    """A circle of parents among families that each have a parent among them."""
    path = [next(iter(families))]
    while path.count(path[-1]) == 1:
        path.append(next(parent for parent in families[path[-1]].parents if parent in families))
    return path[path.index(path[-1]) :][::-1]
