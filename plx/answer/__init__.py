"""Answers to what people read."""
