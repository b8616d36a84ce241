"""Chains that the workers of a Dask cluster move, and other work that they do."""
