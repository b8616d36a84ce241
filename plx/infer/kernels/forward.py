"""Worlds drawn one variable after the other, each given those before it."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt

from plx.jit import inner, kernel

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]


@kernel
def draw_worlds(
    order: Int64, card: Int32, node_start: Int64, node: Int64, factor_start: Int64, factor: Int64,
    scope_start: Int64, scope: Int32, stride: Int64, table_begin: Int64, table: Float64,
    input_start: Int64, input_node: Int32, input_begin: Int64, contribution: Int32,
    output_begin: Int64, output: Int32, first_derived: int, uniform: Annotated[Float64, 2],
    weight: Float64, states: Annotated[Int32, 2],
) -> None:  # fmt: skip
    """Fill ``states`` [V + D, chains].

    Variable ``order[i]`` is drawn in proportion to the factors ``factor_start[i]`` …, all other nodes of
    which are known by then; the derived nodes ``node_start[i]`` … are known with it. Where all its states are
    impossible it takes any. ``uniform`` [V, chains] are random numbers, ``weight`` [largest card] is room.
    """
    for c in range(states.shape[1]):
        for i in range(len(order)):
            v = order[i]
            top = -np.inf
            for k in range(card[v]):
                states[v, c] = k
                _derive(
                    node_start[i], node_start[i + 1], node, input_start, input_node, input_begin,
                    contribution, output_begin, output, first_derived, c, states,
                )  # fmt: skip
                total = 0.0
                for f in range(factor_start[i], factor_start[i + 1]):
                    entry = table_begin[factor[f]]
                    for s in range(scope_start[factor[f]], scope_start[factor[f] + 1]):
                        entry += stride[s] * states[scope[s], c]
                    total += table[entry]
                weight[k] = total
                top = max(top, total)
            states[v, c] = _drawn(weight, card[v], top, uniform[i, c])
            _derive(
                node_start[i], node_start[i + 1], node, input_start, input_node, input_begin,
                contribution, output_begin, output, first_derived, c, states,
            )  # fmt: skip


@inner
def _drawn(weight: Float64, card: np.int32, top: float, uniform: float) -> int:
    """A state in proportion to the exponentials of log weights of which ``top`` is the largest."""
    if top == -np.inf:
        return int(uniform * card)
    total = 0.0
    for k in range(card):
        weight[k] = np.exp(weight[k] - top)
        total += weight[k]
    left = uniform * total
    last = 0
    for k in range(card):
        if weight[k] > 0.0:
            last = k
            left -= weight[k]
            if left < 0.0:
                break
    return last


@inner
def _derive(
    first: int, end: int, node: Int64, input_start: Int64, input_node: Int32, input_begin: Int64,
    contribution: Int32, output_begin: Int64, output: Int32, first_derived: int, c: int,
    states: Annotated[Int32, 2],
) -> None:  # fmt: skip
    """The states of some derived nodes, inputs before what they feed."""
    for i in range(first, end):
        d = node[i] - first_derived
        total = np.int64(0)
        for e in range(input_start[d], input_start[d + 1]):
            total += contribution[input_begin[e] + states[input_node[e], c]]
        states[node[i], c] = output[output_begin[d] + total]
