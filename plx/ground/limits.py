"""How large what a program grounds to may be."""

from __future__ import annotations

MAX_GROUND = 50_000_000
"""Ground instances of one rule, those of aggregates inside it counted too, by default: 2.2 GB at the peak."""

TABLE_LIMIT = 4096
"""A formula is one table while that has at most so many entries, 32 kB; larger ones become derived nodes."""

EXPAND_LIMIT = 256
"""An aggregate is a plain table while the states of all its nodes have at most so many combinations."""

TRUTH_TABLE_LIMIT = 1 << 20
"""Entries of the truth table of a derived node, 8 MB; what needs a larger one is refused."""

MOST_FIXED = 20_000_000
"""Instances of an aggregate over fixed numbers that are worked out at once; what has more is refused."""

MOST_MEMBERS = 10_000_000
"""Members that the sets of all instances have in all, each distinct set counted once; more are refused."""

PORTION = 1 << 18
"""Instances are bound and evaluated so many at a time, so that memory stays flat: 2 MB for each column."""


def raise_limit(instances: int) -> str:
    """How to allow a rule so many instances, in words."""
    return f"raise the limit with `--max-ground {instances}`, in Python `model.with_max_ground({instances})`"
