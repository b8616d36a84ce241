"""What a program may say but probably does not mean."""

from __future__ import annotations

from dataclasses import replace

from plx.check.program import Program
from plx.syntax import ast


def warn(program: Program, module: ast.Module) -> Program:
    """The program with its warnings."""
    return replace(program, warnings=())
