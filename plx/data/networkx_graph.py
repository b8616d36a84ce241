"""Graphs of networkx as data for a program: a type, a relation on it, and params."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from plx.data.otherwise import Else
from plx.errors import CallError, Diagnostic

Names = Iterable[str] | Mapping[str, str]


def bindings_of(
    graph: Any, type: str, relation: str, nodes: Names, edges: Names, both: bool
) -> dict[str, object]:
    """Nodes, edges and their attributes by the names that a program has for them. Raises CallError."""
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed", "is_multigraph")):
        _fail(f"a graph of networkx is needed, and this is a {graph.__class__.__name__}")
    of_nodes, of_edges = _named(nodes), _named(edges)
    names = [type, relation, *of_nodes, *of_edges]
    if twice := next((name for name in names if names.count(name) > 1), None):
        _fail(f"`{twice}` names two things")
    called = _called(graph)
    pairs = [(called[a], called[b], data) for a, b, data in graph.edges(data=True)]
    back = [(b, a, data) for a, b, data in pairs if a != b] if both and not graph.is_directed() else []
    found: dict[str, object] = {
        type: list(called.values()),
        relation: list(dict.fromkeys((a, b) for a, b, _ in [*pairs, *back])),
    }
    for param, attribute in of_nodes.items():
        rows = {called[node]: _value(data, attribute, "node", node) for node, data in graph.nodes(data=True)}
        found[param] = rows
    for param, attribute in of_edges.items():
        if len({(a, b) for a, b, _ in pairs}) < len(pairs):
            _fail(f"`{param}`: some edges are parallel, and a param has one value for each pair")
        values = {(a, b): _value(data, attribute, "edge", (a, b)) for a, b, data in [*pairs, *back]}
        found[param] = Else(values, 0)
    return found


def _named(names: Names) -> dict[str, str]:
    """Params with the attributes that they are."""
    return dict(names) if isinstance(names, Mapping) else {name: name for name in names}


def _called(graph: Any) -> dict[Any, str | int]:
    """What each node is called in the program."""
    called = {node: node if _is_value(node) else str(node) for node in graph.nodes}
    if len(set(called.values())) < len(called):
        _fail("two nodes are called alike as text: relabel them (networkx.relabel_nodes)")
    return called


def _is_value(node: object) -> bool:
    return isinstance(node, str | int) and not isinstance(node, bool)


def _value(data: Mapping[str, object], attribute: str, kind: str, which: object) -> object:
    if attribute not in data:
        has = ", ".join(map(str, data)) or "none"
        _fail(f"the {kind} {which} has no attribute `{attribute}`", f"it has {has}")
    return data[attribute]


def _fail(message: str, hint: str | None = None) -> NoReturn:
    raise CallError(Diagnostic(message, hint=hint))
