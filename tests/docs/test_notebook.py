"""The tutorial as a notebook: in step with the page, and its cells print what it shows."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs.blocks import WIDTH, timeless
from tests.docs.notebook import BOOK, ROOT, SOURCE, notebook, text


def test_it_is_in_step_with_the_page() -> None:
    fresh = text(notebook(SOURCE.read_text(encoding="utf-8")))
    assert BOOK.read_text(encoding="utf-8") == fresh, "run `python -m tests.docs.notebook`"


def printed(cell: Any) -> str:
    """What a cell shows as text; a bar that was taken away is nothing."""
    for output in cell.outputs:
        assert output.output_type != "error", (cell.source, output)
    kinds = [output for output in cell.outputs if output.get("name") != "stderr"]
    shown = "".join(o["text"] if o.output_type == "stream" else o["data"]["text/plain"] for o in kinds)
    return timeless(_STYLE.sub("", shown).replace("\r\n", "\n"))


_STYLE = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
"""What commands write to a terminal, which a cell has."""


def test_its_cells_print_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    formats, client = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    shown = formats.read(BOOK, as_version=4)
    formats.validate(shown)
    run = formats.read(BOOK, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    client.NotebookClient(
        run, timeout=300, allow_errors=True, kernel_name="python3", resources=resources
    ).execute()
    code = [pair for pair in zip(run.cells, shown.cells, strict=True) if pair[0].cell_type == "code"]
    assert len(code) > 20
    for now, then in code:
        assert printed(now) == printed(then), now.source
