"""A result as one HTML page: the program with each answer beside its query, and how far to trust it.

The page needs no network and runs no script. It is light or dark as its reader is, one column where it is
narrow, and prints in light colours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import compress

from plx.answer.ground_report import HEADINGS as RULE_HEADINGS
from plx.answer.ground_report import rule_rows
from plx.answer.named import NamedAnswer, NamedAnswers, Subject
from plx.answer.numbers import count_text, error_text, probability_text
from plx.answer.plot import svg, variables
from plx.answer.rows import HEADINGS, Row, query_rows, rhat_text
from plx.answer.table import one_line, summary, warnings
from plx.extras import MissingLibraryError
from plx.numerals import readable
from plx.source import Source
from plx.syntax.highlight import pieces, statement_lines

_OPEN = 12
"""More answers than this to one query are folded up."""

_FULL = 200
"""More answers than this to one query have a line each."""


_LONG = 28
"""Characters of a text that stays on one line."""


def page(result: NamedAnswers, symmetries: str | None = None, brief: bool = False) -> str:
    """The page as text. ``symmetries`` are described in it where they are given; a brief page has neither the
    program nor plots."""
    title = escape(result.program)
    sections = [
        _section("Answers", _answers(result, brief)),
        _section("Plots", "" if brief else _plots(result)),
        _section("How it was answered", _run(result)),
        _section("Symmetries", f"<pre>{escape(symmetries)}</pre>" if symmetries else ""),
        _section("Size", _size(result.subject)),
    ]
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; img-src data:\">"
        f"<title>{title}</title><style>{_STYLE}</style>"
    )
    body = f"<header><h1>{title}</h1>{_verdict(result)}</header><main>{''.join(sections)}</main>"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _section(title: str, content: str) -> str:
    return f"<section><h2>{title}</h2>{content}</section>" if content else ""


def _verdict(result: NamedAnswers) -> str:
    """In what state the answers are, and every caveat."""
    doubts = warnings(result)
    if doubts:
        return f'<ul class="doubt">{"".join(f"<li>{escape(readable(line))}</li>" for line in doubts)}</ul>'
    exact = all(query.ess is None for query in result.queries)
    return f'<p class="good">{"exact" if exact else "converged"}</p>'


# ------------------------------------------------------------------ answers beside the program


def _answers(result: NamedAnswers, brief: bool) -> str:
    subject = result.subject
    if brief or subject is None or subject.text is None:
        return "".join(_of_query(queries) for queries in _by_line(result.queries).values())
    beside = _by_line(result.queries) if subject.own_lines else {}
    left_over = [] if subject.own_lines else [*_by_line(result.queries).values()]
    left_over += [beside.pop(None)] if None in beside else []
    below = "".join(f'<div class="row"><div></div>{_aside(queries)}</div>' for queries in left_over)
    return f'<div class="program">{"".join(_program(subject.text, beside))}{below}</div>'


def _by_line(queries: Iterable[NamedAnswer]) -> dict[int | None, list[NamedAnswer]]:
    found: dict[int | None, list[NamedAnswer]] = {}
    for query in queries:
        found.setdefault(query.line, []).append(query)
    return found


def _program(text: str, beside: dict[int | None, list[NamedAnswer]]) -> Iterator[str]:
    """The program in rows: one for each statement that has answers, one for what stands between them."""
    source = Source("", text)
    lines = _highlighted(source)
    ends = statement_lines(source)
    done = 0
    for line in sorted(line for line in beside if line is not None):
        end = max(line, ends.get(line, line))
        if line - 1 > done:
            yield _row(lines, done, line - 1)
        yield _row(lines, max(done, line - 1), end, _aside(beside[line]))
        done = max(done, end)
    if done < len(lines):
        yield _row(lines, done, len(lines))


def _highlighted(source: Source) -> list[str]:
    """The lines of a program as HTML."""
    lines: list[list[str]] = [[]]
    for kind, text in pieces(source):
        first, *more = text.split("\n")
        for number, part in enumerate((first, *more)):
            if number:
                lines.append([])
            if part := part.rstrip("\r"):
                lines[-1].append(escape(part) if kind == "blank" else f'<i class="{kind}">{escape(part)}</i>')
    if lines and not lines[-1]:
        lines.pop()
    return ["".join(line) for line in lines]


def _row(lines: Sequence[str], start: int, end: int, aside: str = "") -> str:
    code = "".join(f'<span data-n="{n + 1}">{lines[n]}</span>' for n in range(start, end))
    return f'<div class="row"><pre><code>{code}</code></pre>{aside}</div>'


def _aside(queries: Sequence[NamedAnswer]) -> str:
    return f"<aside>{_of_query(queries)}</aside>"


def _of_query(queries: Sequence[NamedAnswer]) -> str:
    """The answers to all instances of a query; many are folded up, below a line on all of them."""
    if len(queries) <= _OPEN:
        return _table(queries)
    return f"<details><summary>{escape(_in_short(queries))}</summary>{_table(queries)}</details>"


def _in_short(queries: Sequence[NamedAnswer]) -> str:
    parts = [f"{count_text(len(queries))} answers"]
    known = [query for query in queries if query.answered]
    if known and all(query.kind == "probability" for query in known):
        ends = sorted(known, key=_probability)
        least, most = (
            f"{probability_text(_probability(q), q.mcse)} ({readable(q.name)})" for q in (ends[0], ends[-1])
        )
        parts.append(f"from {least} to {most}")
    if doubtful := sum(not query.converged for query in known if query.kind != "logz"):
        parts.append(f"{count_text(doubtful)} not converged")
    return ", ".join(parts)


def _probability(query: NamedAnswer) -> float:
    return next(estimate.p for estimate in query.estimates if estimate.value is True)


def _table(queries: Sequence[NamedAnswer]) -> str:
    """The rows of answers, as everywhere, with a bar for each probability."""
    rows: list[tuple[Row, float | None]] = []
    for query in queries:
        if len(queries) > _FULL:
            row = next(query_rows(query))
            p = _probability(query) if query.kind == "probability" and query.answered else None
            rows.append((row._replace(value="", answer=one_line(query), error="", mark=""), p))
        else:
            rows += zip(query_rows(query), _bars(query), strict=False)
    shown = [any(cells) for cells in zip(*(row for row, _ in rows), strict=True)]
    return _html_table(
        compress(HEADINGS, shown),
        ([*compress(row, shown)] for row, _ in rows),
        ["text" if name in ("query", "value", "mark") else "" for name in compress(Row._fields, shown)],
        [p for _, p in rows],
    )


def _bars(query: NamedAnswer) -> Iterator[float | None]:
    """The probability that each row of an answer tells, None where it tells something else."""
    if query.kind == "probability" and query.answered:
        yield _probability(query)
        return
    p = {readable(estimate.text): estimate.p for estimate in query.estimates}
    for row in query_rows(query):
        yield p.get(row.value)


def _html_table(
    headings: Iterable[str],
    rows: Iterable[Sequence[str]],
    styles: Sequence[str],
    bars: Sequence[float | None] = (),
) -> str:
    """A table of text; ``styles`` are the classes of columns, a bar stands at the end of its row."""
    head = "".join(f"<th{_class(s)}>{escape(h)}</th>" for h, s in zip(headings, styles, strict=True))
    out = [f'<div class="scroll"><table><thead><tr>{head}{"<th></th>" if bars else ""}</tr></thead><tbody>']
    for number, row in enumerate(rows):
        cells = "".join(
            f"<td{_class(s, cell)}>{escape(cell)}</td>" for cell, s in zip(row, styles, strict=True)
        )
        out.append(f"<tr>{cells}{_bar(bars[number]) if bars else ''}</tr>")
    return "".join([*out, "</tbody></table></div>"])


def _class(style: str, text: str = "") -> str:
    """The class of a cell; a long text may be broken into lines."""
    style = f"{style} long" if style and len(text) > _LONG else style
    return f' class="{style}"' if style else ""


def _bar(p: float | None) -> str:
    if p is None:
        return "<td></td>"
    return f'<td class="bar"><span style="width:{100 * min(1.0, max(0.0, p)):.1f}%"></span></td>'


# ------------------------------------------------------------------------ what stands below


def _plots(result: NamedAnswers) -> str:
    if not result.queries:
        return ""
    try:
        return f"<figure>{svg(result)}</figure>"
    except MissingLibraryError as error:
        found = error.diagnostics[0]
        return f"<p>{escape(found.message)}: <code>{escape(found.hint or '')}</code></p>"


def _run(result: NamedAnswers) -> str:
    doubts = warnings(result)
    lines = [line for line in summary(result) if line not in doubts] + [*_convergence(result)]
    return "".join(f"<p>{escape(readable(line))}</p>" for line in lines)


def _convergence(result: NamedAnswers) -> Iterator[str]:
    """The worst of each measure of the sampled answers, and whose it is."""
    sampled = [query for query in result.queries if query.ess is not None]
    if not sampled:
        return
    worst = max(sampled, key=lambda query: query.mcse)
    yield f"largest standard error: {error_text(worst.mcse) or '0'} ({worst.name})"
    worst = min(sampled, key=lambda query: query.ess or 0.0)
    yield f"smallest effective sample size: {count_text(worst.ess or 0.0)} ({worst.name})"
    worst = max(sampled, key=_rhat)
    yield f"largest R-hat: {rhat_text(_rhat(worst))} ({worst.name})"


def _rhat(query: NamedAnswer) -> float:
    return math.inf if query.rhat is None else query.rhat


def _size(subject: Subject | None) -> str:
    if subject is None:
        return ""
    told = "".join(f"<p>{escape(line)}</p>" for line in subject.size.splitlines())
    if not subject.rules:
        return told
    styles = ["text" if name == "rule" else "" for name in RULE_HEADINGS]
    count = f"{count_text(len(subject.rules))} rule{'s' * (len(subject.rules) != 1)}"
    rules = _html_table(RULE_HEADINGS, rule_rows(subject.rules), styles)
    return f"{told}<details><summary>{count}</summary>{rules}</details>"


_LIGHT = (
    "--back:#fff; --panel:#f6f7f9; --text:#1b1b1b; --faint:#5c6370; --line:#d9dce1; --good:#12692f;"
    " --doubt:#8f4a00; --bar:#0072b2; --statement:#7a1fa2; --keyword:#0b5cad; --declared:#9a3412;"
    " --number:#0b6e4f; --string:#a31545; --comment:#5c6370; --mistake:#b00020; "
)
_DARK = (
    "--back:#16181d; --panel:#1e2128; --text:#e8e8e8; --faint:#a3a9b5; --line:#3a3e47; --good:#6cd28b;"
    " --doubt:#f0b25b; --bar:#56b4e9; --statement:#d6a6f5; --keyword:#82bdf5; --declared:#f5b48a;"
    " --number:#7fd6b3; --string:#f29cb5; --comment:#a3a9b5; --mistake:#ff8a95; "
)

_STYLE = (
    f"""
:root {{ {_LIGHT}{variables("light")} color-scheme: light dark; }}
@media (prefers-color-scheme: dark) {{ :root {{ {_DARK}{variables("dark")} }} }}
"""
    + """
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 90rem; padding: 1rem clamp(0.75rem, 3vw, 2.5rem) 3rem;
  background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
h1 { margin: 0.5rem 0 0.25rem; font-size: 1.6rem; overflow-wrap: anywhere; }
h2 { margin: 2rem 0 0.5rem; font-size: 1.15rem; }
p { margin: 0.25rem 0; overflow-wrap: anywhere; }
pre, code { font: 0.875rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
section > pre { padding: 0.75rem; background: var(--panel); border-radius: 0.4rem; }
.good { color: var(--good); font-weight: 600; }
.doubt { color: var(--doubt); font-weight: 600; padding-left: 1.2rem; }
.program { border: 1px solid var(--line); border-radius: 0.4rem; overflow: hidden; }
.row { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
.row > pre { padding: 0 0.75rem 0 0; background: var(--panel); }
.row > pre span { display: block; position: relative; min-height: 1.5em; padding-left: 3.75rem; }
.row > pre span::before { content: attr(data-n); position: absolute; left: 0; width: 2.75rem;
  text-align: right; color: var(--faint); }
.row > pre:only-child { grid-column: 1 / -1; }
.row > pre i { font-style: normal; }
.row > :nth-child(2) { padding: 0 0.9rem 0.6rem; border-left: 1px solid var(--line); min-width: 0; }
.statement { color: var(--statement); font-weight: 600; } .keyword { color: var(--keyword); }
.declared { color: var(--declared); font-weight: 600; } .number { color: var(--number); }
.string { color: var(--string); } .comment { color: var(--comment); }
.mistake { color: var(--mistake); text-decoration: underline wavy; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.1rem 0.9rem 0.1rem 0; text-align: right; white-space: nowrap; vertical-align: baseline; }
th { color: var(--faint); font-weight: 500; border-bottom: 1px solid var(--line); }
.text { text-align: left; } .long { white-space: normal; overflow-wrap: anywhere; min-width: 14rem; }
.bar { width: 8rem; min-width: 4rem; } .bar span { display: block; height: 0.6rem; background: var(--bar); }
details > .scroll { max-height: 36rem; overflow: auto; }
details thead th { position: sticky; top: 0; background: var(--back); }
summary { cursor: pointer; overflow-wrap: anywhere; }
figure { margin: 0; overflow-x: auto; } figure svg { width: 100%; min-width: 42rem; height: auto; }
@media (max-width: 60rem) {
  .row { grid-template-columns: minmax(0, 1fr); }
  .row > :nth-child(2) { border-left: 0; padding: 0.3rem 0.75rem 0.6rem; }
}
@media print {
"""
    + f"  :root {{ {_LIGHT}{variables('light')} }}"
    + """
  body { max-width: none; padding: 0; font-size: 10pt; }
  tr, figure { break-inside: avoid; } h2 { break-after: avoid; }
  details > .scroll { max-height: none; } figure svg { min-width: 0; }
  .bar span { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
)
