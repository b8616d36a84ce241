"""`plx init` and what it writes; `plx run --watch`; what the shell is offered."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import plx
from plx.cli import main, watch
from plx.cli.init import FILES

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    """Call plx in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys.modules["__main__"], "__package__", None)  # so that the command is called plx

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["plx", *words])
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        return int(end.value.code or 0), out, err

    return run


# ------------------------------------------------------------------------------------ init


def test_a_project_that_works(call: Call) -> None:
    code, out, err = call("init", "mine")
    assert code == 0 and not err and "next: plx run mine/friends.plx" in out
    assert sorted(file.name for file in Path("mine").iterdir()) == sorted(FILES)
    assert Path("mine/README.md").read_text().startswith("# mine\n")
    for words in (("check",), ("lint",), ("fmt", "--check")):
        assert call(*words, "mine/friends.plx")[0] == 0
    result = plx.load("mine/friends.plx").run(method="exact")
    assert result["smokes(bob)"].probability == 1 and result["smokes(anna)"].probability > 0.5
    assert "3.3 times" in Path("mine/README.md").read_text()  # exp(1.2)


def test_nothing_is_written_over(call: Call) -> None:
    Path("mine").mkdir()
    Path("mine/asked.csv").write_text("kept")
    code, _, err = call("init", "mine")
    assert code == 2 and "there is a `asked.csv` already" in " ".join(err.replace("│", " ").split())
    assert [file.name for file in Path("mine").iterdir()] == ["asked.csv"]
    Path("file").write_text("")
    assert call("init", "file")[0] == 2
    assert call("init", "file/inner")[0] == 2
    Path("empty").mkdir()
    assert call("init", "empty")[0] == 0


# ----------------------------------------------------------------------------------- watch


def edits(monkeypatch: pytest.MonkeyPatch, *steps: Callable[[], object]) -> None:
    """Make a step of somebody at work each time that `plx run --watch` waits; then press Ctrl-C."""
    left = list(steps)

    def sleep(seconds: float) -> None:
        if seconds < watch._INTERVAL and Path("a.plx").exists():
            return
        if not left:
            raise KeyboardInterrupt
        left.pop(0)()

    monkeypatch.setattr(time, "sleep", sleep)


PROGRAM = 'type T from "t.csv"\nrandom f(T)\nweight 1: f(x) for x in T\nquery f(x) for x in T\n'


def test_runs_again_after_each_change(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    program, table = Path("a.plx"), Path("t.csv")
    program.write_text(PROGRAM)
    table.write_text("T\na\nb\n")
    edits(
        monkeypatch,
        lambda: None,
        lambda: table.write_text("T\na\nb\nc\n"),
        lambda: program.write_text(PROGRAM.replace("weight", "wieght")),
        lambda: program.unlink(),
        lambda: program.write_text(PROGRAM.replace("query", "query logz\nquery")),
    )
    code, out, err = call("run", "a.plx", "--watch", "--format", "csv")
    assert code == 0
    assert [out.count(f"f({name})") for name in "abc"] == [6, 6, 4]  # with two lines each
    assert out.count("logz") and out.index("logz") > out.index("f(c)")
    assert "watching a.plx, t.csv; Ctrl-C ends it" in err
    assert "t.csv changed" in err and err.count("a.plx changed") >= 2
    assert "did you mean `weight`?" in err
    assert "Traceback" not in err


def test_ctrl_c_in_a_run_ends_it_as_ever(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.plx").write_text("random a\nquery a\n")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(plx.Model, "run", interrupted)
    code, _, err = call("run", "a.plx", "--watch")
    assert code == 130 and "interrupted" in err


def test_only_files_are_watched(call: Call) -> None:
    code, _, err = call("run", "-", "--watch")
    assert code == 2 and "standard input is none" in " ".join(err.replace("│", " ").split())


def test_what_a_run_reads(tmp_path: Path) -> None:
    program = tmp_path / "a.plx"
    program.write_text('type T from "t.csv"\nrandom f(T)\nobserve f from "seen.csv" else false\n')
    found = watch.read_files(program, ["a.db", "x=1"], ["w=w.csv else 0", "p=0.5", "q=f.db table s"], [None])
    names = [path.name for path in found]
    assert names[:3] == ["a.plx", "t.csv", "seen.csv"] and {"w.csv", "f.db"} <= set(names)
    assert not {"x=1", "0.5"} & set(names)


# ------------------------------------------------------------------------------ completion


@pytest.fixture
def offered(call: Call, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """What bash is offered for the last word of a line."""
    Path("a.plx").write_text(PROGRAM)
    Path("data").mkdir()
    Path("data/b.uai").write_text("")
    Path("data/notes.txt").write_text("")
    Path("fit.csv").write_text("")

    def ask(line: str) -> list[str]:
        monkeypatch.setenv("_PLX_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        code, out, _ = call()
        assert code == 0
        return out.split("\n")[:-1] if out.strip() else []

    return ask


@pytest.mark.parametrize(
    ("line", "answers"),
    [
        ("plx in", ["init"]),
        ("plx run ", ["a.plx", "data/", ""]),
        ("plx run da", ["data/", "data/b.uai"]),
        ("plx fmt data/", []),
        ("plx run a.plx --method ex", ["exact"]),
        ("plx run a.plx --query f", ["f(x) for x in T", "f"]),
        ("plx run a.plx --observe f(", ["f(x) for x in T"]),
        ("plx run a.plx --bind ", ["T=", "f="]),
        ("plx run a.plx --fit f", ["fit.csv"]),
        ("plx run missing.plx --query f", []),
        ("plx explain PLX10", [f"PLX10{i}" for i in range(10)]),
    ],
)
def test_offered(offered: Callable[[str], list[str]], line: str, answers: list[str]) -> None:
    found = [answer for answer in offered(line) if answer]
    assert found == [answer for answer in answers if answer]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell(call: Call, monkeypatch: pytest.MonkeyPatch, shell: str) -> None:
    monkeypatch.setenv("_PLX_COMPLETE", f"source_{shell}")
    code, out, _ = call()
    assert code == 0 and "_PLX_COMPLETE" in out and "plx" in out
