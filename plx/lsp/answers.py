"""Answers to the queries of a program in an editor, worked out by a process that can be ended at any time."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from plx.source import Source
from plx.syntax import ast

if TYPE_CHECKING:
    from plx.answer.named import NamedAnswer

SECONDS: Final = 10.0
"""The time that a run may take where the editor says nothing else."""

_MOST_BESIDE = 3
"""Answers beside a query; a tooltip shows more."""

_MOST_LISTED = 50


class NoAnswersError(Exception):
    """Raised where a program cannot be answered; says why."""


async def answers(source: Source, folder: Path, seconds: float) -> Sequence[NamedAnswer]:
    """The answers, exact where that is in reach. Its process ends when the task is cancelled.

    Raises NoAnswersError with what `plx run` says.
    """
    from plx.answer.result import Result

    with TemporaryDirectory() as kept:
        file = Path(kept) / "answers.json"
        command = ["run", "-", "--seconds", str(seconds), "--output", str(file)]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "plx", *command),
            cwd=folder,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            _, told = await process.communicate(source.text.encode("utf-8", "surrogatepass"))
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode or not file.exists():
            raise NoAnswersError(told.decode(errors="replace").strip())
        return list(Result.load(file))


def beside(module: ast.Module, answered: Sequence[NamedAnswer]) -> Iterator[tuple[int, str, str]]:
    """The end of each query that has answers, these in short, and as many as can be read."""
    from plx.answer.table import one_line

    ends = {one.span.line: one.span.end for one in module.statements if isinstance(one, ast.Query)}
    for line, end in ends.items():
        mine = [query for query in answered if query.line == line]
        texts = [one_line(query) for query in mine]
        named = [f"{query.name}: {text}" for query, text in zip(mine, texts, strict=True)]
        if mine:
            short = texts[0] if len(mine) == 1 else ", ".join(named[:_MOST_BESIDE])
            yield end, _cut(short, len(mine), _MOST_BESIDE), _cut("\n".join(named[:_MOST_LISTED]), len(mine))


def _cut(text: str, count: int, most: int = _MOST_LISTED) -> str:
    return f"{text}, … ({count:,})" if count > most else text


def first_query(module: ast.Module) -> ast.Query | None:
    """The query above which an editor offers to answer."""
    return next((one for one in module.statements if isinstance(one, ast.Query)), None)
