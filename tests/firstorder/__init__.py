"""Exact answers without grounding, against enumeration."""
