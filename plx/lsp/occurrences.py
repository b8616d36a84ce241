"""Where each name of a program stands, and what it stands for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

from plx.check.context import Declaration
from plx.source import Span
from plx.syntax import ast
from plx.syntax.walk import nodes

Kind = Literal["variable", "declared", "symbol"]
Meaning = tuple[Kind, str, int]
"""What a name stands for: its kind, its text, and for a variable the offset of what binds it, else -1."""

_Env = Mapping[str, Meaning]


@dataclass(frozen=True)
class Occurrence:
    """A name at a place; ``defines`` where it is declared, bound, or a member of a type or a domain."""

    span: Span
    meaning: Meaning
    defines: bool


def occurrences(module: ast.Module) -> list[Occurrence]:
    """All names of a program in the order of the text, but for labels of queries and columns of files."""
    declared = {statement.name.text for statement in module.statements if isinstance(statement, Declaration)}
    sets = [_introducing(statement) for statement in module.statements]
    members = {name.text for name in nodes(tuple(sets)) if isinstance(name, ast.Name | ast.Quoted)}
    finder = _Finder(declared, members - declared)
    found = [one for statement in module.statements for one in finder.statement(statement)]
    return sorted(found, key=lambda one: one.span.start)


def _introducing(statement: ast.Statement) -> Any:
    """The set of a declaration that may have new symbols."""
    if isinstance(statement, ast.TypeDecl):
        return statement.value
    return statement.domain if isinstance(statement, ast.RandomDecl) else None


class _Finder:
    """Walks a tree with what its variables are bound by."""

    def __init__(self, declared: set[str], members: set[str]) -> None:
        self.declared = declared
        self.members = members

    def statement(self, statement: Any) -> Iterator[Occurrence]:
        if not isinstance(statement, Declaration):
            yield from self.node(statement, {}, False)
            return
        yield Occurrence(statement.name.span, ("declared", statement.name.text, -1), True)
        env: _Env = {}
        for slot in statement.slots:
            yield from self.node(slot.set, env, False)
            if slot.name:
                env, bound = _bound(env, slot.name)
                yield bound
        introducing = _introducing(statement)
        for field in fields(statement):
            if field.name not in ("name", "slots", "span"):
                value = getattr(statement, field.name)
                yield from self.node(value, env, value is not None and value is introducing)

    def node(self, node: Any, env: _Env, introduces: bool) -> Iterator[Occurrence]:
        """The names in a node, where ``introduces`` says that symbols in braces are members."""
        if isinstance(node, tuple):
            for item in node:
                yield from self.node(item, env, introduces)
        elif isinstance(node, ast.Name | ast.Quoted):
            yield self._name(node, env, introduces)
        elif isinstance(node, ast.Scope):
            yield from self._scope(node, env)[0]
        elif is_dataclass(node) and not isinstance(node, Span):
            yield from self._inside(node, env, introduces)

    def _inside(self, node: Any, env: _Env, introduces: bool) -> Iterator[Occurrence]:
        scope = getattr(node, "scope", None)
        if isinstance(scope, ast.Scope):
            found, env = self._scope(scope, env)
            yield from found
        left_out = {ast.File: ("path", "columns"), ast.Query: ("label",), ast.Constraint: ("name",)}.get(
            type(node), ()
        )
        for field in fields(node):
            if field.name not in ("scope", "span", *left_out):
                yield from self.node(getattr(node, field.name), env, introduces)

    def _scope(self, scope: ast.Scope, env: _Env) -> tuple[list[Occurrence], _Env]:
        """The names of a scope, and what is bound under it."""
        found: list[Occurrence] = []
        for binding in scope.bindings:
            found += self.node(binding.set, env, False)
            items = binding.items if isinstance(binding, ast.TupleBinding) else binding.names
            for item in items:
                if isinstance(item, ast.Name) and self._is_new(binding, item, env):
                    env, bound = _bound(env, item)
                    found.append(bound)
                else:
                    found += self.node(item, env, False)
        found += self.node(scope.guard, env, False)
        return found, env

    def _is_new(self, binding: ast.Binding | ast.TupleBinding, item: ast.Name, env: _Env) -> bool:
        """Whether a name in a binding is bound there: in tuples, variables and members are what is known."""
        if not isinstance(binding, ast.TupleBinding):
            return True
        return item.text != ast.ANYTHING and item.text not in env and item.text not in self.members

    def _name(self, node: ast.Name | ast.Quoted, env: _Env, introduces: bool) -> Occurrence:
        if isinstance(node, ast.Name) and node.text in env:
            return Occurrence(node.span, env[node.text], False)
        if isinstance(node, ast.Name) and node.text in self.declared:
            return Occurrence(node.span, ("declared", node.text, -1), False)
        return Occurrence(node.span, ("symbol", node.text, -1), introduces)


def _bound(env: _Env, name: ast.Name) -> tuple[_Env, Occurrence]:
    meaning: Meaning = ("variable", name.text, name.span.start)
    return {**env, name.text: meaning}, Occurrence(name.span, meaning, True)
