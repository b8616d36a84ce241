"""The parser: trees, exact places, names of every script, size and depth of programs."""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from lark import Lark, logger

from plx.errors import PlxError
from plx.source import Source
from plx.syntax import ast, words
from plx.syntax.depth import LIMIT
from plx.syntax.grammars import grammar_path
from plx.syntax.parser import parse, recover
from plx.syntax.printer import print_module
from tests.syntax.trees import modules

EVERY = (Path(__file__).parent / "every_statement.plx").read_text(encoding="utf-8")
GRAMMAR = grammar_path().read_text(encoding="utf-8")


def read(text: str) -> ast.Module:
    return parse(Source("test.plx", text))


def expr(text: str) -> ast.Expr:
    return read(f"query {text}").statements[0].target


def message(text: str) -> str:
    with pytest.raises(PlxError) as caught:
        read(text)
    return caught.value.diagnostics[0].message


# --------------------------------------------------------------------- grammar


def test_the_grammar_has_no_conflicts(caplog):
    with caplog.at_level(logging.DEBUG, logger=logger.name):
        Lark(GRAMMAR, parser="lalr", start="program", debug=True)
    assert "conflict" not in caplog.text.lower()


def test_the_reserved_words_are_those_of_the_grammar():
    assert set(re.findall(r'^[A-Z]+: "([a-z]+)"$', GRAMMAR, re.MULTILINE)) == words.RESERVED


def test_a_name_is_what_the_grammar_says():
    (pattern,) = re.findall(r"^NAME: /(.*)/$", GRAMMAR, re.MULTILINE)
    assert pattern == words._NAME.pattern


# ----------------------------------------------------------------------- trees


def test_every_statement_is_read():
    module = read(EVERY)
    kinds = {type(statement) for statement in module.statements}
    assert kinds == set(ast.Statement.__args__)
    assert read(print_module(module)) == module


def test_an_empty_program_has_no_statements():
    assert read("").statements == read("# only this\n\n").statements == ()


@pytest.mark.parametrize(
    ("loose", "tight"),
    [
        ("a <=> b => c", "a <=> (b => c)"),
        ("a => b => c", "a => (b => c)"),
        ("a | b xor c", "a | (b xor c)"),
        ("a xor b & c", "a xor (b & c)"),
        ("not a & b", "(not a) & b"),
        ("!a = b", "!(a = b)"),
        ("a & b = c", "a & (b = c)"),
        ("a + 1 = 2 * b", "(a + 1) = (2 * b)"),
        ("x in 0..n - 1", "x in (0..(n - 1))"),
        ("a - b - c", "(a - b) - c"),
        ("a / b * c", "(a / b) * c"),
        ("-x^2", "-(x^2)"),
        ("-a * b", "(-a) * b"),
        ("2^3^4", "2^(3^4)"),
        ("a and b or c", "(a & b) | c"),
        ("a == b", "a = b"),
    ],
)
def test_operators_bind_as_documented(loose, tight):
    assert expr(loose) == expr(tight)


def test_a_chain_of_comparisons_is_one_node():
    chain = expr("0 <= x < n == m")
    assert isinstance(chain, ast.Compare)
    assert chain.ops == ("<=", "<", "=")
    assert len(chain.operands) == 4
    assert len(expr("(0 <= x) = y").operands) == 2


def test_a_range_may_touch_its_numbers():
    assert expr("0..4") == expr("0 .. 4")
    assert expr("1.5..2.") == expr("1.5 .. 2")


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.1", Fraction(1, 10)), ("1e3", 1000), (".5", Fraction(1, 2)), ("2.", 2), ("1E-2", Fraction(1, 100))],
)
def test_numbers_are_exact(text, value):
    assert expr(text).value == value


def test_query_targets():
    targets = [s.target for s in read("query map query map 5 query logz query mapx").statements]
    assert isinstance(targets[0], ast.MapTarget)
    assert [targets[0].best, targets[1].best] == [1, 5]
    assert isinstance(targets[2], ast.LogZTarget)
    assert isinstance(targets[3], ast.Name)


@pytest.mark.parametrize(
    "name",
    [
        "None",
        "int",
        "lambda",
        "self",
        "x'",
        "x''",
        "学生",
        "Zoë",
        "e\u0301x",
        "नमस्ते",
        "_",
        "types",
        "inner",
        "forall_",
    ],
)
def test_names_come_back_unchanged(name):
    assert expr(name).text == name
    assert expr(f"{name}({name})").name.text == name


def test_quoted_names_hold_any_character():
    assert expr(r'"O\"Brien \\ \n\t\u00e9 #1 \U0001F600"').text == 'O"Brien \\ \n\té #1 😀'
    assert expr('"for"') == ast.Quoted("for", span=None)


def test_backslashes_in_paths_part_folders():
    (statement,) = read(r'type P from "data\new\people.csv"').statements
    assert statement.value.path == r"data\new\people.csv"


def test_blanks_and_comments_mean_nothing():
    dense = read("type A={a,b}random f(A):{x,y}weight 1:f(a)=x query f(b)")
    loose = read(
        "\n type A = { a ,\n b } # first\n\trandom f ( A ) : { x , y }\r\n"
        "weight\n1\n:\nf(a)=x\u00a0query f(b)"
    )
    assert dense == loose


def test_a_byte_order_mark_and_line_breaks_of_windows_are_blanks():
    assert read("\ufefftype A = {a}\r\nquery x\r\n") == read("type A = {a}\nquery x\n")


# ---------------------------------------------------------------------- places


def _nodes(root):
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        for field in type(node).__slots__:
            value = getattr(node, field)
            waiting += [v for v in (value if isinstance(value, tuple) else (value,)) if hasattr(v, "span")]


@settings(max_examples=80, deadline=None)
@given(modules)
def test_the_span_of_every_expression_reads_as_that_expression(module):
    for statement in read(print_module(module)).statements:
        assert read(statement.span.text).statements == (statement,)
        for node in _nodes(statement):
            if isinstance(node, ast.Expr):
                assert expr(node.span.text) == node


def test_spans_take_in_brackets_and_parentheses():
    node = expr("f(x) & (a | b)")
    assert [node.span.text, node.left.span.text, node.right.span.text] == [
        "f(x) & (a | b)",
        "f(x)",
        "(a | b)",
    ]
    (statement,) = read("  weight 1: f(x) for (x, y) in r if x < y  # end\n").statements
    assert statement.span.text == "weight 1: f(x) for (x, y) in r if x < y"
    assert statement.scope.span.text == "for (x, y) in r if x < y"
    assert statement.scope.bindings[0].span.text == "(x, y) in r"
    (query,) = read("query f(x) as n for x in T given a, b").statements
    assert [query.label.span.text, query.given[1].span.text] == ["n", "b"]


def test_places_count_characters_of_every_width():
    (statement,) = read("# 学生\r\nquery 学生(a)\r\n").statements
    assert (statement.target.span.line, statement.target.span.column) == (2, 7)


# ------------------------------------------------------------- numbers too large


@pytest.mark.parametrize("text", ["9" * 5000, "0." + "0" * 5000 + "1"])
def test_numbers_too_long_are_refused(text):
    assert message(f"query {text}") == "this number is too long"


@pytest.mark.parametrize("text", ["1e99999999999", "1e-99999"])
def test_exponents_out_of_reach_are_refused(text):
    assert message(f"query {text}") == "the exponent of this number is too large"


# -------------------------------------------------------------- size and depth


@pytest.mark.parametrize(
    "text",
    [
        "(" * 50_000 + "a" + ")" * 50_000,
        "f(" * 50_000 + "a" + ")" * 50_000,
        "{" * 50_000 + "}" * 50_000,
        "!" * 50_000 + "a",
        "-" * 50_000 + "1",
        "a & (" * 5_000 + "a" + ")" * 5_000,
        "2^" * 50_000 + "1",
        "(" * 50_000,
    ],
    ids=["parentheses", "calls", "braces", "not", "signs", "and", "powers", "open"],
)
def test_depth_is_refused_in_words(text):
    assert message(f"query {text}") == f"this expression nests more than {LIMIT} levels deep"


@pytest.mark.parametrize(
    "text",
    [
        "!" * (LIMIT - 3) + "a",
        "a & (" * (LIMIT // 2 - 2) + "a | b" + ")" * (LIMIT // 2 - 2),
        "f(" * (LIMIT - 3) + "a" + ")" * (LIMIT - 3),
        "-" * (LIMIT - 3) + "a",
    ],
)
def test_what_the_depth_limit_allows_can_be_printed(text):
    assert print_module(read(f"query {text}")) == f"query {text}\n"


@pytest.mark.parametrize("mark", ["&", "|", "xor", "=>", "<=>", "+", "-", "*"])
def test_a_chain_of_one_operator_may_be_long(mark):
    text = f"query {f' {mark} '.join(['a'] * 5000)}\n"
    assert print_module(read(text)) == text


def test_a_union_of_sets_may_be_long():
    text = f"type T({' | '.join(['{a}'] * 5000)})\n"
    assert print_module(read(text)) == text


def test_long_lists_are_not_deep():
    assert len(expr("{" + ", ".join(f"(a{i}, b)" for i in range(5000)) + "}").entries) == 5000


def _seconds(text: str) -> float:
    start = time.process_time()
    recover(Source("test.plx", text))
    return time.process_time() - start


@pytest.mark.parametrize("text", [EVERY, "weight 1 f(x) for x in T\n" * 30])
def test_time_is_linear(text):
    """Eight times the text takes about eight times as long; 64 times would be quadratic."""
    _seconds(text)
    assert _seconds(text * 80) < 30 * _seconds(text * 10)


def test_every_statement_has_its_mistake():
    with pytest.raises(PlxError) as caught:
        read("weight 1 f(x) for x in T\n" * 1500)
    assert len(caught.value.diagnostics) == 1500


def test_many_threads_read_at_once():
    from concurrent.futures import ThreadPoolExecutor

    texts = [f"query f(a{i})" for i in range(40)]
    with ThreadPoolExecutor(4) as pool:
        modules = list(pool.map(read, texts))
    assert [m.statements[0].span.text for m in modules] == texts


# ----------------------------------------------------------------- tables kept

_READ = """
from plx.source import Source
from plx.syntax.parser import parse
print(parse(Source("", "query f(a)")))
"""


@pytest.fixture
def installed(tmp_path):
    """A copy of what reading needs, as an installation that has not been used."""
    root = grammar_path().parent.parent
    shutil.copytree(grammar_path().parent, tmp_path / "grammars")
    shutil.copytree(root / "plx", tmp_path / "plx", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def _run(folder: Path) -> subprocess.Popen[str]:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.Popen(
        [sys.executable, "-c", _READ],
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def test_tables_are_kept_and_damaged_ones_replaced(installed):
    fresh = _run(installed).communicate()[0]
    (tables,) = (installed / "plx" / "syntax" / "__pycache__").glob("*.tables")
    good = tables.read_bytes()
    for damaged in (b"", good[: len(good) // 2], b"cposix\nnone\n."):
        tables.write_bytes(damaged)
        assert _run(installed).communicate()[0] == fresh
        assert len(tables.read_bytes()) > len(good) // 2
    assert "Query(" in fresh
    assert len(list(tables.parent.glob("plx-*"))) == 1


def test_several_processes_may_start_at_once(installed):
    started = [_run(installed) for _ in range(4)]
    assert len({process.communicate()[0] for process in started}) == 1
    assert len(list((installed / "plx" / "syntax" / "__pycache__").glob("plx-*"))) == 1
