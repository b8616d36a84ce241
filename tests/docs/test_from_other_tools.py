"""The guides from other tools: where such a tool is installed, its side says what plx says.

Nothing else needs them, so that these tests skip by name. To run them: ``pip install problog pgmpy pyagrum``.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import plx
from tests.docs.blocks import Block, blocks
from tests.docs.pages import page


def texts(name: str, *tags: str) -> list[str]:
    return [block.text for block in blocks(page(name)) if block.tag in tags]


def problog_pairs() -> list[tuple[str, str]]:
    """Each program of ProbLog with the program of plx that follows it."""
    found: list[Block] = [b for b in blocks(page("from-problog.md")) if b.tag in ("prolog", "plx")]
    return [(theirs.text, ours.text) for theirs, ours in zip(found[::2], found[1::2], strict=True)]


@pytest.mark.parametrize(("theirs", "ours"), problog_pairs())
def test_problog(theirs: str, ours: str) -> None:
    """Queries stand in one order on both sides, and the comments beside them are the answers."""
    problog = pytest.importorskip("problog")
    from problog.program import PrologString

    answers = problog.get_evaluatable().create_from(PrologString(theirs)).evaluate()
    by_name = {str(term).replace(" ", ""): value for term, value in answers.items()}
    asked = re.findall(r"^query\((.*)\)\. +% (\S+)$", theirs, re.MULTILINE)
    for (term, shown), answer in zip(asked, plx.run(ours), strict=True):
        assert answer.probability == pytest.approx(by_name[term.replace(" ", "")], abs=1e-12), term
        assert answer.probability == pytest.approx(float(shown), abs=1e-8), term


@pytest.mark.filterwarnings("ignore")
def test_pgmpy() -> None:
    pytest.importorskip("pgmpy")
    network, same = texts("from-pgmpy.md", "py")
    here: dict[str, object] = {}
    exec(network + same, here)
    inference = here["VariableElimination"](here["model"])  # type: ignore[operator]
    result = plx.run(texts("from-pgmpy.md", "plx")[0])
    bright = inference.query(["bright"], {"letter": "strong"}, show_progress=False).values
    both = inference.query(["bright", "hard"], {"letter": "weak"}, show_progress=False).values
    assert result[0].probability == pytest.approx(bright[1], abs=1e-12)
    assert list(result[1].distribution.values()) == pytest.approx(both.ravel(), abs=1e-12)
    assert here["result"]["bright"].distribution["yes"] == pytest.approx(bright[1], abs=1e-12)  # type: ignore[index]
    assert inference.map_query(["bright"], {"letter": "strong"}, show_progress=False) == {"bright": "no"}
    assert result[2].assignment == {"hard": True, "bright": False, "grade": "C", "strong": False}


def test_pyagrum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyagrum")
    monkeypatch.chdir(tmp_path)
    here: dict[str, object] = {}
    exec(texts("from-pyagrum.md", "py")[0], here)
    engine = here["ie"]
    hard, soft = (plx.run(text) for text in texts("from-pyagrum.md", "plx"))
    rain = engine.posterior("rain").tolist()  # type: ignore[attr-defined]
    assert plx.load("lawn.bif", wet="1").run()["rain"].distribution["1"] == pytest.approx(rain[1], abs=1e-12)
    assert hard["rain"].probability == pytest.approx(rain[1], abs=1e-12)
    engine.setEvidence({"wet": [0.2, 0.8]})  # type: ignore[attr-defined]
    rain = engine.posterior("rain").tolist()  # type: ignore[attr-defined]
    assert soft["rain"].probability == pytest.approx(rain[1], abs=1e-12)
