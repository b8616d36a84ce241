"""Exact answers by enumeration and on a junction tree."""
