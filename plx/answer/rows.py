"""A result as rows of text, the same ones for the terminal and for a notebook."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from plx.answer.named import Estimate, MapWorld, NamedAnswer, NamedAnswers
from plx.answer.numbers import count_text, error_text, log_z_text, number_text, probability_text
from plx.numerals import fraction_text, readable

MOST_QUERIES = 500
"""A table shows so many answers; the other formats show all. Of more it shows …"""

_LAST = 20
"""… the first and so many of the last."""

MOST_VALUES = 12
"""A query with more values shows the most probable of them."""

MOST_UNKNOWNS = 40
"""A world with more unknowns shows the first of them."""


class Row(NamedTuple):
    """One line of the table; ``mark`` is set where an answer has not converged."""

    query: str = ""
    value: str = ""
    answer: str = ""
    error: str = ""
    ess: str = ""
    rhat: str = ""
    mark: str = ""


HEADINGS = Row("query", "value", "answer", "± error", "ESS", "R-hat")


def rows(result: NamedAnswers) -> Iterator[Row]:
    """The rows of a table, those of one query in a block; its text and diagnostics on the first."""
    queries = result.queries
    if len(queries) <= MOST_QUERIES:
        for query in queries:
            yield from query_rows(query)
        return
    for query in queries[: MOST_QUERIES - _LAST]:
        yield from query_rows(query)
    yield Row(
        f"{count_text(len(queries) - MOST_QUERIES)} more of {count_text(len(queries))} answers",
        "see json, csv",
    )
    for query in queries[-_LAST:]:
        yield from query_rows(query)


def query_rows(query: NamedAnswer) -> Iterator[Row]:
    """The rows of one answer."""
    for k, (value, answer, error) in enumerate(_answers(query)):
        yield _first_row(query, value, answer, error) if k == 0 else Row("", value, answer, error)


def _first_row(query: NamedAnswer, value: str, answer: str, error: str) -> Row:
    return Row(
        query=readable(query.name),
        value=value,
        answer=answer,
        error=error,
        ess="" if query.ess is None else count_text(query.ess),
        rhat="" if query.rhat is None else rhat_text(query.rhat),
        mark="" if query.converged or not query.answered or is_absent(query) else "not converged",
    )


def is_absent(query: NamedAnswer) -> bool:
    """Whether log Z is asked for and not known."""
    return query.kind == "logz" and query.log_z is None


def rhat_text(rhat: float) -> str:
    """R-hat to read: three decimals, or ``inf``."""
    return f"{rhat:.3f}" if math.isfinite(rhat) else "inf"


def _answers(query: NamedAnswer) -> Iterator[tuple[str, str, str]]:
    """Value, answer and standard error of each row of a query."""
    if not query.answered:
        yield "", "not known", ""
    elif query.kind == "probability":
        exact = query.estimates[1].exact
        yield (
            "",
            truth_text(query) if exact is None else readable(fraction_text(exact)),
            error_text(query.mcse),
        )
    elif query.kind == "logz":
        yield (
            "log Z",
            "not known" if query.log_z is None else log_z_text(query.log_z, query.mcse),
            error_text(query.mcse),
        )
        if query.z is not None:
            yield "Z", readable(fraction_text(query.z)), ""
    elif query.kind == "map":
        yield from _world_rows(query)
    else:
        yield from _number_rows(query)
        yield from _value_rows(query)


def truth_text(query: NamedAnswer) -> str:
    """The probability of a formula, exact on both ends: 1 is printed only where false has 0."""
    false, true = query.estimates
    return probability_text(true.p, true.mcse, complement=false.p)


def _number_rows(query: NamedAnswer) -> Iterator[tuple[str, str, str]]:
    if query.kind != "number" or (moments := query.moments) is None:
        return
    yield "mean", number_text(moments.mean, moments.mcse), error_text(moments.mcse)
    if moments.sd is not None:
        yield "sd", number_text(moments.sd, moments.sd_mcse), error_text(moments.sd_mcse)


def _value_rows(query: NamedAnswer) -> Iterator[tuple[str, str, str]]:
    shown, rest = _most_probable(query.estimates)
    for estimate in shown:
        p = probability_text(estimate.p, estimate.mcse)
        exact = p if estimate.exact is None else readable(fraction_text(estimate.exact))
        yield readable(estimate.text), exact, error_text(estimate.mcse)
    if rest:
        worst = max(estimate.mcse for estimate in rest)
        yield (
            f"{count_text(len(rest))} more values",
            probability_text(sum(estimate.p for estimate in rest), worst),
            "",
        )


def _most_probable(estimates: tuple[Estimate, ...]) -> tuple[list[Estimate], list[Estimate]]:
    """The values to show, in the order of the domain, and those left out: the less probable ones where there
    are many, and among them all of probability 0."""
    if len(estimates) <= MOST_VALUES:
        return list(estimates), []
    best = sorted(range(len(estimates)), key=lambda i: -estimates[i].p)[:MOST_VALUES]
    chosen = {i for i in best if estimates[i].p}
    rest = [estimate for i, estimate in enumerate(estimates) if i not in chosen]
    return [estimates[i] for i in sorted(chosen)], rest


def _world_rows(query: NamedAnswer) -> Iterator[tuple[str, str, str]]:
    for number, world in enumerate(query.worlds, start=1):
        label = "log weight" if len(query.worlds) == 1 else f"log weight of world {number}"
        yield label, number_text(world.log_weight) + _proof_text(world), ""
        false = [name for name, value in world.assignment.items() if value is False]
        left_out = set(false) if len(false) > MOST_VALUES else set()
        unknowns = [(name, text) for name, text in world.texts.items() if name not in left_out]
        for name, text in unknowns[:MOST_UNKNOWNS]:
            yield readable(name), readable(text), ""
        if len(unknowns) > MOST_UNKNOWNS:
            yield f"{count_text(len(unknowns) - MOST_UNKNOWNS)} more", "in --format json", ""
        if left_out:
            yield f"{count_text(len(left_out))} others", "false", ""


def _proof_text(world: MapWorld) -> str:
    if world.optimal:
        return ""
    bound = "" if world.bound is None else f", at most {number_text(world.bound)}"
    return f" (not proved best{bound})"
