"""Which nodes are decided first: those that an elimination order leaves to the end."""

from __future__ import annotations

import numpy as np

from plx.infer.circuit.limits import ORDER_BITS, ORDERS
from plx.infer.exact.elimination_order import tried_orders
from plx.infer.exact.network import Network
from plx.values import FloatArray


def priorities(network: Network) -> FloatArray:
    """From 0 to 1, larger for what is decided first, shape (N,).

    Decided from the root of an elimination tree on, a network falls apart where its separators are decided
    (Darwiche, Recursive conditioning, AIJ 2001). Raises OutOfTimeError.
    """
    if network.n_nodes == 0:
        return np.empty(0)
    found = tried_orders(network, ORDERS, ORDER_BITS)
    best = min(found, key=lambda tree: (not tree.complete, tree.operations))
    return best.place.astype(np.float64) / network.n_nodes
