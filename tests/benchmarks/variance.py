"""Asymptotic variances of chains and estimates, exactly, by linear algebra on small models.

``python -m tests.benchmarks.variance`` prints the table of docs/lifting.md: means over all pairs of
the variance of the estimate of P(pair), systematic Gibbs being 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from plx.graph.assemble import variable_cards
from plx.graph.model import GroundModel
from plx.graph.ragged import starts
from plx.graph.worlds import node_states
from plx.infer.orbits.collapse import not_collapsed
from plx.infer.orbits.leaf_conditionals import leaf_conditionals
from plx.infer.orbits.lifted import find_slots
from plx.infer.orbits.orbit_averages import orbit_averages
from plx.infer.problem import Problem
from plx.lift.find import find_symmetry, no_symmetry, reduced_group
from plx.lift.group import Group
from plx.lift.reduced import Reduced, reduced_model
from plx.lift.symmetry import Kind
from tests.benchmarks.models import curriculum, ring
from tests.models import all_states, log_weights, make_model

Array = np.ndarray


def distribution(model: GroundModel) -> Array:
    """The probability of every state, in the order of `all_states`."""
    logs = log_weights(model.graph, all_states(model.graph))
    p: Array = np.exp(logs - np.logaddexp.reduce(logs))
    return p


def sweep(model: GroundModel) -> Array:
    """The transition matrix of one systematic scan."""
    states, p = all_states(model.graph), distribution(model)
    card = variable_cards(model.graph).astype(int)
    number = np.arange(len(states)).reshape(card)
    out = np.eye(len(states))
    for v in range(len(card)):
        step = np.zeros_like(out)
        groups = np.moveaxis(number, v, -1).reshape(-1, card[v])
        for group in groups:
            share = p[group] / p[group].sum() if p[group].sum() else np.full(card[v], 1 / card[v])
            step[np.ix_(group, group)] = share
        out = out @ step
    return out


def orbit_moves(model: GroundModel, group: Group, weight: Array) -> Array:
    """The transition matrix of uniform proposals from each direct factor, accepted by weight."""
    states = all_states(model.graph)
    start = starts(variable_cards(model.graph))
    variable = np.repeat(np.arange(len(start) - 1), np.diff(start))
    shape = tuple(variable_cards(model.graph).astype(int))
    total = weight[start[:-1] + states].sum(axis=1)
    out = np.eye(len(states))
    for factor in group.factors:
        step = np.zeros_like(out)
        elements = [np.arange(factor.degree)]
        seen = {elements[0].tobytes()}
        for element in elements:
            for points, images in factor.generators():
                g = np.arange(factor.degree)
                g[points] = images
                product = g[element]
                if product.tobytes() not in seen:
                    seen.add(product.tobytes())
                    elements.append(product)
        for g in elements:
            pairs = g[start[:-1] + states]
            moved = np.empty_like(states)
            np.put_along_axis(moved, variable[pairs], pairs - start[variable[pairs]], axis=1)
            to = np.ravel_multi_index(tuple(moved.T), shape)
            accept = np.minimum(1.0, np.exp(total[to] - total))
            np.add.at(step, (np.arange(len(states)), to), accept / len(elements))
            np.add.at(step, (np.arange(len(states)), np.arange(len(states))), (1 - accept) / len(elements))
        out = step @ out
    return out


def variance(p: Array, chain: Array, values: Array) -> float:
    """The mean over columns of the asymptotic variance of the average of ``values`` [states, k]."""
    centred = values - p @ values
    fundamental = np.linalg.inv(np.eye(len(p)) - chain + p[None, :])
    return float(((p[:, None] * centred) * (2 * fundamental @ centred - centred)).sum(axis=0).mean())


def indicators(model: GroundModel) -> Array:
    """1 where a state has a pair [states, pairs]."""
    states = all_states(model.graph)
    start = starts(variable_cards(model.graph))
    out = np.zeros((len(states), start[-1]))
    np.put_along_axis(out, start[:-1] + states, 1.0, axis=1)
    return out


def estimate(reduced: Reduced, kind: str) -> Array:
    """What `orbit_averages` makes of each state of the reduced model [states, pairs of the given model]."""
    symmetry = no_symmetry(reduced.model, "vv", "") if kind == "swap" else find_symmetry(reduced.model, "vv")
    found = orbit_averages(
        leaf_conditionals(not_collapsed(reduced.original), reduced),
        reduced,
        symmetry,
        find_slots(reduced) if kind == "f1" else (),
    )
    nodes = node_states(found.model.graph, all_states(reduced.model.graph).T.astype(np.int32))
    targets = Problem(found.model).targets
    counts = np.zeros((nodes.shape[1], targets.offset[-1]), dtype=np.int32)
    for (node,), first in zip(targets.nodes, targets.offset[:-1], strict=True):
        counts[np.arange(len(counts)), first + nodes[node]] = 1
    return found.apply(counts, 1)


def relative(model: GroundModel) -> Iterator[tuple[str, float]]:
    """Method and variance, systematic Gibbs being 1."""
    model = replace(model, queries=make_model(variable_cards(model.graph).tolist(), []).queries)
    p, gibbs, pairs = distribution(model), sweep(model), indicators(model)
    unit = variance(p, gibbs, pairs)
    kinds: tuple[tuple[str, Kind], ...] = (("orbital", "variable"), ("vv", "vv"))
    for name, kind in kinds:
        group = find_symmetry(model, kind).group
        moves = orbit_moves(model, group, np.zeros(group.degree))
        yield name, variance(p, moves @ gibbs, pairs) / unit
    reduced = reduced_model(model)
    small, inner = distribution(reduced.model), sweep(reduced.model)
    group, _ = reduced_group(model.values, reduced.quotient)
    weight = np.log(reduced.quotient.multiplicity[reduced.quotient.pair_of()])
    moves = orbit_moves(reduced.model, group, weight)
    yield "nec", variance(small, moves @ inner, estimate(reduced, "swap")) / unit
    yield "Gibbs, swap average", variance(small, inner, estimate(reduced, "swap")) / unit
    yield "Gibbs, F3 average", variance(small, inner, estimate(reduced, "f3")) / unit
    yield "lifted (F1 and F3)", variance(small, inner, estimate(reduced, "f1")) / unit


MODELS: dict[str, Callable[[], GroundModel]] = {
    "renamed ring of 10": lambda: ring(10, 3),
    "1 student, N = (2, 3, 4)": lambda: curriculum(1, (2, 3, 4)),
    "2 students, N = (2, 4)": lambda: curriculum(2, (2, 4)),
}


def main() -> None:
    """Print the table."""
    for name, make in MODELS.items():
        print(name)
        for method, value in relative(make()):
            print(f"  {method:22} {value:.4f}")


if __name__ == "__main__":
    main()
