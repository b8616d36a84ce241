"""The order in which declarations can be checked: each after what it mentions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from plx.check.context import Declaration
from plx.syntax import ast


def checking_order(declarations: Mapping[str, Declaration]) -> tuple[list[str], list[list[str]]]:
    """Names in an order that respects what they mention, and the cycles that were cut.

    Types come first: their symbols are needed everywhere. A cycle ``[a, b]`` says that a mentions b and
    b mentions a. Depth-first search with a stack of its own.
    """
    roots = sorted(declarations, key=lambda name: not isinstance(declarations[name], ast.TypeDecl))
    order: list[str] = []
    cycles: list[list[str]] = []
    state: dict[str, bool] = {}
    for root in roots:
        path: list[tuple[str, Iterator[str]]] = []
        _enter(root, path, state, declarations)
        while path:
            name, rest = path[-1]
            following = next(rest, None)
            if following is None:
                path.pop()
                state[name] = True
                order.append(name)
            elif state.get(following) is False:
                names = [step for step, _ in path]
                cycles.append(names[names.index(following) :])
            else:
                _enter(following, path, state, declarations)
    return order, cycles


def _enter(
    name: str,
    path: list[tuple[str, Iterator[str]]],
    state: dict[str, bool],
    declarations: Mapping[str, Declaration],
) -> None:
    if name not in state:
        state[name] = False
        path.append((name, iter(mentions(declarations[name], declarations))))


def mentions(declaration: Declaration, declarations: Mapping[str, Declaration]) -> list[str]:
    """The declared names on which a declaration depends, in order of appearance."""
    bound: frozenset[str] = frozenset()
    found: dict[str, None] = {}
    for slot in declaration.slots:
        _collect(slot.set, bound, declarations, found)
        bound |= {slot.name.text} if slot.name else set()
    for part in _parts(declaration):
        if isinstance(declaration, ast.TypeDecl) and isinstance(part, ast.Braces):
            _type_braces(part, bound, declarations, found)
        else:
            _collect(part, bound, declarations, found)
    return list(found)


def _parts(declaration: Declaration) -> list[ast.Expr]:
    if isinstance(declaration, ast.DefineDecl):
        return [declaration.body]
    if isinstance(declaration, ast.RandomDecl):
        return [part for part in (declaration.domain, declaration.guard) if part is not None]
    value = declaration.value
    if isinstance(value, ast.File):
        value = value.otherwise
    return [] if value is None else [value]


def _type_braces(
    braces: ast.Braces, bound: frozenset[str], declarations: Mapping[str, Declaration], found: dict[str, None]
) -> None:
    """In the braces of a type a bare name is a symbol, unless it is a param or a define."""
    for entry in braces.entries:
        value = entry.value
        if isinstance(value, ast.Braces):
            _type_braces(value, bound, declarations, found)
        elif not isinstance(value, ast.Name) or is_abbreviation(declarations.get(value.text)):
            _collect(value, bound, declarations, found)


def is_abbreviation(declaration: Declaration | None) -> bool:
    """Whether a bare name stands for a fixed value wherever it stands."""
    return isinstance(declaration, ast.ParamDecl | ast.LearnDecl | ast.DefineDecl) and not declaration.slots


def _collect(
    root: ast.Expr, bound: frozenset[str], declarations: Mapping[str, Declaration], found: dict[str, None]
) -> None:
    waiting: list[tuple[object, frozenset[str]]] = [(root, bound)]
    while waiting:
        node, inner = waiting.pop()
        if isinstance(node, ast.Name):
            if node.text not in inner and _bare(declarations.get(node.text)):
                found.setdefault(node.text)
            continue
        if isinstance(node, ast.Apply):
            if node.name.text not in inner and node.name.text in declarations:
                found.setdefault(node.name.text)
            waiting += [(argument, inner) for argument in reversed(node.arguments)]
            continue
        if isinstance(node, ast.Aggregate | ast.Constraint):
            outside, body = ((), node.body) if isinstance(node, ast.Aggregate) else _arguments(node)
            waiting += [(argument, inner) for argument in reversed(outside)]
            for binding in node.scope.bindings:
                waiting.append((binding.set, inner))
                if isinstance(binding, ast.TupleBinding):
                    waiting += [(item, inner) for item in binding.items if not isinstance(item, ast.Name)]
                inner = inner | {name.text for name in binding.names}
            waiting += [(part, inner) for part in (body, node.scope.guard) if part is not None]
            continue
        waiting += [(child, inner) for child in reversed(_children(node))]


def _arguments(node: ast.Constraint) -> tuple[tuple[ast.Expr, ...], ast.Expr]:
    """What stands outside the scope, and what stands under it."""
    return node.arguments[:-1], node.arguments[-1]


def _bare(declaration: Declaration | None) -> bool:
    """Whether a name without arguments can stand for the declaration."""
    return declaration is not None and (
        not declaration.slots or isinstance(declaration, ast.TypeDecl | ast.RelationDecl)
    )


def _children(node: object) -> list[object]:
    found: list[object] = []
    if not is_dataclass(node):
        return found
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, tuple):
            found += [item for item in value if is_dataclass(item)]
        elif is_dataclass(value) and field.name != "span":
            found.append(value)
    return found
