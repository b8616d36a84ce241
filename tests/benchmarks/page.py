"""Writes tables into a document, between markers ``<!-- name -->`` and ``<!-- end name -->``."""

from __future__ import annotations

import re
from pathlib import Path


def write(path: Path, name: str, content: str) -> None:
    """Replace what stands between the markers of a name. Raises ValueError if they are missing."""
    document = path.read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->", f"<!-- end {name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not pattern.search(document):
        raise ValueError(f"{path} has no place for {name}: add {begin} and {end}")
    path.write_text(pattern.sub(lambda _: f"{begin}\n{content}\n{end}", document), encoding="utf-8")
