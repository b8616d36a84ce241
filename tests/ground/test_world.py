"""A program without and with its observations, grounded once: what grounding each by itself makes of it."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import plx
from plx.errors import NoWorldError, PlxError
from plx.graph.model import GroundModel
from plx.ground import world
from tests.learn.programs import at, learning
from tests.mixed_programs import mixed_programs

some = settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)


def content(model: GroundModel) -> list[object]:
    """All that a model says, with values in the place of their ids and tables in that of their numbers."""
    graph, values = model.graph, model.values
    tables = [
        [values[i] for i in graph.table_weights(factor).ravel().tolist()] for factor in range(graph.n_factors)
    ]
    nodes = [getattr(graph, name).tolist() for name in ("card", "input_start", "input_node", "output_of")]
    scopes = [graph.scope_start.tolist(), graph.scope.tolist()]
    vectors = [getattr(graph, name).tolist() for name in ("contribution", "input_contribution", "output")]
    atoms = [getattr(model.atoms, name).tolist() for name in ("node", "fixed", "atom_of")]
    return [graph.n_variables, *nodes, *scopes, *vectors, *atoms, tables, values[model.constant_weight]]


def both(text: str, given_: tuple[str, ...]) -> None:
    origin = plx.compile(text).origin
    try:
        apart = [content(origin.unfitted(given_)), content(origin.unfitted())]
    except NoWorldError as error:
        with pytest.raises(NoWorldError) as found:
            origin.unfitted_world(given_)
        assert str(found.value) == str(error)
        return
    assert [content(model) for model in origin.unfitted_world(given_)] == apart


def observed(text: str, draw: st.DrawFn) -> str:
    """The program with some of its unknowns, or all, observed besides."""
    atoms = plx.compile(text).origin.unfitted().atoms
    free = np.flatnonzero(atoms.node >= 0).tolist()
    every = draw(st.booleans())
    facts = []
    for atom in free:
        values = [atoms.values[i] for i in atoms.domains[atoms.domain[atom]].tolist()]
        value = draw(st.sampled_from([*values, *([] if every else [None, None])]))
        name = atoms.name(atom)
        if isinstance(value, bool):
            facts.append(f"observe {name}" if value else f"observe !{name}")
        elif value is not None:
            facts.append(f"observe {name} = {value}")
    return text + "\n".join(facts) + "\n"


@some
@given(st.data())
def test_both_ways_agree_on_programs_that_learn(data: st.DataObject) -> None:
    text = at(data.draw(learning()), np.array([0.5, -1.0, 0.25]))
    with suppress(NoWorldError):
        text = observed(text, data.draw)
    both(text, tuple(data.draw(st.sets(st.sampled_from(["b", "m", "n", "z"])))))


@some
@given(st.data())
def test_both_ways_agree_where_joins_and_distributions_meet(data: st.DataObject) -> None:
    text = data.draw(mixed_programs())
    try:
        text = observed(text, data.draw)
    except PlxError:
        assume(False)
    both(text, tuple(data.draw(st.sets(st.sampled_from(["a", "k", "l"])))))


def test_what_is_grounded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Formulas that are observed, and sums of which a part is; nothing else is."""
    again = []
    monkeypatch.setattr(world, "ground", lambda program, limit: again.append(program) or "again")
    start = "type T = 1..12\nrandom a(T)\nlearn w\nweight w * i: a(i) for i in T\n"

    def seen(more: str, given_: tuple[str, ...] = ()) -> object:
        return plx.compile(start + more).origin.unfitted_world(given_)[1]

    every = "weight w: exists(a(i) for i in T)\n"
    assert seen("observe a(1) & a(2)\n") != "again"
    assert seen("observe a(i) for i in T\n" + every) != "again"
    assert seen("observe a(1) | a(2)\n", ("a",)) != "again"
    assert not again
    assert seen("observe a(1) | a(2)\n") == seen("observe !a(1)\n" + every) == "again"
