"""Which ground models are the same, so that what is worked out for one serves all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plx.graph.model import GroundModel
from plx.graph.rows import unique_keys

_STRUCTURE = frozenset(
    {"card", "input_start", "input_node", "input_contribution", "contribution_start", "contribution"}
    | {"output_of", "output_start", "output", "scope_start", "scope", "table_of", "table_start"}
)


def shared(models: Sequence[GroundModel]) -> list[list[int]]:
    """The positions of the models that are the same, group by group."""
    found: dict[bytes, list[int]] = {}
    for i, model in enumerate(models):
        found.setdefault(_spelt(model), []).append(i)
    return list(found.values())


def _spelt(model: GroundModel) -> bytes:
    """All that log Z depends on, so that equal models are equal bytes."""
    ids = np.append(model.graph.weight, model.constant_weight)
    first, inverse = unique_keys(ids)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    values = "|".join(repr(model.values[i]) for i in ids[first[order]].tolist())
    arrays = [array for name, array in model.graph._asdict().items() if name in _STRUCTURE]
    return b"|".join([*(array.tobytes() for array in (*arrays, rank[inverse])), values.encode()])
