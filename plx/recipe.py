"""What a program is built from, and the building: text and data → a checked program."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from plx.check.checker import check
from plx.check.partial import independent
from plx.data.load import load
from plx.data.options import refuse_declared
from plx.errors import Diagnostic, PlxError
from plx.origin import CheckedProgram
from plx.questions import Questions
from plx.source import Source
from plx.syntax import ast
from plx.syntax.parser import recover
from plx.values import Values
from plx.weights import Number


@dataclass(frozen=True)
class Recipe:
    """What a program is built from; ``options`` are names that the caller may have meant by a binding.

    ``world`` is a folder whose files take the place of those that the program names, ``weights`` are what
    learned numbers are.
    """

    source: Source
    bindings: Mapping[str, object]
    folder: Path
    max_ground: int | None = None
    options: Collection[str] = ()
    questions: Questions = Questions()
    world: Path | None = None
    weights: Mapping[str, Number] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kept = {name: [*v] if isinstance(v, Iterator) else v for name, v in self.bindings.items()}
        object.__setattr__(self, "bindings", kept)  # an iterator could be read once only

    def program(self, told: Collection[str] = ()) -> CheckedProgram:
        """The program with its data, which are read anew. Raises PlxError with every mistake in both.

        ``told`` are names that the caller gave a value, so that the program must not declare them.
        """
        asked = [recover(source) for source in self.questions.sources]
        return self.checked(*self.questions.put_to(recover(self.source), asked), told)

    def checked(
        self, module: ast.Module, mistakes: Sequence[Diagnostic], told: Collection[str] = ()
    ) -> CheckedProgram:
        """The program once it has been parsed, with the mistakes found so far. Raises as `program` does."""
        values = Values()
        refuse_declared(module, told)
        data = load(module, self.bindings, self.folder, values, self.options, self.world)
        try:
            program = check(module, data, values)
        except PlxError as error:
            others = independent(error.diagnostics, module) if mistakes else error.diagnostics
            raise PlxError([*mistakes, *others]) from None
        if mistakes:
            raise PlxError(mistakes)
        return CheckedProgram(program, module, self.source.text, self.max_ground, weights=self.weights)


def learn_statements(text: str) -> dict[str, ast.LearnDecl]:
    """The ``learn`` statements of a program's text, by name."""
    module, _ = recover(Source("program", text))
    return {node.name.text: node for node in module.statements if isinstance(node, ast.LearnDecl)}


def awaited(source: Source) -> tuple[str, ...]:
    """The types, params and relations of a program that wait for a value from the caller, by name."""
    module, _ = recover(source)
    kinds = ast.TypeDecl | ast.ParamDecl | ast.RelationDecl
    return tuple(s.name.text for s in module.statements if isinstance(s, kinds) and s.value is None)


def named_files(source: Source) -> tuple[str, ...]:
    """The files of data that a program names, as it names them."""
    module, _ = recover(source)
    values = [getattr(s, "file", None) or getattr(s, "value", None) for s in module.statements]
    return tuple(dict.fromkeys(value.path for value in values if isinstance(value, ast.File)))


def declared_names(source: Source) -> tuple[str, ...]:
    """The types, params, relations and random functions of a program: what the caller can give values."""
    module, _ = recover(source)
    kinds = ast.TypeDecl | ast.ParamDecl | ast.RelationDecl | ast.RandomDecl
    return tuple(dict.fromkeys(s.name.text for s in module.statements if isinstance(s, kinds)))


def questions_of(source: Source) -> tuple[str, ...]:
    """The queries of a program, and the names of its random functions, as texts."""
    module, _ = recover(source)
    queries = [
        s.span.text.removeprefix("query").strip() for s in module.statements if isinstance(s, ast.Query)
    ]
    randoms = [s.name.text for s in module.statements if isinstance(s, ast.RandomDecl)]
    return tuple(dict.fromkeys([*queries, *randoms]))
