"""How many values the answers of a program have, known before the work, and the refusal of too many."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from plx.errors import CallError, Diagnostic, PlxError
from plx.graph.model import FactorGraph, GroundQuery
from plx.graph.queries import blocks, singles
from plx.graph.sizes import joint_bits, size_text
from plx.infer.answers import free_nodes

MOST_VALUES = 1 << 20
"""The answer to one query has at most so many values,"""

MOST_TOGETHER = 1 << 22
"""and all answers together have at most so many: of some hundred bytes each once they have names,"""

_BESIDE = 8
"""or of so many times fewer where they stay arrays."""


def refuse_large_answers(graph: FactorGraph, queries: Sequence[GroundQuery]) -> None:
    """Raises PlxError that names each query of too many values, or the largest where all have too many.

    What a query's ``given`` fixes does not count.
    """
    sizes = [(_bits(graph, query), query) for _, query in singles(queries)]
    for _, block in blocks(queries):
        free = np.flatnonzero(block.node >= 0)
        if len(free):
            widest = block[int(free[graph.card[block.node[free]].argmax()])]
            sizes.append((_bits(graph, widest), widest))
    if large := [_too_wide(bits, query) for bits, query in sizes if bits > math.log2(MOST_VALUES)]:
        raise PlxError(large)
    total = sum(2.0**bits for bits, _ in sizes)
    total += sum(graph.card[block.node[block.node >= 0]].sum() for _, block in blocks(queries)) / _BESIDE
    if total > MOST_TOGETHER:
        raise PlxError(_too_many(math.log2(total), *max(sizes, key=lambda pair: pair[0])))


MOST_DRAWN = 1 << 30
"""Draws take at most so many bytes."""


def refuse_large_draws(graph: FactorGraph, queries: Iterable[GroundQuery], draws: int, chains: int) -> None:
    """Raises CallError where the states of what is asked would take too much memory, chain by chain."""
    scopes = {free_nodes(query) for query in queries if query.targets}
    each = 16 + sum(np.min_scalar_type(int(2 ** joint_bits([*graph.card[list(s)]]))).itemsize for s in scopes)
    if (size := each * draws * chains) > MOST_DRAWN:
        what = f"{draws:,} draws of {chains:,} chains and {len(scopes):,} answers take {size / 1e9:,.1f} GB"
        raise CallError(
            Diagnostic(
                f"{what}; the limit is {MOST_DRAWN / 1e9:.1f} GB",
                hint=f"keep {MOST_DRAWN // (each * chains):,} draws or fewer, or ask for fewer terms",
            )
        )


def _bits(graph: FactorGraph, query: GroundQuery) -> float:
    """log₂ of the number of values of an answer."""
    known = {fact.node for fact in query.given}
    return joint_bits([graph.card[node] for node in free_nodes(query) if node not in known])


def _too_wide(bits: float, query: GroundQuery) -> Diagnostic:
    return Diagnostic(
        f"{_this(query)} has {size_text(bits)} values; the limit is {MOST_VALUES:,}",
        query.span,
        hint="ask for fewer terms at once, for each of them alone, for the probability of a formula or"
        " a `count` over them, or for the most probable worlds (`query map 10`)",
    )


def _too_many(total: float, largest: float, query: GroundQuery) -> Diagnostic:
    return Diagnostic(
        f"the answers of the program have {size_text(total)} values together; the limit is {MOST_TOGETHER:,}",
        query.span,
        hint=f"this one has {size_text(largest)}: ask for fewer terms at once, or for fewer answers by"
        " a guard (`for … if …`)",
    )


def _this(query: GroundQuery) -> str:
    return "this joint distribution" if len(query.targets) > 1 else "this distribution"
