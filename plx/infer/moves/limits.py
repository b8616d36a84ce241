"""What moves of many unknowns may take, and where they are worth trying."""

from __future__ import annotations

HARD = 50.0
"""What an impossible entry weighs less than the most probable one, where only names depend on it."""

NAMED = 1 << 17
"""With more factors over pairs than this no names of states are looked for."""

ENTRIES = 1 << 20
"""Entries of tables for all choices of partners together; with more, fewer choices are taken in turn."""

FRUSTRATED = 0.02
"""Clusters are worth trying where at most this share of what couples unknowns cannot be had at once."""

INFLUENCE = 0.8
"""They are worth trying where the influence of all neighbours on an unknown is at least so much."""

PLANTED = 1 << 18
"""Entries of scopes past which no forests are looked for."""

FORESTS = 4
"""Forests at most."""

RANGE = 300.0
"""Unknowns about which all possible log weights differ by more than this, added up, are in no forest."""

BELIEFS = 1 << 19
"""Numbers that are known of a forest's states, in all lanes that are moved at once."""

TIED = 1.5
"""Forests are worth trying where log weights of pairs differ by as much on average."""
