"""Factors over one or two mobile unknowns, sorted into kinds: the same table, axes and labels of values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph
from plx.graph.ragged import owners, segments, starts
from plx.graph.rows import BoolArray
from plx.graph.worlds import scope_strides
from plx.infer.gibbs.markov_blanket import DerivedRows
from plx.infer.kernels.clusters import Couplings
from plx.infer.moves.mobile import entries
from plx.infer.problem import Parts
from plx.values import IntArray


@dataclass(frozen=True)
class Ends:
    """The mobile variables [M], and factors over one or two of them: positions of the ends among the mobile.

    A factor over one has it as both ends; the second stride is 0 then.
    """

    mobile: IntArray
    factor: IntArray  # [F]
    first: IntArray
    second: IntArray
    first_stride: IntArray
    second_stride: IntArray

    @property
    def pairs(self) -> BoolArray:
        """Which factors are over two of them, shape (F,)."""
        pairs: BoolArray = self.first != self.second
        return pairs


def ends(parts: Parts, chosen: BoolArray) -> Ends:
    """The factors that are about the chosen variables, at most two of them each."""
    graph = parts.graph
    found = entries(parts, chosen)
    mobile = np.flatnonzero(chosen)
    position = np.cumsum(chosen) - 1
    factor, head, count = np.unique(found.factor, return_index=True, return_counts=True)
    tail = head + count - 1
    stride = scope_strides(graph)[found.place]
    at = position[found.variable]
    second_stride = np.where(count == 2, stride[tail], 0).astype(np.int64)
    low, high = np.minimum(at[head], at[tail]), np.maximum(at[head], at[tail])
    order = np.lexsort((low, high))  # each unknown meets those before it: clusters are labelled in one pass
    return Ends(mobile, *(x[order] for x in (factor, at[head], at[tail], stride[head], second_stride)))


@dataclass(frozen=True)
class Kinds:
    """The entries of the tables of all kinds one after the other; ``entry`` is where each is in graph.table.

    For both ends of each entry: its state, stride and label class, -1 for a second end that is none.
    """

    entry: IntArray  # [S]
    kind: IntArray  # [S]
    state: IntArray  # [2, S]
    stride: IntArray  # [2, S]
    label: IntArray  # [2, S]


def couplings(graph: FactorGraph, rows: DerivedRows, found: Ends, label: IntArray) -> tuple[Couplings, Kinds]:
    """What the kernel reads, and the kinds; ``label`` [M] are classes of mobile variables with as many states
    and the same names for them."""
    pair = found.pairs
    second_label = np.where(pair, label[found.second], -1)
    key = np.stack(
        [
            graph.table_of[found.factor].astype(np.int64), found.first_stride, found.second_stride,
            label[found.first], second_label,
        ]
    )  # fmt: skip
    distinct, kind = np.unique(key, axis=1, return_inverse=True)
    kind = kind.ravel()
    lead = np.unique(kind, return_index=True)[1]
    table = distinct[0]
    size = np.diff(graph.table_start)[table]
    local = segments(np.zeros_like(size), size)
    of = owners(starts(size))
    stride = np.stack([distinct[1][of], distinct[2][of]])
    card = np.stack(
        [graph.card[found.mobile[end[lead]]] for end in (found.first, found.second)]
    ).astype(np.int64)  # fmt: skip
    state = np.where(stride > 0, local // np.maximum(stride, 1) % card[:, of], 0)
    labels = np.stack([distinct[3][of], distinct[4][of]])
    kinds = Kinds(graph.table_start[table][of] + local, of, state, stride, labels)
    arity = np.diff(graph.scope_start)[found.factor]
    places = segments(graph.scope_start[found.factor], arity)
    made = Couplings(
        mobile=_i32(found.mobile),
        kind=_i32(kind),
        kind_start=starts(size).astype(np.int64),
        first=_i32(found.first),
        second=_i32(found.second),
        operand_start=starts(arity).astype(np.int64),
        operand_row=_i32(rows.of_nodes(graph, graph.scope[places])),
        operand_stride=_i32(scope_strides(graph)[places]),
    )
    return made, kinds


def _i32(values: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    return np.require(values, np.int32, ("C", "W"))
