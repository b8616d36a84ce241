"""Rows of text as a table for people."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def text_table(headings: Sequence[str], rows: Iterable[Iterable[str]], texts: Collection[str]) -> Table:
    """A Rich table; the columns ``texts`` stand to the left, those of numbers to the right."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    out = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in headings:
        out.add_column(heading, justify="left" if heading in texts else "right", overflow="fold")
    for row in rows:
        out.add_row(*map(escape, row))
    return out
