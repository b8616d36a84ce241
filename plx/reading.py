"""Files → models: a program, or by its suffix a network of another tool."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from plx.building import build, build_translated
from plx.decoding import decode
from plx.model import Model
from plx.origin import ForeignNetwork
from plx.questions import Questions
from plx.syntax.foreign_files import refuse_content, refuse_suffix


def is_network(file: Path) -> bool:
    """Whether a file is a model of another tool. Raises PlxError where plx reads none of that tool."""
    if file.suffix.lower() in ("", ".plx"):
        return False
    from plx.formats import is_model_file

    if is_model_file(file):
        return True
    if file.is_file():
        refuse_suffix(str(file))
    return False


def read_network(file: Path, evidence: Sequence[str | os.PathLike[str]] = (), best: int = 0) -> Model:
    """The model of another tool, which asks for every unknown that is not observed, and for the
    ``best`` most probable worlds. Raises PlxError."""
    from plx.formats import read_observed

    return Model(str(file), ForeignNetwork(read_observed(file, [os.fspath(item) for item in evidence], best)))


def is_translated(file: Path) -> bool:
    """Whether a file is in another tool's language that is translated to plx, by its suffix."""
    if file.suffix.lower() in ("", ".plx"):
        return False
    from plx.formats import TRANSLATORS

    return file.suffix.lower() in TRANSLATORS


def read_translated(
    file: Path,
    evidence: Sequence[str | os.PathLike[str]] = (),
    options: Mapping[str, object] | None = None,
    bindings: Mapping[str, object] | None = None,
    max_ground: int | None = None,
) -> Model:
    """The model of a file in another tool's language; ``options`` are those of its translator. Raises
    PlxError."""
    from plx.formats import TRANSLATORS

    translate = TRANSLATORS[file.suffix.lower()]
    translated = translate(file, [os.fspath(item) for item in evidence], **(options or {}))

    def reread(evidence: Sequence[str | os.PathLike[str]]) -> Model:
        return read_translated(file, evidence, options, bindings, max_ground)

    return build_translated(str(file), translated, bindings or {}, max_ground, reread)


def read_program(
    name: str,
    content: bytes,
    bindings: Mapping[str, object],
    folder: Path,
    max_ground: int | None = None,
    *,
    options: Collection[str] = (),
    questions: Questions | None = None,
    world: Path | None = None,
) -> Model:
    """The model of a program as the bytes of a file, as `build`; refuses what is of another tool."""
    refuse_content(name, content)
    source = decode(name, content)
    return build(source, bindings, folder, max_ground, options=options, questions=questions, world=world)
