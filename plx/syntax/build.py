"""Words and finished parts → nodes of the syntax tree: one method per rule of the grammar."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from plx.errors import Diagnostic, PlxError
from plx.source import Span
from plx.syntax import ast
from plx.syntax.words import Word
from plx.weights import LARGEST_EXPONENT, LONGEST_LITERAL, WeightError, parse

Parts = list[Any]
"""What a rule is made of, in order: words and the values of inner rules."""


@dataclass(frozen=True, slots=True)
class _Clause:
    """A piece of a statement that has no node of its own, e.g. a signature."""

    value: Any
    span: Span


@dataclass(frozen=True, slots=True)
class _Prior:
    """What stands after ``~``."""

    value: ast.Expr
    span: Span


def _span(parts: Parts) -> Span:
    """The span from the first part to the end of the last one."""
    first, last = parts[0], parts[-1]
    if isinstance(first, Word):
        end = last.end if isinstance(last, Word) else last.span.end
        return Span(first.source, first.start, end)
    start: Span = first.span
    return Span(start.source, start.start, last.end if isinstance(last, Word) else last.span.end)


def _name(word: Word) -> ast.Name:
    return ast.Name(word.text, span=word.span)


def _kept(parts: Parts) -> Parts:
    """The parts that are not words."""
    return [part for part in parts if not isinstance(part, Word)]


class Builder:
    """The values of the grammar's rules, by rule name. It has no state."""

    # ------------------------------------------------------------- expressions

    def name(self, parts: Parts) -> ast.Name:
        """A bare word."""
        return _name(parts[0])

    def quoted(self, parts: Parts) -> ast.Quoted:
        """A symbol in quotes."""
        return ast.Quoted(_unescape(parts[0]), span=parts[0].span)

    def number(self, parts: Parts) -> ast.Number:
        """An exact literal."""
        return ast.Number(exact_number(parts[0]), span=parts[0].span)

    def truth(self, parts: Parts) -> ast.Truth:
        """``true`` or ``false``."""
        return ast.Truth(parts[0].type == "TRUE", span=parts[0].span)

    def apply(self, parts: Parts) -> ast.Apply:
        """A name with arguments."""
        return ast.Apply(_name(parts[0]), tuple(_kept(parts)), span=_span(parts))

    def aggregate(self, parts: Parts) -> ast.Aggregate:
        """``count(F for …)`` and its like."""
        return ast.Aggregate(parts[0].text, parts[2], parts[3], span=_span(parts))

    def constraint(self, parts: Parts) -> ast.Constraint:
        """``exactly(k, F for …)`` and its like."""
        *arguments, scope = _kept(parts)
        return ast.Constraint(_name(parts[0]), tuple(arguments), scope, span=_span(parts))

    def tuple_(self, parts: Parts) -> ast.Tuple:
        """Two or more items in parentheses."""
        return ast.Tuple(tuple(_kept(parts)), span=_span(parts))

    def parens(self, parts: Parts) -> Any:
        """A parenthesised expression: the inner node, whose span takes in the parentheses."""
        inner = parts[1]
        fields = {name: getattr(inner, name) for name in type(inner).__slots__ if name != "span"}
        return type(inner)(**fields, span=_span(parts))

    def braces(self, parts: Parts) -> ast.Braces:
        """A set, a table or a list of facts."""
        return ast.Braces(tuple(_kept(parts)), span=_span(parts))

    def entry(self, parts: Parts) -> ast.Entry:
        """A value alone."""
        return ast.Entry(parts[0], span=parts[0].span)

    def mapping(self, parts: Parts) -> ast.Entry:
        """``key: value``."""
        return ast.Entry(parts[2], key=parts[0], span=_span(parts))

    def otherwise(self, parts: Parts) -> ast.Entry:
        """``else: value``."""
        return ast.Entry(parts[2], otherwise=True, span=_span(parts))

    def unary(self, parts: Parts) -> ast.Unary:
        """A sign or a negation."""
        op: Any = "not" if parts[0].text == "!" else parts[0].text
        return ast.Unary(op, parts[1], span=_span(parts))

    def binary(self, parts: Parts) -> ast.Binary:
        """``left op right``."""
        text = parts[1].text
        op: Any = "and" if text == "&" else "or" if text == "|" else text
        return ast.Binary(op, parts[0], parts[2], span=_span(parts))

    def compare(self, parts: Parts) -> ast.Compare:
        """A comparison or a chain of them."""
        ops: Any = tuple("=" if word.text == "==" else word.text for word in parts[1::2])
        return ast.Compare(tuple(parts[::2]), ops, span=_span(parts))

    def member(self, parts: Parts) -> ast.Member:
        """``item in set``."""
        return ast.Member(parts[0], parts[2], False, span=_span(parts))

    def not_member(self, parts: Parts) -> ast.Member:
        """``item not in set``."""
        return ast.Member(parts[0], parts[3], True, span=_span(parts))

    # ------------------------------------------------------ scopes and clauses

    def scope(self, parts: Parts) -> ast.Scope:
        """``for … if …``."""
        bindings = tuple(part for part in parts if isinstance(part, ast.Binding | ast.TupleBinding))
        return ast.Scope(bindings, _clause(parts), span=_span(parts))

    def guard(self, parts: Parts) -> _Clause:
        """``if condition``."""
        return _Clause(parts[1], _span(parts))

    def binding(self, parts: Parts) -> ast.Binding:
        """``x, y in T``."""
        names = tuple(_name(part) for part in parts if _is(part, "NAME"))
        return ast.Binding(names, parts[-1], span=_span(parts))

    def tuple_binding(self, parts: Parts) -> ast.TupleBinding:
        """``(u, v) in R``."""
        *items, set_ = _kept(parts)
        return ast.TupleBinding(tuple(items), set_, span=_span(parts))

    def signature(self, parts: Parts) -> _Clause:
        """Slots in parentheses."""
        return _Clause(tuple(_kept(parts)), _span(parts))

    def slot(self, parts: Parts) -> ast.Slot:
        """A set alone."""
        return ast.Slot(parts[0], span=parts[0].span)

    def named_slot(self, parts: Parts) -> ast.Slot:
        """``x: T``."""
        return ast.Slot(parts[2], name=_name(parts[0]), span=_span(parts))

    def file(self, parts: Parts) -> ast.File:
        """``from "path" table "name" columns (a, b) else value``."""
        otherwise = parts[-1] if _is(parts[-2], "ELSE") else None
        rows = next((part for part in parts if isinstance(part, ast.DatabaseRows)), None)
        return ast.File(_path(parts[1].text), _clause(parts) or (), otherwise, rows, span=_span(parts))

    def rows(self, parts: Parts) -> ast.DatabaseRows:
        """``table "name"`` or ``sql "select …"``."""
        kind: Any = parts[0].text
        return ast.DatabaseRows(kind, _unescape(parts[1]), span=_span(parts))

    def columns(self, parts: Parts) -> _Clause:
        """``columns (a, b)``."""
        return _Clause(tuple(_kept(parts)), _span(parts))

    def label(self, parts: Parts) -> ast.Name:
        """``as name``."""
        return _name(parts[1])

    def given(self, parts: Parts) -> _Clause:
        """``given F, G``."""
        return _Clause(tuple(_kept(parts)), _span(parts))

    # -------------------------------------------------------------- statements

    def program(self, parts: Parts) -> Parts:
        """The statements."""
        return parts

    def type_decl(self, parts: Parts) -> ast.TypeDecl:
        """``type T …``."""
        return ast.TypeDecl(*_declared(parts), span=_span(parts))

    def param_decl(self, parts: Parts) -> ast.ParamDecl:
        """``param w …``."""
        return ast.ParamDecl(*_declared(parts), span=_span(parts))

    def relation_decl(self, parts: Parts) -> ast.RelationDecl:
        """``relation r …``."""
        return ast.RelationDecl(*_declared(parts), span=_span(parts))

    def define_decl(self, parts: Parts) -> ast.DefineDecl:
        """``define f(…) = body``."""
        return ast.DefineDecl(*_declared(parts), span=_span(parts))

    def learn_decl(self, parts: Parts) -> ast.LearnDecl:
        """``learn w = start ~ prior``."""
        prior = parts[-1].value if isinstance(parts[-1], _Prior) else None
        inner = parts[:-1] if isinstance(parts[-1], _Prior) else parts
        return ast.LearnDecl(*_declared(inner), prior, span=_span(parts))

    def prior(self, parts: Parts) -> _Prior:
        """``~ normal(0, 1)``."""
        return _Prior(parts[1], _span(parts))

    def random_decl(self, parts: Parts) -> ast.RandomDecl:
        """``random f(…): domain ~ cases if guard``."""
        guard = parts[-1].value if _is_guard(parts) else None
        inner = parts[:-1] if _is_guard(parts) else parts
        tilde = next((i for i, part in enumerate(inner) if _is(part, "TILDE")), len(inner))
        *cases, last = inner[tilde + 1 :] or [None]
        if last is not None:
            cases.append(ast.Case(last, span=last.span))
        return ast.RandomDecl(*_declared(inner[:tilde]), guard, tuple(cases), span=_span(parts))

    def case(self, parts: Parts) -> ast.Case:
        """``chances if condition else``."""
        return ast.Case(parts[0], parts[2], span=_span(parts))

    def causes(self, parts: Parts) -> ast.Causes:
        """``noisy_or(leak, p: F, …)``."""
        found = tuple(part for part in parts if isinstance(part, ast.Entry))
        return ast.Causes(_name(parts[0]), parts[2], found, _scope(parts), span=_span(parts))

    def weight(self, parts: Parts) -> ast.Weight:
        """``weight E: F for …``."""
        return ast.Weight(parts[1], parts[3], _scope(parts), span=_span(parts))

    def factor(self, parts: Parts) -> ast.Factor:
        """``factor E for …``."""
        return ast.Factor(parts[1], _scope(parts), span=_span(parts))

    def require(self, parts: Parts) -> ast.Require:
        """``require F for …``."""
        return ast.Require(parts[1], _scope(parts), span=_span(parts))

    def observe(self, parts: Parts) -> ast.Observe:
        """``observe F for …``."""
        return ast.Observe(parts[1], _scope(parts), span=_span(parts))

    def observe_from(self, parts: Parts) -> ast.ObserveFrom:
        """``observe f from "path"``."""
        return ast.ObserveFrom(_name(parts[1]), parts[2], span=_span(parts))

    def map_target(self, parts: Parts) -> ast.MapTarget:
        """``map``, ``map 5`` or ``map f(x)``."""
        counted = len(parts) > 1 and _is(parts[1], "NUMBER")
        rest = parts[2:] if counted else parts[1:]
        return ast.MapTarget(_count(parts[1]) if counted else 1, rest[0] if rest else None, span=_span(parts))

    def logz_target(self, parts: Parts) -> ast.LogZTarget:
        """``logz``."""
        return ast.LogZTarget(span=_span(parts))

    def query(self, parts: Parts) -> ast.Query:
        """``query Q as name for … given …``."""
        label = next((part for part in parts[2:] if isinstance(part, ast.Name)), None)
        given = _clause(parts) or ()
        return ast.Query(parts[1], label, _scope(parts[2:]), given, span=_span(parts))


def _is(part: Any, kind: str) -> bool:
    return isinstance(part, Word) and part.type == kind


def _is_guard(parts: Parts) -> bool:
    return isinstance(parts[-1], _Clause) and not isinstance(parts[-1].value, tuple)


def _clause(parts: Parts) -> Any:
    """The value of the first clause among the parts, or None."""
    return next((part.value for part in parts if isinstance(part, _Clause)), None)


def _scope(parts: Parts) -> ast.Scope | None:
    return next((part for part in parts if isinstance(part, ast.Scope)), None)


def _declared(parts: Parts) -> tuple[ast.Name, tuple[ast.Slot, ...], Any]:
    """Name, slots and what follows ``=``, ``:`` or is a file (None without one)."""
    slots = parts[2].value if len(parts) > 2 and isinstance(parts[2], _Clause) else ()
    tail = parts[-1]
    value = None if isinstance(tail, Word | _Clause) else tail
    return _name(parts[1]), slots, value


# -------------------------------------------------------------------- literals


def exact_number(word: Word) -> Fraction:
    """The value of a literal. Raises PlxError for one that is too long or has too large an exponent."""
    if len(word.text) > LONGEST_LITERAL:
        hint = f"write at most {LONGEST_LITERAL:,} digits"
        raise PlxError(Diagnostic("this number is too long", word.span, hint))
    try:
        return Fraction(parse(word.text))
    except WeightError:
        hint = f"write an exponent of at most {LARGEST_EXPONENT:,}"
        raise PlxError(Diagnostic("the exponent of this number is too large", word.span, hint)) from None


def _count(word: Word) -> int:
    value = exact_number(word)
    if value.denominator != 1 or value < 1:
        hint = "for example `query map 5` asks for the five most probable worlds"
        raise PlxError(Diagnostic("`map` takes a whole number from 1 on", word.span, hint))
    return int(value)


_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)")


def _unescape(word: Word) -> str:
    """The text of a string in quotes."""
    if "\\" not in word.text:
        return word.text[1:-1]

    def meant(match: re.Match[str]) -> str:
        code = match[1]
        if len(code) > 1 and int(code[1:], 16) <= 0x10FFFF:
            return chr(int(code[1:], 16))
        if code not in _ESCAPES:
            start = word.start + 1 + match.start()
            span = Span(word.source, start, start + len(match[0]))
            hint = r"write `\\` for a backslash; `\"`, `\n`, `\r`, `\t` and `\u00e9` are known"
            raise PlxError(Diagnostic(f"`{match[0]}` means nothing in a quoted name", span, hint))
        return _ESCAPES[code]

    return _ESCAPE.sub(meant, word.text[1:-1])


_PATH_ESCAPE = re.compile(r'\\([\\"])')


def _path(quoted: str) -> str:
    """A file's path: backslashes separate folders, so only ``\\\\`` and ``\\"`` are escapes."""
    return _PATH_ESCAPE.sub(r"\1", quoted[1:-1])
