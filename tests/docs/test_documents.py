"""Every block of every document does what the document says."""

from __future__ import annotations

import re
from pathlib import Path
from unittest import mock

import pytest

from plx.formats.reader import READERS
from plx.infer.exact_choice import WAYS
from plx.infer.mcmc.samplers import SAMPLERS
from tests.docs.blocks import run_document, timeless

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_blocks_print_what_they_show(path: Path) -> None:
    with mock.patch.dict(SAMPLERS), mock.patch.dict(WAYS), mock.patch.dict(READERS):  # documents add to them
        shown = list(run_document(path.read_text(encoding="utf-8")))
    for block, printed in shown:
        assert timeless(printed) == timeless(block.text), f"{path.name}, block of line {block.line}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target
