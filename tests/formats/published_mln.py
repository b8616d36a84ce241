"""The Markov logic networks in ../shared/cases with their known answers, and all others that lie there.

Answers come from a grounder that shares nothing with plx. Nothing is copied: where the folder is absent
there are no cases.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from plx.model import Model
from plx.reading import read_translated
from tests.formats.published import CASES, COMPUTED

DATABASES = {
    "alchemy_tutorial/traffic.mln": "traffic-test.db",
    "alchemy_tutorial/cfg.mln": "s1-test.db",
    "alchemy_tutorial/voting.mln": "voting-test.db",
    "alchemy_tutorial/smoking.mln": "smoking-test.db",
    "alchemy_tutorial/robotmap.mln": "robotmap-train.db",
    "alchemy_tutorial/multinomial-biased.mln": "biased-die.db",
    "forclift_imdb/imdb.bug1.mln": "imdb.bug1.db",
    "forclift_imdb/imdb.bug2.mln": "imdb.bug2.db",
    "forclift_imdb/imdb.bug3.mln": "imdb.bug2.db",
    "forclift_imdb/imdb.janvh1.mln": "imdb.1.db",
    "forclift_univ/univ.mln": "univ-train.db",
    "forclift_univ/univ-extended.mln": "univ-train.db",
    "forclift_uwcse/uwcse_bug1.mln": "uwcse_fold2.db",
    "forclift_webkb/webkb.mln": "fold1.db",
    "forclift_webkb/webkb_bug2.mln": "corn20_bug2.db",
    "lomrf/meet_trained_func.mln": "19-Meet_WalkTogether1.id3_id4.db",
    "lomrf/DEC.mln": "19-Meet_WalkTogether1.id3_id4.db",
    "pracmln/hmm/alternative.mln": "obs_test.db",
    "pracmln/hmm/hmm.mln": "obs_test.db",
    "pracmln/object-recognition/object-detection.mln": "test.db",
    "pracmln/taxonomies/senses_and_roles.mln": "evidence.db",
    "pracmln/taxonomies/wts.learned.taxonomy.mln": "evidence.db",
    "probcog/student/student_course2.a.mln": "1each.db",
    "probcog/probconstraints/simple.mln": "2-objects.db",
    "rockit_misc/prog1.mln": "data1_1.db",
    "rockit_misc/prog2.mln": "data1_2.db",
    "rockit_misc/prog_i2.mln": "evidence_i2.db",
    "rockit_misc/prog_i3.mln": "evidence_i3.db",
    "tuffy_rc_cora/prog.mln": "evidence.db",
    "tuffy_uwcse/prog.mln": "evidence.db",
    "tuffy_test/toyprog.mln": "toyevidence.db",
    "tuffy_test/toyprog_no_close_world.mln": "toyevidence.db",
    "tuffy_test/univ_prog.mln": "univ_evidence.db",
    "tuffy_test/nlearningProg.mln": "nlearningEvidence.db",
    "tuffy_test/plearningprog.mln": "plearningevidence.db",
    "tuffy_class/prog.mln": "../tuffy_rc_cora/evidence.db",
}
"""Which database belongs to a program that has no known answers."""


@dataclass(frozen=True)
class MlnCase:
    """A network with its databases, how it is read, and what is known of it."""

    path: Path
    databases: tuple[Path, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    log_z: float | None = None
    marginals: Mapping[str, float] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        return str(self.path.parent.relative_to(CASES.parent))

    @property
    def name(self) -> str:
        said = [f"{key}={value}" for key, value in self.options.items()]
        return " ".join([self.path.name, *(database.name for database in self.databases), *said])

    def read(self) -> Model:
        """The model, which asks for every atom that has a known answer. Raises PlxError."""
        asked = {"query": list(self.marginals)} if self.marginals else {}
        databases = [str(database) for database in self.databases]
        return read_translated(self.path, databases, {**self.options, **asked})

    def differences(self, model: Model) -> list[str]:
        """What is off, in words; empty if every known answer is met."""
        result = model.run(method="exact")
        found = []
        if self.log_z is not None and result.log_z is not None:
            off = abs(result.log_z - self.log_z) / max(1.0, abs(self.log_z) / 10)
            if not off <= COMPUTED:
                found.append(f"log Z {result.log_z:.12g}, expected {self.log_z:.12g}")
        for number, (name, known) in enumerate(self.marginals.items()):
            off = abs(result[number].probability - known)
            if not off <= COMPUTED:
                found.append(f"P({name}) is off by {off:.1e}")
        return found


def known_cases(folder: Path) -> list[MlnCase]:
    """The cases with an answer; databases that are given as a text are written into ``folder``."""
    if not CASES.is_dir():
        return []
    found = [_from_entry(entry, folder) for entry in json.loads((CASES / "mln/expected.json").read_text())]
    lifted = json.loads((CASES / "mln/alchemy2_exdata/lifted_lnZ.json").read_text())["lnZ"]
    return found + [
        MlnCase(CASES / "mln/alchemy2_exdata" / name, log_z=log_z) for name, log_z in lifted.items()
    ]


def _from_entry(entry: Mapping[str, Any], folder: Path) -> MlnCase:
    databases = (CASES / entry["db"],) if entry.get("db") else ()
    if "db_text" in entry:
        databases = (folder / "corrected.db",)
        databases[0].write_text(entry["db_text"] + "\n")
    options: dict[str, Any] = {}
    if entry.get("closed_world_predicates"):
        options["closed"] = entry["closed_world_predicates"]
    if "CNF split" in entry["case"]:
        options["weights"] = "cnf"
    return MlnCase(CASES / entry["mln"], databases, options, entry.get("logZ"), entry.get("marginals", {}))


def other_cases(known: list[MlnCase]) -> list[MlnCase]:
    """Every other .mln, with the database that belongs to it."""
    seen = {case.path for case in known}
    paths = sorted([*CASES.rglob("*.mln"), *(CASES.parent / "first-order").rglob("*.mln")])
    found = [_other(path) for path in paths if path not in seen]
    learning = CASES.parent / "learning"
    folds = [("imdb.mln", "imdb_fold1.db"), ("webkb2.mln", "webkb2_fold1.db")]
    return found + [MlnCase(learning / a, (learning / b,)) for a, b in folds if learning.is_dir()]


def _other(path: Path) -> MlnCase:
    key = "/".join(path.relative_to(CASES.parent).parts[2:])
    beside = DATABASES.get(key)
    same = {"pracmln/smokers": "smoking-test-smaller.db", "probcog/smokers": "smoking-test-smaller.db"}
    same |= {"pracmln/vegetarians": "vegetarian-2-2.db", "probcog/vegetarians": "vegetarian-2-2.db"}
    same |= {
        "pracmln/alarm": "query1.db",
        "pracmln/tweety": "query1.db",
        "forclift_smoking": "smoking-test.db",
    }
    beside = beside or same.get("/".join(Path(key).parts[:-1]))
    return MlnCase(path, (path.parent / beside,) if beside else ())


needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the public models in ../shared/cases are absent")
