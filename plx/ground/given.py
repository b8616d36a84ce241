"""The queries of a model by their ``given``: those that share one are answered together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from plx.graph.model import GroundEvidence, GroundModel, GroundQuery
from plx.graph.queries import blocks, singles
from plx.sequences import in_order

Positions = tuple[int, ...] | range


@dataclass(frozen=True, eq=False)
class QueryGroup:
    """Queries that share a ``given``: where they stand among those of the program, and the model that asks
    them alone."""

    positions: Positions
    model: GroundModel
    given: tuple[GroundEvidence, ...] = ()


Piece = tuple[Sequence[int], Sequence[GroundQuery]]
"""Queries, and their positions."""


def by_given(model: GroundModel) -> list[QueryGroup]:
    """The queries by their ``given``, those without one first; never empty."""
    groups: dict[frozenset[tuple[int, int]], list[Piece]] = {
        frozenset(): [(range(at.start, at.stop), block) for at, block in blocks(model.queries)]
    }
    for i, query in singles(model.queries):
        facts = frozenset((fact.node, fact.state) for fact in query.given)
        groups.setdefault(facts, []).append((range(i, i + 1), (query,)))
    if len(groups) == 1:
        return [QueryGroup(range(len(model.queries)), model)]
    return [_group(model, pieces) for pieces in groups.values() if pieces]


def _group(model: GroundModel, pieces: list[Piece]) -> QueryGroup:
    positions = tuple(sorted(i for at, _ in pieces for i in at))
    queries = in_order((at[0], queries) for at, queries in pieces)
    given = pieces[0][1][0].given
    return QueryGroup(positions, replace(model, queries=queries), given)
