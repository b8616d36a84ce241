"""Models of other tools: UAI, BIF, libDAI, DIMACS, JSON of published models, Markov logic networks."""

from plx.formats.bayesian import declared, found
from plx.formats.bayesian_writers import BAYESIAN_WRITERS
from plx.formats.build import build, build_hard
from plx.formats.cnf_writer import write_cnf, write_wcnf
from plx.formats.fg_writer import write_fg
from plx.formats.ground_writer import write_ground
from plx.formats.names_file import NAMED_FORMS, names_file, write_names
from plx.formats.network import ObservedNetwork
from plx.formats.plx_writer import write_plx
from plx.formats.reader import is_model_file, read_model, read_observed
from plx.formats.translators import TRANSLATORS
from plx.formats.uai_writer import UaiText, write_uai

__all__ = [
    "BAYESIAN_WRITERS",
    "NAMED_FORMS",
    "TRANSLATORS",
    "ObservedNetwork",
    "UaiText",
    "build",
    "build_hard",
    "declared",
    "found",
    "is_model_file",
    "names_file",
    "read_model",
    "read_observed",
    "write_cnf",
    "write_fg",
    "write_ground",
    "write_names",
    "write_plx",
    "write_uai",
    "write_wcnf",
]
