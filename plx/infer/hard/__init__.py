"""Hard rules: satisfying worlds, and unknowns that the rules determine."""
