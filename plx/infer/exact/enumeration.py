"""Exact answers by enumeration, one connected component after the other.

A component's worlds are an array with one axis per variable; the leading axes are walked in
Python, the trailing ones (`_INNER` worlds) are done by numpy. Everything stays in log space
until the largest weight seen is known.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from plx import deadline
from plx.graph.components import components
from plx.graph.model import FactorGraph, GroundModel
from plx.graph.subgraph import live_derived
from plx.graph.worlds import input_owner
from plx.infer.answers import exact_answer, free_nodes, log_z_answer, map_answer
from plx.infer.exact_scores import States, proven, sums_of
from plx.infer.hard.contradiction import contradiction
from plx.infer.inference import Answer, Inference, World
from plx.values import FloatArray, IntArray

_INNER = 1 << 15

Env = dict[int, IntArray]
"""The state of each node, as an array that broadcasts over the inner axes."""

_Sum = tuple[float, tuple[int, ...]]
"""The sum of some worlds' weights, and their states."""


@dataclass(frozen=True)
class _Layout:
    """Which nodes belong to which component, and which derived nodes are split over several."""

    component: IntArray  # [V + D], -1: split or unused
    split: frozenset[int]
    variables: list[IntArray]
    derived: list[IntArray]
    factors: list[IntArray]


@dataclass
class _Component:
    """One component enumerated: log Z, and per target its joint distribution."""

    log_z: float = -np.inf
    joint: dict[tuple[int, ...], FloatArray] = field(default_factory=dict)


def world_count(model: GroundModel) -> float:
    """How many worlds `enumerate_worlds` would visit: the sum over components; may be infinite."""
    log = log10_worlds(model)
    return round(10**log) if log < 15 else 10**log if log < 300 else math.inf


def log10_worlds(model: GroundModel) -> float:
    """The decimal logarithm of `world_count`."""
    return float(np.logaddexp2.reduce(_bits(model))) * math.log10(2)


def log10_joint_worlds(model: GroundModel) -> float:
    """The decimal logarithm of how many worlds there are: the product over components."""
    return float(_bits(model).sum()) * math.log10(2)


def _bits(model: GroundModel) -> FloatArray:
    """The binary logarithm of the number of worlds of each component; [0] where there is none."""
    graph = model.graph
    label = _components(model)[0][: graph.n_variables]
    bits = np.log2(graph.card[: graph.n_variables].astype(np.float64))
    return np.bincount(label, weights=bits, minlength=1).astype(np.float64)


def enumerated(model: GroundModel) -> str:
    """What enumeration does, for people."""
    bits = _bits(model)
    bits = bits[bits > 0]
    worlds, parts = np.exp2(bits).sum(), len(bits)
    if not parts:
        return "the only world was looked at"
    return (
        f"all {worlds:,.0f} worlds{f' of {parts:,} independent parts' if parts > 1 else ''} were enumerated"
    )


def enumerate_worlds(model: GroundModel) -> Inference:
    """Every answer exactly, by visiting all worlds of each component.

    Raises NoWorldError, naming the rules that clash, if no world has positive weight.
    """
    layout = _layout(model)
    targets = list(dict.fromkeys(free_nodes(query) for query in model.queries if query.targets))
    k = max((query.best for query in model.queries if query.kind == "map"), default=0)
    parts = [_enumerate(model.graph, layout, c, targets) for c in range(len(layout.variables))]
    if any(part.log_z == -np.inf for part in parts) or model.log_constant == -np.inf:
        raise contradiction(model)
    log_z = sum(part.log_z for part in parts) + model.log_constant
    worlds = _best_worlds(model, layout, k) if k else ()
    joints = {nodes: _join(model.graph, layout, nodes, parts) for nodes in targets}
    answers = []
    for query in model.queries:
        if query.kind == "map":
            answers.append(map_answer(worlds[: query.best]))
        elif query.kind == "logz":
            answers.append(log_z_answer(log_z))
        else:
            answers.append(exact_answer(model, query, joints[free_nodes(query)]))
    return _inference(model, answers, log_z)


def _inference(model: GroundModel, answers: Sequence[Answer], log_z: float) -> Inference:
    return Inference("exact", enumerated(model), tuple(answers), log_z=log_z)


def _components(model: GroundModel) -> tuple[IntArray, IntArray]:
    """The component of each node (-1: split or unused), and the derived nodes that are split."""
    graph = model.graph
    asked = np.unique([node for query in model.queries for node in free_nodes(query)]).astype(np.int64)
    asked = asked[asked >= graph.n_variables]
    plain = np.ones(graph.n_derived, dtype=bool)
    plain[input_owner(graph)[graph.input_node >= graph.n_variables]] = False
    split = asked[~live_derived(graph)[asked - graph.n_variables] & plain[asked - graph.n_variables]]
    live = live_derived(graph, np.setdiff1d(asked, split))
    return components(graph, live), split[~live[split - graph.n_variables]]


def _layout(model: GroundModel) -> _Layout:
    graph = model.graph
    component, split = _components(model)
    n = int(component.max(initial=-1)) + 1
    of_factor = component[graph.scope[graph.scope_start[:-1]]]
    members = _members(component, n)
    return _Layout(
        component=component,
        split=frozenset(split.tolist()),
        variables=[m[m < graph.n_variables] for m in members],
        derived=[m[m >= graph.n_variables] for m in members],
        factors=_members(of_factor, n),
    )


def _members(label: IntArray, n: int) -> list[IntArray]:
    order = np.argsort(label, kind="stable")
    bounds = np.searchsorted(label[order], np.arange(n + 1))
    return [order[a:b] for a, b in itertools.pairwise(bounds)]


def _enumerate(graph: FactorGraph, layout: _Layout, c: int, targets: Sequence[tuple[int, ...]]) -> _Component:
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
    while inner and math.prod(cards[inner - 1 :]) <= _INNER:
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
            env[node] = graph.output_map(node - graph.n_variables)[_total(graph, node, env, env)]
        logs = np.zeros(shape)
        for f in layout.factors[c].tolist():
            logs += graph.table_values(f)[tuple(env[node] for node in graph.scope_of(f).tolist())]
        yield env, logs, fixed


def _total(graph: FactorGraph, node: int, env: Env, part: Env) -> IntArray:
    """The sum behind a derived node, over those of its inputs that are in ``part``."""
    total: IntArray = np.zeros([1] * next(iter(env.values())).ndim, dtype=np.int64)
    for source, vector in zip(*graph.inputs_of(node - graph.n_variables), strict=True):
        if int(source) in part:
            total = total + graph.contribution_of(int(vector))[env[int(source)]]
    return total


def _accumulate(
    graph: FactorGraph,
    layout: _Layout,
    c: int,
    part: _Component,
    nodes: tuple[int, ...],
    env: Env,
    weights: FloatArray,
) -> None:
    """Add the weights to the joint distribution of the nodes as far as component c decides it."""
    states, sizes = [], []
    for node in nodes:
        if node in layout.split:
            states.append(_total(graph, node, env, env))
            sizes.append(_largest_total(graph, node, env) + 1)
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


def _largest_total(graph: FactorGraph, node: int, env: Env) -> int:
    inputs = zip(*graph.inputs_of(node - graph.n_variables), strict=True)
    return sum(int(graph.contribution_of(int(k)).max()) for source, k in inputs if int(source) in env)


def _moved(joint: FloatArray, axis: int, states: IntArray, card: int) -> FloatArray:
    """The distribution with an axis of totals turned into one of states."""
    moved: FloatArray = np.zeros((card, *np.delete(joint.shape, axis)))
    np.add.at(moved, states, np.moveaxis(joint, axis, 0))
    out: FloatArray = np.moveaxis(moved, 0, axis)
    return out


def _join(
    graph: FactorGraph, layout: _Layout, nodes: tuple[int, ...], parts: Sequence[_Component]
) -> FloatArray:
    """The joint distribution over all components, flat in C order.

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
