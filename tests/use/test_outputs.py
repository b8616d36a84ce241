"""Files that commands write: nothing is lost, half written or opened too early."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from plx.saving import require_writable, save

ROOT = Path(__file__).resolve().parents[2]
COIN = "random a\nweight 1: a\nquery a\n"
OLD = "what was here before"


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


@pytest.fixture
def plx(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """Call plx in an empty folder that holds coin.plx: exit code and standard error."""
    from plx.cli import main

    monkeypatch.chdir(tmp_path)
    Path("coin.plx").write_text(COIN, encoding="utf-8")

    def call(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["plx", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0), " ".join(capsys.readouterr().err.replace("│", " ").split())

    return call


WRONG = [
    ["symmetries", "coin.plx", "--draw", "old.txt"],
    ["symmetries", "nowhere.plx", "--draw", "old.svg"],
    ["symmetries", "coin.plx", "--draw", "old.svg", "--max-ground", "x"],
    ["symmetries", "bad.plx", "--draw", "old.svg"],
    ["run", "coin.plx", "-o", "old.json", "--format", "csv"],
    ["run", "coin.plx", "-o", "old.json", "--method", "nonsense"],
    ["run", "bad.plx", "-o", "old.json"],
    ["run", "coin.plx", "-o", "old.json", "--bind", "b=1"],
    ["ground", "coin.plx", "-o", "old.uai", "--dump"],
    ["ground", "wide.plx", "-o", "old.uai"],
    ["ground", "coin.plx", "-o", "old.csv", "--format", "uai"],
    ["compare", "coin.plx", "--plot", "old.svg", "--methods", "nonsense"],
    ["compare", "coin.plx", "--plot", "old.txt"],
    ["compare", "coin.plx", "--plot", "old.svg", "--truth", "nowhere.json"],
]


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_a_refused_call_leaves_files_as_they_were(plx, arguments: list[str]) -> None:
    Path("bad.plx").write_text("query b", encoding="utf-8")
    Path("wide.plx").write_text(
        "type N = 1..40 random a(N) factor log(1 + count(a(i) for i in N)) query a(1)", encoding="utf-8"
    )
    olds = [Path(f"old.{suffix}") for suffix in ("txt", "svg", "json", "uai", "csv")]
    for old in olds:
        old.write_text(OLD, encoding="utf-8")
    before = names(Path())
    assert plx(*arguments)[0] in (1, 2)
    assert {old.read_text(encoding="utf-8") for old in olds} == {OLD}
    assert names(Path()) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "nowhere.plx", "-o", "no/where"],
        ["ground", "nowhere.plx", "-o", "no/where"],
        ["symmetries", "nowhere.plx", "--draw", "no/where.svg"],
        ["compare", "nowhere.plx", "--plot", "no/where.svg"],
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_any_work(plx, arguments: list[str]) -> None:
    code, err = plx(*arguments)
    assert (code, "no folder `no`" in err, "nowhere.plx" in err) == (2, True, False)


def test_the_suffix_says_the_format(plx) -> None:
    assert plx("run", "coin.plx", "-o", "answers.json")[0] == 0
    assert json.loads(Path("answers.json").read_text("utf-8"))["method"] == "exact"
    assert plx("run", "coin.plx", "-o", "answers.CSV")[0] == 0
    assert len(list(csv.DictReader(io.StringIO(Path("answers.CSV").read_text("utf-8"))))) == 2
    assert plx("run", "coin.plx", "-o", "answers.txt", "--format", "json")[0] == 0
    assert json.loads(Path("answers.txt").read_text("utf-8"))["method"] == "exact"
    assert plx("run", "coin.plx", "-o", "answers.txt")[0] == 0
    assert "method exact" in Path("answers.txt").read_text("utf-8")
    assert plx("ground", "coin.plx", "-o", "coin.uai")[0] == 0
    assert "MARKOV" in Path("coin.uai").read_text("utf-8")
    assert plx("ground", "coin.plx", "-o", "report.json")[0] == 0
    assert json.loads(Path("report.json").read_text("utf-8"))["variables"] == 1
    code, err = plx("run", "coin.plx", "-o", "answers.json", "--format", "table")
    assert code == 2 and "--format table contradicts" in err


# --------------------------------------------------------------------- plx.saving


def test_a_file_keeps_its_permissions_and_a_link_its_file(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text(OLD)
    file.chmod(0o640)
    link.symlink_to(file)
    save(link, b"new")
    assert link.is_symlink()
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"new", 0o640)
    save(tmp_path / "other", b"")
    (tmp_path / "usual").touch()
    assert (tmp_path / "other").stat().st_mode == (tmp_path / "usual").stat().st_mode
    assert len(names(tmp_path)) == 4


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text(OLD)
    for failing in (OSError, KeyboardInterrupt):

        def fail(self: Path, target: Path, failing: type[BaseException] = failing) -> None:
            raise failing

        monkeypatch.setattr(Path, "replace", fail)
        with pytest.raises(failing):
            save(file, b"new")
    assert (file.read_text(), names(tmp_path)) == (OLD, ["file"])


def test_pipes_are_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    save(pipe, b"new")
    assert reader.communicate(timeout=20)[0] == b"new"
    assert pipe.is_fifo()


@pytest.mark.parametrize("sign", [">", ">>"])
def test_standard_output_by_name_is_standard_output(tmp_path: Path, sign: str) -> None:
    code = "import sys; from pathlib import Path; from plx.saving import save\n"
    code += "sys.stdout.write('first '); sys.stdout.flush(); save(Path(sys.argv[1]), b'second')"
    for i, name in enumerate(("/dev/stdout", f"{tmp_path}/out1")):
        out = tmp_path / f"out{i}"
        out.write_text("old ")
        command = f'{sys.executable} -c "$0" {name} {sign} {out}'
        subprocess.run(["bash", "-c", command, code], check=True, cwd=ROOT)
        assert out.read_text() == ("old " if sign == ">>" else "") + "first second"


def test_what_cannot_be_written_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        require_writable(tmp_path)
    with pytest.raises(FileNotFoundError):
        require_writable(tmp_path / "no" / "where")
    with pytest.raises(FileNotFoundError):
        save(tmp_path / "no" / "where", b"")
    require_writable(tmp_path / "new")
    assert names(tmp_path) == []


def test_answers_are_kept_in_parquet(plx) -> None:  # type: ignore[no-untyped-def]
    pytest.importorskip("pyarrow")
    from plx.answer.result import Result

    assert plx("run", "coin.plx", "-o", "answers.parquet")[0] == 0
    assert plx("run", "coin.plx", "-o", "answers.json")[0] == 0
    assert Result.load("answers.parquet") == Result.load("answers.json")
    code, words = plx("run", "coin.plx", "--format", "parquet")
    assert code == 2 and "-o answers.parquet" in words


def test_parquet_without_its_library_says_how_to_install_it(plx, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, words = plx("run", "coin.plx", "-o", "answers.parquet")
    assert code == 2 and "pip install 'plx[parquet]'" in words
    assert names(Path()) == ["coin.plx"]
