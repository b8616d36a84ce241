"""Exact answers by counting: sums over histograms of interchangeable blocks."""
