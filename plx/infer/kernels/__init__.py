"""Compiled loops over flat arrays; they import numpy, numba, `plx.jit` and one another."""
