"""What a declaration expects of its data: which columns, under which names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from plx.source import Span
from plx.syntax import ast

VALUE = "value"
"""The header of the column that is not a slot."""


@dataclass(frozen=True)
class Shape:
    """A declaration as a table: a column per slot, and a value that is needed, optional or absent.

    ``truth``: the value is true or false, and a row alone says that it is true. ``columns``: the columns of a
    file that the program names, in the order of ``labels``; none where it leaves that to the file.
    """

    name: str
    kind: Literal["type", "param", "learn", "relation", "random"]
    slots: tuple[str, ...]
    value: Literal["needed", "optional"]
    span: Span
    truth: bool = False
    columns: tuple[ast.Name | ast.Quoted, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of all columns, the value's last."""
        return (*self.slots, VALUE)

    @property
    def clear(self) -> set[str]:
        """The labels that only one column has."""
        return {label for label in self.labels if self.labels.count(label) == 1}

    @property
    def shared(self) -> list[str]:
        """The labels that several slots have, so that no column can be found by them."""
        return [label for label in dict.fromkeys(self.labels) if label not in self.clear]

    def fits(self, width: int) -> bool:
        """Whether so many columns can be read by position."""
        return width == len(self.labels) or (self.value == "optional" and width == len(self.slots))

    @property
    def wanted(self) -> str:
        """The columns in words, e.g. ``s, a, value``."""
        if self.value == "needed":
            return ", ".join(self.labels)
        return ", ".join(self.slots) + f" and maybe {VALUE}" if self.slots else VALUE


_KINDS: dict[type, Literal["type", "param", "learn", "relation", "random"]] = {
    ast.TypeDecl: "type",
    ast.ParamDecl: "param",
    ast.LearnDecl: "learn",
    ast.RelationDecl: "relation",
    ast.RandomDecl: "random",
}


TABLES = ast.TypeDecl | ast.ParamDecl | ast.LearnDecl | ast.RelationDecl | ast.RandomDecl
"""What has a shape."""


def shape_of(declaration: ast.Statement) -> Shape | None:
    """The shape of a type, param, relation or random function; None for anything else."""
    kind = _KINDS.get(type(declaration))
    if kind is None:
        return None
    assert isinstance(declaration, TABLES)
    return Shape(
        declaration.name.text,
        kind,
        _labels(declaration.slots),
        "needed" if kind in ("type", "param", "learn") else "optional",
        declaration.name.span,
        kind == "relation" or (isinstance(declaration, ast.RandomDecl) and declaration.domain is None),
    )


def _labels(slots: Sequence[ast.Slot]) -> tuple[str, ...]:
    """A slot's name, or the text of its set, which two slots may share."""
    return tuple(slot.name.text if slot.name else _set_name(slot.set) for slot in slots)


def _set_name(set_: ast.Expr) -> str:
    return set_.name.text if isinstance(set_, ast.Apply) else set_.span.text
