"""Programs as the grounder gets them: resolved, folded, expanded without capture."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from plx.check.program import (
    Aggregate,
    Const,
    Expr,
    Operation,
    ParamTerm,
    Program,
    RandomTerm,
    Rank,
    RelationBinding,
    SetBinding,
    SetConst,
    SetRange,
    SetType,
    Variable,
)
from plx.check.sets import run
from plx.check.walk import parts
from plx.errors import PlxError
from tests.compiling import compile_text

HEADER = """
type T = {a, b, c}
type A = {u, v}
type C(A) = {u: {p, q}, v: {r}}
type L = 0..4
param w(T) = {a: 1/2, else: log(2)}
param half = 1/2
param far(i: L, j: L) = abs(i - j) > 1
relation e(T, T) = {(a, b), (b, c)}
relation lone(T) = {a}
random f(T)
random n(T): L
random m(x: A): {fail} | C(x)
random z
"""


def rule(text: str) -> tuple[Program, Expr]:
    program = compile_text(HEADER + text)
    return program, program.rules[0].body


def value(program: Program, expr: Expr | None) -> object:
    assert isinstance(expr, Const)
    return program.values[expr.id]


def said(text: str) -> str:
    with pytest.raises(PlxError) as caught:
        compile_text(HEADER + text)
    return str(caught.value)


# ------------------------------------------------------------------------------ folding


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        ("0.1 + 0.2", Fraction(3, 10)),
        ("w(a)", Fraction(1, 2)),
        ("2 * half ^ 2", Fraction(1, 2)),
        ("min(3, 1, 2) - max(1, 2)", -1),
        ("-(-3) % 2", 1),
        ("sqrt(4) + exp(0) + abs(-1)", 4),
        ("log(3) - log(3)", 0),
        ("logit(1/2)", 0),
        ("true + 1 - 2 * (a < b)", 0),
        ("floor(7 / 2) * floor(-7 / 2)", -12),
    ],
)
def test_fixed_weights_are_folded(weight: str, expected: object) -> None:
    program, _ = rule(f"weight {weight}: z")
    assert value(program, program.rules[0].weight) == expected


def test_equal_weights_have_one_id() -> None:
    program = compile_text(HEADER + "weight log(2) + log(3): z\nweight log(6): z\nweight log(6.0001): z")
    first, second, third = (r.weight for r in program.rules)
    assert first == second and first != third


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("z & true", "z"),
        ("z | false", "z"),
        ("z & e(a, b)", "z"),
        ("z | e(b, a)", "z"),
        ("true => z", "z"),
        ("!!z", "z"),
        ("z = true", "z"),
        ("!z xor true", "z"),
        ("z <=> a < b", "z"),
        ("z & far(0, 2)", "z"),
        ("z & (a, b) in e & a in lone & b not in lone", "z"),
        ("z & a in {a, b} & 3 in L & p in C(u) & r not in C(u)", "z"),
        ("z & 1 < 2 <= 2", "z"),
        ("z = false", "!z"),
        ("z != true", "!z"),
        ("z => false", "!z"),
        ("z & false", "false"),
        ("z => true", "true"),
        ("false => z", "true"),
    ],
)
def test_what_is_fixed_in_formulas_is_folded(formula: str, expected: str) -> None:
    _, body = rule(f"weight 1: {formula}")
    _, wanted = rule(f"weight 1: {expected}")
    assert body == wanted


def test_closed_sets_are_listed_and_whole_types_keep_their_name() -> None:
    program, body = rule("weight 1: exists(f(x) for x in T, i in 0..half * 4, c in C(u) | {fail}, d in C)")
    assert isinstance(body, Aggregate)
    sets = [b.set for b in body.scope.bindings if isinstance(b, SetBinding)]
    assert sets[0] == SetType("T", span=sets[0].span)
    assert [program.values[i] for i in sets[1].ids] == [0, 1, 2]  # type: ignore[union-attr]
    assert [program.values[i] for i in sets[2].ids] == ["p", "q", "fail"]  # type: ignore[union-attr]
    assert sets[3] == SetType("C", span=sets[3].span)


def test_open_sets_stay_open() -> None:
    _, body = rule("weight 1: exists(n(a) = i for x in L, i in x..4, y in A, c in C(y))")
    assert isinstance(body, Aggregate)
    sets = [b.set for b in body.scope.bindings if isinstance(b, SetBinding)]
    assert isinstance(sets[1], SetRange) and isinstance(sets[3], SetType) and sets[3].arguments


def test_symbols_are_compared_by_rank() -> None:
    _, body = rule("weight 1: f(x) & x < b for x in T")
    ranks = [part for part in parts(body) if isinstance(part, Rank)]
    assert [r.type for r in ranks] == ["T"]


def test_numbers_are_compared_as_numbers() -> None:
    _, body = rule("weight 1: n(a) < n(b) <= 3")
    assert not any(isinstance(part, Rank) for part in parts(body))
    assert isinstance(body, Operation) and body.op == "and"


def test_relations_bind_their_facts() -> None:
    program, _ = rule("weight 1: f(x) & f(y) for (x, y) in e, v in lone if x != v")
    kinds = [type(binding) for binding in program.rules[0].scope.bindings]
    assert kinds == [RelationBinding, RelationBinding]


# ---------------------------------------------------------------------------- expansion


def bound(expr: Expr) -> Iterator[int]:
    for part in parts(expr):
        if isinstance(part, Aggregate):
            for binding in part.scope.bindings:
                assert isinstance(binding, SetBinding)
                yield binding.variable.uid


def free(program: Program) -> None:
    """Every variable is bound by a scope around it."""

    def visit(expr: Expr, known: frozenset[int]) -> None:
        match expr:
            case Variable():
                assert expr.uid in known
            case Operation() | RandomTerm():
                for argument in expr.arguments:
                    visit(argument, known)
            case Aggregate():
                for binding in expr.scope.bindings:
                    assert isinstance(binding, SetBinding)
                    known |= {binding.variable.uid}
                visit(expr.body, known)

    for r in program.rules:
        variables = frozenset(b.variable.uid for b in r.scope.bindings if isinstance(b, SetBinding))
        visit(r.body, variables)


def test_expansion_never_captures() -> None:
    text = """
    define others(x: T) = exists(f(y) & y != x for y in T)
    define deep(y: T) = others(y) & exists(others(x) & x != y for x in T)
    weight 1: deep(y) | exists(deep(x) for x in T if x != y) for y in T
    """
    program, body = rule(text)
    uids = list(bound(body))
    assert len(uids) == len(set(uids)) == 7
    free(program)


def test_arguments_that_are_random() -> None:
    _, body = rule("define twice(i: L) = 2 * i + i\nfactor twice(n(a))")
    _, wanted = rule("factor 2 * n(a) + n(a)")
    assert body == wanted
    _, body = rule("param p(L) = {else: 1}\nfactor p(n(a))")
    assert isinstance(body, ParamTerm)
    for text in ("query m(n(a))", "weight p(n(a)): n(a) = 1", "query n(a) for i in L if p(n(a)) = 1"):
        assert "must be fixed, but `n` is random" in said("random m(L)\nparam p(L) = {else: 1}\n" + text)


def test_a_define_is_checked_once_where_it_stands() -> None:
    text = "define bad(x: T) = n(x)  & z\nweight 1: bad(a) & bad(b)\nweight 1: bad(x) for x in T"
    assert said(text).count("error:") == 1


@pytest.mark.parametrize(
    "text",
    [
        "type P = {one, two, one}",
        "type P",
        'type P from "missing.csv"',
        "type P = {one, two} | nothing",
        "type P(A) = {u: {one, two}}",
    ],
)
def test_one_mistake_causes_no_further_ones(text: str) -> None:
    place = "x" if "(A)" not in text else "one"
    use = f"random g(P)\nweight 1: g(one) & g({place}) for x in P\nquery g(two) given !g(one)"
    use += "\nparam v(P) = {one: 1, else: 2}\nweight v(one): g(two)\ndefine q(x: P) = g(x)\nweight 1: q(two)"
    assert said(text + "\n" + use).count("error:") == 1


def test_defines_may_stand_in_any_order() -> None:
    lines = [f"define d{i}(x: T) = f(x) & d{i + 1}(x)" for i in range(150)]
    _, body = rule("\n".join([*lines, "define d150(x: T) = z", "weight 1: d0(a)"]))
    assert isinstance(body, Operation) and len(body.arguments) == 151


@pytest.mark.parametrize("op", ["&", "|", "xor", "<=>", "=>", "+", "-", "*"])
def test_long_chains_do_not_nest(op: str) -> None:
    unknown = "n(a)" if op in "+-*" else "f(a)"
    chain = f" {op} ".join([unknown] * 150)
    _, body = rule(f"factor {chain}" if op in "+-*" else f"weight 1: {chain}")

    def depth(expr: Expr) -> int:
        inner = expr.arguments if isinstance(expr, Operation) else ()
        return 1 + max(map(depth, inner), default=0)

    assert depth(body) <= 10


@pytest.mark.parametrize(
    "text",
    [
        "factor " + "min(1, " * 195 + "n(a)" + ")" * 195,
        "weight 1: " + "!(z & " * 99 + "z" + ")" * 99,
        "weight 1: " + "exists(" * 195 + "z" + " for x in T)" * 195,
        "weight 1: " + " & ".join(["z"] * 5000),
        "define d0 = z\n"
        + "\n".join(f"define d{i} = !(d{i - 1} & f(a))" for i in range(1, 500))
        + "\nweight 1: d499",
        "define d0 = z\n"
        + "\n".join(f"define d{i} = d{i - 1} xor !d{i - 1}" for i in range(1, 60))
        + "\nweight 1: d59",
        "type U = {" + ", ".join(f"k{i}" for i in range(5000)) + "}",
    ],
    ids=["min", "not", "exists", "and", "defines", "doubling", "members"],
)
def test_deep_and_long_programs_end_well(text: str) -> None:
    try:
        compile_text(HEADER + text)
    except PlxError as error:
        assert "too deeply" in str(error) or "levels deep" in str(error)


# -------------------------------------------------------------------------- declarations


def test_declarations_in_any_order() -> None:
    text = (Path(__file__).parents[1] / "programs" / "good" / "everything.plx").read_text()
    lines = [line for line in text.splitlines() if line and line[0] != "#"]
    reference = compile_text("\n".join(lines))
    for seed in range(20):
        random.Random(seed).shuffle(lines)
        program = compile_text("\n".join(lines))
        assert set(program.randoms) == set(reference.randoms) and len(program.rules) == len(reference.rules)


def test_runs() -> None:
    assert run("s1", "s3") == ["s1", "s2", "s3"]
    assert run("s08", "s11") == ["s08", "s09", "s10", "s11"]
    assert run("s8", "s11") == ["s8", "s9", "s10", "s11"]
    assert run("a1b9", "a1b10") == ["a1b9", "a1b10"]
    assert run("s5", "s4") == []


def test_families_by_expression_and_of_families() -> None:
    text = """
    type B(i: L) = 0..i
    type D(A) = {u: C(u) | {x}, else: C(v)}
    type E(x: A, y: C(x)) = {(u, p): {k1}, (v, r): {k2, k3}, else: {}}
    """
    program = compile_text(HEADER + text)

    def sets(name: str) -> dict[tuple[object, ...], list[object]]:
        family = program.types[name].family
        assert family is not None
        value = program.values
        return {tuple(value[i] for i in k): [value[i] for i in ids.tolist()] for k, ids in family.items()}

    assert sets("B") == {(i,): list(range(i + 1)) for i in range(5)}
    assert sets("D") == {("u",): ["p", "q", "x"], ("v",): ["r"]}
    assert sets("E") == {("u", "p"): ["k1"], ("u", "q"): [], ("v", "r"): ["k2", "k3"]}
    assert [program.values[i] for i in program.types["C"].members.tolist()] == ["p", "q", "r"]


def test_a_relation_by_formula() -> None:
    program = compile_text(HEADER + "relation below(x: T, y: T) = x < y & !e(x, y)\nrelation yes() = true")
    rows = [[program.values[i] for i in row] for row in program.relations["below"].facts.tolist()]
    assert rows == [["a", "c"]]
    assert program.relations["yes"].facts.shape == (1, 0)


def test_domains() -> None:
    program = compile_text(HEADER + "random k: {true, false}\nrandom j: {fail, 3, 1..2}")
    assert program.randoms["k"].domain is None
    domain = program.randoms["j"].domain
    assert isinstance(domain, SetConst) and [program.values[i] for i in domain.ids] == ["fail", 3, 1, 2]


def test_the_largest_domain() -> None:
    assert compile_text("random k: 1..65535").randoms["k"].domain is not None
    with pytest.raises(PlxError, match="at most 65,535"):
        compile_text("random k: 0..65535")
    with pytest.raises(PlxError, match="has 65,536 values at 65535"):
        compile_text("type L = 65534..65535\nrandom k(i: L): 0..i")


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("z", "probability"),
        ("n(a)", "distribution"),
        ("m(u)", "distribution"),
        ("n(a) = 2 | z", "probability"),
        ("n(a) + 1", "number"),
        ("count(f(x) for x in T)", "number"),
        ("sum(n(x) for x in T)", "number"),
        ("exists(f(x) for x in T)", "probability"),
        ("(z, n(a))", "joint"),
        ("map", "map"),
        ("map 5", "map"),
        ("logz", "logz"),
    ],
)
def test_kinds_of_queries(target: str, kind: str) -> None:
    query = compile_text(HEADER + f"query {target} given z").queries[0]
    assert query.kind == kind and len(query.given) == 1
    assert query.best == (5 if target == "map 5" else 1)


def test_large_tables_are_checked_in_bulk() -> None:
    n = 300_000
    rows = np.stack([np.arange(n) % 500, np.arange(n) // 500], axis=1)
    text = "type P\nrelation r(x: P, y: P)\nrelation s(x: P, y: Q(x))\ntype Q(x: P) = 0..x"
    program = compile_text(text, P=range(600), r=rows, s=rows[rows[:, 0] >= rows[:, 1]])
    assert len(program.relations["r"].facts) == n
    with pytest.raises(PlxError, match="is no member of Q"):
        compile_text(text, P=range(600), r=rows, s=rows)


# ------------------------------------------------------------------------------ warnings


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("require f(x) | f(y) for x, y in T", "the instances with x = y"),
        ("require !(f(x) & f(y)) for x, y in T", "the instances with x = y"),
        ("weight 1: f(x) for x in lone if false", "its guard is always false"),
        ("relation none(T) = {}\nweight 1: f(x) for x in none", "the relation `none` has no facts"),
        ("weight 1: f(x) for x in T, i in 1..0", "`1..0` is empty"),
        ("weight 1: f(a) for a in T", "the variable `a` hides the symbol `a`"),
        ("weight 1: z for x in T", "the variable `x` is bound but not used"),
        ("weight 1: exists(z for x in T)", "the variable `x` is bound but not used"),
        ("define d = exists(z for x in T)\nweight 1: d & f(a) | d", "the variable `x` is bound but not used"),
        ("random y\nweight 1: z", "no rule mentions `y`: it is never used"),
        ("random y\nweight 1: z\nquery y", "no rule mentions `y`: all its values are equally likely"),
    ],
)
def test_warnings(text: str, warning: str) -> None:
    assert any(warning in found.message for found in compile_text(HEADER + text).warnings)


@pytest.mark.parametrize(
    "text",
    [
        "weight w(x): z for x in T",
        "weight 1: z for x in T if w(x) > 0",
        "weight 1: f(x) for (x, y) in e",
        "weight 1: m(x) = k for x in A, k in C(x)",
        "require f(x) | f(y) for x, y in T if x != y",
        "require f(x) | f(y) | x = y for x, y in T if x < y",
        "require f(x) | n(y) = 1 for x, y in T",
        "require f(x) & e(x, y) => f(y) for x, y in T",
        "require f(x) | f(y) | x = y for x, y in T",
        "require !(f(x) & f(y) & x != y) for x, y in T",
    ],
)
def test_no_warning_where_there_is_no_reason(text: str) -> None:
    rest = "weight 1: z & n(a) = 1 & m(u) = fail & f(a)"
    assert compile_text(HEADER + text + "\n" + rest).warnings == ()
