"""What the search for most probable worlds may take."""

from __future__ import annotations

QUICK = 1e8
"""Operations up to which elimination is preferred to toulbar2: a fraction of a second, and known before."""

QUICK_SHARE, LONGEST_QUICK = 0.02, 1.0
"""The share of the time, and the seconds at most, in which sampling looks for a best world to begin at."""

PROOF = 0.8
"""The share of the time that the search for a proof gets; annealing gets the rest."""

PLANNING = 0.25
"""The share of that in which an elimination order is searched for."""

COMPILING, LONGEST_COMPILING = 0.25, 30.0
"""The share of that which a circuit has where several worlds are wanted, before toulbar2 finds one after the
other; and its seconds where there is no limit."""

SOLVER = 0.6
"""The share that toulbar2 has where one world is wanted, before a circuit is tried."""

LARGEST_TABLES = 1_000_000
"""Entries of tables and functions that toulbar2 is handed, one by one, in Python."""
