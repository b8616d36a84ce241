"""The factor graph, and what takes one apart and puts it together."""
