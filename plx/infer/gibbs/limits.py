"""What Gibbs sampling may take: memory for tables, states of blocks, and time to choose them."""

from __future__ import annotations

TABLE_ENTRIES = 4096
"""Thresholds of the table of a conditional; 16 kB, half a usual first-level cache."""

BY_COUNTS = 4
"""A table over counts may be so many times as large, as all else costs more."""

BY_SEARCH = 256
"""So many times as large may be a table of an unknown of many states: an update reads few of its entries."""

ALL_ENTRIES = 1 << 22
"""Thresholds of all tables together: 16 MB."""

LISTED = 1 << 12
"""Joint states of a cluster that are listed and tested; more are searched by the SAT solver,"""

FOUND = 1 << 10
"""which finds at most so many."""

BLOCK_STATES = 256
"""A cluster with at most so many possible joint states is one block;"""

CHECKED = 1 << 12
"""with at most so many it is tested whether its blocks connect them all, and one block if not."""

MANY = 2000
"""With more clusters, only those get blocks that need them; with more factors, blocks do not grow."""

BLOCKS = 20_000
"""Blocks that are made at most."""

CHOOSING = 0.25
"""The share of the time in which blocks are chosen."""

BLOCK_SHARE = 4.0
"""Work on blocks per draw, in units of a sweep of single updates."""

ALL_PAIRS = 24
"""Of at most so many elements, or rows, any two are moved together."""
