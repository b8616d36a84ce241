"""Runs of samplers: batches, diagnostics, estimates."""
