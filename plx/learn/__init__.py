"""Weights from data."""
