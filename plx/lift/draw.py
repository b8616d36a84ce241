"""Small coloured graphs as pictures: DOT for graphviz, or SVG by a layout of its own."""

from __future__ import annotations

import colorsys
from collections.abc import Callable
from html import escape
from typing import Final

import numpy as np

from plx.errors import Diagnostic, PlxError
from plx.graph.model import GroundModel
from plx.graph.ragged import owners, starts
from plx.lift.coloring import ENTRY, PAIR, ROLES, ColoredGraph
from plx.lift.find import reduced_graph, truth_labels
from plx.lift.group import Group
from plx.lift.names import PointNames
from plx.lift.quotient import reduce
from plx.lift.symmetry import TITLE, Kind, Symmetry
from plx.values import IMPOSSIBLE, FloatArray

_LARGEST: Final = 400
"""Vertices of the largest graph that is drawn."""

_SIDE: Final = 900
"""Width and height of an SVG, in pixels."""


_HEAD: Final = 50
"""Height of the title and the legend above it."""

_LEGEND: Final = (
    "ellipse: a value of an unknown; box: what ties values, or an entry of a table by its weight; "
    "only vertices of one colour can be exchanged"
)


def draw(model: GroundModel, kind: Kind, form: str) -> str:
    """The coloured graph of a model: only vertices of one colour can be exchanged. ``form``: "svg" or "dot".

    Interchangeable values are one vertex for the kind ``nec``. Raises PlxError for a graph of more
    than 400 vertices, which nobody could read.
    """
    graph, label = _labelled(model, kind)
    if graph.n_vertices > _LARGEST:
        message = f"the coloured graph has {graph.n_vertices:,} vertices; at most {_LARGEST:,} are drawn"
        raise PlxError(Diagnostic(message, hint="draw a smaller instance of the program"))
    title = f"{TITLE[kind]}: {graph.n_vertices:,} vertices"
    return _dot(graph, label, title) if form == "dot" else _svg(graph, label, title)


def _labelled(model: GroundModel, kind: Kind) -> tuple[ColoredGraph, Callable[[int], str]]:
    """The graph before any reduction but that of ``nec``, and the name of each vertex."""
    start = starts(model.graph.card[: model.graph.n_variables])
    label = truth_labels(model) if kind == "variable" else np.zeros(start[-1], dtype=np.int64)
    apart = np.arange(start[-1]) if kind != "nec" else label
    quotient = reduce(model.values, model.graph, apart)
    point = label[quotient.members[starts(quotient.multiplicity)[:-1]]]
    graph = reduced_graph(model.values, quotient, point)
    names = PointNames(Symmetry("nec", start, quotient, Group(int(quotient.start[-1]))), model)
    pairs = quotient.pair_of()

    def name(vertex: int) -> str:
        if graph.role[vertex] == PAIR:
            return names.point(int(pairs[vertex]))
        if graph.role[vertex] == ENTRY and graph.weight[vertex] >= 0:
            return (
                model.atoms.value_name(int(graph.weight[vertex]))
                if graph.weight[vertex] != IMPOSSIBLE
                else "-∞"
            )
        return ROLES[graph.role[vertex]]

    return graph, name


def _palette(graph: ColoredGraph) -> list[str]:
    """One fill per colour, light enough to read black text on."""
    n = int(graph.color.max(initial=0)) + 1
    return [_hex((i * 0.381966) % 1, 0.78 + 0.08 * (i % 2)) for i in range(n)]


def _hex(hue: float, light: float) -> str:
    """A colour of some saturation, as every reader of pictures knows it."""
    return "#" + "".join(f"{round(255 * x):02x}" for x in colorsys.hls_to_rgb(hue, light, 0.7))


def _edges(graph: ColoredGraph) -> list[tuple[int, int]]:
    left = owners(graph.start)
    once = left < graph.neighbor
    return list(zip(left[once].tolist(), graph.neighbor[once].tolist(), strict=True))


def _dot(graph: ColoredGraph, name: Callable[[int], str], title: str) -> str:
    fill = _palette(graph)
    lines = ["graph symmetries {", "  layout=neato; overlap=false; node [style=filled];"]
    lines.append(f'  labelloc=t; label="{title}\\n{_LEGEND}";')
    for v in range(graph.n_vertices):
        shape = "ellipse" if graph.role[v] == PAIR else "box"
        text = name(v).replace("\\", "\\\\").replace('"', '\\"')
        color = fill[graph.color[v]]
        lines.append(f'  v{v} [label="{text}", shape={shape}, fillcolor="{color}"];')
    lines += [f"  v{a} -- v{b};" for a, b in _edges(graph)]
    return "\n".join([*lines, "}", ""])


def _svg(graph: ColoredGraph, name: Callable[[int], str], title: str) -> str:
    place = _layout(graph)
    fill = _palette(graph)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {-_HEAD} {_SIDE} {_SIDE + _HEAD}" '
        'font-family="sans-serif" font-size="11" text-anchor="middle">',
        f"<title>{escape(title)}</title>",
        f'<rect y="{-_HEAD}" width="{_SIDE}" height="{_SIDE + _HEAD}" fill="#ffffff"/>',
        f'<text x="{_SIDE // 2}" y="-26" font-size="15">{escape(title)}</text>',
        f'<text x="{_SIDE // 2}" y="-8">{escape(_LEGEND)}</text>',
    ]
    for a, b in _edges(graph):
        (x1, y1), (x2, y2) = place[a], place[b]
        out.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#999999"/>')
    for v in range(graph.n_vertices):
        x, y = place[v]
        text, color = name(v), fill[graph.color[v]]
        half = 4 + 3.2 * len(text)
        shape = (
            f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="{half:.1f}" ry="10"'
            if graph.role[v] == PAIR
            else f'<rect x="{x - half:.1f}" y="{y - 9:.1f}" width="{2 * half:.1f}" height="18"'
        )
        out.append(f'{shape} fill="{color}" stroke="#333333"/>')
        out.append(f'<text x="{x:.1f}" y="{y + 4:.1f}">{escape(text)}</text>')
    return "\n".join([*out, "</svg>", ""])


def _layout(graph: ColoredGraph) -> FloatArray:
    """Places [n, 2] by springs along edges and repulsion (Fruchterman & Reingold 1991)."""
    n = graph.n_vertices
    place = np.random.default_rng(7).uniform(-1, 1, size=(n, 2))
    edges = np.array(_edges(graph), dtype=np.int64).reshape(-1, 2)
    ideal = 2.0 / np.sqrt(max(n, 1))
    for step in range(300):
        apart = place[:, None] - place[None]
        distance = np.sqrt((apart**2).sum(axis=2)) + 1e-3
        force = (apart * (ideal**2 / distance**2)[:, :, None]).sum(axis=1)
        along = place[edges[:, 1]] - place[edges[:, 0]]
        pull = along * (np.sqrt((along**2).sum(axis=1)) / ideal)[:, None]
        np.add.at(force, edges[:, 0], pull)
        np.add.at(force, edges[:, 1], -pull)
        size = np.sqrt((force**2).sum(axis=1, keepdims=True)) + 1e-9
        place = place + force / size * np.minimum(size, 0.1 * (1 - step / 300))
    low, high = place.min(axis=0, initial=-1e-9), place.max(axis=0, initial=1e-9)
    out: FloatArray = 60 + (place - low) / (high - low) * (_SIDE - 120)
    return out
