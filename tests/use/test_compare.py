"""`plx compare` from the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from plx.cli.commands import app
from plx.errors import PlxError

PROGRAM = "type T = a..c  random f(T)  weight 1: f(x) & f(y) for x, y in T if x < y  query f(a)"


def compare(tmp_path: Path, *options: str) -> Result:
    file = tmp_path / "model.plx"
    file.write_text(PROGRAM.replace("a..c", "{a, b, c}"))
    usual = [
        "compare",
        str(file),
        "--methods",
        "gibbs,vv",
        "--seconds",
        "0.3",
        "--chains",
        "2",
        "--seed",
        "1",
    ]
    return CliRunner().invoke(app, [*usual, *options])


def test_json_and_plot(tmp_path: Path) -> None:
    result = compare(tmp_path, "--format", "json", "--plot", str(tmp_path / "kl.svg"))
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert [curve["method"] for curve in data["curves"]] == ["gibbs", "vv"]
    for curve in data["curves"]:
        assert len(curve["seconds"]) == len(curve["kl"]) == len(curve["samples"]) > 2
        assert curve["symmetry_seconds"] >= 0
    assert "<svg" in (tmp_path / "kl.svg").read_text()


def test_table_and_csv(tmp_path: Path) -> None:
    table = compare(tmp_path)
    assert table.exit_code == 0 and "gibbs" in table.stdout and "truth: exact" in table.stdout
    rows = list(csv.DictReader(compare(tmp_path, "--format", "csv").stdout.splitlines()))
    assert {row["method"] for row in rows} == {"gibbs", "vv"}
    assert all(float(row["kl"]) >= 0 for row in rows)


def test_truth_from_a_file(tmp_path: Path) -> None:
    truth = tmp_path / "truth.json"
    truth.write_text(json.dumps({"marginals": [[0.5, 0.5]] * 3}))
    data = json.loads(compare(tmp_path, "--format", "json", "--truth", str(truth)).stdout)
    assert data["truth"] == "given"
    assert data["curves"][0]["kl"][-1] > 1e-2


@pytest.mark.parametrize("text", ["", "[1, 2]", '{"other": 1}', None])
def test_a_truth_that_is_none(tmp_path: Path, text: str | None) -> None:
    truth = tmp_path / "truth.json"
    if text is not None:
        truth.write_text(text)
    result = compare(tmp_path, "--truth", str(truth))
    assert result.exit_code != 0 and type(result.exception).__name__ == "PlxError"


def test_the_protocol_of_the_paper(tmp_path: Path) -> None:
    data = json.loads(compare(tmp_path, "--format", "json", "--protocol", "paper").stdout)
    assert data["protocol"] == "paper"
    assert all(curve["kl"][-1] < 0.05 for curve in data["curves"])
    assert json.loads(compare(tmp_path, "--format", "json").stdout)["protocol"] == "sweeps"
    refused = compare(tmp_path, "--protocol", "paper", "--methods", "mcsat")
    assert "does not update one unknown at a time" in str(refused.exception)
    assert compare(tmp_path, "--protocol", "papers").exit_code == 2


@pytest.mark.parametrize(
    ("program", "plot", "message"),
    [
        ("", "kl.svg", "nothing to compare methods on"),
        ("type P = {a}\nrandom s(P)\nobserve s(a)\nquery s(a)", "kl.svg", "nothing to compare methods on"),
        ("random s\nquery s", "kl.xyz", "there is no plot format `.xyz`"),
    ],
)
def test_what_cannot_be_drawn_is_said_before_measuring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, plot: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.plx").write_text(program)
    options = ["--methods", "gibbs, vv", "--seconds", "1000", "--plot", plot]
    result = CliRunner().invoke(app, ["compare", "a.plx", *options])
    assert isinstance(result.exception, PlxError)
    assert message in str(result.exception)


def test_a_plot_in_no_folder_is_refused_before_measuring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.plx").write_text("random s\nquery s")
    result = CliRunner().invoke(app, ["compare", "a.plx", "--seconds", "1000", "--plot", "nowhere/kl.svg"])
    assert result.exit_code == 2
    assert "there is no folder `nowhere`" in result.output
