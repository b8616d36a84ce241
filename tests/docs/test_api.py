"""docs/api.md says what the docstrings say, and every public name and parameter is there."""

from __future__ import annotations

import inspect
import re

import pytest

import plx
from tests.docs.api import PAGE, members, reference


def test_the_page_is_that_of_the_docstrings() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == reference(), "write it anew: python -m tests.docs.api"


@pytest.mark.parametrize("name", plx.__all__)
def test_every_public_name_is_described_with_its_parameters(name: str) -> None:
    found = getattr(plx, name)
    section = re.search(rf"^### `plx\.{name}`\n(.*?)(?=^##? |^### |\Z)", PAGE.read_text("utf-8"), re.M | re.S)
    assert section is not None
    methods = [(name, found)] if inspect.isfunction(found) else list(members(found))
    for own, method in methods:
        assert f"`{own}" in section[0] or f".{own}`" in section[0]
        if inspect.isfunction(method):
            for parameter in set(inspect.signature(method).parameters) - {"self"}:
                assert re.search(rf"\b{parameter}\b", section[0]), parameter
