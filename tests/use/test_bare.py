"""Exact answers where all is absent that no browser has: numba, the solvers for symmetries, the extras."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import plx
from tests.docs.blocks import blocks

ROOT = Path(__file__).parents[2]

ABSENT = (
    "numba", "llvmlite", "pynauty", "pybliss", "typer", "click", "rich", "pygments", "IPython", "pygls",
    "lsprotocol", "duckdb", "pyarrow", "pandas", "polars", "xarray", "matplotlib", "pytoulbar2",
)  # fmt: skip

CODE = f"""
import json, os, sys, threading, warnings
sys.modules.update(dict.fromkeys({ABSENT!r}))
sys.platform = "emscripten"  # where no thread can be started either
def refused(*_):
    raise RuntimeError("can't start new thread")
threading.Thread.start = refused
import plx

def answers(result):
    return {{query.name: [[str(one.value), one.p] for one in query.estimates] for query in result}}

found = {{}}
for name, text in json.load(sys.stdin).items():
    try:
        result = plx.compile(text).run(method="exact")
        found[name] = [answers(result), result.log_z]
    except plx.PlxError as error:
        found[name] = str(error)
ring = '''
type N = 0..5
random a(N): {{r, g, b}}
weight 1: a(i) = a((i + 1) % 6) for i in N
query a(0)
'''
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    sampled = plx.compile(ring).run(method="gibbs", samples=2_000, seed=1)
    hard = plx.compile(ring + "require a(0) != a(3)").run(method="gibbs", samples=500, seed=1)
found["sampled"] = [p for _, p in answers(sampled)["a(0)"]]
found["hard"] = len(hard)
found["warnings"] = sorted({{str(one.message) for one in said}})
petersen = '''
type V = {{p0, p1, p2, p3, p4, q0, q1, q2, q3, q4}}
relation e(V, V) = {{(p0,p1),(p1,p2),(p2,p3),(p3,p4),(p4,p0),(p0,q0),(p1,q1),(p2,q2),(p3,q3),(p4,q4),
  (q0,q2),(q2,q4),(q4,q1),(q1,q3),(q3,q0)}}
random u(V)
weight 1: u(x) and u(y) for (x, y) in e
query u(p0)
'''
found["symmetries"] = plx.compile(petersen).symmetries().text()
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def tutorial() -> dict[str, str]:
    """The programs of the tutorial that stand for themselves, by number."""
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    programs = [block.text for block in blocks(text) if block.tag == "plx"]
    return {str(number): program for number, program in enumerate(programs)}


@pytest.fixture(scope="module")
def bare(tutorial: dict[str, str]) -> dict[str, object]:
    """What one process without all that answers."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CODE],
        input=json.dumps(tutorial), capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_the_tutorial_has_the_same_answers(tutorial: dict[str, str], bare: dict[str, object]) -> None:
    answered = 0
    for name, text in tutorial.items():
        try:
            result = plx.compile(text).run(method="exact")
        except plx.PlxError as error:
            assert bare[name] == str(error)
            continue
        expected = {query.name: [[str(one.value), one.p] for one in query.estimates] for query in result}
        assert bare[name] == json.loads(json.dumps([expected, result.log_z]))
        answered += bool(expected)
    assert answered >= 5


def test_sampling_works_and_says_that_it_is_slow(bare: dict[str, object]) -> None:
    sampled = bare["sampled"]
    assert isinstance(sampled, list) and sum(sampled) == pytest.approx(1)
    assert all(abs(p - 1 / 3) < 0.1 for p in sampled)
    assert bare["hard"] == 1
    assert isinstance(bare["warnings"], list)
    assert any("numba is not installed" in message for message in bare["warnings"])


def test_symmetries_say_what_is_missing(bare: dict[str, object]) -> None:
    assert "pybliss is not installed" in str(bare["symmetries"])
