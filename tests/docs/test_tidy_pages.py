"""mypy and ruff pass the files that the pages on adding something show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, page, save

FILES = {
    "adding-a-format.md": "ties.py",
    "adding-a-sampler.md": "metropolis.py",
    "adding-an-exact-way.md": "possible_worlds.py",
}
# mypy skips the bodies of what is imported silently, so what it keeps is of no use to a run on all of plx.
COMMANDS = (
    ("mypy", "--strict", "--follow-imports=silent", f"--cache-dir={os.devnull}"),
    ("ruff", "check", "--config=pyproject.toml"),
    ("ruff", "format", "--check", "--config=pyproject.toml"),
)


def test_no_page_is_left_out() -> None:
    shown = {path.name for path in (ROOT / "docs").glob("adding-*.md")}
    assert shown == set(FILES)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0] + command[1].strip("-"))
def test_they_are_as_tidy_as_plx(command: tuple[str, ...], tmp_path: Path) -> None:
    files = [str(save(page(name), tmp_path / file)) for name, file in FILES.items()]
    done = subprocess.run([sys.executable, "-m", *command, *files], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
