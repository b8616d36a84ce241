"""A result as a table for people, fitted to the terminal."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

from plx.answer.numbers import count_text, error_text, number_text, probability_text
from plx.answer.result import QueryResult, Result
from plx.answer.rows import Row, rows, truth_text
from plx.numerals import readable

if TYPE_CHECKING:
    from rich.table import Table

_HEADINGS = {
    "query": "query",
    "value": "value",
    "answer": "answer",
    "error": "± error",
    "ess": "ESS",
    "rhat": "R-hat",
    "mark": "",
}


def table(result: Result) -> Table:
    """The answers as a Rich table; columns that would be empty are left out."""
    from rich import box
    from rich.table import Table

    lines = list(rows(result))
    columns = [name for name in _HEADINGS if any(getattr(line, name) for line in lines)]
    out = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in columns:
        text = name in ("query", "value", "mark")
        style = "yellow" if name == "mark" else None
        out.add_column(_HEADINGS[name], justify="left" if text else "right", overflow="fold", style=style)
    for line in lines:
        out.add_row(*_cells(line, columns))
    return out


def _cells(line: Row, columns: list[str]) -> Iterator[str]:
    from rich.markup import escape

    return (escape(getattr(line, name)) for name in columns)


def summary(result: Result) -> list[str]:
    """What stands below the table: the method and why, log Z, seed, time, and every caveat."""
    lines = [f"method {result.method}" + (f": {result.reason}" if result.reason else "")]
    lines.append(", ".join(_facts(result)))
    lines += [f"note: {note}" for note in result.notes]
    return lines + warnings(result)


def _facts(result: Result) -> Iterator[str]:
    if result.log_z is not None:
        yield f"log Z {number_text(result.log_z)}"
    if result.seed is not None:
        yield f"seed {result.seed}"
    chains, draws = result.inference.chains, result.inference.draws
    if chains is not None and draws is not None:
        yield f"{chains} chains, {count_text(draws)} samples"
    yield f"{result.inference.seconds:.2f} s"


def warnings(result: Result) -> list[str]:
    """What a reader must know before trusting the numbers; empty if there is nothing."""
    found = [] if len(result) else ["the program asks nothing: add a `query`"]
    if result.status == "interrupted":
        found.append("interrupted: these are the answers so far")
    late = sum(not query.answered for query in result)
    if late:
        found.append(f"{_of_all(late, result)} unknown, as the time was over: give the run more --seconds")
    doubtful = sum(not q.converged for q in result if q.answered and q.kind not in ("map", "logz"))
    if doubtful:
        why = "; ".join(result.inference.advice) or "give the run more --seconds or --samples"
        found.append(f"{_of_all(doubtful, result)} not converged: {why}")
    if any(not query.converged for query in result if query.kind == "map" and query.answered):
        found.append("not proved that no world is more probable: --method auto with more --seconds may")
    return found


def _of_all(n: int, result: Result) -> str:
    return f"{count_text(n)} of {count_text(len(result))} answers"


def plain_table(result: Result) -> str:
    """The table and its summary as text without colours, as wide as the terminal."""
    from rich.console import Console

    width = shutil.get_terminal_size().columns
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=False,
        force_jupyter=False,
        color_system=None,
        highlight=False,
    )
    console.print(table(result), "", sep="\n")
    for line in summary(result):
        console.print(line, markup=False)
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().strip("\n").split("\n"))


def one_line(query: QueryResult) -> str:
    """An answer in one line: ``0.8380 ± 0.0021``, ``mean 3.2``, ``fail 0.21, ml 0.79``."""
    if not query.answered:
        return "unknown, as the time was over"
    mark = "" if query.converged else " (not converged)"
    return _short(query) + mark


def _short(query: QueryResult) -> str:
    error = error_text(query.mcse)
    if query.kind == "probability":
        return truth_text(query) + (f" ± {error}" if error else "")
    if query.moments is not None:
        return f"mean {number_text(query.mean, query.mcse)}" + (f" ± {error}" if error else "")
    if query.kind == "map":
        return f"log weight {number_text(query.log_weight)}"
    if query.kind == "logz":
        return "log Z unknown" if query.log_z is None else f"log Z {number_text(query.log_z)}"
    best = sorted(query.estimates, key=lambda estimate: -estimate.p)[:3]
    more = ", …" if len(query.estimates) > len(best) else ""
    return ", ".join(f"{readable(e.text)} {probability_text(e.p, e.mcse)}" for e in best) + more
