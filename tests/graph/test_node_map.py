"""Maps of nodes: one after the other, and what they do to queries and atoms."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from plx.graph.model import GroundEvidence, GroundQuery, Target
from plx.graph.node_map import NodeMap
from plx.source import Source, Span
from tests.models import make_model

NOWHERE = Span(Source("", ""), 0, 0)


@st.composite
def node_maps(draw: st.DrawFn, n: int) -> NodeMap:
    """Each node stays, has one state left, or is gone."""
    fate = draw(st.lists(st.sampled_from(["stay", "one", "gone"]), min_size=n, max_size=n))
    stays = np.array([kind == "stay" for kind in fate], dtype=bool)
    node = np.where(stays, np.cumsum(stays) - 1, -1)
    state = np.array([draw(st.integers(0, 3)) if kind == "one" else -1 for kind in fate], dtype=np.int64)
    return NodeMap(node, state)


@given(st.data())
def test_one_map_after_the_other_is_one_map(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 6))
    first = data.draw(node_maps(n))
    second = data.draw(node_maps(int(first.node.max()) + 1))
    both = first.then(second)
    for i in range(n):
        labels = np.arange(4) + 10 * i
        query = GroundQuery(
            "probability", "", "", (Target(i, labels),), (GroundEvidence(i, 1, NOWHERE),), None
        )
        if both.node[i] < 0 and both.state[i] < 0:
            continue  # nothing asks for what is gone
        (once,), (twice,) = both.query(query).targets, second.query(first.query(query)).targets
        assert once.node == twice.node
        np.testing.assert_array_equal(once.labels, twice.labels)
        assert both.query(query).given == second.query(first.query(query)).given


@given(st.data())
def test_the_identity_changes_nothing(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 6))
    one = data.draw(node_maps(n))
    for same in (NodeMap.identity(n).then(one), one.then(NodeMap.identity(int(one.node.max()) + 1))):
        np.testing.assert_array_equal(same.node, one.node)
        np.testing.assert_array_equal(same.state, one.state)


def test_unknowns_that_become_one_have_one_atom() -> None:
    model = make_model([2, 2, 2, 2], [((0, 1, 2, 3), list(range(16)))])
    node = np.array([1, -1, 1, 0])
    moved = NodeMap(node, np.array([-1, 0, -1, -1])).atoms(model.atoms, 2)
    np.testing.assert_array_equal(moved.atom_of, [3, 0])
    np.testing.assert_array_equal(moved.node, node)
