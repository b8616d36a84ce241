"""Figures of fits and scores: what is drawn is what was found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import plx
from plx.errors import CallError, PlxError
from tests.use.test_convert import call

pytest.importorskip("matplotlib")

TEXT = "type T = 1..10 random f(T) learn w ~ flat weight w: f(x) for x in T learn v ~ flat "
TEXT += "weight v: f(11) for x in {} observe f = {1, 2, 3, else: false}"


@pytest.fixture(scope="module")
def fit() -> object:
    return plx.compile(TEXT.replace("f(11)", "f(1)")).learn()


def lines(axes: object) -> list[np.ndarray]:
    return [np.array(line.get_xydata()) for line in axes.lines]  # type: ignore[attr-defined]


def test_the_path_and_the_numbers_with_their_errors(fit) -> None:
    path, numbers = fit.plot().axes
    assert lines(path)[0][:, 1].tolist() == list(fit.path)
    assert [label.get_text() for label in numbers.get_yticklabels()] == ["w", "v"]
    assert lines(numbers)[0][:, 0].tolist() == [fit["w"].value, fit["v"].value]
    (bars,) = [c for c in numbers.containers if c.has_xerr]
    ends = np.array([segment[:, 0] for segment in bars.lines[2][0].get_segments()])
    assert np.diff(ends).ravel() == pytest.approx([2 * 1.96 * fit["w"].error, 0])  # nothing decides `v`
    assert [text.get_text() for text in numbers.get_legend().get_texts()] == ["undecided"]


def test_calibration_is_that_of_the_bins(fit) -> None:
    score = fit.model.score()
    (axes,) = score.plot(theme="dark").axes
    ((p, frequency, n),) = score["f"].bins
    assert axes.get_title() == "f: calibration"
    assert [p, frequency] in [row for line in lines(axes) for row in line.tolist()]
    (bars,) = axes.containers
    low, high = bars.lines[2][0].get_segments()[0][:, 1]
    z, q = 1.96, np.array([low, high])  # Wilson's interval is where |frequency - q| is z standard errors
    assert np.abs(frequency - q) == pytest.approx(z * np.sqrt(q * (1 - q) / n))


def test_files_and_themes(fit, tmp_path: Path) -> None:
    fit.plot(tmp_path / "fit.svg")
    assert (tmp_path / "fit.svg").read_text().startswith("<?xml")
    with pytest.raises(CallError, match="no theme `blue`"):
        fit.plot(theme="blue")
    with pytest.raises(PlxError, match="no plot format"):
        fit.plot(tmp_path / "fit.doc")


def test_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        Path(name).mkdir()
        Path(name, "f.csv").write_text("x\n1\n")
    Path("a.plx").write_text(
        'type T = 1..3 random f(x: T) learn w weight w: f(x) for x in T observe f from "f.csv" else false'
    )
    worlds = ("a.plx", "one", "two")
    assert call(capsys, "learn", *worlds, "--plot", "fit.svg", "--theme", "dark", "-o", "w.csv")[0] == 0
    assert call(capsys, "learn", *worlds, "--folds", "2", "--plot", "folds.svg")[0] == 0
    assert call(capsys, "score", *worlds, "--fit", "w.csv", "--plot", "score.svg")[0] == 0
    assert all(Path(name).stat().st_size > 1000 for name in ("fit.svg", "folds.svg", "score.svg"))
    code, _, err = call(capsys, "learn", *worlds, "--plot", "fit.doc")
    assert code != 0 and "no plot format" in err
