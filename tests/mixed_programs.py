"""Random programs in which joins, conditional distributions, closed worlds and constraints meet."""

from __future__ import annotations

from hypothesis import strategies as st

HEADER = """\
type T = {{t1, t2{more}}}
type K = {{lo, mid, hi}}
relation e(T, T) = {{{facts}}}
relation back(x: T, y: T) = (y, x) in e
param sim(T, T) = {{(t1, t2): 0.7, (t2, t2): log(1/2), else: 0}}
param prior(K) = {{lo: 0.5, hi: 0.5, else: 0}}
param step(K, K) = {{(lo, lo): 1, (mid, lo): 0.2, (mid, mid): 0.8, (hi, hi): 0.3, (hi, lo): 0.7, else: 0}}
param home(T) = {{t1: t2, else: t1}}
random a(T) ~ {p}
define linked(x: T, y: T) = exists(a(z) for (x, z) in e, (z, y) in e)
"""

UNKNOWNS = {
    "k": (
        "random k(T): K",
        "random k(T): K ~ prior",
        "random k(x: T): K ~ {{lo: {p}, mid: (1 - {p}) * a(x), else: (1 - {p}) * (!a(x))}}",
        "random k(x: T): K ~ uniform if (x, x) in e else prior",
        "random k(x: T): K ~ prior if x = t1 else step(k(t1))",
        "random k(x: T): K ~ softmax({{lo: count(a(z) for (x, z) in e), else: sim(x, t2)}})",
    ),
    "l": (
        "random l(x: T, y: T) if (x, y) in e",
        "random l(x: T, y: T) ~ {p} if (x, y) in e",
        "random l(x: T, y: T) ~ 0.9 * a(x) + 0.1 * (!a(y)) if (x, y) in e",
        "random l(x: T, y: T) ~ noisy_or(0.1, {p}: a(z) for (x, z) in e, (z, y) in e) if e(x, y)",
        "random l(x: T, y: T) ~ softmax(sim(x, y) - a(y)) if (x, y) in e & (y, x) not in e",
    ),
    "s": (
        "random s(T): 1..3",
        "random s(T): 1..3 ~ uniform",
        "random s(x: T): 1..3 ~ {{1 + a(x): 0.6, else: 0.2}}",
        "random s(x: T): 1..3 ~ softmax({{3: sum(a(y) for (x, y) in e), else: 1/2}})",
    ),
    "n": (
        "random n(x: T): T ~ {{x: {p}, else: (1 - {p}) / (count(true for y in T) - 1)}}",
        "random n(x: T): T ~ {{home(x): 0.5, x: 0.5, else: 0}}",
        "random n(x: T): T ~ uniform if x = t1 else {{n(t1): 0.4, else: 0.6 / (count(true for y in T) - 1)}}",
    ),
    "d": (
        "random d ~ exactly(1, a(x) for x in T)",
        "random d ~ 0.2 + {p} / 2 * alldifferent(a(x) for (x, _) in e)",
        "random d(x: T) ~ (linked(x, t1) | a(x)) if (x, t1) not in e",
        "random d ~ noisy_or({p}, 0.3: at_least(2, a(y) for (x, y) in e, (y, x) in back), 0.5: a(t1))",
    ),
}  # fmt: skip
"""Unknowns by their name, which may stand in a program together, each in several forms."""

SCOPES = (
    ("for (x, y) in e", True),
    ("for (x, y) in e, (y, z) in e", True),
    ("for (x, y) in e, (y, x) in e", True),
    ("for (x, z) in e, (y, z) in back if x != y", False),
    ("for (t1, y) in e, x in T", False),
    ("for (x, x) in e, y in T", False),
    ("for x, y in T if home(x) = home(y) & x < y", False),
    ("for (x, _) in e, (_, y) in back", False),
    ("for x, y in T if (x, y) not in e & sim(x, y) = 0", False),
)  # fmt: skip
"""Scopes that bind x and y, and whether each (x, y) is a fact of e."""

CONSTRAINTS = (
    "exactly(1, {f} for {v} in T)",
    "exactly(count(a(w) for (x, w) in e), {f} for {v} in T)",
    "at_most(1, {f} for (x, {v}) in e)",
    "at_least(2, {f} for ({v}, q) in e, (q, _) in back)",
    "alldifferent({t} for {v} in T)",
    "alldifferent({t} for ({v}, {v}') in e if {v} != {v}')",
    "alldifferent(count({f} for (y, {v}) in e) for y in T)",
    "exists({f} for (y, {v}) in e)",
    "forall({f} for ({v}, x) in back, ({v}, _) in e)",
    "count({f} for ({v}, y) in e, (y, _) in e) {op} 1",
)  # fmt: skip


@st.composite
def mixed_programs(draw: st.DrawFn) -> str:
    """A program with two or three kinds of unknowns, rules over joins, evidence and queries."""
    chances = st.sampled_from(["0.2", "1/3", "0.5", "0", "1", "0.95"])
    names = ["t1", "t2", *(["t3"] if draw(st.integers(0, 3)) == 0 else [])]
    pairs = [f"({x}, {y})" for x in names for y in names]
    facts = ", ".join(draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=4, unique=True)))
    header = HEADER.format(more=", t3" if len(names) > 2 else "", facts=facts, p=draw(chances))
    kinds = draw(st.lists(st.sampled_from(sorted(UNKNOWNS)), min_size=1, max_size=2, unique=True))
    chosen = [draw(st.sampled_from(UNKNOWNS[kind])).format(p=draw(chances)) for kind in kinds]
    here = frozenset(kinds) | {"d(x)" for text in chosen if text.startswith("random d(")}
    if any(text.endswith("not in e") and text.startswith("random l") for text in chosen):
        here -= {"l"}
    lines = [draw(rule(here)) for _ in range(draw(st.integers(0, 3)))]
    lines += draw(st.lists(evidence(here), max_size=2, unique_by=lambda line: line.split()[1][0]))
    queries = [draw(query(here, i)) for i in range(draw(st.integers(1, 3)))]
    return header + "\n".join(draw(st.permutations([*chosen, *lines])) + queries) + "\n"


@st.composite
def fact(draw: st.DrawFn, here: frozenset[str], x: str, y: str, linked: bool) -> str:
    """A formula about x and y; ``linked``: whether (x, y) is a fact of e."""
    choices = [f"a({x})", f"!a({y})", f"a({x}) = a({y})", f"linked({x}, {y})"]
    if "k" in here:
        choices += [
            f"k({x}) = hi",
            f"k({x}) != k({y})",
            f"k({x}) in {{lo, mid}}",
            f"step(k({x}), k({y})) > 0.2",
        ]
    if "l" in here:
        choices += [f"l({x}, {y})"] * 3 if linked else [f"exists(l({x}, w) for ({x}, w) in e)"] * 2
    if "s" in here:
        choices += [f"s({x}) < s({y})", f"s({x}) + s({y}) = 4", f"s({x}) - a({y}) > 1"]
    if "n" in here:
        choices += [f"n({x}) = {y}", f"n({x}) = n({y})", f"e({x}, n({y}))", f"home(n({x})) = {y}"]
    if "d" in here and "d(x)" not in here:
        choices += ["d", f"d => a({x})"]
    return draw(st.sampled_from(choices))


@st.composite
def term(draw: st.DrawFn, here: frozenset[str], x: str) -> str:
    choices = [f"a({x})", f"count(a(w) for ({x}, w) in e)"]
    choices += [text for name, text in (("k", f"k({x})"), ("s", f"s({x})"), ("n", f"n({x})")) if name in here]
    choices += [f"s({x}) % 2 + a({x})"] if "s" in here else []
    return draw(st.sampled_from(choices))


@st.composite
def formula(draw: st.DrawFn, here: frozenset[str], linked: bool) -> str:
    """A formula over x and y."""
    plain = draw(fact(here, "x", "y", linked))
    within = draw(fact(here, "v", "x", False))
    constraint = draw(st.sampled_from(CONSTRAINTS)).format(
        f=within, t=draw(term(here, "v")), v="v", op=draw(st.sampled_from(["=", "<", ">="]))
    )
    word = draw(st.sampled_from(["&", "|", "=>", "<=>", "xor"]))
    return draw(st.sampled_from([plain, constraint, f"!({constraint})", f"({plain}) {word} {constraint}"]))


@st.composite
def rule(draw: st.DrawFn, here: frozenset[str]) -> str:
    scope, linked = draw(st.sampled_from(SCOPES))
    body = draw(formula(here, linked))
    kind = draw(st.sampled_from(["weight", "weight", "require", "observe", "factor"]))
    match kind:
        case "weight":
            return f"weight {draw(st.sampled_from(['0.7', '-log(2)', 'sim(x, y)', '1/3']))}: {body} {scope}"
        case "factor":
            weight = draw(st.sampled_from(["log(0.4)", "sim(y, x)", "log(a(x) + 0.1)"]))
            return f"factor {weight} * ({body}) {scope}"
    return f"{kind} {body} {scope}"


@st.composite
def evidence(draw: st.DrawFn, here: frozenset[str]) -> str:
    choices = ["observe a = {t1}", "observe a = {t2: true, else: false}", "observe a(x) for (x, t1) in e"]
    if "k" in here:
        choices += ["observe k = {t1: lo}", "observe k = {t2: hi, else: lo}", "observe k = {else: lo}"]
    if "s" in here:
        choices += ["observe s = {t1: 2, else: 3}", "observe s(x) != s(y) for (x, y) in e if x != y"]
    if "n" in here:
        choices += ["observe n = {t1: t2, else: t1}", "observe n(x) = home(x) for (x, _) in e"]
    if "l" in here:
        choices += ["observe l = {else: false}", "observe l(x, y) for (x, y) in e if (y, x) in e"]
    return draw(st.sampled_from(choices))


@st.composite
def query(draw: st.DrawFn, here: frozenset[str], index: int) -> str:
    scope, linked = draw(st.sampled_from(SCOPES))
    body, about = draw(formula(here, linked)), draw(formula(here, False))
    choices = [
        f"{body} as q{index} {scope}",
        f"exists({about} for x in {{t1}}, y in {{t2}})",
        f"{draw(term(here, 't1'))}",
        f"{draw(term(here, 'v'))} as q{index} for v in T",
        f"count({body} {scope})",
        "a(t1)",
        "map",
        "logz",
    ]
    condition = draw(
        st.sampled_from(["", "", " given a(t1) | a(t2)", " given at_least(1, a(g) for (_, g) in e)"])
    )
    return f"query {draw(st.sampled_from(choices))}{condition}"
