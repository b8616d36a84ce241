"""Syntax tree and data to a program with every name resolved."""
