"""Exact answers by enumeration, one connected component after the other.

A component's worlds are an array with one axis per variable; the leading axes are walked in
Python, the trailing ones (`TOGETHER` worlds) are done by numpy. Everything stays in log space
until the largest weight seen is known.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from plx import deadline
from plx.graph.components import components
from plx.graph.model import FactorGraph, GroundModel
from plx.graph.subgraph import live_derived
from plx.graph.worlds import input_owner
from plx.infer.answers import Nodes, asked_together, with_maps, worlds_wanted
from plx.infer.exact.drawing import drawn
from plx.infer.exact.limits import TOGETHER, WORLDS
from plx.infer.exact_plan import Refusal, exact_inference
from plx.infer.exact_scores import States, proven, sums_of
from plx.infer.hard.contradiction import contradiction
from plx.infer.inference import Inference, World
from plx.infer.problem import Problem
from plx.values import FloatArray, IntArray

Env = dict[int, IntArray]
"""The state of each node, as an array that broadcasts over the inner axes."""

Inputs = list[tuple[int, int]]
"""Inputs of a derived node, and the contribution vector of each."""

_Sum = tuple[float, tuple[int, ...]]
"""The sum of some worlds' weights, and their states."""


@dataclass(frozen=True)
class _Layout:
    """Which nodes belong to which component, and which derived nodes are split over several: what each
    component adds to these are contributions of its own variables."""

    component: IntArray  # [V + D], -1: split or unused
    split: dict[int, dict[int, Inputs]]
    variables: list[IntArray]
    derived: list[IntArray]
    factors: list[IntArray]


@dataclass
class _Component:
    """One component enumerated: log Z, and per target its joint distribution."""

    log_z: float = -np.inf
    joint: dict[Nodes, FloatArray] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class EnumerationPlan:
    """Every world of every component visited."""

    problem: Problem

    @cached_property
    def worlds(self) -> float:
        """How many worlds are visited: the sum over components; may be infinite."""
        log = float(np.logaddexp2.reduce(self.bits)) * math.log10(2)
        return round(10**log) if log < 15 else 10**log if log < 300 else math.inf

    @cached_property
    def bits(self) -> FloatArray:
        """log₂ of the number of worlds of each component; [0] where there is none."""
        return _bits(self.problem.graph, self._components[0])

    @cached_property
    def _components(self) -> tuple[IntArray, IntArray]:
        return _components(self.problem)

    @property
    def reason(self) -> str:
        """In words for people."""
        bits = self.bits[self.bits > 0]
        worlds, parts = np.exp2(bits).sum(), len(bits)
        if not parts:
            return "the only world was looked at"
        several = f" of {parts:,} independent parts" if parts > 1 else ""
        return f"all {worlds:,.0f} worlds{several} were enumerated"

    @cached_property
    def operations(self) -> float:
        """Table entries read, about, over all worlds; one takes about as long as in a compiled loop."""
        graph, label = self.problem.graph, self._components[0]
        read = np.concatenate([graph.scope, input_owner(graph) + graph.n_variables])
        component = label[read[label[read] >= 0]]
        entries = np.bincount(component, minlength=len(self.bits))
        return float((np.exp2(np.minimum(self.bits, 1000.0)) * (entries + 1)).sum())

    @property
    def memory(self) -> float:
        """Bytes held at once, about: states of derived nodes in the worlds that are looked at together."""
        derived = self._components[0][self.problem.graph.n_variables :]
        per_world = np.bincount(derived[derived >= 0], minlength=len(self.bits)) + 4
        return 8.0 * float((np.exp2(np.minimum(self.bits, math.log2(TOGETHER))) * per_world).max())

    def run(self) -> Inference:
        """Every answer exactly, most probable worlds too, by visiting all worlds of each component.

        Raises NoWorldError, naming the rules that clash, if no world has positive weight.
        """
        model, layout = self.problem.model, _layout(self.problem.graph, *self._components)
        decided = {nodes: _deciding(layout, nodes) for nodes in asked_together(model.queries)}
        wanted = worlds_wanted(model.queries)
        k = max(wanted.values(), default=0)
        targets: list[list[Nodes]] = [[] for _ in layout.variables]
        for nodes, where in decided.items():
            for c in where:
                targets[c].append(nodes)
        parts = [_enumerate(model.graph, layout, c, own) for c, own in enumerate(targets)]
        if any(part.log_z == -np.inf for part in parts) or model.log_constant == -np.inf:
            raise contradiction(model)
        log_sum = sum(part.log_z for part in parts)
        worlds = _best_worlds(model, layout, k) if k else ()
        found = exact_inference(
            model,
            self.reason,
            log_sum,
            lambda nodes: _join(model.graph, layout, nodes, [parts[c] for c in decided[nodes]]),
        )
        return with_maps(found, wanted, worlds)

    def draw(self, count: int, random: np.random.Generator) -> States:
        """Worlds drawn part by part, in two visits to all of them. Raises NoWorldError if there is none."""
        model, layout = self.problem.model, _layout(self.problem.graph, *self._components)
        states = np.zeros((model.graph.n_variables, count), dtype=np.int32)
        if model.log_constant == -np.inf:
            raise contradiction(model)
        for c, variables in enumerate(layout.variables):
            totals = [
                float(np.logaddexp.reduce(logs, axis=None)) for _, logs, _ in _chunks(model.graph, layout, c)
            ]
            if max(totals) == -np.inf:
                raise contradiction(model)
            states[variables] = _drawn_part(model.graph, layout, c, np.array(totals), count, random)
        return states


def enumeration(problem: Problem, most: float = WORLDS) -> EnumerationPlan | Refusal:
    """The plan for enumeration, where there are at most so many worlds; each unknown makes one or more."""
    plan = EnumerationPlan(problem)
    if problem.graph.n_variables <= most and plan.worlds <= most:
        return plan
    return Refusal(lambda: f"enumeration visits at most {most:,.0f} worlds", math.inf)


def _bits(graph: FactorGraph, component: IntArray) -> FloatArray:
    bits = np.log2(graph.card[: graph.n_variables].astype(np.float64))
    return np.bincount(component[: graph.n_variables], weights=bits, minlength=1).astype(np.float64)


def _components(problem: Problem) -> tuple[IntArray, IntArray]:
    """The component of each node (-1: split or unused), and the derived nodes that are split."""
    graph, live, asked = problem.graph, problem.parts.live, problem.targets.asked
    asked = asked[asked >= graph.n_variables]
    plain = np.ones(graph.n_derived, dtype=bool)
    plain[input_owner(graph)[graph.input_node >= graph.n_variables]] = False
    split = asked[~live[asked - graph.n_variables] & plain[asked - graph.n_variables]]
    whole = np.setdiff1d(asked, split)
    if live[whole - graph.n_variables].all():
        return problem.parts.components, split
    live = live_derived(graph, whole)
    return components(graph, live), split[~live[split - graph.n_variables]]


def _layout(graph: FactorGraph, component: IntArray, split: IntArray) -> _Layout:
    n = int(component.max(initial=-1)) + 1
    of_factor = component[graph.scope[graph.scope_start[:-1]]]
    members = _members(component, n)
    return _Layout(
        component=component,
        split={node: _by_component(graph, node, component) for node in split.tolist()},
        variables=[m[m < graph.n_variables] for m in members],
        derived=[m[m >= graph.n_variables] for m in members],
        factors=_members(of_factor, n),
    )


def _by_component(graph: FactorGraph, node: int, component: IntArray) -> dict[int, Inputs]:
    found: dict[int, Inputs] = {}
    for source, vector in _inputs(graph, node):
        found.setdefault(int(component[source]), []).append((source, vector))
    return found


def _deciding(layout: _Layout, nodes: Nodes) -> list[int]:
    """The components that decide some nodes."""
    found = set[int]()
    for node in nodes:
        found |= layout.split[node].keys() if node in layout.split else {int(layout.component[node])}
    return sorted(found)


def _members(label: IntArray, n: int) -> list[IntArray]:
    order = np.argsort(label, kind="stable")
    bounds = np.searchsorted(label[order], np.arange(n + 1))
    return [order[a:b] for a, b in itertools.pairwise(bounds)]


def _enumerate(graph: FactorGraph, layout: _Layout, c: int, targets: Sequence[Nodes]) -> _Component:
    """Walk the worlds of component c, rescaling sums whenever a heavier world turns up."""
    top = -np.inf
    total = 0.0
    part = _Component()
    for env, logs, _ in _chunks(graph, layout, c):
        if not (high := float(logs.max(initial=-np.inf))) > -np.inf:
            continue
        if high > top:
            scale = math.exp(top - high)
            total *= scale
            for joint in part.joint.values():
                joint *= scale
            top = high
        weights = np.exp(logs - top)
        total += float(weights.sum())
        for nodes in targets:
            _accumulate(graph, layout, c, part, nodes, env, weights)
    part.log_z = top + math.log(total) if total else -np.inf
    for joint in part.joint.values():
        joint /= total
    return part


def _chunks(graph: FactorGraph, layout: _Layout, c: int) -> Iterator[tuple[Env, FloatArray, tuple[int, ...]]]:
    """Blocks of worlds: states of nodes, log weights, and the states of the leading variables."""
    variables = layout.variables[c].tolist()
    cards = graph.card[variables].tolist()
    inner = len(cards)
    while inner and math.prod(cards[inner - 1 :]) <= TOGETHER:
        inner -= 1
    shape = cards[inner:]
    trailing = {
        node: np.arange(card).reshape([card if axis == i else 1 for i in range(len(shape))])
        for axis, (node, card) in enumerate(zip(variables[inner:], shape, strict=True))
    }
    scalar = [1] * len(shape)
    for number, fixed in enumerate(itertools.product(*map(range, cards[:inner]))):
        if number:  # a few worlds are always listed
            deadline.check()
        env = {node: np.full(scalar, s) for node, s in zip(variables[:inner], fixed, strict=True)} | trailing
        for node in layout.derived[c].tolist():
            env[node] = graph.output_map(node - graph.n_variables)[_total(graph, _inputs(graph, node), env)]
        logs = np.zeros(shape)
        for f in layout.factors[c].tolist():
            logs += graph.table_values(f)[tuple(env[node] for node in graph.scope_of(f).tolist())]
        yield env, logs, fixed


def _inputs(graph: FactorGraph, node: int) -> Inputs:
    source, vector = graph.inputs_of(node - graph.n_variables)
    return list(zip(source.tolist(), vector.tolist(), strict=True))


def _total(graph: FactorGraph, inputs: Inputs, env: Env) -> IntArray:
    """What some inputs of a derived node add up to."""
    total: IntArray = np.zeros([1] * next(iter(env.values())).ndim, dtype=np.int64)
    for source, vector in inputs:
        total = total + graph.contribution_of(vector)[env[source]]
    return total


def _accumulate(
    graph: FactorGraph,
    layout: _Layout,
    c: int,
    part: _Component,
    nodes: Nodes,
    env: Env,
    weights: FloatArray,
) -> None:
    """Add the weights to the joint distribution of the nodes as far as component c decides it."""
    states, sizes = [], []
    for node in nodes:
        if node in layout.split:
            inputs = layout.split[node].get(c, [])
            states.append(_total(graph, inputs, env))
            sizes.append(sum(int(graph.contribution_of(vector).max()) for _, vector in inputs) + 1)
        elif layout.component[node] == c:
            states.append(env[node])
            sizes.append(int(graph.card[node]))
        else:
            states.append(np.zeros([1] * weights.ndim, dtype=np.int64))
            sizes.append(1)
    if math.prod(sizes) == 1:
        return
    index = np.zeros([1] * weights.ndim, dtype=np.int64)
    for state, size in zip(states, sizes, strict=True):
        index = index * size + state
    spread = tuple(axis for axis in range(weights.ndim) if index.shape[axis] == 1)
    kept = weights.sum(axis=spread, keepdims=True)
    flat = np.broadcast_to(index, kept.shape).ravel()
    counted = np.bincount(flat, weights=kept.ravel(), minlength=math.prod(sizes)).astype(np.float64)
    counted = counted.reshape(sizes)
    if nodes in part.joint:
        part.joint[nodes] += counted
    else:
        part.joint[nodes] = counted


def _moved(joint: FloatArray, axis: int, states: IntArray, card: int) -> FloatArray:
    """The distribution with an axis of totals turned into one of states."""
    moved: FloatArray = np.zeros((card, *np.delete(joint.shape, axis)))
    np.add.at(moved, states, np.moveaxis(joint, axis, 0))
    out: FloatArray = np.moveaxis(moved, 0, axis)
    return out


def _join(graph: FactorGraph, layout: _Layout, nodes: Nodes, parts: Sequence[_Component]) -> FloatArray:
    """The joint distribution over the components that decide it, flat in C order.

    Components are independent, so split sums add: their distributions convolve. A node that
    lies in one component has a single state, 0, in every other.
    """
    joint: FloatArray = np.ones([1] * len(nodes))
    for part in parts:
        if nodes in part.joint:
            joint = _convolve(joint, part.joint[nodes])
    for axis, node in enumerate(nodes):
        if node in layout.split:
            states = graph.output_map(node - graph.n_variables)[: joint.shape[axis]]
            joint = _moved(joint, axis, states.astype(np.int64), int(graph.card[node]))
    return joint.ravel()


def _convolve(a: FloatArray, b: FloatArray) -> FloatArray:
    """The distribution of the coordinatewise sum of two independent vectors."""
    small, large = (a, b) if a.size <= b.size else (b, a)
    out = np.zeros([m + n - 1 for m, n in zip(a.shape, b.shape, strict=True)])
    for at in np.argwhere(small):
        where = tuple(slice(i, i + n) for i, n in zip(at, large.shape, strict=True))
        out[where] += small[tuple(at)] * large
    return out


def _drawn_part(
    graph: FactorGraph, layout: _Layout, c: int, totals: FloatArray, count: int, random: np.random.Generator
) -> IntArray:
    """States of the variables of a component in worlds drawn, (variables, count), where ``totals`` are the
    log sums of its blocks of worlds."""
    per_block = np.bincount(drawn(totals, count, random), minlength=len(totals))
    parts = []
    for (_, logs, fixed), n in zip(_chunks(graph, layout, c), per_block.tolist(), strict=True):
        if n:
            inner = np.unravel_index(drawn(logs.ravel(), n, random), logs.shape)
            parts.append(np.array([*(np.full(n, state) for state in fixed), *inner]))
    states: IntArray = np.concatenate(parts, axis=1)[:, random.permutation(count)]
    return states


def _best_worlds(model: GroundModel, layout: _Layout, count: int) -> tuple[World, ...]:
    """The ``count`` best worlds, best first; with bounds where rounding leaves their order open."""
    sums = sums_of(model)
    return proven(model, sums, count, lambda k: _largest_sums(sums.graph, layout, k))


def _largest_sums(graph: FactorGraph, layout: _Layout, k: int) -> tuple[States, FloatArray]:
    """The worlds of the k largest sums, (V, n), and these sums: the best of one world per component."""
    best: list[_Sum] = [(0.0, ())]
    for c in range(len(layout.variables)):
        pairs = ((a + b, s + t) for a, s in best for b, t in _best_of_part(graph, layout, c, k))
        best = heapq.nlargest(k, pairs)
    order = np.concatenate([*layout.variables, np.empty(0, dtype=np.int64)]).astype(np.int64)
    states = np.zeros((graph.n_variables, len(best)), dtype=np.int32)
    states[order] = np.array([world for _, world in best], dtype=np.int32).reshape(len(best), -1).T
    return states, np.array([total for total, _ in best])


def _best_of_part(graph: FactorGraph, layout: _Layout, c: int, k: int) -> list[_Sum]:
    """The k largest sums of a component, largest first."""
    best: list[_Sum] = []
    for _, logs, fixed in _chunks(graph, layout, c):
        best = heapq.nlargest(k, best + _best_of_chunk(logs, fixed, k))
    return best


def _best_of_chunk(logs: FloatArray, fixed: tuple[int, ...], k: int) -> list[_Sum]:
    flat = logs.ravel()
    top = np.argpartition(-flat, k - 1)[:k] if k < flat.size else np.arange(flat.size)
    states = np.array(np.unravel_index(top, logs.shape), dtype=np.int64).reshape(-1, len(top)).T
    found = zip(flat[top].tolist(), states.tolist(), strict=True)
    return [(w, fixed + tuple(s)) for w, s in found if w > -np.inf]
