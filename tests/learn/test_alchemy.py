"""Learned weights as a Markov logic network, which read back is the same model."""

from __future__ import annotations

from pathlib import Path

import pytest

import plx
from plx.errors import CallError
from tests.formats.reading import save
from tests.use.test_convert import call

NETWORK = """// people
Smokes(person)
Cancer(person)
Likes(person,fruit)
fruit = {Apple, "a pear"}

1.5 Smokes(x) => Cancer(x) // why not
-log(2.0) Likes(x, +f) ^ Smokes(x)
Likes(x,+f) v Likes(x,+g)
!Smokes(Bob) v Likes(x, f).
"""
DATA = 'Smokes(Anna)\nLikes(Anna,Apple)\nCancer(Anna)\nLikes(Bob,"a pear")\n'


def test_a_trained_network_is_read_back_as_the_same_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    save(tmp_path, "a.mln", NETWORK)
    save(tmp_path, "a.db", DATA)
    code, _, err = call(capsys, "learn", "a.mln", "a.db", "--write", "b.mln", "-o", "w.csv")
    assert code == 0, err
    text = (tmp_path / "b.mln").read_text()
    lines = [line for line in text.splitlines() if "Likes(x," in line]
    assert [line.split(" ", 1)[1] for line in lines[:3]] == [
        "Likes(x, Apple) ^ Smokes(x)",
        'Likes(x, "a pear") ^ Smokes(x)',
        "Likes(x,Apple) v Likes(x,Apple)",
    ]
    assert len(lines) == 7 and lines[-1] == "!Smokes(Bob) v Likes(x, f)." and "// why not" in text
    fitted = plx.load("a.mln", "a.db", world="closed", trained="all").with_weights("w.csv")
    again = plx.load("b.mln", "a.db", world="closed")
    assert again.score().log_likelihood == pytest.approx(fitted.score().log_likelihood, abs=1e-12)


def test_what_cannot_be_written_as_a_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    save(tmp_path, "a.mln", "P(t)\nQ(t)\nP(x) ^ Q(x)\n")
    save(tmp_path, "a.db", "P(A)\nQ(B)\n")
    model = plx.load("a.mln", "a.db", world="closed", trained="all", weights="cnf")
    with pytest.raises(CallError, match="clauses of this formula"):
        model.learn().network()
    with pytest.raises(CallError, match="numbers were not learned for"):
        plx.compile("random f learn w weight w: f observe f").learn().network()
    save(tmp_path, "b.mln", '#include "a.mln"\n1 P(x)\n')
    with pytest.raises(CallError, match="weights were learned for rules of"):
        plx.load("b.mln", "a.db", world="closed", trained="all").learn().network()
    save(tmp_path, "c.plx", "random f learn w weight w: f observe f")
    code, _, err = call(capsys, "learn", "c.plx", "--write", "c.mln")
    assert code != 0 and "no Markov logic network" in " ".join(err.replace("│", " ").split())
