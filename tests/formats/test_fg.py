"""Factor graphs of libDAI: order, sparse tables, ids, mistakes."""

from __future__ import annotations

import math

import pytest

from plx.formats import read_model, write_fg
from tests.formats.reading import answers, mistake, same, save, total


def test_first_variable_is_fastest_and_zeros_are_left_out(tmp_path):
    text = "# comment\n1\n\n2\n0 1\n2 3 # sizes\n4\n0 1\n1 2\n2 3\n5 4\n"
    model = read_model(save(tmp_path, "a.fg", text))
    # x(0) + 2 x(1) is the place: 0 → (0, 0), 1 → (1, 0), 2 → (0, 1), 5 → (1, 2)
    found = answers(model)
    assert found["x(0)"] == pytest.approx({"0": 0.4, "1": 0.6})
    assert found["x(1)"] == pytest.approx({"0": 0.3, "1": 0.3, "2": 0.4})
    assert total(model) == pytest.approx(math.log(10))


def test_the_order_of_the_file_decides(tmp_path):
    model = read_model(save(tmp_path, "a.fg", "1\n\n2\n7 2\n3 2\n2\n1 1\n5 3\n"))
    assert answers(model) == {
        "x(2)": pytest.approx({"0": 0.25, "1": 0.75}),
        "x(7)": pytest.approx({"0": 0.0, "1": 0.25, "2": 0.75}),
    }


def test_ids_need_not_be_contiguous(tmp_path):
    model = read_model(save(tmp_path, "a.fg", "2\n\n1\n9\n2\n2\n0 1\n1 3\n\n1\n4\n2\n1\n1 1\n"), ["9=1"])
    assert answers(model) == {"x(4)": pytest.approx({"0": 0.0, "1": 1.0})}


def test_written_and_read_again(tmp_path):
    """Also what no factor is over, and zeros."""
    text = "MARKOV\n4\n2 3 2 2\n2\n2 0 1\n1 3\n6\n1 2 0 4 5 6\n2\n8 0\n"
    before = read_model(save(tmp_path, "a.uai", text))
    written = write_fg(before)
    after = read_model(save(tmp_path, "a.fg", written.text))
    assert same(answers(before), answers(after), within=1e-12)
    assert total(after) + written.log_scale == pytest.approx(total(before), abs=1e-12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", "a.fg:1:1: error: the number of factors must be a whole number from 0 up, and this is `x`"),
        ("2\n\n1\n0\n2\n0\n\n1\n0\n3\n0", "a.fg:10:1: error: variable 0 has 3 states here and 2 before"),
        ("1\n\n2\n0 0\n2 2\n0", "a variable stands twice in factor 0"),
        ("1\n\n1\n0\n2\n3\n0 1 1 1 2 1", "factor 0 has 2 entries, and 3 are announced"),
        ("1\n\n1\n0\n2\n2\n0 1\n0 1", "an entry of factor 0 is given twice"),
        ("1\n\n1\n0\n2\n2\n0 1\n2 1", "a.fg:8:1: error: factor 0 has entries 0 to 1, and this one is 2"),
        ("1\n\n1\n0\n2\n2\n0 1\n1 y", "a.fg:8:3: error: `y` is not a number"),
        ("1\n\n1\n0\n2\n2\n0 1\n1", "the file ends before the entries of factor 0"),
        ("1\n\n1\n0\n2\n0", "factor 0: all entries are 0"),
        ("1\n\n1\n0\n65536\n1\n0 1", "a.fg:5:1: error: a variable has at most 65,535 states"),
        (
            f"1\n\n60\n{' '.join(map(str, range(60)))}\n{'2 ' * 60}\n1\n0 1",
            "factor 0 has 1,152,921,504,606,846,976",
        ),
        ("1\n\n1\n0\n2\n1\n0 1\n7", "1 words too many after the last factor"),
    ],
)
def test_mistakes_have_a_place(tmp_path, text, expected):
    assert expected in mistake(save(tmp_path, "a.fg", text))
