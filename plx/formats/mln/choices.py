"""What the caller decides where tools differ."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Literal

from plx.errors import CallError, Diagnostic, did_you_mean

_VALUES = {"weights": ("whole", "cnf"), "world": ("open", "evidence"), "dialect": ("alchemy", "pracmln")}


@dataclass(frozen=True)
class Choices:
    """How a Markov logic network is read; None where the caller said nothing.

    ``weights``: a formula's weight counts ``whole``, or is shared among the clauses of its ``cnf`` as in
    Alchemy. ``world``: unlisted atoms are unknown (``open``), or false for predicates with ``evidence``
    that are not asked for, as in Alchemy. ``closed``: predicates whose unlisted atoms are false.
    ``query``: predicates or formulas to ask for, every open predicate if there are none. ``dialect``:
    who is followed where they read a formula differently.
    """

    weights: Literal["whole", "cnf"] | None = None
    world: Literal["open", "evidence"] | None = None
    closed: tuple[str, ...] = ()
    query: tuple[str, ...] = ()
    dialect: Literal["alchemy", "pracmln"] | None = None


def chosen(**options: object) -> Choices:
    """The choices of a call. Raises CallError for one that there is not."""
    names = [field.name for field in fields(Choices)]
    for name in options:
        if name not in names:
            message = f"a Markov logic network has no option `{name}`"
            raise CallError(
                Diagnostic(message, hint=did_you_mean(name, names) or f"there are {', '.join(names)}")
            )
    for name, allowed in _VALUES.items():
        _check(name, options.get(name), allowed)
    lists = {name: _texts(name, options.get(name)) for name in ("closed", "query")}
    return Choices(**{**options, **lists})  # type: ignore[arg-type]


def _check(name: str, value: object, allowed: Collection[str]) -> None:
    if value is not None and value not in allowed:
        raise CallError(
            Diagnostic(f"{name} is {' or '.join(f'`{text}`' for text in allowed)}, not `{value}`")
        )


def _texts(name: str, value: object) -> tuple[str, ...]:
    given = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(given, Sequence) or not all(isinstance(text, str) for text in given):
        raise CallError(Diagnostic(f"{name} is a list of texts"))
    return tuple(given)
