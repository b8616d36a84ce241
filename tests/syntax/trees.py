"""Random syntax trees of every kind of node, as hypothesis strategies."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from plx.source import Source, Span
from plx.syntax import ast
from plx.syntax.words import CONSTRAINTS, is_name

NOWHERE = Span(Source("", ""), 0, 0)


def _build(node, *fields):
    return st.builds(lambda *values: node(*values, span=NOWHERE), *fields)


def _tuples(items, least=0, most=3):
    return st.lists(items, min_size=least, max_size=most).map(tuple)


_words = st.sampled_from(
    [
        "x",
        "columns",
        "table",
        "sql",
        "y",
        "anna",
        "None",
        "int",
        "lambda",
        "x'",
        "y''",
        "_",
        "学生",
        "Å1",
        "नमस्ते",
        "typex",
    ]
)
_letters = st.text(st.characters(categories=["L", "Nd"]), min_size=1, max_size=4).filter(is_name)
names = _build(ast.Name, _words | _letters)
_constraints = _build(ast.Name, st.sampled_from(CONSTRAINTS))
_numbers = st.builds(
    lambda digits, exponent: Fraction(digits) * Fraction(10) ** exponent,
    st.integers(0, 10**25),
    st.integers(-40, 40),
)
_atoms = (
    names
    | _build(ast.Quoted, st.text(max_size=6) | st.sampled_from(["for", "New York", '\\"', "a\nb", "\ud800"]))
    | _build(ast.Number, _numbers)
    | _build(ast.Truth, st.booleans())
)
_BINARY = ["<=>", "=>", "or", "xor", "and", "+", "-", "*", "/", "%", "^", ".."]
_COMPARE = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])


def _scopes(inner):
    plain = _build(lambda names, set_, span: ast.Binding(names, set_, span=span), _tuples(names, 1), inner)
    pairs = _build(
        lambda items, set_, span: ast.TupleBinding(items, set_, span=span), _tuples(inner, 2), inner
    )
    return _build(ast.Scope, _tuples(plain | pairs, 1), st.none() | inner)


def _entries(inner):
    return (
        _build(ast.Entry, inner)
        | _build(lambda value, key, span: ast.Entry(value, key=key, span=span), inner, inner)
        | _build(lambda value, span: ast.Entry(value, otherwise=True, span=span), inner)
    )


def _compare(inner):
    def chain(first, rest, span):
        return ast.Compare((first, *(e for _, e in rest)), tuple(op for op, _ in rest), span=span)

    return _build(chain, inner, st.lists(st.tuples(_COMPARE, inner), min_size=1, max_size=3))


def _larger(inner):
    return (
        _build(ast.Apply, names, _tuples(inner))
        | _build(ast.Unary, st.sampled_from(["not", "-", "+"]), inner)
        | _build(ast.Binary, st.sampled_from(_BINARY), inner, inner)
        | _compare(inner)
        | _build(ast.Member, inner, inner, st.booleans())
        | _build(ast.Tuple, _tuples(inner, 2))
        | _build(ast.Braces, _tuples(_entries(inner)))
        | _build(ast.Constraint, _constraints, _tuples(inner, 1), _scopes(inner))
        | _build(ast.Aggregate, st.sampled_from(["exists", "forall", "count", "sum"]), inner, _scopes(inner))
    )


exprs = st.recursive(_atoms, _larger, max_leaves=12)
scopes = st.none() | _scopes(exprs)
_slots = _tuples(
    _build(ast.Slot, exprs) | _build(lambda s, n, span: ast.Slot(s, name=n, span=span), exprs, names)
)
_paths = st.text(st.characters(exclude_characters="\r\n"), max_size=8)
_columns = _build(ast.Quoted, st.text(max_size=4)) | names
_rows = _build(ast.DatabaseRows, st.sampled_from(["table", "sql"]), st.text(max_size=4))
_files = _build(ast.File, _paths, _tuples(_columns), st.none() | exprs, st.none() | _rows)
_values = st.none() | exprs | _files
_causes = _build(
    ast.Causes,
    names,
    exprs,
    _tuples(_build(lambda v, k, span: ast.Entry(v, key=k, span=span), exprs, exprs), 1),
    scopes,
)
_conditional = _build(ast.Case, exprs | _causes, exprs)
_last = _build(ast.Case, exprs | _causes)
_cases = st.just(()) | st.builds(lambda some, last: (*some, last), _tuples(_conditional, most=2), _last)
_parts = st.none() | names | _build(ast.Apply, names, _tuples(exprs, 1))
_targets = exprs | _build(ast.MapTarget, st.integers(1, 20), _parts) | st.just(ast.LogZTarget(span=NOWHERE))
statements = (
    _build(ast.TypeDecl, names, _slots, _values)
    | _build(ast.ParamDecl, names, _slots, _values)
    | _build(ast.RelationDecl, names, _slots, _values)
    | _build(ast.RandomDecl, names, _slots, st.none() | exprs, st.none() | exprs, _cases)
    | _build(ast.DefineDecl, names, _slots, exprs)
    | _build(ast.LearnDecl, names, _slots, _values, st.none() | exprs)
    | _build(ast.Weight, exprs, exprs, scopes)
    | _build(ast.Factor, exprs, scopes)
    | _build(ast.Require, exprs, scopes)
    | _build(ast.Observe, exprs, scopes)
    | _build(ast.ObserveFrom, names, _files)
    | _build(ast.Query, _targets, st.none() | names, scopes, _tuples(exprs))
)
modules = st.lists(statements, max_size=4).map(lambda found: ast.Module(tuple(found), Source("", "")))
