"""The rules of the house, as docs/how-it-works.md states them."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_imports_keep_the_contracts() -> None:
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(cache_dir=None))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_every_kernel_is_under_contract() -> None:
    kernels = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in (ROOT / "plx").rglob("*kernels.py")
    }
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (alone,) = (contract for contract in contracts if contract["name"].startswith("Kernels know"))
    assert set(alone["source_modules"]) == kernels
