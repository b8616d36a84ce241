"""A model compiled to a circuit, and what one compilation answers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from plx import deadline
from plx.deadline import OutOfTimeError
from plx.graph.model import FactorGraph
from plx.graph.ragged import owners, starts
from plx.infer.answers import Nodes, distinct
from plx.infer.circuit.compiler_process import installed
from plx.infer.circuit.decision_order import priorities
from plx.infer.circuit.equivalent import Equivalent, equivalent
from plx.infer.circuit.exclusive import in_pairs
from plx.infer.circuit.limits import (
    BEST,
    BEST_ROUNDS,
    EDGES,
    FIRST_DECISIONS,
    FIRST_SECONDS,
    MIXED,
    READS,
    SOON,
    SOON_SHARE,
)
from plx.infer.circuit.outside import compiled_outside
from plx.infer.circuit.tables import factors_of
from plx.infer.exact.junction_tree import ImpossibleError
from plx.infer.exact.network import Network
from plx.infer.exact_plan import GaveUpError
from plx.infer.interrupts import waited
from plx.infer.kernels.circuit import NOTHING, Circuit, circuit_of
from plx.infer.kernels.circuit_compiler import DECISIONS, DONE, TOO_LARGE, compile_on, started
from plx.infer.kernels.circuit_passes import (
    downward,
    draw_worlds,
    reached_circuit,
    trace_world,
    upward,
    upward_best,
)
from plx.infer.kernels.propagation import Factors
from plx.infer.kernels.residuals import Residuals, copied
from plx.infer.options import Clock
from plx.numerals import counted
from plx.values import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class CompiledCircuit:
    """Sums and products over the states of a network's nodes (see `Circuit`): its worlds, each once.

    Its logs are in units of ``unit``. ``effort`` is what it took, and ``given_up`` what was tried in vain, in
    words for people.
    """

    merged: Equivalent
    circuit: Circuit
    root: int
    log: float  # of the weight that every world has, in units
    unit: float
    effort: str
    given_up: tuple[str, ...] = ()

    @property
    def network(self) -> Network:
        """The network that was compiled: merged nodes have one state."""
        return self.merged.network

    @property
    def size(self) -> tuple[int, int]:
        """Sums and products, and edges."""
        return len(self.circuit.log), len(self.circuit.child)

    @property
    def size_text(self) -> str:
        """Its size in words for people."""
        nodes, edges = self.size
        return f"a circuit of {counted(nodes, 'node')} and {counted(edges, 'edge')}"

    @cached_property
    def state_at(self) -> IntArray:
        """The first state of every node of the network, shape (N + 1,)."""
        return starts(self.network.card)

    @cached_property
    def _weighed(self) -> Circuit:
        return self.circuit._replace(log=self.circuit.log * self.unit)

    @cached_property
    def _open(self) -> FloatArray:
        return np.zeros(self.state_at[-1])

    @cached_property
    def _value(self) -> FloatArray:
        return self._upward(self._open)

    @cached_property
    def _flow(self) -> FloatArray:
        return self._downward(self._value)

    @property
    def log_sum(self) -> float:
        """The log of the sum of the weights of all worlds."""
        return float(self._value[self.root]) + self.log * self.unit

    def joint(self, nodes: Nodes) -> FloatArray:
        """The joint distribution of nodes of the network, flat in C order.

        Raises GaveUpError where it takes too many passes.
        """
        if not nodes:
            return np.ones(1)
        kept = distinct([int(self.merged.of[node]) for node in nodes])
        return self.merged.spread(nodes, kept, self._joint(kept))

    def _joint(self, nodes: Nodes) -> FloatArray:
        *fixed, last = nodes
        states = [range(int(self.network.card[node])) for node in fixed]
        if math.prod(map(len, states)) * float(len(self.circuit.child)) > READS:
            raise GaveUpError("a joint query takes too many passes over the circuit")
        out = np.array([p for part in self._by_states(list(fixed), self._open, last) for p in part])
        joint: FloatArray = out / out.sum()
        return joint

    def _by_states(self, fixed: list[int], states: FloatArray, last: int) -> Iterator[FloatArray]:
        """The weights of the states of the last node, for all joint states of the others in C order."""
        if not fixed:
            value = self._value if states is self._open else self._upward(states)
            scale = math.exp(min(0.0, value[self.root] - self._value[self.root]))
            flow = self._flow if states is self._open else self._downward(value)
            yield scale * flow[self.state_at[last] : self.state_at[last + 1]]
            return
        begin, end = self.state_at[fixed[0]], self.state_at[fixed[0] + 1]
        for state in range(begin, end):
            only = states.copy()
            only[begin:end] = -np.inf
            only[state] = states[state]
            yield from self._by_states(fixed[1:], only, last)

    def draw(self, count: int, random: np.random.Generator) -> IntArray:
        """Independent worlds: states of the nodes of the network, shape (count, N)."""
        seed = random.integers(0, 2**63, size=1, dtype=np.uint64)
        worlds = np.empty((count, self.network.n_nodes), dtype=np.int64)
        kernel = draw_worlds.sized(float(count) * self.network.n_nodes)
        with np.errstate(over="ignore"):  # random words wrap around, uncompiled too
            kernel(self._weighed, self._value, self.root, int(self.state_at[-1]), self._owner, seed, worlds)
        return self.merged.fill(worlds - self.state_at[:-1])

    def lists(self, count: int) -> bool:
        """Whether memory suffices for so many of the best worlds."""
        return (int(self.state_at[-1]) + len(self.circuit.log)) * count <= BEST

    def best(self, count: int) -> tuple[IntArray, FloatArray]:
        """The worlds of the largest weights, largest first, shape (n, N), and their weights in units."""
        n_states = int(self.state_at[-1])
        best = np.full((n_states + len(self.circuit.log), count), -np.inf)
        best[:n_states, 0] = 0.0
        steps = float(len(self.circuit.child)) * count
        upward_best.sized(steps)(self.circuit, n_states, best)
        found = int((best[self.root] > -np.inf).sum())
        worlds = np.empty((found, self.network.n_nodes), dtype=np.int64)
        for rank in range(found):
            trace_world.sized(steps)(self.circuit, n_states, self.root, best, rank, self._owner, worlds[rank])
        return self.merged.fill(worlds - self.state_at[:-1]), best[self.root, :found] + self.log

    @cached_property
    def _owner(self) -> IntArray:
        return owners(self.state_at)

    def _upward(self, states: FloatArray) -> FloatArray:
        deadline.check()
        return upward.sized(float(len(self.circuit.child)))(self._weighed, states)

    def _downward(self, value: FloatArray) -> FloatArray:
        if value[self.root] == -np.inf:
            return np.zeros(len(value))
        n_states = int(self.state_at[-1])
        return downward.sized(float(len(self.circuit.child)))(self._weighed, value, self.root, n_states)


def compiled(graph: FactorGraph, asked: IntArray, unit: float = 1.0) -> CompiledCircuit:
    """The circuit of a factor graph whose tables are in a unit; nodes ``asked`` are among its nodes.

    Raises ImpossibleError if there is no world, GaveUpError where the circuit gets too large, and
    OutOfTimeError at the deadline.
    """
    return Compilation(in_pairs(graph, asked), unit).circuit()


class _Found(NamedTuple):
    root: int
    circuit: Circuit
    effort: str


class Compilation:
    """A network on its way to a circuit; its methods raise what `compiled` does.

    Ways to choose what to decide take turns, as none is good for all models, long ones for the one that got
    furthest. After the first turns a compiler that learns from conflicts is asked, if there is one.
    """

    def __init__(self, network: Network, unit: float = 1.0) -> None:
        self.merged, self.unit = equivalent(network), unit
        network = self.merged.network
        self.factors, self.pool, self.log = factors_of(network, priorities(network))
        if self.log == -math.inf:
            raise ImpossibleError
        self.given_up: list[str] = []
        """What was tried in vain, in words for people."""
        flat = self.factors._replace(priority=np.zeros(len(self.factors.card)))
        choices = (flat, 1.0), (self.factors, MIXED), (self.factors, 0.0)
        self._ways = [_Search(factors, by_use, self.pool) for factors, by_use in choices]
        self._most = FIRST_DECISIONS
        self._found: _Found | None = None

    def ended_at_once(self) -> bool:
        """Whether the first turns are all that it takes."""
        if self._most == FIRST_DECISIONS:
            self._found = self._turn(FIRST_SECONDS)
        return self._found is not None

    def ended_soon(self) -> bool:
        """Whether the compiler, if there is one, takes little time."""
        if self._found is None and installed():
            seconds = min(SOON, SOON_SHARE * deadline.seconds_left())
            with suppress(GaveUpError, OutOfTimeError), deadline.within(seconds):
                self._found = self._by_compiler()
            deadline.check()
        return self._found is not None

    def circuit(self) -> CompiledCircuit:
        """The circuit, however long it takes."""
        if not self.ended_at_once() and installed():
            try:
                self._found = self._by_compiler()
            except GaveUpError as gave_up:
                self.given_up.append(f"compiling went on without d4: {gave_up}")
        while self._found is None:
            self._found = self._turn()
        root, circuit, effort = self._found
        if root == NOTHING:
            raise ImpossibleError
        kernel = reached_circuit.sized(float(len(circuit.child)))
        small, top = kernel(circuit, int(self.factors.state_at[-1]), root)
        return CompiledCircuit(self.merged, small, top, self.log, self.unit, effort, tuple(self.given_up))

    def _by_compiler(self) -> _Found:
        return _Found(*compiled_outside(self.factors, self.pool), "by d4")

    def _turn(self, seconds: float = math.inf) -> _Found | None:
        """One turn of each way, and some of the best; each as long as all before. None if none has ended, in
        so many seconds."""
        clock, most = Clock(), self._most
        self._most <<= 1
        for way in self._ways:
            if way.went_on(most, self._ways):
                return self._ended(way)
            if clock.seconds > seconds:
                return None
        best = max(self._ways, key=lambda way: way.done[most])
        for further in range(1, BEST_ROUNDS + 1):
            if best.went_on(most << further, self._ways):
                return self._ended(best)
            if clock.seconds > seconds:
                return None
        return None

    def _ended(self, way: _Search) -> _Found:
        effort = f"in {counted(sum(way.decisions for way in self._ways), 'decision')}"
        return _Found(way.root, circuit_of(way.compiling.made), effort)


class _Search:
    """A search with one way to choose what to decide."""

    root = NOTHING

    def __init__(self, factors: Factors, by_use: float, pool: Residuals) -> None:
        self.factors, self.by_use = factors, by_use
        self.compiling = started(factors, copied(pool))
        self.done: dict[int, float] = {}
        """About what share was done after so many decisions."""

    @property
    def decisions(self) -> int:
        """How many were made."""
        return int(self.compiling.at[DECISIONS])

    def went_on(self, most: int, ways: list[_Search]) -> bool:
        """Whether the search has ended within so many decisions in all.

        Raises GaveUpError where all ways together have too many edges, and OutOfTimeError.
        """
        if self.decisions >= most:
            return False
        kernel = compile_on.compiled
        edges = EDGES - sum(int(other.compiling.made.used[1]) for other in ways if other is not self)
        with np.errstate(over="ignore"):  # hashes wrap around, uncompiled too
            ended, self.root, self.compiling = waited(
                lambda stop: kernel(self.factors, self.compiling, self.by_use, most, edges, stop), math.inf
            )
        if ended == TOO_LARGE:
            raise GaveUpError(f"the circuit has more than {EDGES:,} edges")
        self.done[most] = float(self.compiling.done[0])
        return bool(ended == DONE)
