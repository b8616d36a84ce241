"""Chains that the workers of a Dask cluster move."""
