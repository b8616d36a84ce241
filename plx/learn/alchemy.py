"""Learned weights written into the Markov logic network that they belong to, as Alchemy's learnwts does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final

from plx.errors import CallError, Diagnostic
from plx.learn.numbers import Learned
from plx.syntax import ast
from plx.values import Value

_PLUS: Final = re.compile(r"\+\s*(\??[A-Za-z_]\w*)", re.ASCII)
_BARE: Final = re.compile(r"[A-Z]\w*|\d+", re.ASCII)


def trained(learned: Sequence[Learned], weights: Mapping[str, float]) -> str:
    """The text of the network with weights in the place of those that it had, or before formulas without.

    A formula with ``+`` stands once for each constant. All else stays as it is. Raises CallError where the
    numbers are of no such network, of several files, or of the clauses of a formula.
    """
    nodes = [one.origin for one in learned if one.origin is not None]
    if not nodes or len(nodes) < len(learned):
        raise CallError(Diagnostic("the numbers were not learned for a .mln: write a .plx"))
    source = nodes[0].span.source
    for node in nodes:
        if node.span.source.name != source.name:
            message = f"weights were learned for rules of {source.name} and of {node.span.source.name}"
            raise CallError(Diagnostic(message, node.span, hint="put them into one file, or write a .plx"))
    text = source.text
    for start, group in reversed([(s, [*g]) for s, g in groupby(zip(nodes, learned, strict=True), _start)]):
        node = group[0][0]
        if any(other.name.text != node.name.text for other, _ in group):
            message = "the clauses of this formula were given weights of their own, and it has one"
            raise CallError(
                Diagnostic(
                    message, node.span, hint="write the clauses as formulas, or a .plx; or learn `whole`"
                )
            )
        lines = [f"{weights[one.name]!r} {_formula(node, one.key)}" for _, one in group]
        text = text[:start] + "\n".join(lines) + text[node.span.end :]
    return text


def _start(pair: tuple[ast.LearnDecl, Learned]) -> int:
    return pair[0].span.start


def _formula(node: ast.LearnDecl, key: Sequence[Value]) -> str:
    """The formula that a number weighs, its constants in the place of variables with ``+``."""
    begin = node.span.start if node.value is None else node.value.span.end
    text = node.span.source.text[begin : node.span.end].strip()
    names = list(dict.fromkeys(_PLUS.findall(text)))
    for name, value in zip(names, key, strict=True):
        constant = str(value) if _BARE.fullmatch(str(value)) else f'"{value}"'
        variable = rf"(?<![\w?])(\+\s*)?{re.escape(name)}(?!\w|\s*\()"
        text = re.sub(variable, constant.replace("\\", r"\\"), text)
    return text
