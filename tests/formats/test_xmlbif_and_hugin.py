"""XMLBIF and Hugin's .net: the order of tables, names of every kind, mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

import plx
from plx.formats import read_model
from tests.formats.reading import answers, mistake, same, save, total
from tests.fuzz.inputs import HUGIN, XML

BIF = """network n { }
variable rain { type discrete [ 2 ] { yes, no }; }
variable cloud { type discrete [ 2 ] { "x y", "<" }; }
variable lawn { type discrete [ 3 ] { dry, "/", flooded }; }
probability ( rain ) { table 0.2, 0.8; }
probability ( cloud ) { table 0.3, 0.7; }
probability ( lawn | rain, cloud ) {
  (yes, "x y") 0.0, 0.7, 0.3; (yes, "<") 0.1, 0.5, 0.4; (no, "x y") 0.9, 0.1, 0.0; (no, "<") 0.2, 0.3, 0.5;
}
"""
DATA = "0.0 0.7 0.3  0.1 0.5 0.4  0.9 0.1 0.0  0.2 0.3 0.5"
SAME_XML = f"""<?xml version="1.0"?>
<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME>rain</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME> cloud </NAME><OUTCOME>x y</OUTCOME><OUTCOME>&lt;</OUTCOME>
<PROPERTY>position = (1, 2)</PROPERTY></VARIABLE>
<VARIABLE><NAME>lawn</NAME><VALUE>dry</VALUE><VALUE>/</VALUE><VALUE>flooded</VALUE></VARIABLE>
<DEFINITION><FOR>rain</FOR><TABLE>0.2 0.8</TABLE></DEFINITION>
<PROBABILITY><FOR>cloud</FOR><TABLE>0.3<!-- x y -->0.7</TABLE></PROBABILITY>
<DEFINITION><FOR>lawn</FOR><GIVEN>rain</GIVEN><GIVEN>cloud</GIVEN><TABLE>{DATA}</TABLE></DEFINITION>
</NETWORK></BIF>
"""
SAME_NET = f"""net {{ name = "n"; }}
node rain {{ states = ("yes" "no"); position = (1 2); }}
discrete node cloud {{ states = ("x y" "<"); }}
node lawn {{ label = "{{ }} %"; states = ("dry" "/" "flooded"); }}
potential (rain) {{ data = (0.2 0.8); }}
potential (cloud | ) {{ data = (0.3 0.7); }}
potential (lawn | rain cloud) {{ model_nodes = (); data = (({DATA})); }} % (rain, cloud)
"""


@pytest.mark.parametrize(("name", "text"), [("a.xml", SAME_XML), ("a.xmlbif", SAME_XML), ("a.net", SAME_NET)])
@pytest.mark.parametrize("seen", [[], ["lawn=/"], ["cloud=x y", "rain=no"]])
def test_the_same_network_as_in_bif(tmp_path: Path, name: str, text: str, seen: list[str]) -> None:
    mine = read_model(save(tmp_path, name, text), seen)
    theirs = read_model(save(tmp_path, "a.bif", BIF), seen)
    assert mine.warnings == ()
    assert same(answers(mine), answers(theirs), within=1e-12)
    assert total(mine) == pytest.approx(total(theirs), abs=1e-12)


@pytest.mark.parametrize(("name", "text"), [("a.xml", SAME_XML), ("a.net", SAME_NET)])
def test_as_a_program(tmp_path: Path, name: str, text: str) -> None:
    plx.convert(save(tmp_path, name, text), tmp_path / "b.plx")
    result = plx.load(tmp_path / "b.plx").run(method="exact")
    assert result["lawn"].distribution == pytest.approx(
        plx.load(tmp_path / name).run(method="exact")["lawn"].distribution, abs=1e-12
    )


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.xml", "", "a.xml:1:1: error: this is no XML: no element found"),
        ("a.xml", "<a/>", "a.xml:1:1: error: the file is no XMLBIF: its outermost element is `A`"),
        ("a.xml", XML[:-10], "a.xml:8:1: error: this is no XML: "),
        (
            "a.xml",
            XML.replace("nature", "decision", 1),
            "a.xml:4:1: error: a variable of the type `decision`",
        ),
        ("a.xml", XML.replace("0.2 0.8", "0.2"), "a.xml:6:25: error: 2 numbers are needed here, and 1 are"),
        ("a.xml", XML.replace("0.2 0.8", "0.2 x"), "a.xml:6:36: error: `x` is not a number"),
        ("a.xml", XML.replace("<GIVEN>a", "<GIVEN>q"), "there is no variable called `q`"),
        ("a.xml", XML.replace("<NAME>a</NAME>", ""), "a.xml:4:1: error: this VARIABLE needs one NAME"),
        ("a.xml", XML.replace("<NAME>a</NAME>", "<NAME>é</NAME>"), "a.xml:6:13: error: there is no variable"),
        ("a.xml", '<!DOCTYPE BIF [<!ENTITY a "b">]><BIF/>', "entities are not read"),
        ("a.net", "", "the file has no `node`"),
        ("a.net", HUGIN[:-3], "expected the name of a field, found the end of the file"),
        ("a.net", HUGIN.replace("node a", "decision a"), "a `decision` node; plx reads networks of discrete"),
        ("a.net", HUGIN.replace("(b | a)", "(a b)"), "a potential over several nodes"),
        ("a.net", HUGIN.replace("0.2 0.8", "0.2"), "a.net:4:17: error: 2 numbers are needed here, and 1 are"),
        ("a.net", HUGIN.replace("0.8", "y"), "a.net:4:29: error: `y` is not a number"),
        ("a.net", HUGIN.replace('("x y" "/" "2")', "()"), "a.net:3:6: error: the node `b` has no `states`"),
        ("a.net", HUGIN.replace('"2"', '"2'), 'a.net:3:30: error: a `"` that is not closed'),
    ],
)
def test_mistakes_have_a_place(tmp_path: Path, name: str, text: str, expected: str) -> None:
    assert expected in mistake(save(tmp_path, name, text))
