"""Models of other tools: UAI, BIF, libDAI and the JSON of the published models."""

from plx.formats.reader import is_model_file, read_model
from plx.formats.uai_writer import UaiText, write_uai

__all__ = ["UaiText", "is_model_file", "read_model", "write_uai"]
