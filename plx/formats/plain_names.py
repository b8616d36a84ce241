"""Names for forms that take few characters: others are changed, and kept in a remark that plx reads back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Final

REMARK: Final = "plx"
"""The property that keeps the real name and states of a variable."""


@dataclass(frozen=True)
class Plain:
    """A variable as a form can write it. ``kept`` are its real name and states as JSON, None if nothing was
    changed."""

    name: str
    states: tuple[str, ...]
    kept: str | None


def plain_names(
    variables: Iterable[tuple[str, tuple[str, ...]]],
    is_name: Callable[[str], bool],
    is_state: Callable[[str], bool],
) -> list[Plain]:
    """Names and states of variables as a form takes them, each another one."""
    variables = list(variables)
    taken = {name for name, _ in variables if is_name(name)}
    found = []
    for name, states in variables:
        mine, fitting = name, [state for state in states if is_state(state)]
        if not is_name(name):
            mine = _word(name, "v", taken)
            taken.add(mine)
        used, plain = set(fitting), []
        for state in states:
            plain.append(state if is_state(state) else _word(state, "s", used))
            used.add(plain[-1])
        changed = mine != name or plain != list(states)
        kept = json.dumps([name, *states], ensure_ascii=False) if changed else None
        found.append(Plain(mine, tuple(plain), kept))
    return found


def is_word(text: str) -> bool:
    """Whether every tool takes a text for a name."""
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text) is not None


def is_word_or_number(text: str) -> bool:
    """Whether every tool takes a text for a state."""
    return is_word(text) or re.fullmatch(r"0|[1-9][0-9]{0,8}", text) is not None


def remark(kept: str) -> str:
    """The property of BIF that keeps names: JSON without the marks that end a property, or a string in it."""
    return f"{REMARK} = {without(kept, ';{}')}"


def without(kept: str, marks: str) -> str:
    """JSON without some signs inside its strings, quotes among them."""
    kept = kept.replace('\\"', "\\u0022")
    for mark in marks:
        kept = kept.replace(mark, f"\\u{ord(mark):04x}")
    return kept


def kept_names(text: str) -> str | None:
    """What a property keeps, None if it is another one."""
    name, equals, kept = text.partition("=")
    return kept.strip() if equals and name.strip() == REMARK else None


def real_names(kept: str | None, states: int) -> tuple[str, ...] | None:
    """The name and states that a remark keeps; None if it does not fit a variable of so many states."""
    try:
        found = json.loads(kept or "")
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or len(found) != states + 1 or not all(isinstance(x, str) for x in found):
        return None
    return tuple(found)


def _word(text: str, initial: str, taken: Collection[str]) -> str:
    base = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
    base = base if is_word(base) else f"{initial}_{base}".rstrip("_")
    name, number = base, 2
    while name in taken:
        name, number = f"{base}_{number}", number + 1
    return name
