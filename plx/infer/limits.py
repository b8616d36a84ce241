"""What the choice of a way to answer goes by: sizes, and shares of the time."""

from __future__ import annotations

FEW = 1 << 14
"""So few worlds are enumerated without a look at other ways: no kernel needs to be loaded for that."""

CHEAP = 3e6
"""Operations below which elimination is taken without a look at other ways: it is done in about 10 ms."""

DEAR, PER_SECOND = 5e7, 5e8
"""Operations above which plans of unknown cost are tried before one whose cost is known, and how many are
done in a second, about;"""

TRIED_BEFORE = 0.25
"""for this share of the time that it may take."""

FASTEST = 2e9
"""So many operations are done in a second at most: a plan that needs more than its share is not begun."""

MEMORY = 2.0**32
"""Bytes that any exact plan may hold at once; most ways have lower limits of their own."""

KNOWN = 1.0
"""Seconds for finding and running a cheap way, where answers without grounding are the other choice."""

PLANNING = 0.25
"""The share of the time in which exact ways are looked for, where sampling is the other choice;"""

LEAST_PLANNING, USUAL_PLANNING = 0.1, 15.0
"""so many seconds at least, and so many where there is no limit."""

SOLVING = 0.5
"""The share of what is left then that an exact way may take before sampling begins in its place."""

TRYING, USUAL_TRYING, LEAST_TRYING = 0.25, 8.0, 1.0
"""The share of what is left that exact ways get whose cost only trying tells, all of them together; the
seconds where there is no limit, and those where a plan of known cost would take less."""

TRYING_ALONE = 0.9
"""Their share where nothing else is tried after them."""

FEWEST = 16
"""Fewer chains than this may all be in one place and agree, so more are run than were asked for."""

COUNTS = 1 << 24
"""Where chains are as many as usual, and would count more states than this together, they are fewer."""
