"""The factor graph: flat, read-only arrays, and the names that go with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from plx.errors import Diagnostic
from plx.source import Span
from plx.values import ZERO, FloatArray, IntArray, Values

Int32Array = npt.NDArray[np.int32]


class FactorGraph(NamedTuple):
    """A log-linear model over V variables, as flat arrays.

    Nodes ``0 … V-1`` are the unknowns. Nodes ``V … V+D-1`` are *derived*: each is a deterministic
    function of nodes with a smaller number, so all of D can be computed in one pass. The state of
    derived node ``V+d`` is
    ``output[output_start[m] + Σ_e contribution[contribution_start[k_e] + state(input_e)]]``, where
    e runs over the inputs of d, k_e is the contribution vector of e and m is the output map of d.

    A count of true literals has contributions 0 and 1 and the identity as output; ``exists`` maps
    0 to 0 and all else to 1; any Boolean function has mixed-radix contributions and its truth
    table as output. So clauses, quantifiers, counts and mixtures of them are all this one thing.

    A factor is a scope of nodes (variables or derived, strictly increasing) and a table of log
    potentials in C order: the last node of the scope varies fastest. ``P(x) ∝ exp(Σ_f table_f)``.

    Invariants: every set of nodes is the scope of at most one factor; scopes are not empty and
    hold no node of one state; no table is constant 0; equal tables, contribution vectors, output
    maps and derived nodes are stored once; every contribution is ≥ 0.
    """

    n_variables: int
    card: Int32Array  # [V + D] number of states of each node

    input_start: IntArray  # [D + 1]
    input_node: Int32Array  # [E] node
    input_contribution: Int32Array  # [E] contribution vector
    contribution_start: IntArray  # [K + 1]
    contribution: Int32Array  # one entry per state of the input node
    output_of: Int32Array  # [D] output map
    output_start: IntArray  # [M + 1]
    output: Int32Array  # one entry per value of the sum, from 0

    scope_start: IntArray  # [F + 1]
    scope: Int32Array  # nodes
    table_of: Int32Array  # [F]
    table_start: IntArray  # [T + 1]
    table: FloatArray  # log potentials
    weight: IntArray  # the exact identity of each entry of `table`: an id of GroundModel.values
    rule_of: Int32Array  # [F] the first rule that added to the factor: an index of GroundModel.rules

    @property
    def n_nodes(self) -> int:
        return len(self.card)

    @property
    def n_derived(self) -> int:
        return len(self.output_of)

    @property
    def n_factors(self) -> int:
        return len(self.table_of)

    @property
    def n_tables(self) -> int:
        return len(self.table_start) - 1

    def scope_of(self, factor: int) -> Int32Array:
        return self.scope[self.scope_start[factor] : self.scope_start[factor + 1]]

    def table_values(self, factor: int) -> FloatArray:
        """The log potentials of a factor, shaped by the cards of its scope."""
        start, end = self.table_start[self.table_of[factor] : self.table_of[factor] + 2]
        return self.table[start:end].reshape(self.card[self.scope_of(factor)])

    def table_weights(self, factor: int) -> IntArray:
        """The exact ids of a factor's entries, shaped by the cards of its scope."""
        start, end = self.table_start[self.table_of[factor] : self.table_of[factor] + 2]
        return self.weight[start:end].reshape(self.card[self.scope_of(factor)])

    def inputs_of(self, derived: int) -> tuple[Int32Array, Int32Array]:
        """Input nodes and contribution vectors of derived node ``n_variables + derived``."""
        start, end = self.input_start[derived : derived + 2]
        return self.input_node[start:end], self.input_contribution[start:end]

    def contribution_of(self, vector: int) -> Int32Array:
        return self.contribution[self.contribution_start[vector] : self.contribution_start[vector + 1]]

    def output_map(self, derived: int) -> Int32Array:
        m = self.output_of[derived]
        return self.output[self.output_start[m] : self.output_start[m + 1]]


@dataclass(frozen=True, eq=False)
class AtomBlock:
    """All atoms of one random function, numbered ``first … first + len(index) - 1``."""

    name: str
    index: IntArray  # [n, slots] value ids of the arguments
    first: int
    slots: tuple[str, ...] = ()  # their names, where they have some


@dataclass(frozen=True, eq=False)
class Atoms:
    """Index → name and back. An *atom* is a ground random term, observed or not.

    ``node[a]`` is the variable of atom a, or -1 where evidence fixed it; then ``fixed[a]`` is the id
    of its value (else -1). ``domain[a]`` numbers its domain, ``domains`` lists their value ids.
    A domain is that of the program: state k of a free variable v is value ``domains[domain[atom_of[v]]][k]``.
    """

    blocks: tuple[AtomBlock, ...]
    node: Int32Array  # [A]
    fixed: IntArray  # [A]
    domain: Int32Array  # [A]
    domains: tuple[IntArray, ...]
    atom_of: IntArray  # [V]
    values: Values = field(repr=False)
    quoted: bool = True  # whether symbols are shown in quotes where a program would need them

    def __len__(self) -> int:
        return len(self.node)

    def name(self, atom: int) -> str:
        """``passed(s1, ai)``, as the program would write it."""
        block = self.blocks[int(np.searchsorted(self._firsts, atom, side="right")) - 1]
        arguments = block.index[atom - block.first]
        if not len(arguments):
            return block.name
        return f"{block.name}({', '.join(self.value_name(int(a)) for a in arguments)})"

    def value_name(self, value: int) -> str:
        """A value by its id, as the program or the file that it came from would write it."""
        from plx.syntax.printer import print_value

        symbol = self.values[value]
        return symbol if isinstance(symbol, str) and not self.quoted else print_value(symbol)

    def states(self, node: int) -> IntArray:
        """The value ids of a variable's states."""
        return self.domains[int(self.domain[self.atom_of[node]])]

    def __iter__(self) -> Iterator[str]:
        return (self.name(atom) for atom in range(len(self)))

    @cached_property
    def _firsts(self) -> IntArray:
        return np.array([block.first for block in self.blocks], dtype=np.int64)


class GroundStep(NamedTuple):
    """One more binding of a scope, what joined it to those before it, and how many rows there were then."""

    binding: str
    on: tuple[str, ...]
    rows: int


@dataclass(frozen=True)
class GroundRule:
    """A rule of the program and what grounding it cost.

    ``told`` is of what observes: where it says of an atom what it is, in words.
    """

    kind: Literal["weight", "factor", "require", "observe", "random"]
    text: str
    span: Span | None
    instances: int = 0
    factors: int = 0
    seconds: float = 0.0
    bytes: int = 0
    steps: tuple[GroundStep, ...] = ()
    told: Callable[[int], str] | None = None


@dataclass(frozen=True, eq=False)
class Target:
    """One coordinate of a query: a node and the value id of each of its states.

    A target that evidence decided has ``node == -1`` and one label. ``domain`` are the values that the
    program gives it, those included that evidence excludes; None where it declares none, as for a sum.
    """

    node: int
    labels: IntArray
    domain: IntArray | None = None


@dataclass(frozen=True)
class GroundEvidence:
    """One fact of a ``given``: the node is in the state. ``node == -1``: it never holds."""

    node: int
    state: int
    span: Span


QueryKind = Literal["probability", "distribution", "number", "joint", "map", "logz"]


@dataclass(frozen=True)
class GroundQuery:
    """One instance of a query; its answer is the joint distribution of its targets.

    ``map`` and ``logz`` have no targets. ``name`` is the instance's text, or its label. ``term`` is what all
    instances have in common, ``slots`` tells them apart: names, each with a value id.
    """

    kind: QueryKind
    name: str
    text: str
    targets: tuple[Target, ...]
    given: tuple[GroundEvidence, ...]
    span: Span | None
    best: int = 1
    term: str = ""
    slots: tuple[tuple[str, int], ...] = ()
    part: tuple[int, ...] | None = None  # the atoms that a `map` is asked of; None: all


@dataclass(frozen=True, eq=False)
class GroundModel:
    """A factor graph with its names, its queries and the log weight that evidence made constant."""

    graph: FactorGraph
    atoms: Atoms
    values: Values
    rules: tuple[GroundRule, ...]
    queries: Sequence[GroundQuery]  # many instances of one query are a `QueryBlock`
    constant_weight: int = ZERO  # the log weight that is in every world, exactly: an id of `values`
    warnings: tuple[Diagnostic, ...] = ()  # what was odd but could be read

    @property
    def log_constant(self) -> float:
        """The constant weight as a double, -inf if no world is possible."""
        return float(self.values.logs(np.array([self.constant_weight]))[0])
