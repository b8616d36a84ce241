"""plx: a probabilistic programming language for typed, finite, multi-valued unknowns."""
