"""What work on hard rules may take."""

from __future__ import annotations

CONFLICTS = 300_000
"""Conflicts after which the SAT solver gives up, about half a minute on hard cases;"""

FEW_CONFLICTS = 10_000
"""where the answer can be done without, sooner."""

SHRINK = 400
"""Assumptions of a clash that are minimised one by one; more are left as the SAT solver reports them."""

READS = 20_000_000
"""Pairs of a node and a variable that it depends on, past which no more definitions are applied: 160 MB."""

FUNCTION_ENTRIES = 1 << 14
"""Entries that the function of a definition has at most."""

TRIANGLES = 200_000
"""With more rules over three truths no partition is looked for."""

GROUPS = 10_000
"""With more rules that at most one of some truths holds no assignment is looked for."""
