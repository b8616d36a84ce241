"""A text and random numbers → a damaged text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

TOKEN = re.compile(r'\s+|"[^"\n]*"|[^\W\d]\w*|[\d.]+(?:[eE][-+]?\d+)?|<=>|=>|\.\.|!=|<=|>=|[^\w\s]')

_ODD_NUMBERS = """0 -1 1 2 3 7 007 1_000 .5 5. 1e3 1e9 1e-9 1e308 1e309 -1e308 1e-400 1e-50000 1e50000
1e999999999 1e-999999999 99999999999999999999 -9223372036854775808 9223372036854775807
65535 65536 0.1 1/3 1/0 0^-1 -0 NaN inf 1e ٣ ½"""
NUMBERS = (*_ODD_NUMBERS.split(), "9" * 1000, "0." + "3" * 5000)

ODD_BYTES = [
    b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x00", b"\r\n", b"\r", b"\x0b", b"\x1b[31m", b"\t",
    *(mark.encode() for mark in ("\u2028", "\u202e", "\u00a0", "é", "e\u0301", "🙂", "#")),
]  # fmt: skip

Mutation = Callable[[list[str], Sequence[str], Random], None]


def damaged(text: str, others: Sequence[str], pool: Sequence[str], random: Random) -> bytes:
    """A text after one to four changes; ``others`` lend it lines, ``pool`` lends it tokens."""
    for _ in range(random.choice((1, 1, 1, 2, 3, 4))):
        if random.random() < 0.25:
            text = _lines(text, random.choice(others), random)
            continue
        tokens = TOKEN.findall(text) or [" "]
        random.choice(_MUTATIONS)(tokens, pool, random)
        text = "".join(tokens)
    content = text.encode("utf-8", "replace")
    return _bytes(content, random) if random.random() < 0.25 else content


# -------------------------------------------------------------------------- tokens


def _at(tokens: list[str], random: Random) -> int:
    """The place of a token that is no white space, if there is one."""
    places = [i for i, token in enumerate(tokens) if not token.isspace()]
    return random.choice(places or range(len(tokens)))


def _delete(tokens: list[str], pool: Sequence[str], random: Random) -> None:
    at = _at(tokens, random)
    del tokens[at : at + random.choice((1, 1, 1, 2, 5, 20))]


def _swap(tokens: list[str], pool: Sequence[str], random: Random) -> None:
    i, j = _at(tokens, random), _at(tokens, random)
    tokens[i], tokens[j] = tokens[j], tokens[i]


def _repeat(tokens: list[str], pool: Sequence[str], random: Random) -> None:
    at = _at(tokens, random)
    part = tokens[at : at + random.choice((1, 1, 2, 8))]
    tokens[at:at] = part * random.choice((1, 1, 1, 3, 300))


def _replace(tokens: list[str], pool: Sequence[str], random: Random) -> None:
    tokens[_at(tokens, random)] = random.choice(pool)


def _insert(tokens: list[str], pool: Sequence[str], random: Random) -> None:
    tokens.insert(_at(tokens, random), f" {random.choice(pool)} ")


def _exchange(tokens: list[str], pool: Sequence[str], random: Random) -> None:
    """One token of the text in the place of another: names where names are wanted."""
    tokens[_at(tokens, random)] = tokens[_at(tokens, random)]


def _number(tokens: list[str], pool: Sequence[str], random: Random) -> None:
    places = [i for i, token in enumerate(tokens) if token[0].isdigit()]
    tokens[random.choice(places) if places else _at(tokens, random)] = random.choice(NUMBERS)


_BRACKETS = ("()", "{}", "[]", "!*", '""', "- ", ("count(", ")"), ("exists(", " for x in a)"))


def _nest(tokens: list[str], pool: Sequence[str], random: Random) -> None:
    at = _at(tokens, random)
    left, right = random.choice(
        ("()", "{}", "[]", "!*", '""', "- ", ("count(", ")"), ("exists(", " for x in a)"))
    )
    depth = random.choice((1, 2, 5, 250, 5000))
    tokens[at] = left * depth + tokens[at] + right * depth


_MUTATIONS: tuple[Mutation, ...] = (
    _delete, _swap, _repeat, _replace, _replace, _insert, _exchange, _exchange, _number, _nest,
)  # fmt: skip


# ------------------------------------------------------------------- lines, bytes


def _lines(text: str, other: str, random: Random) -> str:
    """Lines of a text left out, doubled, moved, or mixed with those of another."""
    lines = text.splitlines(keepends=True) or [""]
    at = random.randrange(len(lines))
    change = random.randrange(5)
    if change == 0:
        del lines[at]
    elif change == 1:
        lines.insert(at, random.choice(lines))
    elif change == 2:
        lines.insert(0, lines.pop(at))
    elif change == 3:
        lines.insert(at, random.choice(other.splitlines(keepends=True) or [""]))
    else:
        lines = lines[:at]
    return "".join(lines)


def _bytes(content: bytes, random: Random) -> bytes:
    at = random.randrange(len(content) + 1)
    change = random.randrange(5)
    if change == 0:
        return content[:at] + random.choice(ODD_BYTES) + content[at:]
    if change == 1:
        return content[:at]
    if change == 2:
        return content[:at] + bytes([random.randrange(256)]) + content[at + 1 :]
    if change == 3:
        return content.replace(b"\n", random.choice((b"\r\n", b"\r", b"\n\n", b" ")))
    return b"\xef\xbb\xbf" + content if random.random() < 0.7 else content.decode("utf-8").encode("utf-16")
