"""Programs that learn, and what the interpreter of `tests.oracle` says of them."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from plx.source import Source
from plx.syntax import ast
from plx.syntax.parser import parse
from tests.oracle import Interpreter, log_sum
from tests.random_programs import programs

_MOST_WORLDS = 300

LEARN = "learn one = <one>\nlearn two = <two>\nlearn each(T) = <each>\n"


@st.composite
def learning(draw: st.DrawFn) -> str:
    """A random program whose weights and factors hold learned numbers; `at` gives them their starts."""
    text = draw(programs())
    for statement in reversed(parse(Source("program", text)).statements):
        span = statement.span
        if isinstance(statement, ast.Query):
            text = text[: span.start] + text[span.end :]
        elif isinstance(statement, ast.Weight | ast.Factor):
            part = statement.weight if isinstance(statement, ast.Weight) else statement.value
            text = text[: part.span.start] + draw(affine(part.span.text)) + text[part.span.end :]
    assume(math.prod(map(len, interpreted(at(LEARN + text, np.zeros(3))).atoms.values())) <= _MOST_WORLDS)
    return LEARN + text


def affine(term: str) -> st.SearchStrategy[str]:
    return st.sampled_from(
        [f"one * ({term})", f"({term}) + two", f"two * ({term}) / 2 - one", f"-(each(t1) * ({term}) - one)"]
    )


def at(text: str, weights: np.ndarray) -> str:
    """The program with these starts: one, two, and the same for every ``each``."""
    one, two, each = (f"{float(w):.17g}" for w in weights)
    return text.replace("<one>", one).replace("<two>", two).replace("<each>", each)


def interpreted(text: str) -> Interpreter:
    return Interpreter(parse(Source("program", text)))


def log_likelihood(text: str) -> float:
    """log P of what a program observes, by enumeration."""
    module = parse(Source("program", text))
    kept = [s for s in module.statements if not isinstance(s, ast.Observe | ast.ObserveFrom)]
    free = ast.Module(tuple(kept), module.source)
    return log_sum(list(Interpreter(module).worlds())) - log_sum(list(Interpreter(free).worlds()))


def slopes(function, at_: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Central differences of a function."""
    return np.array(
        [(function(at_ + step * e) - function(at_ - step * e)) / (2 * step) for e in np.eye(len(at_))]
    )
