"""``plx lint`` and ``plx explain``: what they print, and exit with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plx.check.catalogue import CATALOGUE
from tests.docs.blocks import call

BAD = CATALOGUE["PLX202"].bad
GOOD = CATALOGUE["PLX202"].good


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.plx").write_text(BAD, encoding="utf-8")
    Path("good.plx").write_text(GOOD, encoding="utf-8")


def test_lint_tells_what_check_does_not() -> None:
    assert call(["check", "bad.plx"]) == (0, "bad.plx: no mistakes found\n")
    code, printed = call(["lint", "bad.plx"])
    assert code == 1
    assert printed.startswith("bad.plx:3:1: warning: each pair of x and y is counted twice here")
    assert "[PLX202]" in printed
    assert call(["lint", "good.plx"]) == (0, "good.plx: nothing odd found\n")


def test_lint_goes_through_folders_and_prints_json() -> None:
    code, printed = call(["lint", ".", "--format", "json"])
    bad, good = json.loads(printed)["files"]
    assert code == 1
    assert [found["code"] for found in bad["diagnostics"]] == ["PLX202"]
    assert good == {"file": "good.plx", "ok": True, "diagnostics": []}


def test_lint_takes_data() -> None:
    Path("open.plx").write_text("type T\n" + GOOD.split("\n", 1)[1], encoding="utf-8")
    assert call(["lint", "open.plx"])[0] == 1
    assert call(["lint", "open.plx", "--bind", "T=a,b,c"])[0] == 0


def test_lint_tells_mistakes_and_what_is_too_large() -> None:
    Path("wrong.plx").write_text("query a", encoding="utf-8")
    code, printed = call(["lint", "wrong.plx"])
    assert code == 1 and "`a` is neither bound" in printed
    code, printed = call(["lint", "bad.plx", "--max-ground", "2"])
    assert code == 1 and "the limit is 2" in printed


def test_explain_tells_of_one_code_and_lists_all() -> None:
    rule = CATALOGUE["PLX203"]
    code, printed = call(["explain", "plx203"])
    assert code == 0
    assert rule.title in printed and rule.why in printed
    assert all(f"    {line}" in printed for text in (rule.bad, rule.good) for line in text.splitlines())
    code, printed = call(["explain"])
    assert code == 0 and [line.split()[0] for line in printed.splitlines()] == list(CATALOGUE)
    assert call(["explain", "PLX999"])[0] == 2
