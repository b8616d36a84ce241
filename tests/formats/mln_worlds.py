"""Random small Markov logic networks, and their marginals by going through every world: nothing of plx
is used.

A network is drawn as data; `text` writes it as .mln and .db, and `marginals` sums over worlds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from hypothesis import strategies as st

Formula = tuple[Any, ...]
"""``("P", x, y)``, ``("=", x, y)``, ``("!", F)``, ``("^" | "v" | "=>" | "<=>", F, G)``, ``("EXIST", x,
type, F)``."""

SLOTS = {"P": ("t",), "Q": ("t", "u"), "R": ("t", "u")}
"""R has one u for each t."""

CONSTANTS = {"t": ("A", "B"), "u": ("C", "D")}
VARIABLES = {"x": "t", "y": "t", "z": "u"}


@dataclass(frozen=True)
class Network:
    """Rules with their weights (None: must hold), facts, and predicates that are closed."""

    rules: tuple[tuple[float | None, Formula], ...]
    facts: tuple[tuple[bool, Formula], ...]
    closed: frozenset[str]


def _terms(type: str) -> st.SearchStrategy[str]:
    variables = [name for name, its in VARIABLES.items() if its == type]
    return st.sampled_from([*CONSTANTS[type], *variables])


_atoms = st.sampled_from(sorted(SLOTS)).flatmap(
    lambda name: st.tuples(st.just(name), *(_terms(type) for type in SLOTS[name]))
)


def _larger(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    return st.one_of(
        st.tuples(st.just("!"), inner),
        st.tuples(st.sampled_from(["^", "v", "=>", "<=>"]), inner, inner),
        st.sampled_from(sorted(VARIABLES)).flatmap(
            lambda name: st.tuples(st.sampled_from(["EXIST", "FORALL"]), st.just(name), inner)
        ),
    )


def _compared(formula: Formula) -> st.SearchStrategy[Formula]:
    """The formula, or it or an equality of a variable that is free in it."""
    names = sorted(name for name in _free(formula) if VARIABLES[name] == "t")
    if not names:
        return st.just(formula)
    equal = st.tuples(st.just("="), st.sampled_from(names), st.sampled_from([*names, *CONSTANTS["t"]]))
    return st.one_of(st.just(formula), equal.map(lambda found: ("v", formula, found)))


formulas = st.recursive(_atoms, _larger, max_leaves=4).flatmap(_compared)
ground_atoms = st.sampled_from(sorted(SLOTS)).flatmap(
    lambda name: st.tuples(st.just(name), *(st.sampled_from(CONSTANTS[type]) for type in SLOTS[name]))
)
networks = st.builds(
    Network,
    st.lists(st.tuples(st.sampled_from([0.0, 0.5, -1.25, 2.0, None]), formulas), min_size=1, max_size=3).map(
        tuple
    ),
    st.dictionaries(ground_atoms, st.booleans(), max_size=2).map(
        lambda d: tuple((v, k) for k, v in d.items())
    ),
    st.sets(st.sampled_from(["P", "Q"]), max_size=1).map(frozenset),
)


# ----------------------------------------------------------------------- text


def text(network: Network) -> tuple[str, str]:
    """The .mln and the .db."""
    lines = [f"{type} = {{{', '.join(names)}}}" for type, names in CONSTANTS.items()]
    lines += ["P(t)", "Q(t, u)", "R(t, u!)"]
    for weight, formula in network.rules:
        written = _written(formula)
        lines.append(f"{written}." if weight is None else f"{weight} {written}")
    facts = [f"{'' if holds else '!'}{_written(atom)}" for holds, atom in network.facts]
    return "\n".join(lines) + "\n", "\n".join(facts) + "\n"


def _written(formula: Formula) -> str:
    match formula:
        case ("=", one, other):
            return f"{one} = {other}"
        case ("!", inner):
            return f"!({_written(inner)})"
        case ("EXIST" | "FORALL" as kind, name, inner):
            return f"({kind} {name} ({_written(inner)}))"
        case ("^" | "v" | "=>" | "<=>" as sign, left, right):
            return f"(({_written(left)}) {sign} ({_written(right)}))"
        case (name, *terms):
            return f"{name}({', '.join(terms)})"


# --------------------------------------------------------------------- worlds

World = Mapping[tuple[str, ...], bool]


def is_read(network: Network) -> bool:
    """Whether every quantified variable stands in a predicate, and no variable is compared alone."""
    return all(_sound(formula) for _, formula in network.rules)


def _sound(formula: Formula) -> bool:
    match formula:
        case ("EXIST" | "FORALL", name, inner):
            return name in _free(inner) and _sound(inner)
        case ("!", inner):
            return _sound(inner)
        case ("^" | "v" | "=>" | "<=>", left, right):
            return _sound(left) and _sound(right)
        case _:
            return True


def _free(formula: Formula) -> set[str]:
    match formula:
        case ("EXIST" | "FORALL", name, inner):
            return _free(inner) - {name}
        case ("!", inner):
            return _free(inner)
        case ("^" | "v" | "=>" | "<=>", left, right):
            return _free(left) | _free(right)
        case (_, *terms):
            return {term for term in terms if term in VARIABLES}


def _holds(formula: Formula, world: World, values: Mapping[str, str]) -> bool:
    match formula:
        case ("=", one, other):
            return values.get(one, one) == values.get(other, other)
        case ("!", inner):
            return not _holds(inner, world, values)
        case ("EXIST" | "FORALL" as kind, name, inner):
            over = [_holds(inner, world, {**values, name: c}) for c in CONSTANTS[VARIABLES[name]]]
            return any(over) if kind == "EXIST" else all(over)
        case ("^", left, right):
            return _holds(left, world, values) and _holds(right, world, values)
        case ("v", left, right):
            return _holds(left, world, values) or _holds(right, world, values)
        case ("=>", left, right):
            return not _holds(left, world, values) or _holds(right, world, values)
        case ("<=>", left, right):
            return _holds(left, world, values) == _holds(right, world, values)
        case (name, *terms):
            return world[(name, *(values.get(term, term) for term in terms))]


def _worlds(network: Network) -> Iterator[World]:
    """The worlds that the evidence allows: one u for each t in R, closed predicates as they are listed."""
    facts = {atom: holds for holds, atom in network.facts}
    atoms = [
        (name, *arguments)
        for name in ("P", "Q")
        for arguments in product(*(CONSTANTS[type] for type in SLOTS[name]))
    ]
    for truth in product((False, True), repeat=len(atoms)):
        for chosen in product(CONSTANTS["u"], repeat=len(CONSTANTS["t"])):
            world = dict(zip(atoms, truth, strict=True))
            for t, u in zip(CONSTANTS["t"], chosen, strict=True):
                world |= {("R", t, other): other == u for other in CONSTANTS["u"]}
            known = all(
                world[atom] == facts.get(atom, False if atom[0] in network.closed else world[atom])
                for atom in world
            )
            if known:
                yield world


def _log_weight(network: Network, world: World) -> float:
    total = 0.0
    for weight, formula in network.rules:
        names = sorted(_free(formula))
        for values in product(*(CONSTANTS[VARIABLES[name]] for name in names)):
            holds = _holds(formula, world, dict(zip(names, values, strict=True)))
            if weight is None and not holds:
                return -math.inf
            total += (weight or 0.0) * holds
    return total


def marginals(network: Network) -> tuple[float, dict[tuple[str, ...], float]]:
    """log Z (−∞ if no world is possible), and the probability of every atom."""
    mass: dict[tuple[str, ...], float] = {}
    total = 0.0
    for world in _worlds(network):
        share = math.exp(_log_weight(network, world))
        total += share
        for atom, holds in world.items():
            mass[atom] = mass.get(atom, 0.0) + share * holds
    if not total:
        return -math.inf, {}
    return math.log(total), {atom: value / total for atom, value in mass.items()}
