"""Runs the blocks of a document, so that what it shows is what happens.

``plx`` blocks are complete programs: they are checked, and run if an ``output`` block follows. A
first line ``# name.plx`` saves the program under that name. A document that runs what stands in
``examples/`` finds a copy of them. ``csv NAME`` and ``text NAME`` blocks are
saved under theirs. ``console`` blocks hold ``$ plx …`` commands with what they print. ``python`` blocks
share one namespace, and an ``output`` block after one is what it prints. Other blocks are not run.
Times of runs are not compared.

``python -m tests.docs.blocks docs/tutorial.md`` writes the outputs anew.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from unittest import mock

from plx.cli import main

_FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"# (\S+\.plx)\n")
_SECONDS = re.compile(r"\b\d+\.\d+ s\b|\b\d\.\d{3}$", re.MULTILINE)
_EXAMPLES = re.compile(r"^(# |\$ plx .*)examples/", re.MULTILINE)
WIDTH = 100
_NEVER = 1e6
ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Block:
    """A fenced block: its tag, its text, the line it stands on and where its text is in the document."""

    tag: str
    text: str
    line: int
    span: tuple[int, int]


def blocks(document: str) -> list[Block]:
    return [
        Block(m[1].strip(), m[2], document.count("\n", 0, m.start()) + 1, m.span(2))
        for m in _FENCE.finditer(document)
    ]


def timeless(text: str) -> str:
    """The text without seconds, and without blanks at line ends."""
    return "\n".join(line.rstrip() for line in _SECONDS.sub("… s", text).strip("\n").split("\n"))


def command(line: str) -> tuple[int, str]:
    """Exit code and standard output, then standard error, of a ``plx …`` command line."""
    _, *arguments = shlex.split(line)
    return call(arguments)


def call(arguments: list[str], stdin: str = "") -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    given = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    with (
        mock.patch.object(sys, "argv", ["plx", *arguments]),
        mock.patch.object(sys, "stdin", given),
        mock.patch.dict(os.environ, {"COLUMNS": str(WIDTH)}),
        mock.patch("plx.progress._PATIENCE", _NEVER),  # slow work would report of itself
        mock.patch("plx.progress._LINE_EVERY", _NEVER),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0), out.getvalue() + err.getvalue()


def run_document(document: str) -> Iterator[tuple[Block, str]]:
    """Each block that shows output, with what it prints now; in a folder of its own."""
    here = Path.cwd()
    found = blocks(document)
    namespace = sys.modules.setdefault("document", ModuleType("document")).__dict__
    with TemporaryDirectory() as folder:
        if _EXAMPLES.search(document):
            shutil.copytree(ROOT / "examples", Path(folder) / "examples")
        os.chdir(folder)
        known = mock.patch("plx.infer.infer.KNOWN", _NEVER)  # the way that is taken must not hang on a clock
        try:
            known.start()
            for block, following in zip(found, [*found[1:], None], strict=False):
                printed = run_block(block, namespace, following)
                if block.tag == "console":
                    yield block, printed
                elif following is not None and following.tag == "output":
                    yield following, printed
        finally:
            known.stop()
            os.chdir(here)


def run_block(block: Block, namespace: dict[str, object], following: Block | None) -> str:
    if block.tag == "plx":
        return run_program(block, shown=following is not None and following.tag == "output")
    if block.tag == "python":
        out = io.StringIO()
        with contextlib.redirect_stdout(out), mock.patch.dict(os.environ, {"COLUMNS": str(WIDTH)}):
            exec(compile(block.text, f"line {block.line}", "exec"), namespace)
        return out.getvalue()
    if block.tag == "console":
        return "\n".join(run_commands(block))
    if block.tag.startswith(("csv ", "text ")):
        file = Path(block.tag.split()[1])
        file.parent.mkdir(exist_ok=True)
        file.write_text(block.text, encoding="utf-8")
    return ""


def run_program(block: Block, shown: bool) -> str:
    named = NAMED.match(block.text)
    if named:
        Path(named[1]).write_text(block.text, encoding="utf-8")
    program = named[1] if named and "/" in named[1] else "-"  # its data stand beside it
    code, printed = call(["run" if shown else "check", program], block.text)
    assert code == 0, f"the program of line {block.line}:\n{printed}"
    return printed


def run_commands(block: Block) -> Iterator[str]:
    for line in block.text.split("\n"):
        if line.startswith("$ "):
            _, printed = command(line[2:])
            yield line
            yield printed.strip("\n")


def rewrite(path: Path) -> None:
    """Put what the blocks print now into the document."""
    document = path.read_text(encoding="utf-8")
    shown = list(run_document(document))
    for block, printed in reversed(shown):
        start, end = block.span
        fresh = "\n".join(line.rstrip() for line in printed.strip("\n").split("\n")) + "\n"
        if timeless(fresh) != timeless(block.text):
            document = document[:start] + fresh + document[end:]
    path.write_text(document, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(Path(name).resolve())
