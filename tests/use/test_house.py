"""The rules of the house, as docs/how-it-works.md states them."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_imports_keep_the_contracts() -> None:
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(cache_dir=None))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_only_kernels_make_kernels() -> None:
    made = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "plx").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Kernel"
    }
    assert made
    walled = ("plx/infer/kernels/", "plx/lift/kernels.py", "plx/jit/")
    assert all(file.startswith(walled) for file in made)
