"""What compiling a circuit, and asking it, may take."""

from __future__ import annotations

STATES = 1 << 20
"""States of all nodes together, past which no circuit is tried."""

EDGES = 1 << 26
"""Edges of a circuit, and entries of tables under assignments: 512 MB of each, and twice that while they
grow."""

FIRST_DECISIONS = 1_000
"""So many decisions are made with each way to choose them, one way after the other, in the first round, and
twice as many in each round as before."""

FIRST_SECONDS = 1.0
"""The first round is cut short after so many seconds: each decision takes long in some models."""

BEST_ROUNDS = 3
"""The way that is furthest after a round goes on by so many."""

MIXED = 0.1
"""How much the factors that a node is in count against its place in an elimination order, where both do."""

ORDERS = 6
"""Elimination orders that are tried for one to decide by, of cliques of at most"""

ORDER_BITS = 400.0
"""bits."""

READS = 2e9
"""Edges read at most for joint queries, which take a pass for each joint state of all nodes but one."""

CLAUSES = 1 << 21
"""Clauses at most for a compiler that takes nothing else."""

CLAUSE_ENTRIES = 1 << 14
"""Entries of a table at most that is said in clauses."""

COMPILER_MEMORY = 1 << 32
"""Bytes that a compiler in a process of its own may take."""

COMPILER_PAGE = 1 << 28
"""Bytes that it reserves for its cache at a time."""

COMPILER_SHARE = 0.5
"""The share of the time left that a compiler in a process of its own gets, before the search goes on."""

BRANCHINGS = ("hybrid-partial-classic", "classic")
"""How a compiler chooses what to decide: from a tree decomposition first, which suits networks; then by
activity alone, which suits planning. Each but the last has half of the time that is left, or, where there is
no end of it,"""

FIRST_BRANCHING = 10.0
"""seconds."""

SOON, SOON_SHARE = 16.0, 0.25
"""Seconds, and the share of the time left, of which a compiler gets its share before models are counted."""

COUNTER_MEMORY = 1 << 32
"""Bytes that a counter of models in a process of its own may take;"""

COUNTER_SHARE = 0.8
"""its share of the time that is left;"""

COUNTS = 1 << 12
"""how many counts it is asked for at most, one for each joint state that is asked about;"""

FEW_COUNTS = 8
"""and at most so many before a compiler is asked, whose one circuit answers all."""

FAR = 600.0
"""The log of the ratio of the two weights of a proposition, past which doubles are not enough for counts."""

MENTIONS = 2.0**33
"""Bits at most that say which nodes of two states a circuit node is about: a gigabyte."""

PAIRS = 20_000
"""Tables over pairs at most that rules of at most one of many are taken apart into."""

BEST = 1 << 27
"""Numbers at most that the best worlds take, one for each of them at every node: a gigabyte."""

EDGE_OPERATIONS = 20.0
"""An edge of a circuit counts as so many operations of a junction tree, where one or the other is evaluated
again and again: it takes an exponential both ways."""

SLOPES = 1 << 20
"""Numbers of slopes that are multiplied at a time."""
