"""The glossary names files that are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_term_names_a_file() -> None:
    rows = [
        line.split(" | ")
        for line in (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and not line.startswith(("| term", "| ---"))
    ]
    assert rows
    for row in rows:
        (file,) = re.findall(r"`(plx/[\w/]+\.py)`", row[-1])
        assert (ROOT / file).is_file(), f"{row[0]}: {file}"
