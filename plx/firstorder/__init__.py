"""Exact answers from the checked program, without grounding it: first-order model counting."""
