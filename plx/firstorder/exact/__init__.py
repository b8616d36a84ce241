"""Exact rational answers: the same sums, in whole numbers."""
