"""Text and tables as HTML for notebooks, everything escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def html_table(headings: Sequence[str], rows: Iterable[Sequence[str]], foot: Iterable[str] = ()) -> str:
    """A table of text, and lines below it."""
    head = "".join(f"<th>{html.escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    below = "<br>".join(html.escape(line) for line in foot)
    return f"{table}<p>{below}</p>" if below else table


def html_lines(title: str, lines: Iterable[str] = ()) -> str:
    """A title in bold and lines below it."""
    return "<br>".join([f"<b>{html.escape(title)}</b>", *map(html.escape, lines)])


def html_text(text: str) -> str:
    """Text whose line breaks and blanks count."""
    return f"<pre>{html.escape(text)}</pre>"
