"""What bounds an update: its parts, each measured alone, beside the whole.

The parts of a table-driven update are a random number, adding up neighbours' states, or the conditions
that hold of them, to an index, and comparing with a threshold found there per state but the last. Without a
table, every factor is looked up for every state and added to its score. Counters are brought up to date
before and after. Each part has a kernel here that does only that, over arrays as large as the model's, as
often as the model needs it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from plx.graph.model import GroundModel
from plx.infer.gibbs.compiled import compile_model
from plx.infer.kernels.choice import _look_up as looked_up
from plx.infer.kernels.gibbs import Compiled
from plx.infer.problem import Problem
from tests.benchmarks.ceiling import fill, scratch
from tests.benchmarks.kernel_models import kernel_models
from tests.benchmarks.kernels import LANES, updates
from tests.benchmarks.table import Settings, Spread, Table, rate

find = numba.njit(forceinline=True)(looked_up)


@numba.njit(cache=True)
def _random(rng, draw, n):  # type: ignore[no-untyped-def]
    for _ in range(n):
        fill(rng, draw)


@numba.njit(cache=True)
def _read(state, rows, index, n):  # type: ignore[no-untyped-def]
    """Add rows of states to an index, in the order given."""
    for _ in range(n):
        for i in range(rows.shape[0]):
            row = rows[i]
            for c in range(index.shape[0]):
                index[c] += np.int32(state[row, c])


@numba.njit(cache=True)
def _look_up(state, row_of, start, size, threshold, index, draw, cut, n):  # type: ignore[no-untyped-def]
    """Compare with thresholds at an index, as plx finds them, and write the states of the variables."""
    for _ in range(n):
        for i in range(start.shape[0]):
            row = np.uint64(row_of[i])
            find(start[i], size[i], threshold, index, cut)
            for c in range(index.shape[0]):
                state[row, c] = draw[c] >= cut[c]


@numba.njit(cache=True)
def _sum(state, operand_start, operand_row, entry, states, potential, index, score, n):  # type: ignore[no-untyped-def]
    """For every factor of what has no table: an index of its other unknowns, one look-up per state."""
    for _ in range(n):
        for f in range(entry.shape[0]):
            for c in range(index.shape[0]):
                index[c] = 0
            for o in range(operand_start[f], operand_start[f + 1]):
                row = operand_row[o]
                for c in range(index.shape[0]):
                    index[c] += np.int32(state[row, c])
            base = np.uint64(entry[f])
            for _ in range(states[f]):
                for c in range(index.shape[0]):
                    score[c] += potential[base + np.uint64(index[c])]


@numba.njit(cache=True)
def _shift(state, owner, affected, contribution, output, total, level, n):  # type: ignore[no-untyped-def]
    """Take away and add what every unknown gives to its counters, and look up their states."""
    for _ in range(n):
        for a in range(affected.shape[0]):
            row, counter = owner[a], affected[a]
            for c in range(state.shape[1]):
                total[counter, c] -= contribution[np.uint64(state[row, c])]
            for c in range(state.shape[1]):
                total[counter, c] += contribution[np.uint64(state[row, c])]
            for c in range(state.shape[1]):
                level[counter, c] = output[np.uint64(total[counter, c])]


@numba.njit(cache=True)
def _copy(source, target, n):  # type: ignore[no-untyped-def]
    for _ in range(n):
        for i in range(source.shape[0]):
            target[i] = source[i] + 1.0


@dataclass(frozen=True)
class Shape:
    """Per update, on average: rows read, thresholds compared with. The bytes of states and tables."""

    readers: float
    planes: float
    states: int
    tables: int
    tabulated: float

    @staticmethod
    def of(arrays: Compiled) -> Shape:
        return Shape(
            readers=(len(arrays.reader_row) + len(arrays.product_row)) / arrays.n_variables,
            planes=float(np.mean(arrays.card - 1)),
            states=arrays.n_variables * LANES,
            tables=arrays.threshold.nbytes,
            tabulated=float(np.mean(arrays.conditional >= 0)),
        )


def measure(settings: Settings) -> list[Table]:
    """The machine's limits, then every model's updates taken apart."""
    return [_machine(settings), _parts(settings)]


def _machine(settings: Settings) -> Table:
    rng, draw, _ = scratch(LANES)
    numbers = rate(lambda n: _random(rng, draw, 1000 * n), 1000 * LANES, settings)
    rows: list[tuple[object, ...]] = [("random numbers alone (xoshiro128++, 64 lanes)", numbers, "per s")]
    for size in (2**10,) if settings.quick else (2**10, 2**14, 2**17, 2**20):
        read = _reading(size, np.random.default_rng(0).permutation(size), settings)
        label = f"reading rows of {LANES} states in random order, {size * LANES / 2**20:.3g} MiB of them"
        rows.append((label, read, "states per s"))
    entries = 2**10 if settings.quick else 2**25
    source, target = np.zeros(entries), np.zeros(entries)
    stream = rate(lambda n: _copy(source, target, n), 16.0 * entries, settings)
    rows.append((f"copying {8 * entries / 2**20:.3g} MiB", stream, "bytes per s, read and written"))
    return Table("The machine's limits, one thread", ("what", "rate", "unit"), rows)


def _parts(settings: Settings) -> Table:
    rows = [_taken_apart(one.name, one.make(), settings) for one in kernel_models(settings.quick)]
    columns = (
        "model",
        "rows read",
        "thresholds",
        "states, MiB",
        "tables, MiB",
        "whole update, ns",
        "random number",
        "reading",
        "looking up",
        "summing",
        "counters",
        "rest",
        "bound by",
    )
    note = (
        "Nanoseconds per update of one unknown in one lane; the rest is the whole less its parts: loops, "
        "calls, and exponentials where there is no table. It is 0 where the parts, each measured alone, add "
        "up to more than the whole, in which the processor overlaps them. Models with unknowns that have no "
        "table are marked *."
    )
    return Table("An update taken apart", columns, rows, (note,))


def _taken_apart(name: str, model: GroundModel, settings: Settings) -> tuple[object, ...]:
    arrays = compile_model(Problem(model)).arrays
    shape = Shape.of(arrays)
    rng, draw, _ = scratch(LANES)
    whole = _ns(updates(model, settings))
    drawing = _ns(rate(lambda n: _random(rng, draw, 1000 * n), 1000 * LANES, settings))
    rows = np.concatenate([arrays.reader_row, arrays.product_row])
    own = rows[rows < arrays.n_variables]
    reading = shape.readers * _ns(_reading(arrays.n_variables, own, settings)) if len(own) else 0.0
    looking = shape.planes * _ns(_looking(arrays, settings))
    summing, counting = _summing(arrays, settings), _counting(arrays, settings)
    rest = max(0.0, whole - drawing - reading - looking - summing - counting)
    parts = {
        "random numbers": drawing,
        "reading": reading,
        "look-ups": looking,
        "sums over factors": summing,
        "counters": counting,
        "loops and calls": rest,
    }
    mark = "" if shape.tabulated == 1 else "*"
    sizes = (shape.states / 2**20, shape.tables / 2**20)
    bound = max(parts, key=parts.__getitem__)
    return (name + mark, shape.readers, shape.planes, *sizes, whole, *parts.values(), bound)


def _reading(n: int, rows: np.ndarray, settings: Settings) -> Spread:
    """States per second: rows of n unknowns are read in the order given."""
    state = np.zeros((n, LANES), dtype=np.uint8)
    _, _, index = scratch(LANES)
    order = np.ascontiguousarray(rows[: 1 << 18], dtype=np.int32)
    return rate(lambda k: _read(state, order, index, k), len(order) * LANES, settings)


def _looking(arrays: Compiled, settings: Settings) -> Spread:
    """Thresholds per second, at random entries of the tables of the model's own unknowns in order."""
    at = np.flatnonzero(arrays.conditional >= 0)[: 1 << 16]
    if not len(at):
        return Spread((float("inf"),))
    least = int(arrays.configurations[at].min())
    index = np.random.default_rng(2).integers(0, least, LANES).astype(np.int32)
    state = np.zeros((arrays.n_variables, LANES), dtype=np.uint8)
    _, draw, _ = scratch(LANES)
    rows, start, size = at.astype(np.int32), arrays.conditional[at], arrays.configurations[at]
    work = (state, rows, start, size, arrays.threshold, index, draw, np.zeros(LANES, np.int32))
    return rate(lambda n: _look_up(*work, n), len(at) * LANES, settings)


def _summing(arrays: Compiled, settings: Settings) -> float:
    """Nanoseconds per update for sums over factors."""
    if not len(arrays.factor_entry):
        return 0.0
    state = np.zeros((arrays.n_variables, LANES), dtype=np.uint8)
    states = np.repeat(arrays.card, np.diff(arrays.factor_start))
    rows = arrays.operand_row % arrays.n_variables  # counters' states lie elsewhere, as near
    _, _, index = scratch(LANES)
    work = (state, arrays.operand_start, rows, arrays.factor_entry, states, arrays.potential)
    return _ns(rate(lambda n: _sum(*work, index, np.zeros(LANES), n), arrays.n_variables * LANES, settings))


def _counting(arrays: Compiled, settings: Settings) -> float:
    """Nanoseconds per update for counters."""
    if not len(arrays.affected):
        return 0.0
    state = np.zeros((arrays.n_variables, LANES), dtype=np.uint8)
    total, level = np.zeros((2, arrays.n_derived, LANES), dtype=np.int32)
    owner = np.repeat(np.arange(arrays.n_variables), np.diff(arrays.affected_start))
    few = np.zeros(arrays.max_card, dtype=np.int32)
    work = (state, owner, arrays.affected, few, arrays.output, total, level)
    return _ns(rate(lambda n: _shift(*work, n), arrays.n_variables * LANES, settings))


def _ns(speed: Spread) -> float:
    return 1e9 / speed.median
