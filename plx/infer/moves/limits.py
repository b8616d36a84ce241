"""What moves of many unknowns may take, and where they are worth trying."""

from __future__ import annotations

HARD = 50.0
"""What an impossible entry weighs less than the most probable one, where only names of states depend on it."""

NAMED = 1 << 17
"""With more factors over pairs than this no names of states are looked for."""

ENTRIES = 1 << 20
"""Entries of tables for all choices of partners together; with more, fewer choices are taken in turn."""

FRUSTRATED = 0.02
"""Clusters are worth trying where at most this share of what couples unknowns cannot be had at once."""

INFLUENCE = 0.8
"""They are worth trying where the influence of all neighbours on an unknown is at least so much."""
