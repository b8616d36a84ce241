"""Compiled loops over flat arrays; they import numpy, `plx.jit` and one another."""
