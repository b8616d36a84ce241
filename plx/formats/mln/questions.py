"""The texts of ``--query`` → what is asked for, one source each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from plx.formats.reader import read_source
from plx.source import Source

_COMMA: Final = re.compile(r""",(?=(?:[^()"']|"[^"]*"|'[^']*'|\([^()]*\))*$)(?![^()]*\))""")


def questions(texts: Sequence[str]) -> Iterator[Source]:
    """What is asked for: each text may name several, and may be a file with one a line."""
    for text in texts:
        if Path(text).suffix.lower() == ".db" and Path(text).is_file():
            source = read_source(text)
            for line in re.sub(r"//[^\n]*", "", source.text).splitlines():
                if line.strip():
                    yield Source(text, line.strip())
            continue
        for part in _COMMA.split(text):
            yield Source("query", part.strip())
