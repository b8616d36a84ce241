"""The instances of queries: names, labels, targets."""

from __future__ import annotations

import pytest

from tests.ground.programs import grounded

HEADER = """
type T = {t1, "New York", map', 中}
type L = -1..1
relation e(T, T) = {(t1, 中), (中, map'), (map', t1)}
random b(T)
random n(i: L): {-1, 1/3, x}
"""


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("b(x) for x in T", ["b(t1)", 'b("New York")', "b(map')", "b(中)"]),
        ("b(x) & b(y) for x, y in T if x < y & y = map'", ["b(t1) & b(map')", 'b("New York") & b(map\')']),
        ("n(i) for i in L", ["n(-1)", "n(0)", "n(1)"]),
        ("n(0) = i - 1 for i in L", ["n(0) = -1 - 1", "n(0) = 0 - 1", "n(0) = 1 - 1"]),
        ("count(b(y) for y in T if y != x) for x in {t1}", ["count(b(y) for y in T if y != t1)"]),
        ("b(x) as it for x in T if x = t1", ["it(t1)"]),
        ("count(b(x) for x in T) as total", ["total"]),
        (
            "b(t1) as pair for x in T, i in L if i = 0 & x != t1",
            ['pair("New York", 0)', "pair(map', 0)", "pair(中, 0)"],
        ),
        ("(b(t1), n(0)) for i in {1} given b(中), n(i) = x", ["(b(t1), n(0)) given b(中), n(1) = x"]),
        ("map", ["map"]),
        ("map 3 given b(t1)", ["map 3 given b(t1)"]),
        ("logz", ["logz"]),
        ("n(0) % 2 = 1 for x in T if x = t1", ["n(0) % 2 = 1"]),
        ("b(z) for (x, y) in e, (y, z) in e", ["b(map')", "b(t1)", "b(中)"]),
        ("b(x) as two for (x, y) in e, (y, _) in e", ["two(t1, 中)", "two(中, map')", "two(map', t1)"]),
        ("b(x) & b(y) for (x, y) in e, (t1, y) in e", ["b(t1) & b(中)"]),
        ("n(0) as it for (t1, y) in e, (_, y) in e", ["it(中)"]),
    ],
)
def test_names(query: str, names: list[str]) -> None:
    text = HEADER.replace("{-1, 1/3, x}", "{-1, 2}") if "%" in query else HEADER
    assert [q.name for q in grounded(f"{text}query {query}").queries] == names


def test_what_a_tuple_joins_on_or_leaves_out_is_no_slot_of_the_answers() -> None:
    text = HEADER + "query b(x) | b(z) as q for (x, y) in e, (y, z) in e, (z, _) in e, (t1, _) in e"
    for query in grounded(text).queries:
        assert [name for name, _ in query.slots] == ["x", "y", "z"]


def test_targets_have_each_value_once() -> None:
    model = grounded(HEADER + "query n(0) = x\nquery n(0)\nquery b(t1)\nquery n(0) in {x, -1}")
    for query in model.queries:
        (target,) = query.targets
        assert len(set(target.labels)) == len(target.labels) == model.graph.card[target.node]


def test_observed_targets_are_point_masses() -> None:
    model = grounded(HEADER + "observe b(t1)\nquery b(t1)\nquery b(t1) | b(中)\nquery (b(t1), b(中))")
    assert [t.node for q in model.queries for t in q.targets][:3] == [-1, -1, -1]
    assert [len(t.labels) for q in model.queries for t in q.targets] == [1, 1, 1, 2]


def test_counts_have_no_more_states_than_needed() -> None:
    model = grounded(
        "type T = 1..50\nrandom b(T)\nquery count(b(x) for x in T) >= 2\nquery count(b(x) for x in T)"
        "\nquery exists(b(x) for x in T)\nquery sum(3 * x for x in T) + count(b(x) for x in T if x > 40) % 2"
    )
    assert [int(model.graph.card[q.targets[0].node]) for q in model.queries] == [2, 51, 2, 2]


def test_many_instances_are_named_fast() -> None:
    model = grounded("type T = 1..20000\nrandom b(T)\nquery b(x) for x in T")
    assert model.queries[-1].name == "b(20000)"
