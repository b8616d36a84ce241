"""Model → symmetries."""

from __future__ import annotations

import numpy as np

from plx.deadline import OutOfTimeError, seconds_left, within
from plx.graph.model import FactorGraph, GroundModel
from plx.graph.node_map import NodeMap
from plx.graph.ragged import segments, starts
from plx.graph.rows import unique_keys, unique_rows
from plx.lift.coloring import ColoredGraph, color_graph
from plx.lift.group import Group
from plx.lift.layers import Layer, symmetric
from plx.lift.limits import SECONDS_EACH
from plx.lift.quotient import Quotient, reduce
from plx.lift.search import Search, late
from plx.lift.symmetry import Kind, Symmetry
from plx.values import ZERO, IntArray, Values

_NO_MEMORY = "the coloured graph of this model does not fit in memory: symmetries are not used"


def find_symmetry(model: GroundModel, kind: Kind = "nec", seconds: float = 60.0) -> Symmetry:
    """The symmetries of a model, found from its factors alone: states are never enumerated.

    The search takes about ``seconds``. What cannot be found in time or in memory is left
    out and said in ``notes``: the group is then a subgroup, and still one of symmetries.
    """
    start = starts(model.graph.card[: model.graph.n_variables])
    label = truth_labels(model) if kind == "variable" else np.zeros(start[-1], dtype=np.int64)
    try:
        with within(seconds):
            _check_size(model.graph)
            quotient = reduce(model.values, model.graph, label, equal=kind != "nec")
            return symmetry_of(model.values, quotient, label, kind, start, seconds)
    except MemoryError:
        return no_symmetry(model, kind, _NO_MEMORY)
    except OutOfTimeError:
        return no_symmetry(model, kind, late(seconds))


def _check_size(graph: FactorGraph) -> None:
    """Raises OutOfTimeError where a model is too large for the time that there is."""
    arity, size = np.diff(graph.scope_start), np.diff(graph.table_start)[graph.table_of]
    if seconds_left() < SECONDS_EACH * float((arity * size)[arity > 1].sum()):
        raise OutOfTimeError


def no_symmetry(model: GroundModel, kind: Kind, note: str) -> Symmetry:
    """The trivial group, and why."""
    card = model.graph.card[: model.graph.n_variables].astype(np.int64)
    start = starts(card)
    pairs = np.arange(start[-1])
    quotient = Quotient(
        graph=model.graph,
        normal=model.graph,
        start=start,
        state=pairs,
        members=pairs,
        multiplicity=np.ones(len(pairs), dtype=np.int64),
        variable=np.arange(len(card)),
        nodes=NodeMap.identity(model.graph.n_nodes),
        constant_weight=ZERO,
        merges=(),
    )
    return Symmetry(kind, start, quotient, Group(len(pairs)), (note,))


def symmetry_of(
    values: Values, quotient: Quotient, label: IntArray, kind: Kind, start: IntArray, seconds: float
) -> Symmetry:
    """The symmetries of a reduced model; for other kinds than ``nec``, as those of the model itself."""
    point = label[quotient.members[starts(quotient.multiplicity)[:-1]]]
    if kind != "nec":
        _, point = unique_rows(np.stack([point, quotient.multiplicity], axis=1))
    search = Search(reduced_graph(values, quotient, point), seconds)
    pair = quotient.pair_of()
    layers = [layer.on(pair[None]) for layer in search.run()]
    layers = _idle_variables(quotient, point) + layers
    if kind == "nec":
        degree = int(quotient.start[-1])
    else:
        degree = int(start[-1])
        layers = [_lifted(layer, quotient) for layer in layers] + [
            Layer(blocks) for blocks in quotient.merges
        ]
    return Symmetry(kind, start, quotient, Group(degree, tuple(layers)), tuple(search.notes))


def reduced_group(values: Values, quotient: Quotient, seconds: float = 60.0) -> tuple[Group, tuple[str, ...]]:
    """The symmetries of a reduced model, on the pairs of ``quotient.graph``, and notes."""
    try:
        with within(seconds):
            _check_size(quotient.graph)
            label = np.zeros(quotient.start[-1], dtype=np.int64)
            search = Search(reduced_graph(values, quotient, label), seconds)
            layers = search.run()
    except MemoryError:
        return Group(len(quotient.pair_of())), (_NO_MEMORY,)
    except OutOfTimeError:
        return Group(len(quotient.pair_of())), (late(seconds),)
    return Group(len(quotient.pair_of()), tuple(layers)), tuple(search.notes)


def reduced_graph(values: Values, quotient: Quotient, label: IntArray) -> ColoredGraph:
    """The coloured graph of a reduced model; ``label`` [reduced states] must be respected."""
    return color_graph(values, quotient.normal, label[quotient.pair_of()])


def truth_labels(model: GroundModel) -> IntArray:
    """Which value each state of a two-valued variable is, from 1 on; 0 for all pairs of the others.

    Those count as binarised, so their values may be exchanged as variables are.
    """
    atoms = model.atoms
    own = [(1 + domain) * (len(domain) == 2) for domain in atoms.domains]
    label = np.unique(np.concatenate([[0], *own]), return_inverse=True)[1][1:]
    begin = starts(np.array([len(domain) for domain in atoms.domains], dtype=np.int64))[:-1]
    card = model.graph.card[: model.graph.n_variables].astype(np.int64)
    labels: IntArray = label[segments(begin[atoms.domain[atoms.atom_of]], card)]
    return labels


def _idle_variables(quotient: Quotient, label: IntArray) -> list[Layer]:
    """Variables of one reduced state can all be exchanged, where their labels agree."""
    alone = quotient.start[np.flatnonzero(np.diff(quotient.start) == 1)]
    _, group = unique_keys(label[alone])
    size = np.bincount(group)
    return [symmetric(alone[group == g][:, None]) for g in np.flatnonzero(size > 1)]


def _lifted(layer: Layer, quotient: Quotient) -> Layer:
    """A layer over reduced states as one over the original pairs behind them."""
    width = quotient.multiplicity[layer.points[0, 0]]
    begin = starts(quotient.multiplicity)[:-1]
    offset = np.arange(width.sum()) - np.repeat(starts(width)[:-1], width)
    points = quotient.members[np.repeat(begin[layer.points], width, axis=2) + offset]
    if layer.is_symmetric:
        return Layer(points)
    place = starts(width)[:-1]
    generators = np.repeat(place[layer.generators], width, axis=1) + offset
    return Layer(points, generators.astype(np.int32), layer.order)
