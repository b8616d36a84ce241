"""Gibbs sampling of many chains at once."""
