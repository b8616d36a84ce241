"""What is told of a name under the pointer: its domain, how often it is ground, what it expands to."""

from __future__ import annotations

from collections.abc import Iterator

from plx.check.context import Declaration
from plx.check.program import Program
from plx.lsp.document import Document
from plx.lsp.occurrences import Occurrence
from plx.numerals import counted
from plx.origin import CheckedProgram
from plx.source import Span
from plx.syntax import ast
from plx.syntax.printer import print_expr, print_statement, print_value
from plx.syntax.walk import nodes

_MOST_MEMBERS = 20


def hover(document: Document, offset: int) -> tuple[Span, str] | None:
    """The span that is told of, and what is told, as Markdown."""
    occurrence = document.at(offset)
    if occurrence is not None:
        return occurrence.span, "\n\n".join(_of_name(document, occurrence))
    for statement in document.module.statements:
        span = statement.span
        if span.start <= offset <= span.start + len(span.text.split(maxsplit=1)[0]):
            told = _of_rule(document, statement)
            return None if told is None else (span, told)
    return None


def _of_rule(document: Document, statement: ast.Statement) -> str | None:
    rules = document.ground.rules if document.ground else ()
    found = next((rule for rule in rules if rule.span == statement.span), None)
    if found is None:
        return None
    return f"{counted(found.instances, 'ground instance')}, {counted(found.factors, 'factor')}"


def _of_name(document: Document, occurrence: Occurrence) -> Iterator[str]:
    kind, text, _ = occurrence.meaning
    if kind == "variable":
        yield _code(f"{text} in {_set_of(document, occurrence)}")
    elif kind == "declared":
        for statement in document.module.statements:
            if isinstance(statement, Declaration) and statement.name.text == text:
                yield _code(print_statement(statement))
                yield from _more(document, statement, occurrence)
                return
    else:
        yield _code(print_value(text))
        program = _program(document)
        homes = [
            f"`{info.name}`"
            for info in (program.types.values() if program else ())
            if program and program.values.find(text) in info.members
        ]
        yield "a symbol" + (f" of {', '.join(homes)}" if homes else "")


def _set_of(document: Document, occurrence: Occurrence) -> str:
    """The set that a variable ranges over, as it is written."""
    start = occurrence.meaning[2]
    for node in nodes(document.module.statements):
        if isinstance(node, ast.Binding | ast.TupleBinding) and any(
            n.span.start == start for n in node.names
        ):
            return node.set.span.text
        if isinstance(node, ast.Slot) and node.name and node.name.span.start == start:
            return node.set.span.text
    return "?"


def _more(document: Document, statement: ast.Statement, occurrence: Occurrence) -> Iterator[str]:
    if isinstance(statement, ast.DefineDecl):
        expanded = _expansion(document, statement, occurrence)
        if expanded is not None:
            yield f"here:\n\n{_code(expanded)}"
        return
    program = _program(document)
    if program is None:
        return
    name = occurrence.meaning[1]
    if isinstance(statement, ast.TypeDecl):
        members = program.types[name].members
        shown = ", ".join(print_value(program.values[int(i)]) for i in members[:_MOST_MEMBERS])
        yield counted(len(members), "member") + f": {shown}" + (", …" if len(members) > _MOST_MEMBERS else "")
    elif isinstance(statement, ast.RandomDecl) and document.ground is not None:
        yield from _unknowns(document, name)
    elif isinstance(statement, ast.RelationDecl):
        yield counted(len(program.relations[name].facts), "fact")


def _unknowns(document: Document, name: str) -> Iterator[str]:
    """How many unknowns a random function has, how many of them are observed, and their values."""
    assert document.ground is not None
    atoms = document.ground.atoms
    block = next((block for block in atoms.blocks if block.name == name), None)
    if block is None:
        return
    mine = slice(block.first, block.first + len(block.index))
    observed = int((atoms.fixed[mine] >= 0).sum())
    yield counted(len(block.index), "unknown") + (f", {observed:,} of them observed" if observed else "")
    sizes = sorted({len(atoms.domains[int(domain)]) for domain in atoms.domain[mine]})
    if len(sizes) == 1:
        yield f"{sizes[0]:,} values each"
    elif sizes:
        yield f"{sizes[0]:,} to {sizes[-1]:,} values each"


def _expansion(document: Document, statement: ast.DefineDecl, occurrence: Occurrence) -> str | None:
    """The body of a define with the arguments of this use in the place of its slots."""
    for node in nodes(document.module.statements):
        if isinstance(node, ast.Apply) and node.name.span.start == occurrence.span.start:
            slots = [slot.name.text for slot in statement.slots if slot.name]
            if len(slots) == len(node.arguments):
                return print_expr(
                    statement.body, dict(zip(slots, map(print_expr, node.arguments), strict=True))
                )
    return None


def _program(document: Document) -> Program | None:
    origin = document.model.origin if document.model else None
    return origin.program if isinstance(origin, CheckedProgram) else None


def _code(text: str) -> str:
    return f"```plx\n{text}\n```"
