"""Compiled code on disk: moved, read-only, damaged, out of date, and written by many at once."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import plx
from plx.jit import compile as compiling
from plx.jit import object_code, pickles, store

posix = pytest.mark.skipif(os.name == "nt", reason="modes say nothing there")

_RUN = """
from plx.jit import Kernel, compile
import cube
compiled = []
linked, compile._linked = compile._linked, lambda function: compiled.append(1) or linked(function)
print(cube.cube(3), 'compiled' if compiled else 'loaded')
"""

_CUBE = """
from plx.jit import kernel
def square(x: int) -> int:
    return x * x
@kernel
def cube(x: int) -> int:
    return x * square(x)
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """What a kernel needs, as an installation that has not been used."""
    folder = tmp_path / "installed"
    (folder / "plx").mkdir(parents=True)
    source = Path(plx.__file__).parent
    for name in ("__init__.py", "deadline.py"):
        shutil.copy(source / name, folder / "plx")
    shutil.copytree(source / "jit", folder / "plx" / "jit", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "cube.py").write_text(_CUBE, encoding="utf-8")
    return folder


def start(folder: Path, **environment: str) -> subprocess.Popen[str]:
    """A process that runs the kernel; it may keep files in the folder only, if nothing else is said."""
    own = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "PYTHONDONT"))}
    own |= {"PYTHONPATH": str(folder), "XDG_CACHE_HOME": "/dev/null", "LOCALAPPDATA": "/dev/null"}
    return subprocess.Popen(
        [sys.executable, "-c", _RUN],
        cwd=folder,
        env=own | environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def run(folder: Path, **environment: str) -> str:
    return start(folder, **environment).communicate()[0].strip()


def cache(folder: Path) -> Path:
    return folder / "plx" / "jit" / "__pycache__" / "kernels"


def test_a_move_keeps_it_and_a_read_only_installation_is_read(installed: Path, tmp_path: Path) -> None:
    assert run(installed) == "27 compiled"
    moved = installed.rename(tmp_path / "moved")
    for file in moved.rglob("*.py"):
        os.utime(file)
    with only_readable(cache(moved)):
        assert run(moved) == "27 loaded"


def test_where_nothing_can_be_written_it_works_and_says_so(installed: Path, tmp_path: Path) -> None:
    cache(installed).parent.write_text("no folder", encoding="utf-8")
    said = run(installed)
    assert said.endswith("27 compiled")
    assert said.count("compiled code cannot be kept") == 1
    assert str(cache(installed)) in said
    mine = {"XDG_CACHE_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}
    assert [run(installed, **mine) for _ in range(2)] == ["27 compiled", "27 loaded"]


def test_many_may_start_at_once(installed: Path) -> None:
    started = [start(installed) for _ in range(6)]
    assert {process.communicate()[0].split()[0] for process in started} == {"27"}
    kept = [file for file in cache(installed).iterdir() if file.name.startswith("cube")]
    assert len(kept) == 1
    assert run(installed) == "27 loaded"


class only_readable:
    """A folder that nobody can write to for a while, where the system lets us say so."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> None:
        self.folder.chmod(0o555)

    def __exit__(self, *_: object) -> None:
        self.folder.chmod(0o755)


# ---------------------------------------------------------------- in this process


def twice(x: int) -> int:
    return 2 * x


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[FunctionType]:
    """The functions that are compiled and not loaded, with an empty cache."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    found: list[FunctionType] = []
    linked = compiling._linked

    def watched(function: FunctionType) -> FunctionType:
        found.append(function)
        return linked(function)

    monkeypatch.setattr(compiling, "_linked", watched)
    return found


@pytest.mark.parametrize(
    "damage",
    [lambda data: b"", lambda data: data[:20], lambda data: data[:-1], lambda data: data[:1000],
     lambda data: data[:5000] + bytes([data[5000] ^ 1]) + data[5001:]],
)  # fmt: skip
def test_what_is_damaged_is_compiled_again(
    counted: list[Any], tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    assert compiling.compiled(twice)(4) == 8
    (file,) = tmp_path.iterdir()
    good = file.read_bytes()
    file.write_bytes(damage(good))
    assert compiling.compiled(twice)(4) == 8
    assert counted == [twice, twice]
    assert compiling.compiled(twice)(4) == 8
    assert counted == [twice, twice]


def test_a_whole_file_that_is_none_of_numbas_is_compiled_again(counted: list[Any], tmp_path: Path) -> None:
    compiling.compiled(twice)
    (file,) = tmp_path.iterdir()
    kind, _, name = file.stem.rpartition("-")
    store.write(kind, name, b"cposix\nnone\n.")
    assert compiling.compiled(twice)(4) == 8
    assert counted == [twice, twice]


def test_another_version_is_never_taken_and_the_old_one_goes(counted: list[Any], tmp_path: Path) -> None:
    texts = (_CUBE, _CUBE.replace("x * x", "x + x"), _CUBE)
    for text, expected in zip(texts, (27, 18, 27), strict=True):
        there: dict[str, Any] = {"__name__": "cube"}
        exec(text, there)
        assert compiling.compiled(there["cube"].function)(3) == expected
        assert len(list(tmp_path.iterdir())) == 1


def keep(folder: Path, data: bytes = b"good") -> Path:
    store.write("kind", "name", data)
    (file,) = folder.iterdir()
    return file


@posix
def test_folders_and_files_are_closed_to_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "new"))
    file = keep(tmp_path / "new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@posix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777, 0o722])
@pytest.mark.parametrize("part", ["folder", "file"])
def test_what_others_can_write_is_not_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mode: int, part: str
) -> None:
    folder = tmp_path / f"{part}-{mode}"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
    file = keep(folder)
    open_to_all = folder if part == "folder" else file
    open_to_all.chmod(mode)
    with pytest.warns(RuntimeWarning, match=re.escape(f"other users can write to {open_to_all}")) as said:
        assert store.read("kind", "name") is None
        assert store.read("kind", "name") is None
    assert len(said) == 1
    assert "chmod 700" in str(said[0].message) and "NUMBA_CACHE_DIR" in str(said[0].message)


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("part", ["folder", "file"])
def test_what_belongs_to_somebody_else_is_not_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, part: str
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / part))
    file = keep(tmp_path / part)
    given = file if part == "file" else file.parent
    os.chown(given, 12345, -1)
    with pytest.warns(RuntimeWarning, match=re.escape(f"{given} belongs to another user")):
        assert store.read("kind", "name") is None


@posix
def test_roots_files_are_read_by_others_and_those_of_others_are_not() -> None:
    mine = os.stat_result((0o700, 0, 0, 1, os.geteuid(), 0, 0, 0, 0, 0))
    roots = os.stat_result((0o755, 0, 0, 1, 0, 0, 0, 0, 0, 0))
    strange = os.stat_result((0o755, 0, 0, 1, os.geteuid() + 1, 0, 0, 0, 0, 0))
    for status in (mine, roots):
        store._refuse_strangers(Path("here"), status)
    with pytest.raises(store._Refused):
        store._refuse_strangers(Path("here"), strange)


@posix
def test_nothing_is_written_where_others_can_write(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(shared))
    with pytest.warns(RuntimeWarning, match="is not used"):
        store.write("kind", "name", b"data")
    assert not list(shared.iterdir())


def test_a_planted_pickle_runs_nothing_and_is_compiled_over(counted: list[Any], tmp_path: Path) -> None:
    compiling.compiled(twice)
    (file,) = tmp_path.iterdir()
    kind, _, name = file.stem.rpartition("-")
    trace = tmp_path / "trace"
    store.write(kind, name, b"cos\nsystem\n(S'touch " + str(trace).encode() + b"'\ntR.")
    assert compiling.compiled(twice)(4) == 8
    assert not trace.exists()
    assert counted == [twice, twice]


def test_a_file_imports_only_modules_of_its_kernel_and_of_numba(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "planted.py").write_text("raise SystemExit('planted code ran')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(LookupError):
        object_code._globals("planted", {})
    assert object_code._globals("numba.np.arrayobj", {})["__name__"] == "numba.np.arrayobj"


def test_no_kernel_is_read_with_pickle() -> None:
    modules = set(Path(store.__file__).parent.glob("*.py"))
    for file in modules - {Path(pickles.__file__)}:  # that is of runs
        assert not re.search(
            r"import pickle|from pickle|numba.core.serialize|_rebuild\b", file.read_text("utf-8")
        )


def test_signatures_have_files_of_their_own(counted: list[Any], tmp_path: Path) -> None:
    for _ in range(2):
        assert compiling.compiled(twice, "uint8(uint8)")(200) == 144
        assert compiling.compiled(twice, "float64(float64)")(0.25) == 0.5
    assert counted == [twice, twice]
    assert len(list(tmp_path.iterdir())) == 2


def test_without_a_home_there_is_one_folder_less(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    both = store.folders()

    def nowhere() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", nowhere)
    assert store.folders() == both[:1]


def test_what_is_written_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "new" / "folder"))
    data = np.random.default_rng(0).bytes(1000)
    store.write("kind", "name", data)
    assert store.read("kind", "name") == data
    assert store.read("kind", "other") is None
