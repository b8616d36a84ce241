"""In a notebook: every object shows once, as HTML, and is text everywhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import rich.console

import plx
from plx.answer.named import Estimate
from plx.answer.result import QueryResult, Result
from plx.infer.compare.curves import Comparison, Curve
from plx.infer.inference import Inference

ROOT = Path(__file__).resolve().parents[2]
TEXT = 'type T = {a, "<b>"}\nrandom f(T)\nweight 1: f(x) for x in T\nquery f("<b>")\nquery f(a)'
SHOWN: dict[str, Callable[[plx.Model], Any]] = {
    "model": lambda model: model,
    "result": lambda model: model.run(),
    "answer": lambda model: model.run()[0],
    "symmetries": lambda model: model.symmetries(),
    "comparison": lambda model: a_comparison("<b>.plx"),
}


def a_comparison(name: str) -> Comparison:
    marks = np.array([0.1, 1.0])
    curve = Curve("gibbs", marks, np.array([[0.5, 0.01], [0.5, 0.03]]), marks * 1e6, 0.0, ("<note>",))
    return Comparison(name, "exact", 2, 64, 1, "sweeps", (curve,))


@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.parametrize("jupyter", [False, True])
def test_text_is_text_also_where_there_is_html(
    name: str, jupyter: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[object] = []
    monkeypatch.setattr(rich.console, "_is_jupyter", lambda: jupyter)
    if jupyter:
        monkeypatch.setenv("FORCE_COLOR", "1")  # as Jupyter does
    display = SimpleNamespace(display=lambda *things, **_: shown.extend(things))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    thing = SHOWN[name](plx.compile(TEXT))
    assert repr(thing).strip() and str(thing).strip()
    assert "\x1b" not in repr(thing) + str(thing)
    assert len(repr(thing)) < 120 or name == "result"
    assert not shown and not any(capsys.readouterr())


@pytest.mark.parametrize("name", SHOWN)
def test_html_is_escaped(name: str) -> None:
    html = SHOWN[name](plx.compile(TEXT.replace("query f(a)", "query f(a) as x")))._repr_html_()
    assert "<b>&quot;" not in html and "<note>" not in html
    assert name == "model" or "&lt;b&gt;" in html or "&lt;note&gt;" in html


def test_an_answer_is_the_same_everywhere() -> None:
    odd = QueryResult("<i>", "<i>", "distribution", estimates=(Estimate("</td>", '"</td>"', 1.0),))
    for html in (odd._repr_html_(), Result("p", (odd,), Inference("exact", "<r>", ()))._repr_html_()):
        assert "<i>" not in html and "<r>" not in html and html.count("</td>") == 7
        assert "&lt;/td&gt;" in html


def test_a_model_says_what_it_holds(tmp_path: Path) -> None:
    assert repr(plx.compile(TEXT)) == "<Model program: 1 type, 1 random, 1 rule, 2 queries>"
    network = tmp_path / "pair.uai"
    network.write_text("MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2 3 4\n", encoding="utf-8")
    assert repr(plx.load(network)) == f"<Model {network}: 2 unknowns, 1 factor>"
    assert repr(plx.compile(TEXT).symmetries()) == "<Symmetries nec: order 2>"
    assert repr(a_comparison("ring.plx")) == "<Comparison of ring.plx, KL at the end: gibbs 2.00e-02>"


CELLS = [
    f"import plx\nmodel = plx.compile({TEXT!r})\nresult = model.run()\nlen(repr(result)) > 50",
    "print(result)",
    "result",
    "model",
    "result[0]",
    "model.symmetries()",
    "import logging; logging.warning('result %s', result)",
    "from IPython.core.completer import provisionalcompleter\nwith provisionalcompleter():\n"
    "    names = {c.text for c in get_ipython().Completer.completions('plx.', 4)}\nset(plx.__all__) - names",
    "def stop(report):\n    if report.error is not None: raise KeyboardInterrupt\n"
    "for _ in range(3):\n    model.run(method='gibbs', seed=1, samples=10**9, progress=stop)",
]


def run_cells(sources: list[str]) -> list[list[Any]]:
    """What each of the cells shows, run one after the other."""
    formats, client = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    book = formats.v4.new_notebook(cells=[formats.v4.new_code_cell(source) for source in sources])
    resources = {"metadata": {"path": str(ROOT)}}
    client.NotebookClient(
        book, timeout=120, allow_errors=True, kernel_name="python3", resources=resources
    ).execute()
    return [cell.outputs for cell in book.cells]


def test_a_real_notebook() -> None:
    long, printed, *objects, logged, completed, stopped = run_cells(CELLS)
    assert [output["data"]["text/plain"] for output in long] == ["True"]
    assert [output.output_type for output in printed] == ["stream"]
    assert "f(a)" in printed[0]["text"] and "method exact" in printed[0]["text"]
    for outputs in objects:
        (output,) = outputs
        assert {"text/plain", "text/html"} <= set(output["data"])
        assert "\x1b" not in output["data"]["text/plain"]
    assert ["0.731059" in output["text"] for output in logged] == [True]
    assert completed[0]["data"]["text/plain"] == "set()"
    assert [output["ename"] for output in stopped if output.output_type == "error"] == ["Interrupted"]


PROGRAM = """
type Person
param w
relation friends(Person, Person)
random smokes(Person)
weight w: smokes(x) & smokes(y) for (x, y) in friends
"""
PROGRAMS = [
    "%load_ext plx\nPerson, friends, w, seen = ['anna', 'bob'], [('anna', 'bob')], 0.7, {'bob': True}",
    f"%%plx answers{PROGRAM}query smokes(anna)",
    "answers.method, round(answers['smokes(anna)'].probability, 6)",
    "%%plx --query 'count(smokes(x) for x in {anna, bob}) as n' --observe '!smokes(bob)' --bind w=0"
    + PROGRAM,
    f"%%plx again --bind smokes{PROGRAM}query smokes(anna)",
    "smokes = seen",
    f"%%plx again --bind smokes{PROGRAM}query smokes(anna)",
    "round(again[0].probability, 6)",
    f"%%plx --model model{PROGRAM}query map",
    "model.run()[0].kind",
    "%%plx\nrandom rain\nquery ran",
    "%%plx --chains some\nrandom rain",
    "%%plx a-b\nrandom rain",
    "%%plx 'a\nrandom rain",
    "%%plx --method gibs\nrandom rain\nquery rain",
    "%%plx\ntype T = {a}\nparam lost\nrandom f(T)\nweight lost: f(x) for x in T",
]


def test_cells_are_programs() -> None:
    loaded, shown, kept, asked, unread, _, _, given, model, ran, *wrong = run_cells(PROGRAMS)
    assert not loaded
    (table,) = shown
    assert table.output_type == "execute_result" and "<td>smokes(anna)</td>" in table["data"]["text/html"]
    assert kept[0]["data"]["text/plain"] == f"('exact', {round((1 + E) / (3 + E), 6)})"
    assert "mean" in asked[0]["data"]["text/plain"] and "0.5" in asked[0]["data"]["text/plain"]
    assert "there is no variable `smokes`" in unread[0]["text"]
    assert given[0]["data"]["text/plain"] == f"{round(E / (1 + E), 6)}"
    assert (
        model[0]["data"]["text/plain"].startswith("<Model cell: ") and "map" in ran[0]["data"]["text/plain"]
    )
    mistake, chains, name, quote, method, lost = wrong
    assert mistake[0]["ename"] == "PlxError"
    assert mistake[0]["traceback"][0].startswith("cell:3:7: error: `ran`")
    assert [o["text"].split(":")[0] for o in (*chains, *name, *quote)] == ["UsageError"] * 3
    assert "did you mean `gibbs`?" in "".join(method[0]["traceback"])
    assert "lost" in "".join(lost[0]["traceback"]) and "Traceback" not in "".join(lost[0]["traceback"])


E = float(np.exp(0.7))

SLOW = """
type T = 1..100
random f(T)
weight 0.1: f(x) & f(y) for x, y in T if x < y
query f(1)
"""
INTERRUPTED = [
    "%load_ext plx\nimport _thread, threading\nthreading.Timer(8, _thread.interrupt_main).start()",
    f"%%plx part --method gibbs --seconds 100 --accuracy 0.000001{SLOW}",
    "part.status, len(part)",
]


def test_a_cell_shows_a_bar_and_ctrl_c_leaves_the_answers_so_far() -> None:
    _, (bar, shown, error), kept = run_cells(INTERRUPTED)
    assert bar["data"] == {"text/html": "", "text/plain": ""}  # it was there, and was taken away
    assert "<td>f(1)</td>" in shown["data"]["text/html"] and "interrupted" in shown["data"]["text/html"]
    assert (error["ename"], error["traceback"]) == (
        "Interrupted",
        ["interrupted: these are the answers so far"],
    )
    assert kept[0]["data"]["text/plain"] == "('interrupted', 1)"


def test_the_bar_of_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    from plx import progress
    from plx.infer.options import Progress

    states: list[str] = []
    handle = SimpleNamespace(update=lambda data, raw: states.append(data["text/html"]))

    def display(data: dict[str, str], raw: bool, display_id: bool) -> SimpleNamespace:
        states.append(data["text/html"])
        return handle

    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    monkeypatch.setattr(progress, "_REDRAW_EVERY", 0.0)
    bar = progress._NotebookBar()
    bar.close()
    bar.update(Progress("<looking>", 0.0, 1.0))
    bar.update(Progress("sampling", 0.25, 2.0, 0.0123))
    bar.close()
    looking, sampling, gone = states
    assert looking == "<progress></progress> &lt;looking&gt;"
    assert sampling == '<progress value="0.250"></progress> sampling, ± 0.012' and gone == ""
