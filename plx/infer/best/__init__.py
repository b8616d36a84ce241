"""The most probable worlds."""
