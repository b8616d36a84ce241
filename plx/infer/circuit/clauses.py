"""A network in propositional clauses, for compilers that are handed nothing else.

A node of two states is one proposition, of more states one each, exactly one of which holds. A zero of a
table is a clause. All other entries of one value share a *parameter*, a proposition that holds where one of
them does, so that each world has one model (Chavira & Darwiche, On probabilistic inference by weighted model
counting, AIJ 2008); that of the largest value weighs nothing and is left out, and a table over one node
weighs its states. Functions are tables of zeros and ones, so derived nodes are their definitions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from plx import deadline
from plx.infer.circuit.limits import CLAUSE_ENTRIES, CLAUSES
from plx.infer.exact_plan import GaveUpError
from plx.infer.kernels.propagation import Factors
from plx.infer.kernels.residuals import CONSTANT, Residuals
from plx.values import FloatArray, IntArray

Bools = npt.NDArray[np.bool_]

Cube = tuple[Bools, ...]
"""Joint states: of every axis some."""

Part = tuple[int, int]
"""Of a clause: an axis and its state; or (PARAMETER, ± number), the number from 1 on."""

PARAMETER = -1


@dataclass(frozen=True, eq=False)
class Clauses:
    """Clauses over propositions 1..n, and what their literals say: ``±v`` is row ``2 v + (sign < 0)``."""

    propositions: int
    clauses: list[list[int]]
    state: IntArray  # [2 n + 2] the state of a node that it is, or -1
    log: FloatArray  # [2 n + 2] its log weight
    node: IntArray  # [n + 1] the node of two states that a proposition is, or -1


def clauses_of(factors: Factors, pool: Residuals) -> Clauses:
    """The clauses of factors whose residuals are in a pool.

    Raises GaveUpError if they get too many, and OutOfTimeError.
    """
    return _Encoder(factors, pool).encoded()


class _Encoder:
    def __init__(self, factors: Factors, pool: Residuals) -> None:
        self.factors, self.pool = factors, pool
        self.clauses: list[list[int]] = []
        self.parameters: list[float] = []
        self.literal = np.zeros(int(factors.state_at[-1]), dtype=np.int64)
        """The literal of every state; 0 where a node has one."""
        self.log = np.zeros(len(self.literal))
        self.states = 0
        self._templates: dict[int, tuple[list[list[Part]], list[float]]] = {}

    def encoded(self) -> Clauses:
        """All of it."""
        self._name_states()
        for f, residual in enumerate(self.factors.root.tolist()):
            if residual != CONSTANT:
                self._add(f, residual)
                if len(self.clauses) > CLAUSES:
                    raise GaveUpError(f"there are more than {CLAUSES:,} clauses")
        return self._named()

    def _name_states(self) -> None:
        for card, at in zip(self.factors.card.tolist(), self.factors.state_at.tolist(), strict=False):
            if card == 2:
                self.states += 1
                self.literal[at : at + 2] = -self.states, self.states
            elif card > 2:
                block = list(range(self.states + 1, self.states + card + 1))
                self.states += card
                self.literal[at : at + card] = block
                self.clauses.append(block)
                self.clauses += [[-a, -b] for a, b in combinations(block, 2)]

    def _add(self, f: int, residual: int) -> None:
        """The clauses of a factor; its weights where it is about one node and rules nothing out."""
        first = [
            int(self.factors.state_at[node])
            for node in self.factors.scope[self.factors.scope_start[f] : self.factors.scope_start[f + 1]]
        ]
        table = _table(self.pool, residual)
        if (np.array(table.shape) > 1).sum() == 1:
            axis = int(np.argmax(table.shape))
            self.log[first[axis] : first[axis] + table.size] += table.ravel()
            for state in np.flatnonzero(table.ravel() == -np.inf).tolist():
                self.clauses.append([-int(self.literal[first[axis] + state])])
            return
        if residual not in self._templates:
            deadline.check()
            self._templates[residual] = _template(table)
        template, logs = self._templates[residual]
        base = self.states + len(self.parameters)
        self.parameters += logs
        for clause in template:
            self.clauses.append(
                [
                    (base + part if part > 0 else part - base)
                    if axis == PARAMETER
                    else self._literal(first[axis], part)
                    for axis, part in clause
                ]
            )

    def _literal(self, first: int, part: int) -> int:
        return int(self.literal[first + part]) if part >= 0 else -int(self.literal[first - part - 1])

    def _named(self) -> Clauses:
        n = self.states + len(self.parameters)
        state, log = np.full(2 * n + 2, -1, dtype=np.int64), np.zeros(2 * n + 2)
        named = np.flatnonzero(self.literal)
        row = 2 * np.abs(self.literal[named]) + (self.literal[named] < 0)
        state[row], log[row] = named, self.log[named]
        log[2 * self.states + 2 :: 2] = self.parameters
        node = np.full(n + 1, -1, dtype=np.int64)
        two = np.flatnonzero(self.factors.card == 2)
        node[self.literal[self.factors.state_at[two] + 1]] = two
        return Clauses(n, self.clauses, state, log, node)


def _table(pool: Residuals, residual: int) -> FloatArray:
    at = pool.position_at[residual]
    card = pool.card[at : at + pool.arity[residual]].tolist()
    begin = pool.entry_at[residual]
    table: FloatArray = pool.entry[begin : begin + math.prod(card)].reshape(card)
    return table


def _template(table: FloatArray) -> tuple[list[list[Part]], list[float]]:
    """The clauses of a table over several nodes, and the logs of its parameters."""
    if table.size > CLAUSE_ENTRIES:
        raise GaveUpError(f"a table has more than {CLAUSE_ENTRIES:,} entries")
    zero = table == -np.inf
    clauses = [_forbidden(cube, table.shape) for cube in cover(zero, zero)]
    logs = sorted(set(table[~zero & (table < 0)].tolist()))
    for number, log in enumerate(logs, start=1):
        here = table == log
        for wanted, sign in ((here, 1), (~here & ~zero, -1)):
            clauses += [
                [*_forbidden(cube, table.shape), (PARAMETER, sign * number)]
                for cube in cover(wanted, wanted | zero)
            ]
    return clauses, logs


def _forbidden(cube: Cube, shape: tuple[int, ...]) -> list[Part]:
    """The clause that no joint state of a cube holds; a negated state s is the part -s - 1."""
    out: list[Part] = []
    for axis, (states, card) in enumerate(zip(cube, shape, strict=True)):
        inside = np.flatnonzero(states).tolist()
        if len(inside) == card:
            continue
        if len(inside) == 1:
            out.append((axis, -inside[0] - 1))
        else:
            out += [(axis, s) for s in range(card) if not states[s]]
    return out


def cover(wanted: Bools, allowed: Bools) -> Iterator[Cube]:
    """Cubes of allowed joint states that together have all that are wanted, each as large as it can be made
    from one of these, axis by axis."""
    left = wanted.copy()
    while left.any():
        at = np.unravel_index(int(left.argmax()), left.shape)
        cube = [np.arange(card) == s for card, s in zip(left.shape, at, strict=True)]
        for axis in range(left.ndim):
            cube[axis] = np.ones(left.shape[axis], dtype=bool)
            inside = allowed[np.ix_(*cube)].all(axis=tuple(a for a in range(left.ndim) if a != axis))
            cube[axis] = inside
        left[np.ix_(*cube)] = False
        yield tuple(cube)
