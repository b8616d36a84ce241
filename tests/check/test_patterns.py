"""What the items of a tuple that is bound stand for."""

from __future__ import annotations

import pytest

import plx
from plx.errors import PlxError
from tests.compiling import compile_text

DECLARED = """\
type P = {anna, bob, cleo, x}
type Pet = {rex, y}
relation friends(P, P) = {(anna, bob), (bob, cleo), (cleo, cleo), (bob, x)}
relation owns(P, Pet) = {(anna, rex), (x, rex)}
param boss = bob
param w = 2
random f(P)
random g(Pet)
"""


def instances(rule: str, **data: object) -> int:
    """How many instances a rule has."""
    return plx.compile(f"{DECLARED}{rule}\nquery f(bob)", **data).ground.rules[0].instances


@pytest.mark.parametrize(
    ("scope", "count"),
    [
        ("(u, v) in friends, (v, t) in friends", 4),
        ("(u, u) in friends", 1),
        ("(anna, v) in friends", 1),
        ('("anna", v) in friends', 1),
        ("(u, _) in friends", 4),
        ("(_, _) in friends", 4),
        ("(bob, _) in friends", 2),
        ("u in {bob}, (u, v) in friends", 2),
        ("(u, v) in friends, (u, y) in owns", 0),
        ("(u, v) in friends, (u, pet) in owns", 1),
        ("(x, v) in owns", 1),
        ("(u, v) in friends if v = x", 1),
        ("(u, v) in friends, (v, v) in friends", 2),
    ],
)
def test_known_items_are_conditions(scope: str, count: int) -> None:
    assert instances(f"weight 1: f(bob) for {scope}") == count


def test_a_variable_from_outside_is_a_condition_too() -> None:
    result = plx.run(f"{DECLARED}observe f(bob)\nquery exists(f(v) for (u, v) in friends) for u in {{anna}}")
    assert result["exists(f(v) for (anna, v) in friends)"].probability == 1


def test_a_define_joins_its_slots() -> None:
    text = f"{DECLARED}define liked(u: P) = count(f(v) for (u, v) in friends)\nquery liked(bob)"
    assert list(plx.run(text)["liked(bob)"].distribution) == [0, 1, 2]


def test_members_from_the_caller_are_no_constants() -> None:
    """What a bare word means is never decided by data: it is a variable, and a warning says so."""
    assert instances("weight 1: f(v) for (dan, v) in friends", P=["anna", "bob", "cleo", "x", "dan"]) == 4
    text = DECLARED.replace("{anna, bob, cleo, x}", "{}").replace("type P = {}", "type P")
    program = f"{text}weight 1: f(v) for (anna, v) in friends"
    model = plx.compile(program, P=["anna", "bob", "cleo", "x"])
    assert model.ground.rules[0].instances == 4
    assert any("hides the symbol `anna`" in warning.message for warning in model.warnings)


def test_a_listed_constant_that_the_caller_takes_away_is_reported() -> None:
    with pytest.raises(PlxError, match="`anna` is no member of P"):
        instances("weight 1: f(v) for (anna, v) in friends", P=["bob", "x"], friends=[], owns=[], boss="x")


def test_a_hidden_value_is_told() -> None:
    """A param that could stand there is hidden, as everywhere else; one that could not is left in peace."""
    said = [w.message for w in plx.compile(f"{DECLARED}weight 1: f(boss) for (boss, v) in friends").warnings]
    assert "the variable `boss` hides what is declared as `boss`" in said
    assert not plx.compile(f"{DECLARED}weight 1: f(w) & g(y) for (w, _) in friends, y in Pet").warnings[1:]


def test_a_symbol_of_another_slot_is_a_variable() -> None:
    assert instances("weight 1: f(y) for (_, y) in friends") == 4


def test_relations_by_formula_join() -> None:
    text = "relation two(u: P, t: P) = exists(true for (u, v) in friends, (v, t) in friends)\n"
    program = compile_text(DECLARED + text + "weight 1: f(u) for (u, t) in two")
    assert len(program.relations["two"].facts) == 4


def test_a_formula_over_many_facts_joins_by_their_values() -> None:
    """Each of 300 x 300 pairs looks at the facts that begin with it, not at 300 x 300 pairs of facts."""
    facts = [(i, (i + 1) % 300) for i in range(300)]
    text = """
    type P = 0..299
    relation e(P, P)
    relation two(x: P, z: P) = exists(true for (x, y) in e, (y, z) in e)
    random f(P)
    weight 1: f(x) => f(z) for (x, z) in two
    query f(0)
    """
    assert plx.compile(text, e=facts).ground.rules[0].instances == 300
