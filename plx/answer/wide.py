"""The answers to many instances of one query as arrays; one is made an answer where it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from plx.answer.named import Estimate, Kind, Moments, NamedAnswer, Value
from plx.graph.queries import Names
from plx.graph.ragged import owners
from plx.sequences import parts
from plx.values import FloatArray, IntArray

Column = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class WideAnswers(Sequence[NamedAnswer]):
    """What a `QueryResult` says of instance i; NaN where that is None.

    Its estimates are ``start[i] … start[i + 1] - 1``, each of one of the ``values``. ``make`` makes an answer
    of the fields of a `NamedAnswer`.
    """

    make: Callable[..., NamedAnswer] = field(repr=False)
    kind: Kind
    line: int | None
    term: str
    names: Names = field(repr=False)
    texts: Names = field(repr=False)
    slots: tuple[str, ...]
    places: tuple[IntArray, ...] = field(repr=False)  # [n] which of `coordinates`, by slot
    coordinates: Sequence[Value] = field(repr=False)
    values: tuple[tuple[Value, str], ...] = field(repr=False)  # each with its text
    start: IntArray = field(repr=False)  # [n + 1]
    value: npt.NDArray[np.int32] = field(repr=False)  # [estimates]
    p: FloatArray = field(repr=False)  # [estimates]
    mcse: FloatArray = field(repr=False)  # [estimates]
    mean: FloatArray = field(repr=False)  # [n]
    sd: FloatArray = field(repr=False)  # [n]
    mean_mcse: FloatArray = field(repr=False)  # [n]
    sd_mcse: FloatArray = field(repr=False)  # [n]
    ess: FloatArray = field(repr=False)  # [n]
    rhat: FloatArray = field(repr=False)  # [n]
    bulk_ess: FloatArray = field(repr=False)  # [n]
    tail_ess: FloatArray = field(repr=False)  # [n]
    converged: npt.NDArray[np.bool_] = field(repr=False)  # [n]

    def __len__(self) -> int:
        return len(self.converged)

    @overload
    def __getitem__(self, position: SupportsIndex) -> NamedAnswer: ...

    @overload
    def __getitem__(self, position: slice) -> tuple[NamedAnswer, ...]: ...

    def __getitem__(self, position: SupportsIndex | slice) -> NamedAnswer | tuple[NamedAnswer, ...]:
        at = range(len(self))[position]
        return tuple(map(self._one, at)) if isinstance(at, range) else self._one(at)

    def __iter__(self) -> Iterator[NamedAnswer]:
        return map(self._one, range(len(self)))

    def _one(self, at: int) -> NamedAnswer:
        mine = slice(self.start[at], self.start[at + 1])
        return self.make(
            name=self.names[at],
            text=self.texts[at],
            kind=self.kind,
            line=self.line,
            estimates=tuple(self._estimates(mine)),
            moments=self._moments(at),
            ess=_known(self.ess[at]),
            rhat=_known(self.rhat[at]),
            converged=bool(self.converged[at]),
            term=self.term,
            slots={
                slot: self.coordinates[int(place[at])]
                for slot, place in zip(self.slots, self.places, strict=True)
            },
        )

    def _estimates(self, mine: slice) -> Iterator[Estimate]:
        columns = (self.value[mine].tolist(), self.p[mine].tolist(), self.mcse[mine].tolist())
        for number, p, error in zip(*columns, strict=True):
            value, text = self.values[number]
            yield Estimate(value, text, p, error)

    def _moments(self, at: int) -> Moments | None:
        if np.isnan(self.mean[at]):
            return None
        errors = float(self.mean_mcse[at]), float(self.sd_mcse[at])
        sizes = _known(self.bulk_ess[at]), _known(self.tail_ess[at])
        return Moments(float(self.mean[at]), _known(self.sd[at]), *errors, *sizes)

    def error(self) -> FloatArray:
        """The standard error of what each instance asks for, as `NamedAnswer.mcse`."""
        if self.kind == "number":
            return np.nan_to_num(self.mean_mcse)
        worst: FloatArray = np.maximum.reduceat(self.mcse, self.start[:-1])
        return worst

    def probability(self) -> FloatArray:
        """The probability of true of each instance of a formula."""
        true = [value is True for value, _ in self.values]
        found: FloatArray = self.p[np.array(true)[self.value]]
        return found

    def take(self, rows: slice) -> WideAnswers:
        """Neighbouring instances."""
        first, last, _ = rows.indices(len(self))
        here = slice(self.start[first], self.start[last])
        at = np.arange(first, last)
        per_row = ("mean", "sd", "mean_mcse", "sd_mcse", "ess", "rhat", "bulk_ess", "tail_ess", "converged")
        return replace(
            self,
            names=self.names.take(at),
            texts=self.texts.take(at),
            places=tuple(place[rows] for place in self.places),
            start=self.start[first : last + 1] - self.start[first],
            **{name: getattr(self, name)[here] for name in ("value", "p", "mcse")},
            **{name: getattr(self, name)[rows] for name in per_row},
        )

    def records(self) -> dict[str, Column]:
        """The columns of the records of all instances, one row per value, as `export.long_columns` says:
        numbers as doubles, NaN where there is none, else Python objects."""
        rows = _Rows.of(self.start, more=self.kind == "number")
        names = np.array(self.names.filled(), dtype=object)
        errors = rows.numbers(rows.estimate, self.mcse)
        errors[rows.instance] = _finite(self.mean_mcse)[: len(rows.instance)]
        every, nothing = np.arange(rows.n), np.full(rows.n, np.nan)
        return {
            "query": names[rows.owner],
            "line": np.full(rows.n, self.line, dtype=object),
            "kind": np.full(rows.n, self.kind, dtype=object),
            "unknown": np.full(rows.n, None, dtype=object),
            "value": rows.objects([value for value, _ in self.values], self.value),
            "number": rows.numbers(
                rows.estimate, np.array([as_number(value) for value, _ in self.values])[self.value]
            ),
            "text": rows.objects([text for _, text in self.values], self.value),
            "p": rows.numbers(rows.estimate, self.p),
            "mcse": errors,
            "mean": rows.numbers(rows.instance, self.mean),
            "sd": rows.numbers(rows.instance, self.sd),
            "sd_mcse": rows.numbers(rows.instance, self.sd_mcse),
            "log_weight": nothing,
            "log_z": nothing,
            "ess": rows.numbers(every, self.ess[rows.owner]),
            "rhat": rows.numbers(every, self.rhat[rows.owner]),
            "converged": self.converged[rows.owner],
        }


@dataclass(frozen=True)
class _Rows:
    """Where records stand: one for each estimate, and after those of a number one for the instance itself."""

    n: int
    estimate: IntArray  # [estimates]
    instance: IntArray  # [instances], or none
    owner: IntArray  # [n] the instance of each row

    @classmethod
    def of(cls, start: IntArray, more: bool) -> _Rows:
        """Rows of instances whose estimates begin at ``start``; ``more``: the instances have rows too."""
        of, count = owners(start), len(start) - 1
        estimate = np.arange(len(of)) + more * of
        instance = start[1:] + np.arange(count) if more else np.empty(0, dtype=np.int64)
        owner = np.empty(len(of) + len(instance), dtype=np.int64)
        owner[estimate], owner[instance] = of, np.arange(count)[: len(instance)]
        return cls(len(owner), estimate, instance, owner)

    def numbers(self, at: IntArray, values: FloatArray) -> FloatArray:
        """A column with numbers in some rows, NaN in others and for what is not finite."""
        out = np.full(self.n, np.nan)
        out[at] = _finite(values)[: len(at)]
        return out

    def objects(self, values: Sequence[Any], which: IntArray | npt.NDArray[np.int32]) -> Column:
        """A column with ``values[which]`` in the rows of estimates, None in others."""
        out, every = np.full(self.n, None, dtype=object), np.empty(len(values), dtype=object)
        every[:] = values
        out[self.estimate] = every[which]
        return out


def _finite(values: FloatArray) -> FloatArray:
    return np.where(np.isfinite(values), values, np.nan)


def as_number(value: Any) -> float:
    """A value as a double where it is a number that a double can hold, else NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return np.nan
    try:
        return float(value)
    except OverflowError:
        return np.nan


def _known(x: float) -> float | None:
    return None if np.isnan(x) else float(x)


def wide_parts(queries: Sequence[NamedAnswer]) -> Iterator[tuple[int, WideAnswers]]:
    """The answers that are arrays, each with the position of its first."""
    first = 0
    for part in parts(queries):
        if isinstance(part, WideAnswers):
            yield first, part
        first += len(part)


def loose(queries: Sequence[NamedAnswer]) -> Iterator[NamedAnswer]:
    """The answers that are in no arrays."""
    for part in parts(queries):
        if not isinstance(part, WideAnswers):
            yield from part
