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
random z{z}
define both(x: T, y: T) = b(x) & b(y)
define level(x: T) = count(b(y) for y in T if y != x)
"""


Z_CHANCES = (
    " ~ 0.3", " ~ 0.9 - 0.4 * b(t1)", " ~ noisy_or(0.1, 0.5: b(x) for x in T)", " ~ (b(t1) | m(t1, v) = q)",
    " ~ softmax({true: b(t1), else: 1/2})", " ~ {false: 0.25, true: 0.75}",
)  # fmt: skip
"""What may be said of z, which rules, observations and queries mention."""


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
            z=draw(st.sampled_from(["", "", *Z_CHANCES])),
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


# ----------------------------------------------------------------------- Bayesian networks

ROWS = ("1 0 0", "1/2 1/2 0", "0.2 0.3 0.5", "1/3 1/3 1/3", "0 0.05 0.95")
"""Conditional distributions over three values, some with zeros."""

NETWORK = """\
type T = {{t1, t2}}
type K = {{lo, mid, hi}}
type Some(T) = {{t1: {{lo}}, t2: {{lo, hi}}}}
param prior(K) = {prior}
param step(K, K) = {step}
param by_truth(Boolean, Boolean, K) = {by_truth}
relation e(T, T) = {{(t1, t2), (t2, t2)}}
define score(x: T, v: K) = (v = hi) + 0.5 * (v = lo)
"""

UNKNOWNS = (
    ("random a(x: T) ~ {p}", "a(t1)"),
    ("random k: K ~ prior", "k"),
    ("random k(T): K ~ {{lo: {p}, else: (1 - {p}) / 2}}", "k(t2)"),
    ("random h(i: 0..2): K ~ prior if i = 0 else step(h(i - 1))", "h(2)"),
    ("random h(i: 0..2): K ~ uniform if i = 0 else step(h(i - 1)) if i = 1 else step(h(0))", "h(1)"),
    ("random y ~ noisy_or({p}, 0.5: a(x) for x in T)", "y"),
    ("random y ~ noisy_or(0, 1: a(t1), {p}: !a(t2))", "y"),
    ("random y(x: T) ~ noisy_or(0.1, 0.3: a(x), {p}: a(z) for (x', z) in e if x' = x)", "y(t2)"),
    ("random d ~ (a(t1) xor a(t2))", "d"),
    ("random d(x: T) ~ {p} * a(x) if x = t2", "d(t2)"),
    ("random w: K ~ by_truth(a(t1), a(t2))", "w"),
    ("random w: K ~ {{lo: 0.5 + 0.5 * a(t1), else: 0.25 - 0.25 * a(t1)}}", "w = lo"),
    ("random s(x: T): K ~ softmax(score(x))", "s(t1)"),
    ("random s ~ softmax(-1 + 2 * a(t1))", "s"),
    ("random g(x: T): {{no}} | Some(x) ~ {{no: {p}, lo: 1 - {p}, hi: 0}} if x = t2 else uniform", "g(t2)"),
    ("random g(x: T): {{no}} | Some(x) ~ {{no: 1 - {p}, else: {p} / count(true for v in Some(x))}}", "g(t1)"),
)  # fmt: skip
"""Unknowns with distributions, of which all but those of `a` may stand alone, and what to ask of each."""


@st.composite
def networks(draw: st.DrawFn) -> str:
    """A program in which every unknown has a conditional distribution, perhaps with evidence and weights."""
    chances = st.sampled_from(["0.2", "1/3", "0.5", "0", "1", "0.95"])
    rows = st.sampled_from(ROWS)
    header = NETWORK.format(
        prior=_row(draw(rows), ""),
        step=_rows([f"{v}, " for v in ("lo", "mid", "hi")], [draw(rows) for _ in range(3)]),
        by_truth=_rows(
            [f"{x}, {y}, " for x in ("false", "true") for y in ("false", "true")],
            [draw(rows) for _ in range(4)],
        ),
    )
    first, *others = UNKNOWNS
    chosen = draw(
        st.lists(st.sampled_from(others), min_size=1, max_size=3, unique_by=lambda u: u[0].split()[1][0])
    )
    asked = [target for _, target in (first, *chosen)]
    lines = [text.format(p=draw(chances)) for text, _ in (first, *chosen)]
    extra = ["weight 0.7: a(t1) = a(t2)", "require a(t1) | a(t2)", "factor log(2/3) * a(t2)"]
    extra += [f"observe a({x})" for x in ("t1", "t2")] + ["observe !a(t2) | a(t1)", "factor log(a(t2) * 0.5)"]
    lines += draw(st.lists(st.sampled_from(extra), max_size=2, unique=True))
    if draw(st.booleans()):
        lines.append(draw(st.sampled_from([f"observe {fact(t)}" for t in asked])))
    queries = [f"query {t}" for t in asked] + [
        "query logz",
        "query map",
        f"query logz given {fact(asked[-1])}",
    ]
    queries.append(f"query {asked[0]} given {fact(asked[-1])}")
    lines += draw(st.lists(st.sampled_from(queries), min_size=1, max_size=3, unique=True))
    return header + "\n".join(draw(st.permutations(lines))) + "\n"


def fact(target: str) -> str:
    """A formula that says what the target is."""
    if target[0] in "khsgw" and "=" not in target and target != "s":
        return f"{target} = lo"
    return target


def _row(row: str, head: str) -> str:
    entries = zip(("lo", "mid", "hi"), row.split(), strict=True)
    return "{" + ", ".join(f"{head}{value}: {chance}" for value, chance in entries) + "}"


def _rows(heads: list[str], rows: list[str]) -> str:
    entries = (
        f"({head}{value}): {chance}"
        for head, row in zip(heads, rows, strict=True)
        for value, chance in zip(("lo", "mid", "hi"), row.split(), strict=True)
    )
    return "{" + ", ".join(entries) + "}"
