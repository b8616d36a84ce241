"""Models of other tools: UAI, BIF, libDAI and the JSON of the published models."""

from plx.formats.reader import is_model_file, read_model

__all__ = ["is_model_file", "read_model"]
