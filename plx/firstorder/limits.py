"""How much a first-order answer may take."""

from __future__ import annotations

LEAST_MEMBERS = 3
"""Types with fewer members than this are expanded, as there is little to gain."""

DEAR, MOST_CHOICES = 1e7, 8
"""Numbers that are added past which other choices of types are looked at, and how many are in all."""

MOST_NEXT = 100_000
"""Members of a type where what is said depends on who comes next: they are added one by one."""

MOST_CELLS = 4096
"""Joint states of the unknowns of one element."""

MOST_PAIR = 1 << 24
"""Entries of the table of a pair of elements, 128 MB: cells of both, and the states of what they share."""

MOST_GLOBAL = 1 << 12
"""Joint states of the unknowns that are about no element; each is summed over on its own."""

MOST_GROUPS = 40
"""Groups of elements that rules tell apart."""

MOST_HISTOGRAMS = 1e11
"""Histograms of cells that are summed over; a few nanoseconds each."""

MOST_JOINT = 1 << 22
"""Entries of the joint distribution that a query asks for, 32 MB."""

MOST_PATTERNS = 2000
"""Instances of queries that differ in more than names; each is worked out on its own."""

MOST_TOTALS = 1 << 24
"""Combinations of values of the counts that rules and queries ask for, 128 MB."""

GROUND_FIRST = 800_000
"""Bytes of a grounding that costs next to nothing: it is made, to see whether another exact way is cheap."""

LEAST_GROUND = 70_000
"""Bytes of a grounding below which all ways are quick, and those of the factor graph come first."""

MOST_LOG = 1e6
"""Log weights above which doubles lose what small weights say of a small program."""

SECONDS_PER_BYTE = 4.5e-7
"""Seconds that grounding, and looking for an exact way on the factor graph, take for each byte of it."""

GROUNDING_PER_BYTE = 7.5e-9
"""Seconds that grounding takes for each byte of it."""

SECONDS_EACH = 3e-9
"""Seconds for each number that is added, measured on a core of 2020."""

ADDITIONS_PER_JOINT_CELL = 5000
"""What each joint cell of elements that evidence joins takes, in additions."""

MOST_STATES = 64
"""Joint states of the counts of one element."""

MOST_EACH = 64
"""Values of a variable that is no element, each with counts of its own."""

MOST_WORLDS_OF_CLASSES = 1 << 24
"""States of all elements, by class, that are kept at once: 256 MB."""

MOST_TURNS = 1e9
"""Steps when members are taken out one by one."""

SECONDS_EACH_TURN = 3e-8
"""Seconds for each of them."""
