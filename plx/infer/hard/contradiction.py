"""Whether some world keeps every hard rule, and which rules clash if none does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plx.errors import NoWorldError
from plx.graph.model import GroundModel
from plx.graph.subgraph import hard_factors, subgraph


def possible(model: GroundModel) -> bool:
    """Whether some world satisfies every hard rule."""
    if not len(hard := hard_factors(model.graph)):
        return True
    from plx.infer.hard.sat import Satisfier

    rules, variables = subgraph(model.graph, hard)
    return Satisfier(rules).near(np.zeros(len(variables), dtype=np.int32)) is not None


def require_world(model: GroundModel) -> None:
    """Raises NoWorldError, naming rules that clash, if no world satisfies every hard rule."""
    if not possible(model):
        raise contradiction(model)


def contradiction(model: GroundModel, facts: Sequence[tuple[int, int]] = ()) -> NoWorldError:
    """The error for a model without a possible world, or without one in which nodes are in these
    states; it names rules that clash."""
    from plx.infer.hard.sat import contradiction as explained

    return explained(model, facts)
