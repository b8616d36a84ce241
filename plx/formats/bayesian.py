"""Bayesian networks, for what is written in a form that holds no others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from heapq import heapify, heappop, heappush
from typing import Final

import numpy as np

from plx import weights
from plx.errors import Diagnostic, PlxError
from plx.formats.evidence import plain, variable_name
from plx.formats.expand import LARGEST, expanded
from plx.formats.network import ObservedNetwork
from plx.graph.model import GroundModel, GroundRule
from plx.numerals import decimal_places, rational_text
from plx.values import IMPOSSIBLE, IntArray, Value, Values

_ROUNDING: Final = 1e-6
"""Rows whose sums differ by less are rows of one distribution: published digits are rounded."""

_DIGITS: Final = Context(prec=17)
_RANGE: Final = 650.0
"""Logs of numbers that doubles hold at full precision."""


@dataclass(frozen=True, eq=False)
class Family:
    """A variable, its parents, and a row of probabilities, as decimals, for each joint state of these (the
    last one fastest)."""

    child: int
    parents: tuple[int, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class BayesianNetwork:
    """Variables with names and states, and a family for each, in the order of the variables.

    ``log_scale`` is what is to be added to its log Z, which is 0 but for rounding. ``observed`` are variables
    that were fixed before: ``rain = yes``.
    """

    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    families: tuple[Family, ...]
    log_scale: float = 0.0
    observed: tuple[str, ...] = ()

    @property
    def variables(self) -> list[tuple[str, tuple[str, ...]]]:
        """Names with states."""
        return list(zip(self.names, self.states, strict=True))


def declared(observed: ObservedNetwork) -> BayesianNetwork | None:
    """What a file says that declares a distribution of every variable, as it says it; None for another one,
    and under evidence."""
    network, evidence = observed.network, observed.evidence
    children = sorted(int(table.scope[-1]) for table in network.tables if table.kind == "random")
    others = network.clauses or evidence.observed or evidence.likelihoods
    if others or len(children) < len(network.tables) or children != list(range(len(network.states))):
        return None
    families = []
    for table in sorted(network.tables, key=lambda table: int(table.scope[-1])):
        rows = table.weight.reshape(-1, len(network.states[int(table.scope[-1])]))
        parents = tuple(table.scope[:-1].tolist())
        families.append(Family(int(table.scope[-1]), parents, _as_written(network.values, rows)))
    names = [variable_name(network.blocks, network.values, v) for v in range(len(network.states))]
    states = [[network.values[int(i)] for i in ids] for ids in network.states]
    return _named(names, states, families)


def found(model: GroundModel, form: str) -> BayesianNetwork:
    """The free variables of a model as a Bayesian network, if its factors are the families of one.

    A variable is taken off if the product of the factors that it is in sums to one number over its states,
    whatever the states of the others are: it is a child of these, and nothing else depends on it. So on,
    until none is left. Raises PlxError for a model that this does not work on; ``form`` is the kind of file.
    """
    peeling = _Peeling(model, form)
    families = sorted(peeling.families(), key=lambda family: family.child)
    atoms = model.atoms
    names = [atoms.name(int(atom)) for atom in atoms.atom_of]
    states = [[model.values[int(i)] for i in atoms.states(node)] for node in range(len(names))]
    fixed = [
        f"{atoms.name(int(a))} = {atoms.value_name(int(atoms.fixed[a]))}"
        for a in np.flatnonzero(atoms.node < 0)
    ]
    return _named(names, states, families, model.log_constant + peeling.log_scale, tuple(fixed))


def _named(
    names: Sequence[str],
    states: Sequence[Sequence[Value]],
    families: Sequence[Family],
    log_scale: float = 0.0,
    observed: tuple[str, ...] = (),
) -> BayesianNetwork:
    texts = tuple(tuple(map(plain, each)) for each in states)
    for name, each in zip(names, texts, strict=True):
        if len(set(each)) < len(each):
            raise PlxError(Diagnostic(f"two states of `{name}` are written alike: {', '.join(each)}"))
    return BayesianNetwork(tuple(names), texts, tuple(families), log_scale, observed)


@dataclass(frozen=True, eq=False)
class _Part:
    """A factor over variables in increasing order: ids of its log weights, and the rule it comes from."""

    scope: tuple[int, ...]
    weight: IntArray  # shaped by the cards of the scope
    rule: GroundRule


class _Peeling:
    """Variables taken off a model one by one."""

    def __init__(self, model: GroundModel, form: str) -> None:
        self.model, self.graph, self.values, self.form = model, model.graph, model.values, form
        self.parts: list[_Part] = []
        for factor in range(self.graph.n_factors):
            scope, states = expanded(model, factor, form)
            rule = model.rules[int(self.graph.rule_of[factor])]
            self.parts.append(_Part(tuple(scope), self.graph.table_weights(factor)[states], rule))
        self.of: list[set[int]] = [set() for _ in range(self.graph.n_variables)]
        for number, part in enumerate(self.parts):
            for variable in part.scope:
                self.of[variable].add(number)
        self.log_scale = 0.0

    def families(self) -> Iterator[Family]:
        """A family for each variable, children before parents. Raises PlxError where there is none."""
        left = set(range(self.graph.n_variables))
        waiting = [(len(self.of[v]), -v) for v in left]
        heapify(waiting)
        while waiting:
            variable = -heappop(waiting)[1]
            if variable not in left:
                continue
            family = self._family(variable)
            if family is None:
                continue
            yield family
            left.remove(variable)
            for number in self.of[variable]:
                for other in self.parts[number].scope:
                    self.of[other] -= {number} if other != variable else set()
            for parent in family.parents:
                heappush(waiting, (len(self.of[parent]), -parent))
        if left:
            raise PlxError(self._refusal(left))

    def _family(self, variable: int) -> Family | None:
        """The variable given all that it shares a factor with; None if that is no distribution of it."""
        parts = [self.parts[number] for number in sorted(self.of[variable])]
        parents = sorted({v for part in parts for v in part.scope} - {variable})
        scope = [*parents, variable]
        shape = [int(self.graph.card[v]) for v in scope]
        if math.prod(shape) > LARGEST:
            return None
        aligned = [_aligned(part, scope) for part in parts]
        logs = sum((self.values.logs(each) for each in aligned), np.zeros(shape)).reshape(-1, shape[-1])
        top = float(logs.max())
        if top == -math.inf:
            return None
        sums = np.exp(logs - top).sum(axis=1)
        if not sums.min() or not (np.abs(sums / sums[0] - 1) <= _ROUNDING).all():
            return None
        scale = top + math.log(sums[0])
        if len(aligned) == 1 and abs(math.expm1(scale)) <= _ROUNDING:
            rows = np.broadcast_to(aligned[0], shape).reshape(-1, shape[-1])
            return Family(variable, tuple(parents), _as_written(self.values, rows))
        self.log_scale += scale
        texts = {x: _decimal(x) for x in set((logs - scale).ravel().tolist())}
        rows_of = tuple(tuple(texts[x] for x in row) for row in (logs - scale).tolist())
        return Family(variable, tuple(parents), rows_of)

    def _refusal(self, left: set[int]) -> Diagnostic:
        """What stands in the way, by the factor that is least like a distribution."""
        numbers = sorted({number for variable in left for number in self.of[variable]})
        rules = [self.parts[number].rule for number in numbers]
        rule = next((rule for rule in rules if rule.kind != "random"), rules[0])
        if rule.kind == "random":
            message = f"observations tell of what `{rule.text}` depends on"
        else:
            message = f"`{rule.text}` is no conditional distribution of an unknown"
        hint = "a .uai or .fg file holds any model"
        if (self.model.atoms.node < 0).any():
            hint = f"leave observations out, and give them to the tool that reads the file; {hint}"
        message += f", so this is no Bayesian network, and a {self.form} file holds no other"
        return Diagnostic(message, rule.span, hint)


def _aligned(part: _Part, scope: Sequence[int]) -> IntArray:
    """The weights of a factor as an array with an axis for each variable of a larger scope."""
    kept = [variable for variable in scope if variable in part.scope]
    order = [part.scope.index(variable) for variable in kept]
    shape = [part.weight.shape[part.scope.index(v)] if v in part.scope else 1 for v in scope]
    return part.weight.transpose(order).reshape(shape)


def _as_written(values: Values, rows: IntArray) -> tuple[tuple[str, ...], ...]:
    texts = {int(i): _text(values, int(i)) for i in np.unique(rows)}
    return tuple(tuple(texts[i] for i in row) for row in rows.tolist())


def _text(values: Values, weight: int) -> str:
    """exp of a log weight as a decimal: exact where it has few digits, else 17 of them."""
    if weight == IMPOSSIBLE:
        return "0"
    log: weights.Number = values[weight]  # type: ignore[assignment]
    exact = weights.exp(log)
    if not isinstance(exact, int | Fraction):
        return _decimal(float(values.floats(np.array([weight]))[0]))
    places = decimal_places(Fraction(exact).denominator)
    if places is not None and places <= 20:
        return rational_text(Fraction(exact))
    return _decimal(weights.to_float(log))


def _decimal(log: float) -> str:
    """The shortest decimal that is the nearest double to exp(log); past their range, 17 digits."""
    if log == -math.inf:
        return "0"
    return repr(math.exp(log)) if -_RANGE < log < _RANGE else str(_DIGITS.exp(Decimal(log)))
