"""Where grammars lie."""

from __future__ import annotations

from pathlib import Path


def grammar_path(name: str = "plx.lark") -> Path:
    """Where a grammar lies: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "grammars" / name
    return inside if inside.exists() else package.parent / "grammars" / name
