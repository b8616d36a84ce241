"""Rows of a table together with the value of what they do not list."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Else:
    """``plx.Else(rows, 0)``: a table, and the value of every index that it does not list.

    ``rows`` are in any form that a param or the observations of a random function take, the path of a
    file among them; ``value`` is a number, a truth value or a symbol.
    """

    rows: object
    value: object
