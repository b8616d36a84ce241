"""First states."""

from __future__ import annotations

import numpy as np

from plx.errors import Diagnostic, PlxError


def contradiction(model):
    return PlxError(Diagnostic("no"))


def initial_states(model, seed, chains):
    rng = np.random.default_rng(seed)
    return (
        rng.random((model.graph.n_variables, chains)) * model.graph.card[: model.graph.n_variables, None]
    ).astype(np.int32)
