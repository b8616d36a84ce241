"""Files of other tools → ground models: `read_model`, by the suffix of the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from plx.decoding import decode
from plx.errors import Diagnostic, PlxError
from plx.formats.bif import read_bif
from plx.formats.build import build
from plx.formats.cnf import read_cnf
from plx.formats.evidence import (
    NetworkNames,
    join,
    read_evidence,
    read_likelihoods,
    read_lines,
    read_pairs,
)
from plx.formats.fg import read_fg
from plx.formats.hugin import read_hugin
from plx.formats.names_file import NAMED_FORMS, names_file, with_names
from plx.formats.network import FileEvidence, Network, ObservedNetwork
from plx.formats.paper import read_paper
from plx.formats.uai import read_uai
from plx.formats.xmlbif import read_xmlbif
from plx.graph.model import GroundModel
from plx.source import Source
from plx.values import Values

READERS: dict[str, Callable[[Source, Values], Network]] = {
    ".bif": read_bif,
    ".bifxml": read_xmlbif,
    ".cnf": read_cnf,
    ".fg": read_fg,
    ".json": read_paper,
    ".net": read_hugin,
    ".uai": read_uai,
    ".wcnf": read_cnf,
    ".xml": read_xmlbif,
    ".xmlbif": read_xmlbif,
}
"""The reader of each suffix. A new format is one file with a reader, and one entry here."""


def is_model_file(path: str | Path) -> bool:
    """Whether a file is a model of another tool, by its suffix."""
    return Path(path).suffix.lower() in READERS


Evidence = Sequence[str | Path] | Mapping[str, object]


def read_model(path: str | Path, evidence: Evidence = (), best: int = 0) -> GroundModel:
    """The model in a file of another tool, and what it asks for: all marginals, log Z or a best world.

    ``best`` asks for so many most probable worlds too. Raises PlxError as `read_observed` and `build` do.
    """
    return build(read_observed(path, evidence, best))


def read_observed(path: str | Path, evidence: Evidence = (), best: int = 0) -> ObservedNetwork:
    """The network in a file and evidence on it.

    ``evidence`` is a mapping from names to states, or a list in which each item is ``NAME=STATE`` or
    the name of a file: UAI evidence, virtual evidence (``.virt``), or lines ``NAME=STATE``. Raises
    PlxError for files that cannot be read, and for evidence on what is not there.
    """
    network = read_network(path)
    if isinstance(evidence, Mapping):
        parts = [read_pairs(network, evidence)]
    else:
        names = NetworkNames(network)
        parts = [_evidence(network, names, item) for item in evidence]
    return ObservedNetwork(network, join(parts, network), best)


def read_network(path: str | Path) -> Network:
    """The network in a file, with the names beside it, before evidence.

    Raises PlxError for a file that cannot be read.
    """
    reader = READERS.get(Path(path).suffix.lower())
    if reader is None:
        known = ", ".join(sorted(READERS))
        raise PlxError(Diagnostic(f"{path}: models are read from files that end in {known}"))
    network = reader(read_source(path), Values())
    names = names_file(Path(path))
    if Path(path).suffix.lower() in NAMED_FORMS and names.is_file():
        return with_names(network, read_source(names))
    return network


def read_source(path: str | Path) -> Source:
    """A text file, UTF-8 with or without a byte order mark. Raises PlxError if it cannot be read."""
    try:
        content = Path(path).read_bytes()
    except OSError as mistake:
        raise PlxError(Diagnostic(f"cannot read {path}: {mistake.strerror or mistake}")) from None
    return decode(str(path), content)


def _evidence(network: Network, names: NetworkNames, item: str | Path) -> FileEvidence:
    text = str(item)
    if "=" in text and not Path(text).is_file():
        return FileEvidence((names.observed(*names.split(text), None),))
    source = read_source(item)
    if Path(item).suffix.lower() == ".virt":
        return read_likelihoods(source, network)
    named = "=" in _REMARK.sub("", source.text)
    return read_lines(source, network) if named else read_evidence(source, network)


_REMARK: Final = re.compile(r"(?<!\S)#.*")
"""What may hold a ``=`` that is no evidence. Names of unknowns may hold a ``#``."""
