"""Public Markov logic networks: the answers that are known, and a name for all that is not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from plx.errors import PlxError
from tests.formats.published_mln import known_cases, needs_cases, other_cases

WIDE = ("testmln1.mln", "testmln5.mln", "leon_bug2.mln")
SLOW = ("testmln6.mln", "testmln3.mln", "testmln4.mln", "alarm.mln")


@needs_cases
@pytest.mark.parametrize("folder", ["mln/probcog", "mln/rockit_exact", "mln/alchemy_tutorial", "lifted", ""])
def test_known_answers(folder: str, tmp_path: Path) -> None:
    known = [case for case in known_cases(tmp_path) if case.path.name not in (*WIDE, *SLOW)]
    chosen = [case for case in known if folder and f"cases/{folder}" in case.folder]
    chosen = chosen or [case for case in known if "exdata" in case.folder or "tuffy" in case.folder]
    assert chosen
    for case in chosen:
        assert case.differences(case.read()) == [], case.name


@needs_cases
def test_a_thousand_clauses(tmp_path: Path) -> None:
    (case,) = [
        case for case in known_cases(tmp_path) if case.databases and case.databases[0].parent == tmp_path
    ]
    assert case.differences(case.read()) == []


@needs_cases
def test_every_other_file_is_read_or_refused_by_name(tmp_path: Path) -> None:
    outcomes = set()
    for case in other_cases(known_cases(tmp_path)):
        try:
            case.read()
            outcomes.add("read")
        except PlxError as error:
            outcomes.add("refused")
            assert all(mistake.span is not None for mistake in error.diagnostics), case.name
            assert not any(word in str(error) for word in ("LPAR", "EQUAL", "$END")), case.name
    assert outcomes == {"read", "refused"}
