"""A program to a factor graph."""
