"""Models of other tools: UAI, BIF, libDAI, DIMACS, JSON of published models, Markov logic networks."""

from plx.formats.build import build, build_hard
from plx.formats.fg_writer import write_fg
from plx.formats.ground_writer import write_ground
from plx.formats.network import ObservedNetwork
from plx.formats.plx_writer import write_plx
from plx.formats.reader import is_model_file, read_model, read_observed
from plx.formats.translators import TRANSLATORS
from plx.formats.uai_writer import UaiText, write_uai

__all__ = [
    "TRANSLATORS",
    "ObservedNetwork",
    "UaiText",
    "build",
    "build_hard",
    "is_model_file",
    "read_model",
    "read_observed",
    "write_fg",
    "write_ground",
    "write_plx",
    "write_uai",
]
