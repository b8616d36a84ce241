"""The gallery is what its script writes, and its figures are there, small and self-contained."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from tests.docs import gallery
from tests.docs.blocks import blocks
from tests.gallery import drawn

KINDS = 21


def silent(document: str) -> str:
    """The document without what its commands print."""
    for block in reversed(blocks(document)):
        if block.tag == "console":
            start, end = block.span
            commands = re.findall(r"^\$ .*\n", block.text, re.MULTILINE)
            document = document[:start] + "".join(commands) + document[end:]
    return document


def test_the_page_is_what_the_examples_say() -> None:
    written = gallery.PAGE.read_text(encoding="utf-8")
    assert silent(written) == gallery.page(), "python -m tests.docs.gallery writes it anew"


def test_each_program_is_there_once() -> None:
    files = [entry.file for entry in gallery.entries()]
    assert len(set(files)) == len(files) == KINDS


def test_figures_are_those_of_the_page_and_small() -> None:
    figures = {gallery.figure(entry) for entry in gallery.entries()}
    assert {*gallery.FIGURES.iterdir()} == figures
    for path in figures:
        text = path.read_text(encoding="utf-8")
        assert ElementTree.fromstring(text).tag.endswith("svg")
        assert len(text) < 60_000, path.name
        assert f"examples/{path.stem}" in text and str(gallery.ROOT) not in text, path.name


@pytest.mark.parametrize("name", drawn.FILES)
def test_data_are_those_of_their_seed(name: str) -> None:
    assert (drawn.EXAMPLES / name).read_text(encoding="utf-8") == drawn.text(name)
