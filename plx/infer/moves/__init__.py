"""Moves of many unknowns at once, between sweeps of single updates."""
