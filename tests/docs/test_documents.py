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
    for target, heading in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", path.read_text(encoding="utf-8")):
        file = path.parent / target if target else path
        assert file.exists(), target
        assert not heading or heading in anchors(file), f"{target}#{heading}"


def anchors(page: Path) -> set[str]:
    """What GitHub and the site call the headings of a page; the second of two alike has a number."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    found: set[str] = set()
    for heading in headings:
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.add(f"{name}-1" if name in found else name)
    return found


def test_the_index_lists_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- \[[^\]]+\]\(([\w-]+\.md)\)", index, re.MULTILINE)
    assert sorted([*listed, "index.md"]) == sorted(path.name for path in (ROOT / "docs").glob("*.md"))
