"""The queries of a model by their ``given``: those that share one are answered together."""

from __future__ import annotations

from dataclasses import dataclass, replace

from plx.graph.model import GroundEvidence, GroundModel


@dataclass(frozen=True, eq=False)
class QueryGroup:
    """Queries that share a ``given``: where they stand among those of the program, and the model that asks
    them alone."""

    positions: tuple[int, ...]
    model: GroundModel
    given: tuple[GroundEvidence, ...] = ()


def by_given(model: GroundModel) -> list[QueryGroup]:
    """The queries by their ``given``, those without one first; never empty."""
    groups: dict[frozenset[tuple[int, int]], list[int]] = {frozenset(): []}
    for i, query in enumerate(model.queries):
        facts = frozenset((fact.node, fact.state) for fact in query.given)
        groups.setdefault(facts, []).append(i)
    return [_group(model, positions) for positions in groups.values() if positions] or [_group(model, [])]


def _group(model: GroundModel, positions: list[int]) -> QueryGroup:
    queries = tuple(model.queries[i] for i in positions)
    return QueryGroup(tuple(positions), replace(model, queries=queries), queries[0].given if queries else ())
