"""UAI models: order of entries, comments, exact weights, mistakes."""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
from fractions import Fraction

import pytest

from plx import weights
from plx.formats import read_model
from tests.formats.reading import answers, mistake, save, total

CHAIN = """c a comment
MARKOV
3
2 2 3
c another one
3
1 0
2 0 1
2 1 2

2
 0.436 0.564
4
 0.128 0.872
 0.920 0.080
6
 0.210 0.333 0.457
 0.811 0.000 0.189
"""


def test_last_variable_is_fastest(tmp_path):
    model = read_model(save(tmp_path, "chain.uai", CHAIN))
    found = answers(model)
    one = 0.436 * 0.872 + 0.564 * 0.080
    assert total(model) == pytest.approx(0.0, abs=1e-12)
    assert found["x(0)"]["1"] == pytest.approx(0.564)
    assert found["x(1)"]["1"] == pytest.approx(one)
    assert found["x(2)"]["1"] == pytest.approx(0.333 * (1 - one))


HASHES = """# x(0)=1 is written by aGrUM
MARKOV # kind
3# variables
2 2 3
c both kinds of comments # one in the other
3
1 0 # 1 1
2 0 1
2 1 2

2
 0.436 0.564
4
# the table
 0.128 0.872
 0.920 0.080#
6 # c
 0.210 0.333 0.457
 0.811 0.000 0.189
#"""


@pytest.mark.parametrize(
    "evidence", ["# a=b\n1 # one\n0 1 # x(0)\n", "c a comment\n1 0 1\n", "# 1\nx(0)=1\n"]
)
def test_both_kinds_of_comments_are_skipped(tmp_path, evidence):
    plain, with_hashes = (read_model(save(tmp_path, "a.uai", text)) for text in (CHAIN, HASHES))
    assert answers(with_hashes) == answers(plain)
    seen = save(tmp_path, "a.evid", evidence)
    found = read_model(save(tmp_path, "a.uai", HASHES), [seen])
    expected = read_model(save(tmp_path, "a.uai", CHAIN), {"x(0)": 1})
    assert answers(found) == answers(expected)
    assert total(found) == total(expected)


def test_scopes_need_no_order(tmp_path):
    text = "MARKOV\n2\n2 3\n1\n2 1 0\n6\n1 2 3 4 5 6\n"
    found = answers(read_model(save(tmp_path, "a.uai", text)))
    assert found["x(0)"]["0"] == pytest.approx((1 + 3 + 5) / 21)
    assert found["x(1)"]["2"] == pytest.approx(11 / 21)


def test_entries_become_exact_logs(tmp_path):
    model = read_model(save(tmp_path, "a.uai", "MARKOV 1 2 2 1 0 1 0 2 0.95 1 2 2.0 2e0"))
    held = {model.values[int(i)] for i in model.graph.weight}
    assert held == {weights.log(Fraction(19, 20)), 0}
    assert model.values[model.constant_weight] == weights.log(2)


def test_nothing_underflows(tmp_path):
    model = read_model(save(tmp_path, "a.uai", "MARKOV 1 3 1 1 0 3 3e-4165 6e-4165 0"))
    assert answers(model)["x(0)"] == pytest.approx({"0": 1 / 3, "1": 2 / 3, "2": 0.0})
    assert total(model) == pytest.approx(math.log(9) - 4165 * math.log(10))


def test_variables_of_one_state(tmp_path):
    model = read_model(save(tmp_path, "a.uai", "MARKOV 3 1 2 1 2 2 0 1 1 2 2 1 3 1 0.5"))
    assert answers(model) == {
        "x(0)": {"0": 1.0},
        "x(1)": pytest.approx({"0": 0.25, "1": 0.75}),
        "x(2)": {"0": 1.0},
    }
    assert total(model) == pytest.approx(math.log(4 * 0.5))


def test_tables_over_one_scope_and_over_none(tmp_path):
    text = "MARKOV\n2\n2 2\n3\n2 0 1\n2 1 0\n0\n4\n1 2 3 4\n4\n1 2 3 4\n1\n5\n"
    model = read_model(save(tmp_path, "a.uai", text))
    assert model.graph.n_factors == 1
    assert total(model) == pytest.approx(math.log(5 * (1 + 6 + 6 + 16)))


def test_words_after_the_last_table_are_named(tmp_path):
    model = read_model(save(tmp_path, "a.uai", "BAYES 1 2 1 1 0\n2 .25 .75\n0\n1 1\n"))
    (warning,) = model.warnings
    assert "3 words after the last table" in warning.message
    assert warning.span is not None
    assert warning.span.line == 3


def test_bayes_that_does_not_sum_to_one_is_said(tmp_path):
    model = read_model(save(tmp_path, "a.uai", "BAYES 1 2 1 1 0 2 1 3"))
    assert "1 of 1 tables do not sum to 1" in model.warnings[0].message
    assert total(model) == pytest.approx(math.log(4))


def test_windows_line_ends_and_byte_order_mark(tmp_path):
    path = tmp_path / "a.uai"
    path.write_bytes(b"\xef\xbb\xbfc hello\r\nc\r\nMARKOV\r\n1\r\n2\r\n1\r\n1 0\r\n2\r\n1 3\r\n")
    assert answers(read_model(path))["x(0)"]["1"] == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "a.uai is empty; a UAI file starts with MARKOV or BAYES"),
        ("BEYAS\n1", "a.uai:1:1: error: a UAI file starts with MARKOV or BAYES, and this one"),
        ("MARKOV\n2\n2 x", "a.uai:3:3: error: a number of states must be a whole number from 1 up"),
        ("MARKOV\n2\n2 0", "a number of states must be a whole number from 1 up, and this is `0`"),
        ("MARKOV 1 99999999999", "a.uai:1:10: error: a variable has at most 65,535 states"),
        ("MARKOV 2 2 2\n1\n2 0 2", "a.uai:3:5: error: there is no variable 2: the file has 2"),
        ("MARKOV 2 2 2\n1\n2 1 1", "a.uai:3:5: error: a variable stands twice in one scope"),
        ("MARKOV 1 2 1 1 0\n3", "table 0 should have 2 entries, and the file says 3"),
        ("MARKOV 1 2 1 1 0\n2\n1 O.5", "a.uai:3:3: error: `O.5` is not a number"),
        ("MARKOV 1 2 1 1 0\n2\n1 -3", "a.uai:3:3: error: the entry `-3` is negative"),
        ("MARKOV 1 2 1 1 0\n2\n1 nan", "a.uai:3:3: error: `nan` is not a number"),
        ("MARKOV 1 2 1 1 0\n2\n1 1e999999", "the exponent of `1e999999` is too large"),
        ("MARKOV 1 2 1 1 0\n2\n1", "the file ends before the entries of table 0 (2 expected, 1 found)"),
        ("MARKOV 1 2 1 1 0\n2\n0 0.0", "a.uai:3:1: error: table 0: all entries are 0"),
        ("MARKOV 1 2 1 1 0\n2\n1 ½", "a.uai:3:3: error: `½` is not a number"),
    ],
)  # fmt: skip
def test_mistakes_have_a_place(tmp_path, text, expected):
    assert expected in mistake(save(tmp_path, "a.uai", text))


def test_a_file_that_is_not_there(tmp_path):
    assert "cannot read" in mistake(tmp_path / "none.uai")


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "a.uai"
    path.write_bytes(b"MARKOV\n1\n\xff\n")
    assert "a.uai:3:1: error: byte 0xff is not UTF-8 text" in mistake(path)


@pytest.mark.parametrize(
    ("content", "place", "hint"),
    [
        ("MARKOV\n1\n".encode("utf-16"), "1:1", "the file is UTF-16: save it as UTF-8"),
        ("MARKOV\n1\n".encode("utf-16-be"), "1:1", "save the file as UTF-8"),
        (gzip.compress(b"MARKOV\n1\n", mtime=0), "1:2", "the file is compressed: unpack it first"),
        (bz2.compress(b"MARKOV\n1\n"), "1:", "the file is compressed: unpack it first"),
        (lzma.compress(b"MARKOV\n1\n"), "1:1", "the file is compressed: unpack it first"),
        (b"PK\x03\x04\x14\x00", "1:6", "the file is a zip archive"),
        (b"SQLite format 3\x00\x10\x00", "1:16", "the file is a database of SQLite"),
        (b"\xef\xbb\xbfMARKOV\n1\n2\0\n", "3:2", "save the file as UTF-8"),
    ],
)
def test_files_that_are_no_text_say_what_they_are(tmp_path, content, place, hint):
    path = tmp_path / "a.uai"
    path.write_bytes(content)
    said = mistake(path)
    assert f"a.uai:{place}" in said and f"hint: {hint}" in said


def test_other_suffixes_are_refused(tmp_path):
    assert "models are read from files that end in .bif, .bifxml, .cnf, .fg, .json, .net, .uai," in mistake(
        tmp_path / "a.xdsl"
    )
