"""Figures of results: what is drawn is what was answered."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import plx
from plx.answer.result import Result
from plx.cli.commands import app

pytest.importorskip("matplotlib")

TEXT = """
type P = {anna, bob, cleo}
random smokes(P)
random colour(x: P): {red, green}
random meets(x: P, y: P) if x != y
random mood: {good, bad}
weight 0.7: smokes(x) for x in P
weight 1: meets(x, y) & smokes(x) for x, y in P if x != y
query smokes(x) for x in P
query colour(x) for x in P
query meets(x, y) for x, y in P if x != y
query count(smokes(x) for x in P) as n
query mood
query map
query logz
"""


@pytest.fixture(scope="module")
def sampled() -> Result:
    return plx.run(TEXT, method="gibbs", seed=1, draws=30)


def panels(result: Result, theme: str = "light") -> dict[str, object]:
    figure = result.plot(theme=theme)  # type: ignore[arg-type]
    figure.canvas.draw()
    return {axes.get_title(): axes for axes in figure.axes if axes.get_title()}


def test_bars_are_as_long_as_the_probabilities_with_their_errors(sampled: Result) -> None:
    axes = panels(sampled)["smokes"]
    widths = [bar.get_width() for bar in axes.patches]  # type: ignore[attr-defined]
    assert widths == [sampled[f"smokes({x})"].probability for x in ("anna", "bob", "cleo")]
    (errors,) = [c for c in axes.containers if hasattr(c, "has_xerr")]  # type: ignore[attr-defined]
    ends = np.array([segment[:, 0] for segment in errors.lines[2][0].get_segments()])
    assert np.diff(ends).ravel() / 2 == pytest.approx(
        [sampled[f"smokes({x})"].mcse for x in ("anna", "bob", "cleo")]
    )


def test_two_indexes_are_a_heat_map_with_gaps(sampled: Result) -> None:
    (image,) = panels(sampled)["meets"].images  # type: ignore[attr-defined]
    shown = np.ma.filled(image.get_array().astype(float), np.nan)
    assert np.array_equal(shown, sampled.array("meets"), equal_nan=True)
    assert image.get_clim() == (0, np.nanmax(shown))
    assert "at most" in panels(sampled)["meets"].get_xlabel()  # type: ignore[attr-defined]


def test_a_number_has_its_distribution_and_its_mean(sampled: Result) -> None:
    axes = panels(sampled)["n"]
    heights = [bar.get_height() for bar in axes.patches]  # type: ignore[attr-defined]
    assert heights == list(sampled["n"].distribution.values())
    (legend,) = [text.get_text() for text in axes.get_legend().get_texts()]  # type: ignore[attr-defined]
    assert legend.startswith("mean ") and "±" in legend


def test_running_means_are_drawn_where_draws_were_kept(sampled: Result) -> None:
    found = panels(sampled)
    axes = found["smokes(anna): running mean of each chain"]
    assert len(axes.lines) == 65  # type: ignore[attr-defined]
    last = [line.get_ydata()[-1] for line in axes.lines[:64]]  # type: ignore[attr-defined]
    assert last == pytest.approx(sampled["smokes(anna)"].draws.mean(axis=1).tolist())
    assert "the smallest effective sizes" in found
    exact = panels(plx.run(TEXT))
    assert not any("running" in title or "effective" in title for title in exact)


def test_many_answers_are_a_curve() -> None:
    text = "type P = 1..3000\nrandom a(P)\nweight 0.001 * p: a(p) for p in P\nquery a(p) for p in P\n"
    result = plx.run(text + "query count(a(p) for p in P if p < 500) as n")
    (line,) = panels(result)["a"].lines  # type: ignore[attr-defined]
    assert len(line.get_xdata()) == 3000
    assert (np.diff(line.get_xdata()) >= 0).all()


@pytest.mark.parametrize("text", ["random a\nquery a", "random a", "random a\nquery map\nquery logz"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_small_results_can_be_drawn(text: str, theme: str) -> None:
    panels(plx.run(text), theme)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_from_the_background(theme: str, sampled: Result) -> None:
    from matplotlib.colors import to_rgb

    figure = sampled.plot(theme=theme)  # type: ignore[arg-type]
    back = np.array(to_rgb(figure.get_facecolor()))
    for axes in figure.axes:
        assert abs(np.mean(to_rgb(axes.title.get_color())) - back.mean()) > 0.7 or not axes.get_title()


def test_files_and_faults_of_the_call(
    sampled: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampled.plot(tmp_path / "out.svg", "dark")
    assert (tmp_path / "out.svg").read_text().lstrip().startswith("<?xml")
    with pytest.raises(plx.PlxError, match="no plot format"):
        sampled.plot(tmp_path / "out.txt")
    with pytest.raises(plx.CallError, match="light or dark"):
        sampled.plot(theme="blue")  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'plx\[plot\]'"):
        sampled.plot()


def test_the_command_line_draws(tmp_path: Path) -> None:
    program = tmp_path / "m.plx"
    program.write_text(TEXT)
    out = tmp_path / "out.svg"
    more = ["--method", "gibbs", "--seed", "1", "--draws", "20", "--theme", "dark"]
    assert CliRunner().invoke(app, ["run", str(program), "--plot", str(out), *more]).exit_code == 0
    assert out.stat().st_size > 1000
    found = CliRunner().invoke(app, ["run", str(program), "--plot", str(tmp_path / "none" / "out.svg")])
    assert found.exit_code == 2


def test_the_same_answers_are_the_same_file_and_its_text_is_text(sampled: Result, tmp_path: Path) -> None:
    sampled.plot(tmp_path / "one.svg")
    sampled.plot(tmp_path / "two.svg")
    one = (tmp_path / "one.svg").read_text(encoding="utf-8")
    assert one == (tmp_path / "two.svg").read_text(encoding="utf-8")
    assert ">anna</text>" in one


LONG = """
type P = {anna, bob}
random word(P): {camel, melon, tenor, lunar, comet, milan, stars, venus, apple}
random short(P): {a, b, c}
query word(x) for x in P
query short(x) for x in P
query word(anna) as one

"""


def test_crowded_labels_stand_upright_and_what_all_have_in_common_is_left_out() -> None:
    drawn = panels(plx.run(LONG, method="exact"))
    turned = {
        name: {label.get_rotation() for label in drawn[name].get_xticklabels()} for name in ("word", "short")
    }  # type: ignore[attr-defined]
    assert turned == {"word": {90.0}, "short": {0.0}}
    assert [label.get_text() for label in drawn["one"].get_yticklabels()][:2] == ["camel", "melon"]  # type: ignore[attr-defined]
