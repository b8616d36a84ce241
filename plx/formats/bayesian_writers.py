"""Bayesian networks → .bif, XMLBIF and Hugin's .net, with the names that their readers in plx give back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Final
from xml.sax.saxutils import escape

from plx.errors import Diagnostic, PlxError
from plx.formats.bayesian import BayesianNetwork, Family
from plx.formats.plain_names import REMARK, Plain, is_word, is_word_or_number, plain_names, remark, without


def write_bif(network: BayesianNetwork) -> str:
    """A network as BIF. Names and states that are no words are changed; a property keeps them."""
    names = plain_names(network.variables, is_word, is_word_or_number)
    return "\n".join(["network unknown {", "}", *_bif_variables(names), *_bif_tables(network, names)]) + "\n"


def _bif_variables(names: Sequence[Plain]) -> Iterator[str]:
    for each in names:
        yield f"variable {each.name} {{"
        yield f"  type discrete [ {len(each.states)} ] {{ {', '.join(each.states)} }};"
        if each.kept is not None:
            yield f"  property {remark(each.kept)} ;"
        yield "}"


def _bif_tables(network: BayesianNetwork, names: Sequence[Plain]) -> Iterator[str]:
    for family in network.families:
        child = names[family.child].name
        if not family.parents:
            yield f"probability ( {child} ) {{"
            yield f"  table {', '.join(family.rows[0])};"
        else:
            given = ", ".join(names[parent].name for parent in family.parents)
            yield f"probability ( {child} | {given} ) {{"
            for states, row in zip(_joint_states(family, names), family.rows, strict=True):
                yield f"  ({', '.join(states)}) {', '.join(row)};"
        yield "}"


def _joint_states(family: Family, names: Sequence[Plain]) -> Iterator[tuple[str, ...]]:
    return product(*(names[parent].states for parent in family.parents))


def write_xmlbif(network: BayesianNetwork) -> str:
    """A network as XMLBIF 0.3. Raises PlxError for names that XML cannot keep."""
    for name, states in network.variables:
        for text in (name, *states):
            if text != text.strip() or not text or not text.isprintable():
                raise PlxError(Diagnostic(f"XML cannot keep the name {json.dumps(text)} as it is"))
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<BIF VERSION="0.3">',
        "<NETWORK>",
        "<NAME>unknown</NAME>",
    ]
    for name, states in network.variables:
        lines += ['<VARIABLE TYPE="nature">', f"  <NAME>{escape(name)}</NAME>"]
        lines += [*(f"  <OUTCOME>{escape(state)}</OUTCOME>" for state in states), "</VARIABLE>"]
    for family in network.families:
        lines += ["<DEFINITION>", f"  <FOR>{escape(network.names[family.child])}</FOR>"]
        lines += [f"  <GIVEN>{escape(network.names[parent])}</GIVEN>" for parent in family.parents]
        rows = [f"    {' '.join(row)}" for row in family.rows]
        lines += ["  <TABLE>", *rows, "  </TABLE>", "</DEFINITION>"]
    return "\n".join([*lines, "</NETWORK>", "</BIF>"]) + "\n"


_QUOTE: Final = "'"


def write_hugin(network: BayesianNetwork) -> str:
    """A network as .net of Hugin. Names that are no words are changed: labels show them, and a field keeps
    them."""
    names = plain_names(
        network.variables, is_word, lambda text: text.isprintable() and not set(text) & set('"\\')
    )
    lines = ["net", "{", "}"]
    for real, each in zip(network.names, names, strict=True):
        states = " ".join(f'"{state}"' for state in each.states)
        lines += [f"node {each.name}", "{", f"  states = ({states});"]
        if each.kept is not None:
            lines += [f"  label = {_string(real)};", f"  {REMARK} = {_string(without(each.kept, _QUOTE))};"]
        lines.append("}")
    for family in network.families:
        given = "".join(f" {names[parent].name}" for parent in family.parents)
        lines += [f"potential ({names[family.child].name}{' |' if given else ''}{given})", "{"]
        cards = [len(names[parent].states) for parent in family.parents]
        lines += [f"  data = {_nested([' '.join(row) for row in family.rows], cards)};", "}"]
    return "\n".join(lines) + "\n"


def _is_string(text: str) -> bool:
    return text.isprintable() and not set(text) & set('"\\')


def _string(text: str) -> str:
    """A string, which has no escapes in this format."""
    return f'"{text.replace(chr(34), _QUOTE)}"'


def _nested(rows: list[str], cards: Sequence[int]) -> str:
    """The rows in parentheses, one pair for each level."""
    found = [f"({row})" for row in rows]
    for card in reversed(cards):
        found = [f"({chr(10).join(found[i : i + card])})" for i in range(0, len(found), card)]
    return found[0]


BAYESIAN_WRITERS: dict[str, Callable[[BayesianNetwork], str]] = {
    ".bif": write_bif,
    ".xmlbif": write_xmlbif,
    ".bifxml": write_xmlbif,
    ".xml": write_xmlbif,
    ".net": write_hugin,
}
"""The writer of each suffix."""
