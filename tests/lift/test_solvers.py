"""The two solvers agree, and the colour refinement with its definition."""

from __future__ import annotations

import numpy as np
import pytest

from plx.graph.components import component_numbers
from plx.lift.automorphism import SearchStoppedError, automorphisms, canonical_labelling, installed
from plx.lift.coloring import color_graph
from plx.lift.kernels import adjacency
from plx.lift.normal import normalise
from plx.lift.refine import refine
from tests.benchmarks.models import potts
from tests.models import random_model


def random_graph(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = int(rng.integers(2, 25))
    left, right = np.nonzero(np.triu(rng.random((n, n)) < rng.choice([0.08, 0.2, 0.5]), 1))
    start, neighbor = adjacency(n, left, right)
    _, color = np.unique(rng.integers(0, 2, n), return_inverse=True)
    return start, neighbor, color.astype(np.int64)


def orbits(generators: np.ndarray, n: int) -> list[int]:
    left = np.tile(np.arange(n), len(generators))
    return component_numbers(n, left, generators.ravel()).tolist()


def plain_refinement(start: np.ndarray, neighbor: np.ndarray, color: np.ndarray) -> set[frozenset[int]]:
    labels = color.tolist()
    while True:
        content = [
            (labels[v], tuple(sorted(labels[w] for w in neighbor[start[v] : start[v + 1]])))
            for v in range(len(labels))
        ]
        number = {key: i for i, key in enumerate(sorted(set(content)))}
        fresh = [number[key] for key in content]
        if len(set(fresh)) == len(set(labels)):
            return {frozenset(np.flatnonzero(np.array(labels) == c).tolist()) for c in set(labels)}
        labels = fresh


def test_refinement_gives_the_coarsest_equitable_partition() -> None:
    for seed in range(300):
        graph = random_graph(np.random.default_rng(seed))
        cells = refine(*graph)
        found = {frozenset(np.flatnonzero(cells == c).tolist()) for c in range(cells.max() + 1)}
        assert found == plain_refinement(*graph), seed


@pytest.mark.skipif(not installed(), reason="needs the extra plx[nauty]")
def test_both_solvers_give_one_order_and_the_same_orbits() -> None:
    for seed in range(100):
        model = random_model(np.random.default_rng(seed), variables=6, weights=(0, 0, 1))
        graph = normalise(model.values, model.graph)
        pairs = int(graph.card[: graph.n_variables].sum())
        colored = color_graph(model.values, graph, np.zeros(pairs, dtype=np.int64))
        found = [
            automorphisms(colored.start, colored.neighbor, colored.color, solver=solver)
            for solver in ("pynauty", "pybliss")
        ]
        assert found[0].order == found[1].order
        n = colored.n_vertices
        assert orbits(found[0].generators, n) == orbits(found[1].generators, n)


def test_canonical_labelling_of_isomorphic_graphs_is_one_graph() -> None:
    rng = np.random.default_rng(3)
    for seed in range(50):
        start, neighbor, color = random_graph(np.random.default_rng(seed))
        n = len(color)
        shuffle = rng.permutation(n)
        left = np.repeat(np.arange(n), np.diff(start))
        once = left < neighbor
        moved = adjacency(n, shuffle[left[once]], shuffle[neighbor[once]].astype(np.int64))
        moved_color = np.empty_like(color)
        moved_color[shuffle] = color
        assert form(start, neighbor, color) == form(*moved, moved_color)


def form(start: np.ndarray, neighbor: np.ndarray, color: np.ndarray) -> tuple[list[int], list[int]]:
    label = canonical_labelling(start, neighbor, color)
    n = len(color)
    edges = np.sort(label[np.repeat(np.arange(n), np.diff(start))] * n + label[neighbor])
    return edges.tolist(), color[np.argsort(label)].tolist()


def test_the_search_can_be_given_up() -> None:
    model = potts(25)
    pairs = 3 * 625
    colored = color_graph(model.values, model.graph, np.zeros(pairs, dtype=np.int64))
    with pytest.raises(SearchStoppedError):
        automorphisms(colored.start, colored.neighbor, colored.color, seconds=0.0)
