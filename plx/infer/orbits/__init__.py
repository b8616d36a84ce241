"""Sampling that uses symmetries."""
