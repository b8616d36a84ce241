"""Random programs over small worlds, as text: every construct of the language, alone and combined."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

HEADER = """\
type T = {people}
type A = {{u, v}}
type C(A) = {{u: {{p, q}}, v: {{q}}}}
type L = 0..{top}
relation e(T, T) = {{{facts}}}
relation lone(T) = {{t1}}
param w(T) = {{t1: {w1}, else: {w2}}}
param d(i: L, j: L) = abs(i - j) / 2
param half = 1/2
param upto(k: L) = sum(i for i in 0..k)
param tab(L) = {{0: 1, else: -1/2}}
param grid(L, T) = {{(1, t1): 2, else: 1/3}}
relation near(L, L) = {{(0, 1), (1, 1)}}
random b(T)
random m(t: T, a: A): {{fail}} | C(a) if t = t1
random n(T): L if {guard}
random z
define both(x: T, y: T) = b(x) & b(y)
define level(x: T) = count(b(y) for y in T if y != x)
"""


@dataclass(frozen=True)
class Shape:
    people: int
    top: int
    some_n: bool
    """Whether n exists for t1 only."""


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A program with weights, factors, perhaps hard rules and evidence, and queries."""
    shape = Shape(draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(st.booleans()))
    names = [f"t{i + 1}" for i in range(shape.people)]
    pairs = [f"({a}, {b})" for a in names for b in names]
    header = (
        HEADER.format(
            people="{" + ", ".join(names) + "}",
            top=shape.top,
            facts=", ".join(draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=4, unique=True))),
            w1=draw(weights),
            w2=draw(weights),
            guard="t1 = t1" if not shape.some_n else "true",
        )
        .replace("n(T): L if t1 = t1", "n(T): L")
        .replace("n(T): L if true", "n(t: T): L if t = t1")
    )
    lines = [draw(rule(shape)) for _ in range(draw(st.integers(1, 4)))]
    lines += [draw(observation(shape)) for _ in range(draw(st.integers(0, 2)))]
    lines += [draw(query(shape, i)) for i in range(draw(st.integers(1, 4)))]
    return header + "\n".join(lines) + "\n"


weights = st.sampled_from(["1", "-0.5", "0.7", "log(2)", "-log(3/2)", "1/3", "2", "logit(0.7)", "half", "0"])

Scope = tuple[str, tuple[str, ...]]
"""The text after the body, and the variables it binds over T."""


@st.composite
def scope(draw: st.DrawFn, shape: Shape, fresh: str) -> Scope:
    x, y, z, u = (f"{fresh}{i}" for i in range(1, 5))
    return draw(
        st.sampled_from(
            [
                (f"for {x} in T", (x,)),
                (f"for {x}, {y} in T", (x, y)),
                (f"for {x}, {y} in T if {x} < {y}", (x, y)),
                (f"for {x}, {y} in T if {x} != {y} & !e({x}, {y})", (x, y)),
                (f"for ({x}, {y}) in e", (x, y)),
                (f"for ({x}, {y}) in e if {x} != {y}", (x, y)),
                (f"for {x} in lone, {y} in T if e({x}, {y})", (x, y)),
                (f"for {x} in {{t1}}, {y} in T if {y} not in {{t1}}", (x, y)),
                (f"for {x} in T, {fresh}i in L if {fresh}i > 0", (x,)),
                (f"for ({x}, {y}) in e, ({y}, {z}) in e", (x, y, z)),
                (f"for ({x}, {y}) in e, ({y}, {z}) in e if {x} != {z} & ({z}, {x}) not in e", (x, z)),
                (f"for ({x}, {y}) in e, ({z}, {u}) in e if {z} = {y} & {x} < {u}", (x, u)),
                (f"for ({x}, {y}) in e, ({y}, {z}) in e, ({x}, {z}) in e", (x, y, z)),
                (f"for ({x}, {x}) in e", (x,)),
                (f"for (t1, {x}) in e, ({x}, _) in e", (x,)),
                (f"for (_, {x}) in e", (x,)),
                (f"for {x}, {y} in T if w({x}) = w({y}) & {x} != {y}", (x, y)),
                (f"for {x} in T, ({x}, {y}) in e, {z} in T if e({z}, {y}) & w({z}) = w({x})", (x, y, z)),
                (f"for {fresh}i in L, ({fresh}i, {fresh}j) in near, {x} in T if d({fresh}j, 1) = 0", (x,)),
                (f"for ({fresh}i, {fresh}j) in near, ({fresh}j - 1, {fresh}k) in near, {x} in lone", (x,)),
            ]
        )
    )


@st.composite
def term(draw: st.DrawFn, shape: Shape, bound: tuple[str, ...]) -> str:
    """A person: a bound variable or a symbol."""
    return draw(st.sampled_from([*bound, *bound, "t1"]))


@st.composite
def number(draw: st.DrawFn, shape: Shape, bound: tuple[str, ...], depth: int) -> str:
    x, fresh = draw(term(shape, bound)), f"c{depth}"
    n = "n(t1)" if shape.some_n else f"n({x})"
    choices = [n, "n(t1)", "1", f"level({x})", f"tab({n})", f"upto({n})", f"grid(n(t1), {x})"]
    if depth:
        body, inner = draw(formula(shape, (*bound, fresh), depth - 1)), draw(number(shape, bound, depth - 1))
        everyone = "n(t1)" if shape.some_n else f"n({fresh})"
        choices += [
            f"count({body} for {fresh} in T)",
            f"count({body} for {fresh} in T if e({fresh}, {x}))",
            f"count({body} for ({x}, {fresh}') in e, ({fresh}', {fresh}) in e)",
            f"sum({everyone} for {fresh} in T)",
            f"sum(2 * {everyone} - 1 for {fresh} in T if {fresh} != {x})",
            f"({inner}) + {n}",
            f"abs({n} - ({inner}))",
            f"min({n}, {inner})",
            f"-2 * ({inner})",
            f"({inner}) % 2",
            f"floor(({inner}) / 2)",
            f"2 * ({body.replace(fresh, 't1')})",
            f"({inner}) - ({body.replace(fresh, x)})",
            f"max(b({x}), {n})",
            f"sum({body} for {fresh} in T)",
            f"sum(b({fresh}) * {everyone} for {fresh} in T)",
        ]
    return draw(st.sampled_from(choices))


@st.composite
def formula(draw: st.DrawFn, shape: Shape, bound: tuple[str, ...], depth: int) -> str:
    x, y = draw(term(shape, bound)), draw(term(shape, bound))
    n = "n(t1)" if shape.some_n else f"n({x})"
    op = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
    atoms = [
        f"b({x})", f"!b({x})", "z", f"b({x}) = b({y})", f"both({x}, {y})",
        "m(t1, u) = fail", "m(t1, v) != q", "m(t1, u) in {p, fail}", "m(t1, u) = m(t1, v)",
        "m(t1, v) not in C(u)",
        "near(n(t1), 1)", f"near({n}, n(t1))", f"n(t1) {op} 1", f"0 <= n(t1) < {shape.top}",
    ]  # fmt: skip
    if not depth:
        return draw(st.sampled_from(atoms))
    fresh = f"k{depth}"
    one, two = draw(formula(shape, bound, depth - 1)), draw(formula(shape, bound, depth - 1))
    within = draw(formula(shape, (*bound, fresh), depth - 1))
    fixed = f"e({x}, {y})"
    everyone = "n(t1)" if shape.some_n else f"n({fresh})"
    word = draw(st.sampled_from(["exactly", "at_least", "at_most"]))
    wanted = draw(st.sampled_from(["0", "1", "2", "n(t1)", f"level({x})"]))
    connective = draw(st.sampled_from(["&", "|", "=>", "<=>", "xor", "and", "or"]))
    return draw(
        st.sampled_from(
            [
                f"({one}) {connective} ({two})",
                f"not ({one})",
                f"{fixed} => ({one})",
                f"{fixed} & ({one})",
                f"({one}) | {x} = {y}",
                f"exists({within} for {fresh} in T)",
                f"forall({within} for {fresh} in T if {fresh} != {x})",
                f"exists({within} for ({fresh}, {fresh}') in e)",
                f"exists({within} for ({x}, {fresh}) in e)",
                f"forall({within} for ({fresh}, _) in e, ({fresh}, {y}) in e)",
                f"count({within} for {fresh} in T) {op} 1",
                f"{word}({wanted}, {within} for {fresh} in T)",
                f"alldifferent({everyone} for {fresh} in T)",
                f"alldifferent(m(t1, {fresh}) for {fresh} in A)",
                f"alldifferent({draw(number(shape, (*bound, fresh), depth - 1))} for {fresh} in T)",
                f"alldifferent(({within}) for {fresh} in T if {fresh} != {x})",
                f"({draw(number(shape, bound, depth - 1))}) {op} ({draw(number(shape, bound, depth - 1))})",
            ]
        )
    )


@st.composite
def rule(draw: st.DrawFn, shape: Shape) -> str:
    text, bound = draw(scope(shape, "x"))
    kind = draw(st.sampled_from(["weight", "weight", "weight", "factor", "require"]))
    depth = draw(st.integers(0, 2))
    if kind == "require":
        return f"require ({draw(formula(shape, bound, depth))}) | z {text}"
    if kind == "factor":
        number_text = draw(number(shape, bound, depth))
        return f"factor {draw(st.sampled_from(['0.3', '-1/2', 'log(2)']))} * ({number_text}) {text}"
    weight = draw(st.one_of(weights, st.sampled_from([f"w({bound[0]})", f"w({bound[-1]}) / 2", "d(0, 1)"])))
    return f"weight {weight}: {draw(formula(shape, bound, depth))} {text}"


@st.composite
def observation(draw: st.DrawFn, shape: Shape) -> str:
    """Evidence that some world with z true satisfies, whatever else is observed."""
    return draw(
        st.sampled_from(
            [
                "observe b(t1)",
                "observe m(t1, u) = p",
                "observe n(t1) = 1",
                f"observe z | ({draw(formula(shape, ('t1',), 1))})",
                "observe b(x) | z for x in T",
                "observe b(x) for x in lone",
                "observe b = {t1}",
                "observe b = {t1: true, else: false}",
                "observe m = {(t1, u): p, else: q}",
                "observe n = {t1: 1, else: 0}",
            ]
        )
    )


@st.composite
def query(draw: st.DrawFn, shape: Shape, index: int) -> str:
    everyone = "n(t1)" if shape.some_n else "n(x)"
    target = draw(
        st.sampled_from(
            [
                "b(x) for x in T",
                "b(x) & b(y) for (x, k) in e, (k, y) in e if w(x) = w(y)",
                "exists(b(y) for (x, y) in e) for x in T",
                "m(t1, u)",
                "m(t1, a) for a in A",
                f"{everyone} for x in T",
                "count(b(x) for x in T)",
                f"sum({everyone} + 1 for x in T)",
                "(b(t1), z)",
                "(m(t1, u), m(t1, v), b(x)) for x in T if x != t1",
                f"({draw(formula(shape, ('t1',), 2))})",
                f"{draw(formula(shape, ('x',), 1))} as q{index} for x in T",
                "map",
                "logz",
            ]
        )
    )
    condition = draw(
        st.sampled_from(["", "", " given z", " given z = true, b(t1) | z", " given z, n(t1) > -1"])
    )
    return f"query {target}{condition}"
