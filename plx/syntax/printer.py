"""Syntax tree → canonical source: one statement per line and no parenthesis too many.

``parse`` gives back the same tree for every tree whose names are names of the
language and whose file paths have no line break.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction

from plx.numerals import decimal_places, digits
from plx.syntax import ast
from plx.syntax.words import is_name
from plx.values import Value

# How tightly each form binds, from loose to tight; the rules of grammars/plx.lark.
_IFF, _IMPLIES, _OR, _XOR, _AND, _NOT, _COMPARE, _RANGE, _SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(13)

_BINARY: dict[ast.BinaryOp, tuple[str, int, int, int]] = {
    "<=>": (" <=> ", _IFF, _IFF, _IMPLIES),
    "=>": (" => ", _IMPLIES, _OR, _IMPLIES),
    "or": (" | ", _OR, _OR, _XOR),
    "xor": (" xor ", _XOR, _XOR, _AND),
    "and": (" & ", _AND, _AND, _NOT),
    "..": ("..", _RANGE, _SUM, _SUM),
    "+": (" + ", _SUM, _SUM, _PRODUCT),
    "-": (" - ", _SUM, _SUM, _PRODUCT),
    "*": (" * ", _PRODUCT, _PRODUCT, _SIGN),
    "/": (" / ", _PRODUCT, _PRODUCT, _SIGN),
    "%": (" % ", _PRODUCT, _PRODUCT, _SIGN),
    "^": ("^", _POWER, _ATOM, _SIGN),
}
"""Operator → its text, how tightly it binds, and how tightly its left and right side must."""

_LARGE = 10**15
"""Whole numbers below this are written as Python does."""


def print_module(module: ast.Module) -> str:
    """A program as canonical source, one statement per line."""
    return "".join(print_statement(statement) + "\n" for statement in module.statements)


def print_expr(expr: ast.Expr, names: Mapping[str, str] | None = None) -> str:
    """An expression as canonical source.

    ``names`` replaces free names by printed values, e.g. ``{"s": "s1"}`` prints
    ``passed(s, ai)`` as ``passed(s1, ai)``. Names that an aggregate binds anew stay.
    """
    return _Printer(names or {}).expr(expr)


def print_value(value: Value) -> str:
    """A value as it is written in a program; numbers are exact."""
    if type(value) is int and -_LARGE < value < _LARGE:
        return str(value)
    if isinstance(value, str):
        return value if is_name(value) else quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    from plx.weights import text

    return text(value)


def print_statement(statement: ast.Statement) -> str:
    """A statement as canonical source, on one line."""
    return _Statements({}).statement(statement)


# ------------------------------------------------------------------ expressions


class _Printer:
    """Prints expressions with some names replaced."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def expr(self, node: ast.Expr, least: int = _IFF) -> str:
        """The node, in parentheses where it binds less tightly than ``least``."""
        text, level = self._bare(node)
        return text if level >= least else f"({text})"

    def union(self, node: ast.Expr) -> str:
        """A set after ``in`` or in a signature, where only ``|`` may bind less tightly than a range."""
        parts = []
        while isinstance(node, ast.Binary) and node.op == "or":
            parts.append(self.expr(node.right, _RANGE))
            node = node.left
        return " | ".join([self.expr(node, _RANGE), *reversed(parts)])

    def scope(self, scope: ast.Scope) -> tuple[str, _Printer]:
        """``for … if …``, and the printer for what stands under it."""
        inner, parts = self, []
        for binding in scope.bindings:
            members = inner.union(binding.set)
            if isinstance(binding, ast.TupleBinding):
                inner = inner._without(name.text for name in binding.names if name.text not in inner.names)
                parts.append(f"({inner._list(binding.items)}) in {members}")
            else:
                bound = [name.text for name in binding.names]
                parts.append(f"{', '.join(bound)} in {members}")
                inner = inner._without(bound)
        guard = f" if {inner.expr(scope.guard)}" if scope.guard is not None else ""
        return f"for {', '.join(parts)}{guard}", inner

    def _without(self, bound: Iterable[str]) -> _Printer:
        """The printer where these names mean something else; a value spelt alike is quoted."""
        hidden = set(bound)
        kept = {name: text for name, text in self.names.items() if name not in hidden}
        return _Printer({name: quoted(text) if text in hidden else text for name, text in kept.items()})

    def _list(self, nodes: Iterable[ast.Expr]) -> str:
        return ", ".join(map(self.expr, nodes))

    def _bare(self, node: ast.Expr) -> tuple[str, int]:
        """The node without parentheses, and how tightly it binds."""
        match node:
            case ast.Name(text):
                return _replaced(self.names[text]) if text in self.names else (text, _ATOM)
            case ast.Quoted(text):
                return quoted(text), _ATOM
            case ast.Number(value):
                return _number(value)
            case ast.Truth(value):
                return ("true" if value else "false"), _ATOM
            case ast.Apply(name, arguments):
                return f"{name.text}({self._list(arguments)})", _ATOM
            case ast.Tuple(items):
                return f"({self._list(items)})", _ATOM
            case ast.Braces(entries):
                return f"{{{', '.join(map(self._entry, entries))}}}", _ATOM
            case ast.Aggregate(kind, body, scope):
                printed, inner = self.scope(scope)
                return f"{kind}({inner.expr(body)} {printed})", _ATOM
            case ast.Constraint(name, arguments, scope):
                printed, inner = self.scope(scope)
                outside = "".join(f"{self.expr(argument)}, " for argument in arguments[:-1])
                return f"{name.text}({outside}{inner.expr(arguments[-1])} {printed})", _ATOM
            case _:
                return self._operation(node)

    def _operation(self, node: ast.Unary | ast.Binary | ast.Compare | ast.Member) -> tuple[str, int]:
        match node:
            case ast.Unary("not", operand):
                text, level = self._bare(operand)
                if level < _NOT or level == _ATOM or text.startswith("!"):
                    return (f"!{text}" if level >= _NOT else f"!({text})"), _NOT
                return f"not {text}", _NOT
            case ast.Unary(op, operand):
                return f"{op}{self.expr(operand, _SIGN)}", _SIGN
            case ast.Binary():
                return self._chain(node), _BINARY[node.op][1]
            case ast.Compare(operands, ops):
                first, *rest = (self.expr(operand, _RANGE) for operand in operands)
                return first + "".join(f" {op} {text}" for op, text in zip(ops, rest, strict=True)), _COMPARE
            case ast.Member(item, members, negated):
                word = "not in" if negated else "in"
                return f"{self.expr(item, _RANGE)} {word} {self.expr(members, _RANGE)}", _COMPARE

    def _chain(self, node: ast.Expr) -> str:
        """``a & b & c`` without a call per operator, however long it is."""
        lead, trail = [], []
        level = _BINARY[node.op][1] if isinstance(node, ast.Binary) else _ATOM
        least = level
        while isinstance(node, ast.Binary) and _BINARY[node.op][1] == level >= least:
            text, _, before, after = _BINARY[node.op]
            if before == level:
                trail.append(text + self.expr(node.right, after))
                node, least = node.left, before
            else:
                lead.append(self.expr(node.left, before) + text)
                node, least = node.right, after
        return "".join(lead) + self.expr(node, least) + "".join(reversed(trail))

    def _entry(self, entry: ast.Entry) -> str:
        if entry.otherwise:
            return f"else: {self.expr(entry.value)}"
        key = f"{self.expr(entry.key)}: " if entry.key is not None else ""
        return key + self.expr(entry.value)


# ------------------------------------------------------------------- statements


class _Statements(_Printer):
    """Prints statements."""

    def statement(self, node: ast.Statement) -> str:
        match node:
            case ast.TypeDecl() | ast.ParamDecl() | ast.RelationDecl():
                word = {ast.TypeDecl: "type", ast.ParamDecl: "param", ast.RelationDecl: "relation"}[
                    type(node)
                ]
                return f"{word} {self._head(node)}{self._given_value(node.value)}"
            case ast.RandomDecl():
                domain, guard = self._after(": ", node.domain), self._after(" if ", node.guard)
                cases = " ~ " + " ".join(map(self._case, node.cases)) if node.cases else ""
                return f"random {self._head(node)}{domain}{cases}{guard}"
            case ast.DefineDecl():
                return f"define {self._head(node)} = {self.expr(node.body)}"
            case ast.LearnDecl():
                start, prior = self._given_value(node.value), self._after(" ~ ", node.prior)
                return f"learn {self._head(node)}{start}{prior}"
            case ast.Weight():
                return f"weight {self.expr(node.weight)}: {self.expr(node.formula)}{self._scope(node.scope)}"
            case ast.Factor():
                return f"factor {self.expr(node.value)}{self._scope(node.scope)}"
            case ast.Require():
                return f"require {self.expr(node.formula)}{self._scope(node.scope)}"
            case ast.Observe():
                return f"observe {self.expr(node.formula)}{self._scope(node.scope)}"
            case ast.ObserveFrom():
                return f"observe {node.name.text} {self._file(node.file)}"
            case ast.Query():
                return self._query(node)

    def _head(
        self,
        node: ast.TypeDecl
        | ast.ParamDecl
        | ast.RelationDecl
        | ast.RandomDecl
        | ast.DefineDecl
        | ast.LearnDecl,
    ) -> str:
        slots = f"({', '.join(map(self._slot, node.slots))})" if node.slots else ""
        return node.name.text + slots

    def _case(self, case: ast.Case) -> str:
        chances = case.chances
        text = self._causes(chances) if isinstance(chances, ast.Causes) else self.expr(chances)
        return text if case.condition is None else f"{text} if {self.expr(case.condition)} else"

    def _causes(self, node: ast.Causes) -> str:
        parts = [self.expr(node.leak), *map(self._entry, node.causes)]
        return f"{node.name.text}({', '.join(parts)}{self._scope(node.scope)})"

    def _slot(self, slot: ast.Slot) -> str:
        return (f"{slot.name.text}: " if slot.name else "") + self.union(slot.set)

    def _given_value(self, value: ast.Expr | ast.File | None) -> str:
        return f" {self._file(value)}" if isinstance(value, ast.File) else self._after(" = ", value)

    def _file(self, file: ast.File) -> str:
        path = file.path.replace("\\", "\\\\").replace('"', '\\"')
        columns = f" columns ({self._list(file.columns)})" if file.columns else ""
        rows = f" {file.rows.kind} {quoted(file.rows.text)}" if file.rows else ""
        return f'from "{path}"{rows}{columns}{self._after(" else ", file.otherwise)}'

    def _after(self, lead: str, node: ast.Expr | None) -> str:
        return "" if node is None else lead + self.expr(node)

    def _scope(self, scope: ast.Scope | None) -> str:
        return "" if scope is None else " " + self.scope(scope)[0]

    def _query(self, node: ast.Query) -> str:
        label = f" as {node.label.text}" if node.label else ""
        given = f" given {self._list(node.given)}" if node.given else ""
        return f"query {self._target(node.target)}{label}{self._scope(node.scope)}{given}"

    def _target(self, target: ast.Expr | ast.MapTarget | ast.LogZTarget) -> str:
        if isinstance(target, ast.MapTarget):
            part = f" {self.expr(target.part)}" if target.part else ""
            return ("map" if target.best == 1 else f"map {target.best}") + part
        return "logz" if isinstance(target, ast.LogZTarget) else self.expr(target)


# --------------------------------------------------------------------- literals

_MEANT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = re.compile(r'["\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]')


def quoted(text: str) -> str:
    """A symbol in quotes, with what cannot stand there escaped."""
    return '"' + _ESCAPED.sub(lambda found: _MEANT.get(found[0]) or f"\\u{ord(found[0]):04x}", text) + '"'


def _replaced(text: str) -> tuple[str, int]:
    """A printed value and how tightly it binds: ``-2`` is a sign, ``1/3`` a product."""
    if text[:1] == '"' or re.fullmatch(r"[\w.]+'*", text):
        return text, _ATOM
    return text, _SIGN if re.fullmatch(r"-[\w.]+", text) else _SUM


_LONGEST = 30
"""A number with more digits than this is written with an exponent."""


def _number(value: Fraction) -> tuple[str, int]:
    """A literal where the number has one; else a quotient."""
    if value < 0:
        text, level = _number(-value)
        return f"-{text}", min(level, _SIGN)
    places = decimal_places(value.denominator)
    if places is None:
        return f"{digits(value.numerator)}/{digits(value.denominator)}", _PRODUCT
    text = digits(value.numerator * 10**places // value.denominator)
    if max(len(text), places) > _LONGEST:
        short = text.rstrip("0")
        exponent = len(text) - len(short) - places
        return (f"{short}e{exponent}" if exponent else short), _ATOM
    if not places:
        return text, _ATOM
    text = text.rjust(places + 1, "0")
    return f"{text[:-places]}.{text[-places:]}", _ATOM
