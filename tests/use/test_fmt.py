"""``plx fmt`` and ``plx check --format json``: what they write, print, and exit with."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from plx.cli import main

UNTIDY = "type T={a,b}\nrandom f(T)   # odd\n\n\nquery f(a)\n"
TIDY = "type T = {a, b}\nrandom f(T)  # odd\n\nquery f(a)\n"


@pytest.fixture
def plx(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """Call plx in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["plx", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        return int(end.value.code or 0), out, err

    return call


def save(name: str, text: str) -> Path:
    file = Path(name)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode())
    return file


def test_fmt_writes_what_changes_and_nothing_else(plx) -> None:
    untidy, tidy = save("a.plx", UNTIDY), save("b.plx", TIDY)
    before = tidy.stat().st_mtime_ns
    assert plx("fmt", "a.plx", "b.plx") == (0, "a.plx: laid out anew\n", "")
    assert untidy.read_bytes() == TIDY.encode()
    assert tidy.stat().st_mtime_ns == before
    assert sorted(path.name for path in Path().iterdir()) == ["a.plx", "b.plx"]


def test_fmt_goes_through_folders(plx) -> None:
    inner, other = save("deep/a.plx", UNTIDY), save("deep/notes.txt", UNTIDY)
    assert plx("fmt", ".")[0] == 0
    assert inner.read_text() == TIDY
    assert other.read_text() == UNTIDY


def test_check_and_diff_write_nothing(plx) -> None:
    file = save("a.plx", UNTIDY)
    assert plx("fmt", "--check", "a.plx") == (1, "", "a.plx: would be laid out anew\n")
    code, out, _ = plx("fmt", "--diff", "a.plx")
    assert code == 0
    assert {"-type T={a,b}", "+type T = {a, b}"} <= set(out.splitlines())
    assert plx("fmt", "--check", "--diff", "a.plx")[:2] == (1, out)
    assert file.read_text() == UNTIDY
    save("a.plx", TIDY)
    assert plx("fmt", "--check", "a.plx") == (0, "", "")


def test_fmt_reads_standard_input(plx) -> None:
    assert plx("fmt", "-", stdin=UNTIDY.encode()) == (0, TIDY, "")


def test_fmt_refuses_mistakes_and_formats_the_other_files(plx) -> None:
    wrong, untidy = save("a.plx", "weight 1 f\n"), save("b.plx", UNTIDY)
    code, _, err = plx("fmt", "a.plx", "b.plx")
    assert code == 1
    assert plx("check", "a.plx")[2] == err
    assert wrong.read_text() == "weight 1 f\n"
    assert untidy.read_text() == TIDY


def test_fmt_refuses_what_is_no_program_and_no_file(plx) -> None:
    save("a.plx", UNTIDY)
    Path("a.plx").write_bytes(b"\xff")
    assert plx("fmt", "a.plx")[0] == 1
    assert plx("fmt", "none.plx")[0] == 2


def test_check_prints_json(plx) -> None:
    save("good.plx", "random a\nweight 1: a\nquery a\n")
    save("odd.plx", "random a\nrandom b\nweight 1: b\nquery a\n")
    save("bad.plx", "type T = {a}\ntype T = {b}\n")
    code, out, err = plx("check", "--format", "json", "good.plx", "odd.plx", "bad.plx")
    assert (code, err) == (1, "")
    good, odd, bad = json.loads(out)["files"]
    assert good == {"file": "good.plx", "ok": True, "diagnostics": []}
    (warning,) = odd["diagnostics"]
    assert odd["ok"] and (warning["severity"], warning["code"]) == ("warning", "PLX102")
    (error,) = bad["diagnostics"]
    place = {"file": "bad.plx", "start": {"line": 2, "column": 6}, "end": {"line": 2, "column": 7}}
    assert not bad["ok"] and error["severity"] == "error" and error["span"] == place
    assert error["message"] == "`T` is declared twice" and error["code"] is None
    (note,) = error["notes"]
    assert note["message"] == "the first one is here" and note["span"]["start"] == {"line": 1, "column": 6}


def test_deep_checks_tell_warnings_and_contradictions(plx) -> None:
    save("a.plx", "random a\nrandom b\nrequire a\nrequire !a\n")
    _, out, _ = plx("check", "--deep", "--format", "json", "a.plx")
    assert [found["severity"] for found in json.loads(out)["files"][0]["diagnostics"]] == ["warning", "error"]
