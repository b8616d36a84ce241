"""Names that are an option of ``run`` and declared by the program too."""

from __future__ import annotations

from collections.abc import Collection

from plx.data.shape import Shape, shape_of
from plx.errors import CallError, Diagnostic
from plx.syntax import ast


def refuse_declared(module: ast.Module, told: Collection[str]) -> None:
    """Raises CallError that names every declaration of a name that the caller gave as an option."""
    shapes = map(shape_of, module.statements)
    if shared := [shape for shape in shapes if shape and shape.name in told]:
        raise CallError(map(_shared, shared))


def _shared(shape: Shape) -> Diagnostic:
    return Diagnostic(
        f"`{shape.name}` is an option of `run`, and the program declares it too",
        shape.span,
        hint=f"give it to the program by plx.compile(text, {shape.name}=…)",
    )
