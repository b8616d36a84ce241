"""A factor graph to its symmetries."""
