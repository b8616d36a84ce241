"""What enumeration, elimination and the listing of worlds may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ExactBudget:
    """What elimination may take: table entries (8 bytes each: 2 GiB), and operations (10^9 take one to
    three seconds)."""

    entries: float = 2.0**28
    operations: float = 1e10


SLICED_OPERATIONS = 5e11
"""What elimination in slices or in groups of queries may take: some ten minutes;"""

SLICES = 12
"""so many unknowns are fixed at most."""

TOGETHER_OPERATIONS = 1e8
"""Queries whose tree takes so many operations are not answered in groups;"""

APART_TARGETS = 512
"""nor are those about more targets."""

PARTITION_OPERATIONS = 1e11
"""What sums over the partitions of sets may take: so many operations;"""

PARTITION_NUMBERS = 5e8
"""so many numbers for the best worlds;"""

PARTITION_WORLDS = 1 << 16
"""for a joint query about several pairs, so many partitions of the elements of these are told apart,"""

PARTITION_FACTORS = 1 << 14
"""and partitions are looked for in graphs of at most so many factors."""

WORLDS = 1 << 22
"""Worlds that enumeration visits at most."""

TOGETHER = 1 << 15
"""Worlds that enumeration looks at together: 256 kB for each node."""

NARROW_BITS = 18.0
"""Where a first order has a larger clique, other ways are looked at before a better order is searched for;"""

NARROW_FACTORS = 1 << 14
"""in graphs of at most so many factors."""

JOINT_OPERATIONS = 1e7
"""What cliques for joint queries may cost before each such query gets a tree of its own."""

SPLIT_OPERATIONS = 1e6
"""Where partial sums cost more than this, a second way to split derived nodes is tried."""

SMALL = 64
"""A derived node with at most so many joint input states is one function; larger ones become partial sums."""

LISTED_WORLDS = 1 << 10
"""Worlds that the SAT solver lists at most, where hard rules leave few;"""

LISTED_SIZE = 1 << 15
"""they are looked for in graphs of at most so many nodes and entries of scopes and inputs,"""

WORLD_CONFLICTS = 2_000
"""and each of them for so many conflicts of the solver."""

WORTH_SENDING = 5e7
"""What is worth a call to another process: a tenth of a second, where a call takes 10 to 30 ms;"""

MOST_SENT = 64
"""slices are sent in so many parts at most."""
