"""The file that a page on adding something shows: saved and imported."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from tests.docs.blocks import blocks

ROOT = Path(__file__).resolve().parents[2]


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def save(text: str, file: Path) -> Path:
    """The page's first block of Python, as the file that it says it is."""
    file.write_text(next(block.text for block in blocks(text) if block.tag == "python"), encoding="utf-8")
    return file


def load(file: Path) -> ModuleType:
    """The file as a module; its dataclasses look for it under its name."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


def entry(text: str) -> str:
    """The entry in a table that the page shows, as a literal."""
    (shown,) = (block.text for block in blocks(text) if block.tag == "text")
    return "{" + shown + "}"
