"""Graphs as data, by an object that answers as those of networkx do, and by its own where it is installed."""

from __future__ import annotations

from typing import Any

import pytest

import plx
from plx.errors import CallError

PROGRAM = """type Person
relation friends(Person, Person)
param age(Person)
param strength(Person, Person)
random smokes(Person)
weight strength(x, y): smokes(x) = smokes(y) for (x, y) in friends
weight age(x) / 100: smokes(x) for x in Person
query smokes(x) for x in Person
"""


class Graph:
    """A graph with attributes, as networkx answers for one."""

    def __init__(self, nodes: dict[Any, dict[str, Any]], edges: list[Any], directed: bool = False) -> None:
        self._nodes, self._edges, self._directed = nodes, edges, directed
        self.nodes = self

    def __iter__(self) -> Any:
        return iter(self._nodes)

    def __call__(self, data: bool) -> Any:
        return self._nodes.items()

    def edges(self, data: bool) -> Any:
        return self._edges

    def is_directed(self) -> bool:
        return self._directed

    def is_multigraph(self) -> bool:
        return False


NODES = {"anna": {"age": 30}, "bob": {"age": 45}, "b c": {"age": 0}}
EDGES = [("anna", "bob", {"w": 0.5}), ("bob", "b c", {"w": 2})]


def test_a_type_a_relation_and_params() -> None:
    data = plx.from_networkx(Graph(NODES, EDGES), "Person", "friends", nodes=["age"], edges={"strength": "w"})
    assert data["friends"] == [("anna", "bob"), ("bob", "b c")]
    found = plx.compile(PROGRAM, **data).run()
    written = PROGRAM.replace("type Person", 'type Person = {anna, bob, "b c"}')
    written = written.replace(
        "Person, Person)\nparam age", 'Person, Person) = {(anna, bob), (bob, "b c")}\nparam age'
    )
    written = written.replace("age(Person)", 'age(Person) = {anna: 30, bob: 45, "b c": 0}')
    written = written.replace(
        "strength(Person, Person)", 'strength(Person, Person) = {(anna, bob): 0.5, (bob, "b c"): 2, else: 0}'
    )
    expected = plx.run(written)
    for answer, other in zip(found, expected, strict=True):
        assert answer.name == other.name
        assert answer.probability == pytest.approx(other.probability, abs=1e-12)


def test_directions() -> None:
    loop = [*EDGES, ("bob", "bob", {"w": 1})]
    both = plx.from_networkx(Graph(NODES, loop), both=True)["edge"]
    assert both == [("anna", "bob"), ("bob", "b c"), ("bob", "bob"), ("bob", "anna"), ("b c", "bob")]
    assert len(plx.from_networkx(Graph(NODES, loop, directed=True), both=True)["edge"]) == 3  # type: ignore[arg-type]


def test_nodes_of_other_kinds_go_by_their_text() -> None:
    data = plx.from_networkx(Graph({(0, 1): {}, 7: {}, None: {}}, [((0, 1), 7, {})]))
    assert data == {"Node": ["(0, 1)", 7, "None"], "edge": [("(0, 1)", 7)]}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: plx.from_networkx({"a": ["b"]}), "a graph of networkx is needed, and this is a dict"),
        (
            lambda: plx.from_networkx(Graph({"d": {}}, []), nodes=["age"]),
            "node d has no",
        ),
        (lambda: plx.from_networkx(Graph(NODES, EDGES), edges=["weight"]), "it has w"),
        (lambda: plx.from_networkx(Graph({(1,): {}, "(1,)": {}}, [])), "called alike"),
        (lambda: plx.from_networkx(Graph(NODES, EDGES * 2), edges=["w"]), "some edges are parallel"),
        (lambda: plx.from_networkx(Graph(NODES, EDGES), "Node", "Node"), "`Node` names two things"),
    ],
)
def test_mistakes(call: Any, said: str) -> None:
    with pytest.raises(CallError) as caught:
        call()
    assert said in str(caught.value)


def test_the_real_library() -> None:
    networkx = pytest.importorskip("networkx")
    grid = networkx.grid_2d_graph(2, 3)
    text = "type Node\nrelation edge(Node, Node)\nrandom up(Node)\n"
    text += "weight 0.5: up(x) = up(y) for (x, y) in edge\n"
    text += 'observe up = {"(0, 0)": true}\nquery up(x) for x in Node'
    result = plx.compile(text, **plx.from_networkx(grid)).run()
    assert len(result) == 6 and result['up("(0, 1)")'].probability > 0.6
    weighted = networkx.DiGraph()
    weighted.add_weighted_edges_from([(1, 2, 0.5), (2, 1, 3.0)])
    assert plx.from_networkx(weighted, edges=["weight"])["edge"] == [(1, 2), (2, 1)]
    double = networkx.MultiGraph([(1, 2), (1, 2)])
    assert plx.from_networkx(double)["edge"] == [(1, 2)]
