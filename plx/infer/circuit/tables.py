"""The verb from a network to what the compiler of circuits takes: factors over nodes, as residuals."""

from __future__ import annotations

import math

import numpy as np

from plx.graph.ragged import owners, starts
from plx.infer.circuit.equivalent import truth
from plx.infer.exact.network import Network
from plx.infer.kernels.propagation import Factors
from plx.infer.kernels.residuals import CONSTANT, IMPOSSIBLE, Residuals, empty_residuals, intern
from plx.values import FloatArray


def factors_of(network: Network, priority: FloatArray) -> tuple[Factors, Residuals, float]:
    """The factors, the pool with their tables, and the log of what was pulled out of these.

    Functions are factors too, of zeros and ones. -inf where a table is impossible throughout.
    """
    scopes = [network.scope[a:b] for a, b in zip(network.scope_start, network.scope_start[1:], strict=False)]
    families = [
        network.family[a:b] for a, b in zip(network.family_start, network.family_start[1:], strict=False)
    ]
    pool, log = empty_residuals(), 0.0
    seen: dict[tuple[int, bool, tuple[int, ...]], tuple[int, float]] = {}
    root = []
    for nodes, at, is_map in [
        *zip(scopes, network.table_at.tolist(), [False] * len(scopes), strict=True),
        *zip(families, network.map_at.tolist(), [True] * len(families), strict=True),
    ]:
        cards = tuple(network.card[nodes].tolist())
        key = at, is_map, cards
        if key not in seen:
            table = truth(network, at, cards) if is_map else network.table[at : at + math.prod(cards)]
            with np.errstate(over="ignore"):  # hashes wrap around, uncompiled too
                pool, residual, scale = intern.compiled(
                    pool, np.ascontiguousarray(table), np.array(cards, dtype=np.int64)
                )
            seen[key] = residual, scale
        residual, scale = seen[key]
        log += -math.inf if residual == IMPOSSIBLE else scale
        root.append(CONSTANT if residual == IMPOSSIBLE else residual)
    rows = [*scopes, *families]
    scope = np.concatenate([*rows, np.empty(0, dtype=np.int64)])
    scope_start = starts([len(row) for row in rows])
    by_node = np.argsort(scope, kind="stable")
    owner = owners(scope_start)
    return (
        Factors(
            card=network.card,
            state_at=starts(network.card),
            scope_start=scope_start,
            scope=scope,
            root=np.array(root, dtype=np.int64),
            use_start=starts(np.bincount(scope, minlength=network.n_nodes)),
            use_factor=owner[by_node],
            use_position=(np.arange(len(scope)) - scope_start[owner])[by_node],
            priority=priority,
        ),
        pool,
        log,
    )
