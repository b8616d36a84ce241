"""Large models for benchmarks, put together without the language."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from plx.graph.assemble import FactorBatch, assemble
from plx.graph.model import AtomBlock, Atoms, GroundModel, GroundRule
from plx.values import Values

Number = int | Fraction


def ground_model(values: Values, cards: np.ndarray, batches: Sequence[FactorBatch]) -> GroundModel:
    """A model of variables x(0), x(1), …; those of two states are Boolean."""
    assembly = assemble(values, cards, batches)
    n = len(cards)
    sizes = np.unique(cards)
    atoms = Atoms(
        blocks=(AtomBlock("x", values.ids(range(n)).reshape(n, 1), 0),),
        node=assembly.nodes.node[:n].astype(np.int32),
        fixed=np.full(n, -1, dtype=np.int64),
        domain=np.searchsorted(sizes, cards).astype(np.int32),
        domains=tuple(np.array([0, 1]) if c == 2 else values.ids(range(int(c))) for c in sizes),
        atom_of=np.flatnonzero(assembly.nodes.node[:n] >= 0),
        values=values,
    )
    rules = (GroundRule("factor", "factor …", None),)
    return GroundModel(assembly.graph, atoms, values, rules, (), assembly.constant_weight)


def table(values: Values, entries: Sequence[Number]) -> np.ndarray:
    """One table of exact weights, shape (1, n)."""
    return values.ids(entries)[None]


def ring(n: int, seed: int | None = 0) -> GroundModel:
    """x_i ∨ ¬x_{i+1} with weights 6/5 and 19/10 in turn around a ring; values renamed at random."""
    values = Values()
    flip = np.zeros(n, int) if seed is None else np.random.default_rng(seed).integers(0, 2, n)
    scope = np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1)
    tables = np.concatenate(
        [
            table(values, [w if (x ^ a) == 0 or (y ^ b) == 1 else 0 for x in (0, 1) for y in (0, 1)])
            for w in (Fraction(6, 5), Fraction(19, 10))
            for a in (0, 1)
            for b in (0, 1)
        ]
    )
    which = 4 * (np.arange(n) % 2) + 2 * flip + flip[scope[:, 1]]
    return ground_model(values, np.full(n, 2), [FactorBatch(scope, which, tables)])


def potts(side: int, colors: int = 3, weight: Number = 1) -> GroundModel:
    """A square grid whose neighbours like one colour."""
    values = Values()
    cell = np.arange(side * side).reshape(side, side)
    across = np.stack([cell[:, :-1].ravel(), cell[:, 1:].ravel()], axis=1)
    down = np.stack([cell[:-1].ravel(), cell[1:].ravel()], axis=1)
    scope = np.concatenate([across, down])
    same = table(values, [weight if i == j else 0 for i in range(colors) for j in range(colors)])
    cards = np.full(side * side, colors)
    return ground_model(values, cards, [FactorBatch(scope, np.zeros(len(scope), int), same)])


def curriculum(students: int, courses: Sequence[int] = (2, 3, 3, 4, 5, 5, 6, 8)) -> GroundModel:
    """Students who fail an area or pass one of its courses; weights on failing and on passing two areas."""
    values = Values()
    k = len(courses)
    cards = np.tile(np.array(courses) + 1, students)
    node = np.arange(students * k).reshape(students, k)
    zero = np.zeros(students, int)
    batches = [
        FactorBatch(node[:, [a]], zero, table(values, [Fraction(3, 2)] + [0] * courses[a])) for a in range(k)
    ]
    for a in range(k):
        for b in range(a + 1, k):
            entries = [
                Fraction(6, 5) if x and y else 0 for x in range(courses[a] + 1) for y in range(courses[b] + 1)
            ]
            batches.append(FactorBatch(node[:, [a, b]], zero, table(values, entries)))
    return ground_model(values, cards, batches)


def complete(n: int, weight: Number = Fraction(1, 100)) -> GroundModel:
    """n people, each two of whom like to smoke together."""
    values = Values()
    scope = np.stack(np.triu_indices(n, 1), axis=1)
    both = table(values, [0, 0, 0, weight])
    return ground_model(values, np.full(n, 2), [FactorBatch(scope, np.zeros(len(scope), int), both)])


def published(path: Path) -> GroundModel:
    """A published model: variables and weighted clauses."""
    data = json.loads(path.read_text(encoding="utf-8"), parse_float=Fraction)
    values = Values()
    cards = np.array([v["domain_size"] for v in data["variables"]])
    batches = []
    for feature in data["features"]:
        literals = feature["clause"]
        scope = sorted({v for v, _, _ in literals})
        grid = np.indices(cards[scope]).reshape(len(scope), -1)
        state = dict(zip(scope, grid, strict=True))
        true = np.any([(state[v] == value) == bool(sign) for v, value, sign in literals], axis=0)
        entries = [feature["weight"] if t else 0 for t in true]
        batches.append(FactorBatch(np.array([scope]), np.zeros(1, int), table(values, entries)))
    return ground_model(values, cards, batches)
