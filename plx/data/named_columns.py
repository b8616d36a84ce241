"""The columns of a file that a program names, and what to say where it should name some."""

from __future__ import annotations

from collections.abc import Sequence

from plx.data.shape import Shape
from plx.errors import Diagnostic, PlxError, did_you_mean
from plx.syntax.printer import print_value

_SHOWN = 12
"""At most so many names of columns are shown."""


def chosen_columns(names: Sequence[str], file: str, listing: str, shape: Shape) -> tuple[int, ...]:
    """Where the columns stand that the program names; none where it names none.

    ``file`` and ``listing`` call the file and the place of its names in messages. Raises PlxError for a
    column that is not there, or twice.
    """
    problems = []
    for column in shape.columns:
        if names.count(column.text) == 1:
            continue
        if column.text in names:
            message, hint = f"{file} has two columns `{column.text}`", None
        else:
            message = f"{file} has no column `{column.text}`"
            listed = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
            hint = did_you_mean(column.text, names) or (f"{listing}: {listed}" if names else None)
        problems.append(Diagnostic(message, column.span, hint=hint))
    if problems:
        raise PlxError(problems)
    return tuple(names.index(column.text) for column in shape.columns)


def advice(source: str, names: Sequence[str], shape: Shape) -> str:
    """How the program names columns that are not called as its slots, or some of many.

    ``source``: what the program has before them, ``from "people.csv"``.
    """
    known = [label for label in shape.labels if label in names]
    if shape.slots and set(shape.slots) <= set(known) and shape.fits(len(known)) and not shape.shared:
        return f"`{source} columns ({_listed(known)})` reads these alone"
    if shape.fits(len(names)):
        order = ", ".join(shape.labels[: len(names)])
        return f"`{source} columns ({_listed(names)})` takes them for {order}"
    wanted = f"those that are wanted, in the order {shape.wanted}" if shape.slots else "the one"
    return f"`{source} columns (…)` names {wanted}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(print_value, names))
