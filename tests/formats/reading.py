"""Helpers: write a small file, read it, and answer its queries by enumeration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from plx.errors import PlxError
from plx.formats import read_model
from plx.graph.model import GroundModel
from tests.models import log_z, marginal


def save(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def answers(model: GroundModel) -> dict[str, dict[str, float]]:
    """Every queried marginal by enumeration: name → state → probability."""
    found = {}
    for query in model.queries:
        (target,) = query.targets
        p = [1.0] if target.node < 0 else marginal(model.graph, [target.node]).tolist()
        states = [model.atoms.value_name(int(label)) for label in target.labels]
        found[query.name] = dict(zip(states, p, strict=True))
    return found


def total(model: GroundModel) -> float:
    """The natural log of the sum of all weights, by enumeration."""
    return log_z(model.graph) + model.log_constant


def mistake(path: Path, evidence: object = ()) -> str:
    """The text of the error that reading this file ends in."""
    with pytest.raises(PlxError) as caught:
        read_model(path, evidence)  # type: ignore[arg-type]
    return str(caught.value)


def same(a: dict[str, dict[str, float]], b: dict[str, dict[str, float]], within: float = 1e-9) -> bool:
    """Whether two sets of marginals agree, names and states included."""
    return a.keys() == b.keys() and all(
        a[name].keys() == b[name].keys()
        and np.allclose(list(a[name].values()), list(b[name].values()), rtol=0, atol=within)
        for name in a
    )
