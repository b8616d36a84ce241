"""What the search for symmetries may take."""

from __future__ import annotations

LARGEST_GRAPH = 60_000_000
"""Vertices and edges of the largest coloured graph: past this it would take more than about 4 GB."""

TRUTH_TABLE = 4096
"""Entries up to which truth tables of derived nodes are written out in the coloured graph."""

NORMAL_ENTRIES = 256
"""Factors over derived nodes become tables over their variables up to so many entries,"""

ALL_NORMAL_ENTRIES = 1 << 20
"""and only where all of them together have no more than this."""

DENSE_LIMIT = 400
"""Vertices up to which pynauty (dense, cannot be stopped) is used where installed; pybliss beyond."""

ALIGN_WORK = 400_000_000
"""Edges looked at while components are individualised; past it they count as different."""

SOLVER_CALLS = 500
"""Components that a solver may be asked for a canonical form of."""

VERTICES = 5_000_000
"""Vertices of the largest coloured graph of which copies are made to see how the group acts on blocks."""

IMAGE_WORK = 100_000
"""Inputs of derived nodes that may be moved in one search for the images of a formula."""

CELLS = 1 << 27
"""Entries of the arrays of a stabiliser chain, 512 MB: past this the group is given up."""

LARGEST_SET = 128
"""Unknowns of an exchangeable set: its table of probabilities takes their cube of steps."""

LARGEST_ORBIT = 400
"""Unknowns of the largest orbit of which it is asked whether more than counts matter to it."""

REFINED_AT_ONCE = 5_000_000
"""Edges looked at between two looks at the clock: a fraction of a second."""

SECONDS_EACH = 1e-7
"""Seconds that an entry of a factor's table takes in a search for symmetries, times the unknowns that it is
about, at least."""
