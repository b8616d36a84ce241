"""A result as a table for people, fitted to the terminal."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable, Iterator
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from plx.answer.named import NamedAnswer, NamedAnswers
from plx.answer.numbers import count_text, error_text, log_z_text, number_text, probability_text
from plx.answer.rows import HEADINGS, Row, is_absent, rows, truth_text
from plx.answer.wide import loose, wide_parts
from plx.infer.inference import Inference
from plx.numerals import readable

if TYPE_CHECKING:
    from rich.table import Table


def table(result: NamedAnswers) -> Table:
    """The answers as a Rich table; columns that would be empty are left out."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    lines = list(rows(result))
    shown = [any(cells) for cells in zip(*lines, strict=True)]
    out = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name, heading in compress(zip(Row._fields, HEADINGS, strict=True), shown):
        text = name in ("query", "value", "mark")
        style = "yellow" if name == "mark" else None
        out.add_column(heading, justify="left" if text else "right", overflow="fold", style=style)
    for line in lines:
        out.add_row(*map(escape, compress(line, shown)))
    return out


def summary(result: NamedAnswers) -> list[str]:
    """What stands below the table: the method and why, log Z, seed, time, and every caveat."""
    run = result.inference
    lines = [f"method {run.method}" + (f": {run.reason}" if run.reason else "")]
    lines.append(", ".join(_facts(run)))
    lines += [f"note: {note}" for note in run.notes]
    return lines + warnings(result)


def _facts(run: Inference) -> Iterator[str]:
    if run.log_z is not None:
        yield log_z_phrase(run.log_z, run.log_z_mcse)
    if run.seed is not None:
        yield f"seed {run.seed}"
    if run.chains is not None and run.draws is not None:
        yield f"{run.chains} chains, {count_text(run.draws)} samples"
    yield f"{run.seconds:.2f} s"


def warnings(result: NamedAnswers) -> list[str]:
    """What a reader must know before trusting the numbers; empty if there is nothing."""
    queries, run = result.queries, result.inference
    found = [] if queries else ["the program asks nothing: add a `query`"]
    if run.status == "interrupted":
        found.append("interrupted: these are the answers so far")
    few = [*loose(queries)]
    late = sum(not query.answered for query in few)
    if late:
        found.append(f"{_of_all(late, result)} not known, as the time was over: give the run more --seconds")
    doubtful = sum(not q.converged for q in few if q.answered and q.kind != "map" and not is_absent(q))
    doubtful += sum(int(np.count_nonzero(~wide.converged)) for _, wide in wide_parts(queries))
    if doubtful:
        why = "; ".join(run.advice) or "give the run more --seconds or --samples"
        found.append(f"{_of_all(doubtful, result)} not converged: {why}")
    if any(not query.converged for query in few if query.kind == "map" and query.answered):
        found.append("not proved that no world is more probable: --method auto with more --seconds may")
    return found


def log_z_phrase(log_z: float, error: float) -> str:
    """log Z in a line of text, with its standard error."""
    return f"log Z {log_z_text(log_z, error)}" + (f" ± {error_text(error)}" if error else "")


def _of_all(n: int, result: NamedAnswers) -> str:
    return f"{count_text(n)} of {count_text(len(result.queries))} answers"


def plain_table(result: NamedAnswers) -> str:
    """The table and its summary as text without colours, as wide as the terminal."""
    return plain(table(result), summary(result))


def plain(shown: Table, below: Iterable[str]) -> str:
    """A table and lines below it as text without colours, as wide as the terminal."""
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
    console.print(shown, "", sep="\n")
    for line in below:
        console.print(line, markup=False)
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().strip("\n").split("\n"))


def one_line(query: NamedAnswer) -> str:
    """An answer in one line: ``0.8380 ± 0.0021``, ``mean 3.2``, ``fail 0.21, ml 0.79``."""
    if not query.answered:
        return "not known, as the time was over"
    mark = "" if query.converged else " (not converged)"
    return _short(query) + mark


def _short(query: NamedAnswer) -> str:
    error = error_text(query.mcse)
    if query.kind == "probability":
        return truth_text(query) + (f" ± {error}" if error else "")
    if query.kind == "number" and query.moments is not None:
        return f"mean {number_text(query.moments.mean, query.mcse)}" + (f" ± {error}" if error else "")
    if query.kind == "map":
        return f"log weight {number_text(query.worlds[0].log_weight)}" if query.worlds else "no world"
    if query.kind == "logz":
        return "log Z not known" if query.log_z is None else log_z_phrase(query.log_z, query.log_z_mcse)
    best = sorted(query.estimates, key=lambda estimate: -estimate.p)[:3]
    more = ", …" if len(query.estimates) > len(best) else ""
    return ", ".join(f"{readable(e.text)} {probability_text(e.p, e.mcse)}" for e in best) + more
