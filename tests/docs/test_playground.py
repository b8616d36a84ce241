"""The playground: what its worker is told, what is bundled, and, where a browser is named, the page."""

from __future__ import annotations

import json
import os
import runpy
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plx import api
from tests.docs.browser import browser

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "playground"
CHROMIUM, PYODIDE = os.environ.get("PLX_CHROMIUM"), os.environ.get("PLX_PYODIDE")


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    monkeypatch.chdir(ROOT)  # the worker moves about
    found: Callable[..., dict[str, Any]] = runpy.run_path(str(PAGE / "answering.py"))["answered"]
    return found


def test_answers_are_a_page(answered: Callable[..., dict[str, Any]]) -> None:
    found = answered("random a\nweight log(3): a\nquery a")
    assert "0.75" in found["page"] and "mistakes" not in found
    assert "<svg" not in found["page"] and "matplotlib" not in found["page"]


def test_mistakes_are_those_of_the_terminal_with_their_place(answered: Callable[..., dict[str, Any]]) -> None:
    (mistake,) = answered("random a\nquery b")["mistakes"]
    assert (mistake["line"], mistake["column"]) == (2, 7)
    assert "`b` is neither bound" in mistake["text"] and "^" in mistake["text"]


def test_a_fault_of_plx_is_told(
    answered: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError("odd")

    monkeypatch.setattr(api, "build", broken)
    (mistake,) = answered("random a")["mistakes"]
    assert "fault of plx" in mistake["text"] and "ZeroDivisionError: odd" in mistake["text"]


def test_examples_find_their_data(answered: Callable[..., dict[str, Any]]) -> None:
    text = (ROOT / "examples" / "flu" / "flu.plx").read_text(encoding="utf-8")
    assert "page" in answered(text, str(ROOT / "examples" / "flu"))


def test_counts_of_64_bits_are_taken_where_addresses_have_32() -> None:
    space = runpy.run_path(str(PAGE / "addresses.py"))
    wide = np.array([2, 0, 1], dtype=np.int64)
    assert space["_narrow"](wide).dtype == np.intp and space["_narrow"](0.5) == 0.5
    repeat, add = space["_narrowing"](np.repeat, (1,)), space["_Ufunc"](np.add)
    assert repeat(np.arange(3), wide).tolist() == [0, 0, 2]
    assert add.reduceat(np.arange(4), wide[:2]).tolist() == [2, 6]
    assert add(1, 2) == 3 and add.outer([1], [2]).tolist() == [[3]]
    give = space["_widening"](lambda *args, **kwargs: (np.arange(2, dtype=np.intp), 0.5), False)
    assert [type(one) for one in give()] == [np.ndarray, float] and give()[0].dtype == np.int64
    assert space["_asks_for_32"]((3, np.int32), {}) and space["_asks_for_32"](([np.zeros(1, np.int32)],), {})
    assert not space["_asks_for_32"]((3,), {})
    space["widen"]()
    assert not isinstance(np.add, space["_Ufunc"])  # addresses have 64 bits here


def make(out: Path, pyodide: Path | None = None) -> None:
    runpy.run_path(str(ROOT / ".ci" / "playground"))["make"](out, pyodide)


def test_the_bundle_has_all_that_the_worker_loads(tmp_path: Path) -> None:
    make(tmp_path / "site")
    settings = json.loads((tmp_path / "site" / "settings.json").read_text(encoding="utf-8"))
    assert settings["pyodide"].startswith("https://")
    assert any(one["name"] == "smokers" for one in settings["examples"]) and len(settings["examples"]) >= 12
    with zipfile.ZipFile(tmp_path / "site" / "bundle.zip") as bundle:
        names = set(bundle.namelist())
    assert {"answering.py", "addresses.py", "VERSION", "plx/__init__.py", "lark/__init__.py"} <= names
    assert {"plx/grammars/plx.lark", "examples/flu/flu.plx"} <= names
    assert not any(name.startswith("plx/cli/") for name in names)


def test_a_copy_of_pyodide_that_lacks_a_package_is_refused(tmp_path: Path) -> None:
    lock = {"packages": {"numpy": {"file_name": "numpy.whl", "sha256": "0"}}}
    (tmp_path / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    with pytest.raises(SystemExit, match=r"has no numpy\.whl"):
        make(tmp_path / "site", tmp_path)
    (tmp_path / "numpy.whl").write_bytes(b"another")
    with pytest.raises(SystemExit, match=r"is not the file"):
        make(tmp_path / "site", tmp_path)
    assert not (tmp_path / "site").exists()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None: ...


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """Where the page is served, with a copy of Pyodide."""
    make(tmp_path / "site", Path(str(PYODIDE)))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=tmp_path / "site"))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/index.html"
    server.shutdown()
    server.server_close()


@pytest.mark.skipif(
    not (CHROMIUM and PYODIDE), reason="PLX_CHROMIUM and PLX_PYODIDE name no browser and no copy of Pyodide"
)
@pytest.mark.skipif(sys.platform == "win32", reason="the browser is driven over a pipe")
def test_the_page_answers_colours_complains_and_stops(url: str) -> None:
    state, said, shown, program = (
        f"document.getElementById('{name}')" for name in ("state", "said", "page", "program")
    )
    click = "document.getElementById('run').click()"

    def put(text: str) -> str:
        return f"{program}.value = {json.dumps(text)}; {program}.oninput(); {click}"

    with browser(str(CHROMIUM)) as page:
        page.ask("Page.navigate", url=url)
        page.wait(f"/ready|cannot/.test({state}?.textContent)")
        assert page.value(f"{state}.textContent").startswith("ready: plx")
        page.value(put((ROOT / "examples" / "smokers.plx").read_text(encoding="utf-8")))
        page.wait(f"/answered|mistakes/.test({state}.textContent)")
        assert "0.937859" in page.value(f"{shown}.srcdoc")
        assert page.value("document.querySelector('#colours .statement').textContent") == "type"
        page.value(put("random a\nquery b\n"))
        page.wait(f"/mistakes/.test({state}.textContent)")
        assert "`b` is neither bound" in page.value(f"{said}.textContent")
        page.value(f"{said}.querySelector('pre').click()")
        assert page.value(f"{program}.selectionStart") == len("random a\nquery ")
        page.value(put((ROOT / "examples" / "sudoku.plx").read_text(encoding="utf-8")))
        assert page.value(f"{state}.textContent") == "running…"
        page.value("document.getElementById('stop').click()")
        page.wait(f"/ready|cannot/.test({state}.textContent)")
        assert page.value(f"{state}.textContent").startswith("ready: plx")
