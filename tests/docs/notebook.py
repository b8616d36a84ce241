"""A document as a notebook: its programs are cells, and its outputs stand below them.

``python -m tests.docs.notebook`` writes docs/tutorial.ipynb anew. Files that a document saves are written by
``%%writefile`` cells, programs that its commands name too, and commands are ``!plx …`` cells.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.docs.blocks import NAMED, Block, blocks

ROOT = Path(__file__).resolve().parents[2]
SOURCE, BOOK = ROOT / "docs/tutorial.md", ROOT / "docs/tutorial.ipynb"
SETUP = "import plx\n\n%load_ext plx"


def notebook(document: str) -> dict[str, Any]:
    """The notebook of a document, in the format of nbformat 4.5."""
    cells = [{**cell, "id": f"cell-{number}"} for number, cell in enumerate(_cells(document), start=1)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def text(book: dict[str, Any]) -> str:
    return json.dumps(book, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _cells(document: str) -> Iterator[dict[str, Any]]:
    title, _, rest = document.partition("\n## ")
    yield _prose(title)
    yield _code(SETUP)
    document = f"## {rest}"
    called = " ".join(block.text for block in blocks(document) if block.tag == "console")
    found, end = blocks(document), 0
    for block, following in zip(found, [*found[1:], None], strict=True):
        start = block.span[0] - len(f"```{block.tag}\n")
        yield from map(_prose, filter(str.strip, [document[end:start]]))
        end = block.span[1] + len("```")
        shown = following.text if following is not None and following.tag == "output" else None
        yield from _of_block(block, shown, called)
    yield from map(_prose, filter(str.strip, [document[end:]]))


def _of_block(block: Block, shown: str | None, called: str) -> Iterator[dict[str, Any]]:
    named = NAMED.match(block.text)
    if block.tag == "plx" and named and named[1] in called:
        yield _written(named[1], block.text)
        if shown is not None:
            yield _code(f'plx.load("{named[1]}").run()', _result(shown))
    elif block.tag == "plx":
        yield _code(f"%%plx\n{block.text}", _result(shown) if shown else None)
    elif block.tag == "python":
        yield _code(block.text, _stream(shown) if shown else None)
    elif block.tag == "console":
        for command, printed in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block.text, re.MULTILINE):
            yield _code(f"!{command}", _stream(printed))
    elif block.tag.startswith(("csv ", "text ")):
        yield _written(block.tag.split()[1], block.text)
    elif block.tag != "output":
        yield _prose(f"```{block.tag}\n{block.text}```")


def _prose(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text.strip("\n")}


def _written(name: str, content: str) -> dict[str, Any]:
    return _code(f"%%writefile {name}\n{content}", _stream(f"Writing {name}\n"))


def _code(source: str, output: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [] if output is None else [output],
        "source": source.strip("\n"),
    }


def _result(shown: str) -> dict[str, Any]:
    data = {"text/plain": shown.strip("\n")}
    return {"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data}


def _stream(shown: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": shown}


if __name__ == "__main__":
    BOOK.write_text(text(notebook(SOURCE.read_text(encoding="utf-8"))), encoding="utf-8")
