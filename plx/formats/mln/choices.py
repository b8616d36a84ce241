"""What the caller decides where tools differ."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Literal

from plx.errors import CallError, Diagnostic, did_you_mean

_VALUES = {
    "weights": ("whole", "cnf"),
    "world": ("open", "evidence", "closed"),
    "dialect": ("alchemy", "pracmln"),
    "trained": ("absent", "all"),
}
_LISTS = ("closed", "hidden", "query")


@dataclass(frozen=True)
class Choices:
    """How a Markov logic network is read; None where the caller said nothing.

    ``weights``: a formula's weight counts ``whole``, or is shared among the clauses of its ``cnf`` as in
    Alchemy. ``world``: unlisted atoms are unknown (``open``), or false for predicates with ``evidence``
    that are not asked for, as in Alchemy, or all observed to be false (``closed``), which is what weights
    are learned from; but those of ``hidden`` predicates are unknown then. ``closed``: predicates that are
    known, their unlisted atoms false. ``query``: predicates or formulas to ask for, every open predicate
    if there are none. ``dialect``: who is followed where they read a formula differently. ``trained``:
    weights to learn are those that are ``absent``, or ``all`` of rules that need not hold. ``prior``: what
    is believed of them before, ``normal(0, 10)`` if nothing is said.
    """

    weights: Literal["whole", "cnf"] | None = None
    world: Literal["open", "evidence", "closed"] | None = None
    closed: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    query: tuple[str, ...] = ()
    dialect: Literal["alchemy", "pracmln"] | None = None
    trained: Literal["absent", "all"] | None = None
    prior: str | None = None


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
    lists = {name: _texts(name, options.get(name)) for name in _LISTS}
    if lists["hidden"] and options.get("world") != "closed":
        raise CallError(Diagnostic("`hidden` predicates are those of a world that is `closed` otherwise"))
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
