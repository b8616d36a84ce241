"""Models written as UAI and read back."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plx.errors import PlxError
from plx.formats import read_model, write_uai
from tests.formats.reading import answers, same, save, total
from tests.models import make_model, random_model


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), hard=st.sampled_from([0.0, 0.3]))
def test_round_trip(tmp_path_factory, seed, hard):
    rng = np.random.default_rng(seed)
    model = random_model(rng, variables=4, derived=2, hard=hard, weights=(0, 1, Fraction(-7, 3), 800, -800))
    written = write_uai(model)
    again = read_model(save(tmp_path_factory.mktemp("uai"), "a.uai", written.text))
    assert total(again) + written.log_scale == pytest.approx(total(model), abs=1e-9)
    assert same(answers(again), answers(model))


def test_tables_have_largest_entry_one(tmp_path):
    written = write_uai(make_model([2, 2], [([0], [0, 800]), ([1], [-800, -9000])]))
    assert written.log_scale == 0
    lines = written.text.splitlines()
    assert lines[-4].split()[1] == "1"
    assert lines[-1].split()[0] == "1"
    assert lines[-1].split()[1].endswith("E-3562")


@pytest.mark.parametrize("weight", [10**16, Fraction(-(10**12))])
def test_weights_too_far_apart_are_refused(weight):
    with pytest.raises(PlxError, match="too far apart"):
        write_uai(make_model([2, 2], [([0], [0, weight])]))


def test_names_states_and_evidence_come_back(tmp_path):
    text = """variable "the cat" { type discrete [ 3 ] { on, "the mat", '"' }; }
    variable 节点 { type discrete [ 2 ] { true, false }; }
    variable seen { type discrete [ 2 ] { yes, no }; }
    probability ( "the cat" ) { table 0.2 0.3 0.5; }
    probability ( 节点 | "the cat" ) { (on) .1 .9; ("the mat") .3 .7; (') .5 .5; }
    probability ( seen | 节点 ) { (true) .6 .4; (false) .2 .8; }""".replace("""'"' """, "' ")
    model = read_model(save(tmp_path, "a.bif", text), {"seen": "yes"})
    written = write_uai(model)
    assert "c observed: seen = yes" in written.text
    again = read_model(save(tmp_path, "b.uai", written.text))
    assert same(answers(again), answers(model))
    assert answers(again)["the cat"]["the mat"] == pytest.approx(answers(model)["the cat"]["the mat"])
    assert list(answers(read_model(tmp_path / "b.uai", {"the cat": "the mat"}))) == ["节点"]


@pytest.mark.parametrize(
    "comment", ['c plx ["a", 0, 1]', 'c plx ["a", 0]\nc plx ["b", 0, 1]', "c plx [a]\n" * 2]
)
def test_comments_that_do_not_name_every_variable_once_are_no_names(tmp_path, comment):
    text = f"{comment}\nMARKOV 2 2 2 1 1 0 2 1 3\n"
    assert list(answers(read_model(save(tmp_path, "a.uai", text)))) == ["x(0)", "x(1)"]


def test_a_count_over_too_many_unknowns_is_refused():
    count = [([(i, [0, 1]) for i in range(30)], list(range(31)))]
    model = make_model([2] * 30, [([30], list(range(31)))], count)
    with pytest.raises(PlxError, match="couples 30 unknowns: its table is too large for a UAI file"):
        write_uai(model)
