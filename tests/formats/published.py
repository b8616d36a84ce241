"""The public models in ../shared/cases with their known answers: what to read, and what must come out.

Nothing of them is copied: where the folder is absent there are no cases.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from plx.graph.model import GroundModel
from plx.infer.inference import Inference

CASES = Path(__file__).parents[3] / "shared" / "cases"
LOG10 = math.log(10)
COMPUTED = 1e-9
"""How far an answer may be from one computed in double precision."""

PRINTED = 5.1e-7
"""How far from one printed with six digits."""

SIGMAS = 6
"""How many of its standard errors a sampled answer may be off."""


@dataclass(frozen=True)
class Case:
    """A model file, evidence, and what is known of the answers (natural logs, marginals by name)."""

    path: Path
    evidence: tuple[str, ...] | Mapping[str, str] = ()
    log_z: float | None = None
    log_z_error: float = COMPUTED
    marginals: Mapping[str, list[float]] = field(default_factory=dict)
    error: float = COMPUTED
    impossible: bool = False
    best: float | None = None  # the log weight of a most probable world

    @property
    def folder(self) -> str:
        return str(self.path.parent.relative_to(CASES))

    @property
    def name(self) -> str:
        if isinstance(self.evidence, Mapping):
            return f"{self.path.name} {' '.join(f'{k}={v}' for k, v in self.evidence.items())}".strip()
        return " ".join([self.path.name, *(Path(item).name for item in self.evidence)])

    def differences(self, model: GroundModel, result: Inference) -> list[str]:
        """What is off, in words; empty if every known answer is met."""
        found = []
        if self.log_z is not None and result.log_z is not None:
            off = abs(result.log_z - self.log_z) / max(1.0, abs(self.log_z) / 10)
            if not off <= self.log_z_error:
                found.append(f"log Z {result.log_z:.12g}, expected {self.log_z:.12g}")
        for name, off, mcse in self.errors(model, result):
            if not off <= self.error + SIGMAS * mcse:
                found.append(f"P({name}) is off by {off:.1e}")
        return found

    def errors(self, model: GroundModel, result: Inference) -> Iterator[tuple[str, float, float]]:
        """Per query with a known answer: how far off the worst state is, and the standard error there."""
        for query, answer in zip(model.queries, result.answers, strict=True):
            if query.name in self.marginals:
                off = np.abs(answer.p - np.array(self.marginals[query.name]))
                yield query.name, float(off.max()), float(answer.mcse[int(off.argmax())])


def cases() -> list[Case]:
    """Every case, sorted by folder and file."""
    if not CASES.is_dir():
        return []
    found = [*_bif(), *_fg(), *_uai2014(), *_competition("uai2014_map"), *_competition("uai2014_mmap")]
    for folder in ("merlin", "pgmpy", "toulbar2", "praise", "tensorinference", "grample"):
        found += _uai(folder)
    return sorted(found, key=lambda case: (case.folder, case.path.name, str(case.evidence)))


def _expected(folder: str) -> dict[str, dict[str, Any]]:
    content: dict[str, dict[str, Any]] = json.loads((CASES / folder / "expected.json").read_text())
    return content


def _bif() -> Iterator[Case]:
    for path in sorted((CASES / "bif").glob("*.bif")):
        for query in json.loads(path.with_suffix(".expected.json").read_text())["queries"]:
            probability = query["evidence_probability"]
            marginals = {name: list(p.values()) for name, p in (query.get("marginals") or {}).items()}
            log_z = math.log(probability) if probability else None
            yield Case(path, query["evidence"], log_z, marginals=marginals, impossible=not probability)


def _fg() -> Iterator[Case]:
    for name, known in _expected("fg/libdai").items():
        marginals = {f"x({v})": p for v, p in known["marginals"].items()}
        yield Case(CASES / "fg/libdai" / name, (), known["lnZ"], marginals=marginals)


def _uai2014() -> Iterator[Case]:
    """Marginals and log Z as published, log Z to all digits where it was computed again."""
    for name, known in _expected("uai/uai2014").items():
        path = CASES / "uai/uai2014" / f"{name}.uai"
        precise = known.get("recomputed_log10Z")
        log_z = (known["published_log10Z"] if precise is None else precise) * LOG10
        error = 1e-4 * LOG10 if precise is None else COMPUTED
        best = known.get("optimal_MAP_lnscore_recomputed")
        yield Case(path, (f"{path}.evid",), log_z, error, _mar(Path(f"{path}.MAR")), PRINTED, best=best)


def _competition(folder: str) -> Iterator[Case]:
    known = _expected(f"uai/{folder}") if folder == "uai2014_map" else {}
    for path in sorted((CASES / "uai" / folder).glob("*.uai")):
        score = known.get(path.stem, {}).get("optimal_lnscore")
        best = score if isinstance(score, float) else None
        yield Case(path, (f"{path}.evid",), best=best)


def _uai(folder: str) -> Iterator[Case]:
    for name, known in _expected(f"uai/{folder}").items():
        path = CASES / "uai" / folder / name
        without = known.get("noevid", {"log10Z": known.get("log10Z")})
        yield _from_block(path, (), without)
        if folder == "praise" and name.startswith("BN_"):
            continue
        for evidence in (path.with_suffix(".evid"), Path(f"{path}.evid")):
            if evidence.exists():
                # Where the evidence file announces none, the answers are those without evidence.
                yield _from_block(path, (str(evidence),), known.get("evid", without))


def _from_block(path: Path, evidence: tuple[str, ...], block: Mapping[str, Any]) -> Case:
    log_z = block.get("log10Z")
    marginals = {f"x({v})": p for v, p in enumerate(block.get("marginals", []))}
    if log_z == "-inf":
        return Case(path, evidence, impossible=True)
    if path.name.startswith("BN_"):
        log_z = 0.0  # proper Bayes nets, whatever their width
    return Case(path, evidence, None if log_z is None else log_z * LOG10, marginals=marginals)


def _mar(path: Path) -> dict[str, list[float]]:
    """The marginals of a solution file: ``MAR``, the number of variables, then card and entries of each."""
    words = path.read_text().split()
    marginals, at = {}, 2
    for v in range(int(words[1])):
        card = int(words[at])
        marginals[f"x({v})"] = [float(word) for word in words[at + 1 : at + 1 + card]]
        at += 1 + card
    return marginals
