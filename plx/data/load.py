"""Load everything that a program takes from outside: files next to it, and what the caller gave."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from plx.data.arrange import Raw, arrange
from plx.data.binding import looks_like_path
from plx.data.cells import CellError, from_python
from plx.data.database_rows import Database
from plx.data.files import DATABASES, read_file
from plx.data.grid import as_array, may_be_rows, read_grid, with_grid
from plx.data.otherwise import Else
from plx.data.python_value import read_python
from plx.data.shape import TABLES, Shape, shape_of
from plx.data.table import Data, Table
from plx.errors import Diagnostic, PlxError, did_you_mean, nearest
from plx.source import Span
from plx.syntax import ast
from plx.values import Values


def load(
    module: ast.Module,
    bindings: Mapping[str, object],
    folder: Path | None,
    values: Values,
    options: Collection[str] = (),
    world: Path | None = None,
) -> Data:
    """The tables that files and the caller give to the declarations of a program.

    ``bindings`` maps declared names to Python values, or to paths of files (relative to the working
    folder); ``folder`` is where the program's own paths start, None for the working folder. What the
    caller binds overrides what the program gives. ``world`` is a folder whose files take the place of those
    that the program names; it must have one of them. ``options`` are other names that the caller may have
    meant, for hints. Mistakes are kept in ``Data.problems``: the checker raises them with its own, all at
    once.
    """
    loader = _Loader(folder or Path(), values, bindings, options, world)
    loader.files = _files(module)
    loader.refuse_strange_world(module)
    for statement in module.statements:
        loader.declaration(statement)
    loader.unknown_bindings()
    for statement in module.statements:
        if isinstance(statement, ast.ObserveFrom):
            loader.observation(statement)
    return Data(loader.tables, loader.evidence, tuple(loader.problems), frozenset(loader.broken))


@dataclass
class _Loader:
    folder: Path
    values: Values
    bindings: Mapping[str, object]
    options: Collection[str]
    world: Path | None = None
    shapes: dict[str, Shape] = field(default_factory=dict)
    others: dict[str, Span] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    evidence: dict[str, dict[ast.File | None, Table]] = field(default_factory=dict)
    files: Mapping[str, ast.File] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)

    def declaration(self, statement: ast.Statement) -> None:
        shape = shape_of(statement)
        if shape is None:
            if isinstance(statement, ast.DefineDecl):
                self.others[statement.name.text] = statement.name.span
            return
        if shape.name in self.shapes:
            return
        self.shapes[shape.name] = shape
        table = self._table(statement, shape)
        if table is None:
            return
        if shape.kind == "random":
            self.evidence.setdefault(shape.name, {})[None] = table
        else:
            self.tables[shape.name] = table

    def _table(self, statement: ast.Statement, shape: Shape) -> Table | None:
        if shape.name in self.bindings:
            return self._given(self.bindings[shape.name], shape)
        value = getattr(statement, "value", None)
        return self._file(value, shape) if isinstance(value, ast.File) else None

    def observation(self, statement: ast.ObserveFrom) -> None:
        shape = self.shapes.get(statement.name.text)
        if shape is None or shape.kind != "random" or shape.name in self.bindings:
            return
        table = self._file(statement.file, shape)
        if table is not None:
            self.evidence.setdefault(shape.name, {})[statement.file] = table

    def _given(self, value: object, shape: Shape) -> Table | None:
        if isinstance(value, Else):
            table = self._given(value.rows, shape)
            return table and self._kept(lambda: self._closed(table, value, shape), shape)
        file = self.files.get(shape.name)
        if isinstance(value, Database):
            asked = _rows(value, shape) or (file.rows if file else None)
            return self._read_file(Path(value.path), file, asked, shape.span, shape)
        path = _path(value, shape)
        if path is not None:
            asked = file.rows if file and path.suffix.lower() in DATABASES else None
            return self._read_file(path, file, asked, shape.span, shape)
        array = as_array(value, shape)
        if array is None:
            return self._read(lambda: read_python(value, shape), shape)
        if not may_be_rows(array, shape):
            return self._kept(lambda: read_grid(array, shape, self.values), shape)
        rows = self._read(lambda: read_python(array, shape), shape)
        return rows and self._kept(lambda: with_grid(rows, read_grid(array, shape, self.values)), shape)

    def _file(self, file: ast.File, shape: Shape) -> Table | None:
        return self._read_file(self._place(file), file, file.rows, file.span, shape)

    def _place(self, file: ast.File) -> Path:
        """Where a file of the program lies: in the folder of the world if it is there."""
        path = Path(file.path.replace("\\", "/"))
        if self.world is not None and (self.world / path).is_file():
            return self.world / path
        return self.folder / path

    def refuse_strange_world(self, module: ast.Module) -> None:
        """Report a folder of a world that has none of the files that the program names."""
        if self.world is None:
            return
        named = [value for s in module.statements for value in _file_of(s)]
        if any((self.world / value.path.replace("\\", "/")).is_file() for value in named):
            return
        listed = ", ".join(dict.fromkeys(value.path for value in named)) or "the program names no file"
        message = f"the world `{self.world}` has none of the program's files"
        if not self.world.is_dir():
            message = f"there is no folder `{self.world}`"
        self.problems.append(Diagnostic(message, hint=f"wanted: {listed}"))

    def _read_file(
        self, path: Path, file: ast.File | None, rows: ast.DatabaseRows | None, at: Span, shape: Shape
    ) -> Table | None:
        """The table in a file, by the columns that the program names for ``file``."""

        def read() -> Table:
            asked = _as_in(file, shape)
            return arrange(read_file(path, rows, asked, at), asked, self.values)

        return self._kept(read, shape)

    def _read(self, read: Callable[[], Raw], shape: Shape) -> Table | None:
        return self._kept(lambda: arrange(read(), shape, self.values), shape)

    def _closed(self, table: Table, value: Else, shape: Shape) -> Table:
        """The table with the value of all that it does not list."""
        if shape.kind in ("type", "relation"):
            message = f"the {shape.kind} `{shape.name}` takes no `Else`: what is not listed is not in it"
            raise PlxError(Diagnostic(message, shape.span))
        try:
            return replace(table, otherwise=self.values.id(from_python(value.value)))
        except CellError as mistake:
            message = f"the value of the `Else` that is given for `{shape.name}` cannot be used: {mistake}"
            raise PlxError(Diagnostic(message, shape.span)) from None

    def _kept(self, read: Callable[[], Table], shape: Shape) -> Table | None:
        try:
            return read()
        except PlxError as error:
            self.problems += error.diagnostics
            self.broken.add(shape.name)
            return None

    def unknown_bindings(self) -> None:
        for name in self.bindings:
            if name in self.others:
                message = f"`{name}` is a define: only types, params, relations and randoms can be given"
                self.problems.append(Diagnostic(message, self.others[name]))
            elif name not in self.shapes:
                message = f"a value is given for `{name}`, but the program declares no such name"
                self.problems.append(Diagnostic(message, None, hint=self._meant(name)))

    def _meant(self, name: str) -> str | None:
        if name in self.options:
            return f"`{name}` is an option of `run`, as in plx.run(text, {name}=…)"
        meant = nearest(name, [*self.shapes, *self.options])
        if meant in self.shapes or meant is None:
            return did_you_mean(name, self.shapes)
        return f"did you mean `{meant}`, the option of `run`?"


def _files(module: ast.Module) -> dict[str, ast.File]:
    """The file of each declaration, and the first from which a random function is observed."""
    found: dict[str, ast.File] = {}
    for statement in module.statements:
        for file in _file_of(statement):
            assert isinstance(statement, TABLES | ast.ObserveFrom)
            found.setdefault(statement.name.text, file)
    return found


def _rows(given: Database, shape: Shape) -> ast.DatabaseRows | None:
    """What the caller reads of a database."""
    if given.table is not None:
        return ast.DatabaseRows("table", given.table, span=shape.span)
    return None if given.sql is None else ast.DatabaseRows("sql", given.sql, span=shape.span)


def _file_of(statement: ast.Statement) -> list[ast.File]:
    """The file that a statement names, if it names one."""
    value = getattr(statement, "file", None) or getattr(statement, "value", None)
    return [value] if isinstance(value, ast.File) else []


def _as_in(file: ast.File | None, shape: Shape) -> Shape:
    """A shape with the columns that the program names. Raises PlxError if they are too few or many."""
    if file is None or not file.columns:
        return shape
    if not shape.fits(len(file.columns)):
        named = "one column is" if len(file.columns) == 1 else f"{len(file.columns)} columns are"
        message = f"{named} named for `{shape.name}`, which has: {shape.wanted}"
        raise PlxError(Diagnostic(message, file.columns[0].span.to(file.columns[-1].span)))
    return replace(shape, columns=file.columns)


def _path(value: object, shape: Shape) -> Path | None:
    """The path of a file; a text is one where it can be no symbol, for want of any slots."""
    if isinstance(value, os.PathLike):
        return Path(value)
    listed = shape.kind == "type" or shape.slots
    return Path(value) if listed and isinstance(value, str) and looks_like_path(value) else None
