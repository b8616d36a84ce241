"""Random two-variable programs over at most four elements: what first-order counting can say, and more."""

from __future__ import annotations

import random

WEIGHTS = ("1", "-0.5", "0.7", "log(3)", "-2", "1/3")

UNARY = ("f({0})", "!f({0})", "c({0}) = red", "c({0}) != blue", "u({0}, k)", "e({0}, {0})", "z", "r({0})")


def program(seed: int, counting: bool = False) -> str:
    """A program of a few rules, perhaps evidence, and queries; ``counting``: with counts per element."""
    rng = random.Random(seed)
    n = rng.choice((2, 3, 3, 4)) if not counting else rng.choice((2, 3, 3))
    lines = [
        "type P = {" + ", ".join(f"p{i + 1}" for i in range(n)) + "}",
        "type K = {k, l}",
        "random z",
        "random f(P)",
        "relation r(P) = {(p1)}" if rng.random() < 0.3 else "relation r(P) = {(p1), (p2)}",
        "param w(P) = {p1: 0.3, else: -1.1}",
    ]
    if rng.random() < 0.5 and n < 4:
        lines.append("random c(P): {red, green, blue}")
    if rng.random() < 0.3 and n < 4:
        lines.append("random u(P, K)")
    has = {"c": any(" c(" in x for x in lines), "u": any(" u(" in x for x in lines)}
    pairs = rng.random() < 0.8 and not (has["c"] and n > 2) and not (has["u"] and n > 2)
    kind = rng.choice(("e(P, P)", "e(P, P)", "e(x: P, y: P) if x != y", "e(x: P, y: P) if x < y"))
    if pairs and (n < 4 or "<" in kind):
        lines.append(f"random {kind}")
    else:
        kind = ""
    for _ in range(rng.randint(1, 4)):
        lines.append(_rule(rng, has, kind, counting))
    if rng.random() < 0.5:
        lines.append(
            rng.choice(("observe f(p1)", "observe !f(p2)", "observe f(x) | z for x in P", *_seen(has)))
        )
    if kind and rng.random() < 0.3:
        lines.append(rng.choice(("observe e(p1, p2)", "observe !e(p1, p2)")))
    lines += ["query logz", "query f(x) for x in P", "query (f(p1), f(p2))"]
    lines += ["query count(f(x) for x in P)", "query z given f(p1)"]
    if kind:
        lines += ["query e(p1, p2)", "query (f(p1), e(p1, p2)) given f(p2)"]
    if has["c"]:
        lines += ["query c(p1) given f(p2)", "query count(c(x) = red for x in P) >= 1 given f(p1)"]
    return "\n".join(lines) + "\n"


def _seen(has: dict[str, bool]) -> list[str]:
    return [*(["observe c(p1) = red", "observe c(p2) != red"] if has["c"] else [])] + (
        ["observe u(p1, k)"] if has["u"] else []
    )


def _unary(rng: random.Random, has: dict[str, bool], kind: str, name: str) -> str:
    while True:
        text = rng.choice(UNARY)
        if (text[0] == "c" or text.startswith("!c")) and not has["c"]:
            continue
        if text[0] == "u" and not has["u"]:
            continue
        if text[0] == "e" and kind != "e(P, P)":
            continue
        return text.format(name)


def _rule(rng: random.Random, has: dict[str, bool], kind: str, counting: bool) -> str:
    def one(name: str) -> str:
        return _unary(rng, has, kind, name)

    join = rng.choice((" & ", " | ", " => ", " <=> "))
    weight = rng.choice(WEIGHTS)
    forms = [
        f"weight {weight}: {one('x')}{join}{one('x')} for x in P",
        "weight w(x): f(x) for x in P",
        f"weight {weight}: {one('x')}{join}{one('y')} for x, y in P",
        f"weight {weight}: {one('x')}{join}{one('y')} for x, y in P if x != y",
        f"require {one('x')} | {one('y')} | f(y) for x, y in P",
        "factor 0.4 * count(f(x) for x in P)",
        f"weight {weight}: count(f(x) for x in P) = 2",
        "require exists(f(x) for x in P)",
        f"weight {weight}: f(p1){join}{one('x')} for x in P",
        f"factor {weight} * f(x) * f(y) for x, y in P if r(x)",
    ]
    if kind:
        guard = " if x < y" if "<" in kind else " if x != y" if "!=" in kind else ""
        edge = f"weight {weight}: e(x, y) & {one('x')} => {one('y')} for x, y in P{guard}"
        forms += [
            edge,
            edge,
            f"weight {weight}: e(x, y) <=> ({one('x')}{join}{one('y')}) for x, y in P{guard}",
        ]
        if "<" not in kind:
            forms += [f"require e(x, y) => e(y, x) for x, y in P{guard}"]
    return rng.choice([*forms, *(_counting(rng, has, kind) if counting and kind else [])])


def _counting(rng: random.Random, has: dict[str, bool], kind: str) -> list[str]:
    weight = rng.choice(WEIGHTS)
    if "<" in kind:
        return []
    guard = " if y != x" if "!=" in kind else ""
    count = f"count(e(x, y) for y in P{guard})"
    back = f"count(e(y, x) for y in P{guard})"
    some = f"exists(e(x, y) & {_unary(rng, has, kind, 'y')} for y in P{guard})"
    forms = [
        f"require {count} = 1 for x in P",
        f"require {back} <= 1 for x in P",
        f"weight {weight}: {some} for x in P",
        f"require {some} | f(x) for x in P",
        f"require {count} % 2 = 0 for x in P",
        f"weight {weight}: f(x) & {count} >= 2 for x in P",
        f"weight {weight}: forall(e(x, y) => f(y) for y in P{guard}) for x in P",
    ]
    return forms * 3


QUERIES = [
    "query logz",
    "query f(x) for x in P",
    "query (f(p1), f(p2))",
    "query e(p1, p2)",
    "query (f(p1), e(p1, p2)) given f(p2)",
    "query count(f(x) for x in P)",
    "query z given f(p1)",
    "query count(f(x) for x in P) >= 1 given e(p1, p2)",
]


def _begun(rng: random.Random, n: int, guard: str) -> list[str]:
    kind = {"": "e(P, P)"}.get(guard, f"e(x: P, y: P){guard}")
    lines = [f"type P = p1..p{n}", "random z", "random f(P)", f"random {kind}"]
    weight = rng.choice(WEIGHTS)
    tie = "(f(x) <=> f(y))" if "<" in guard else "(f(x) => f(y))"
    lines.append(f"weight {weight}: e(x, y) => {tie} for x, y in P{guard}")
    if rng.random() < 0.4:
        lines.append(f"weight {rng.choice(WEIGHTS)}: z & e(x, y) for x, y in P{guard}")
    if rng.random() < 0.3:
        lines.append(f"weight {rng.choice(WEIGHTS)}: f(p1) & f(x) for x in P")
    if rng.random() < 0.3:
        lines.append(rng.choice(("observe f(p1)", "observe !f(p2)")))
    return lines


def mutual(seed: int) -> str:
    """A program in which members need someone, over what two share."""
    rng = random.Random(seed)
    lines = _begun(rng, rng.choice((2, 3)), " if x != y")
    lines.append("require e(x, y) => e(y, x) for x, y in P if x != y")
    some = "exists(e(x, y) for y in P if y != x)"
    lines.append(
        rng.choice((
            f"require {some} for x in P", f"require {some} | f(x) for x in P",
            f"weight 0.7: {some} & f(x) for x in P", f"require {some} <=> f(x) for x in P",
        ))
    )  # fmt: skip
    return "\n".join([*lines, *QUERIES]) + "\n"


def pair_counts(seed: int) -> str:
    """A program that counts pairs of all members."""
    rng = random.Random(seed)
    guard = rng.choice(("", " if x != y", " if x < y"))
    lines = _begun(rng, rng.choice((2, 3)), guard)
    more = rng.choice(("", " & z", " & f(x) & f(y)", *([] if "<" in guard else [" & f(x)", " | f(y)"])))
    count = f"count(e(x, y){more} for x, y in P{guard})"
    lines.append(
        rng.choice((
            f"require {count} = 2", f"require {count} <= 1", f"require {count} >= 2",
            f"require {count} % 2 = 0", f"factor -0.4 * {count}", f"weight 0.7: {count} = 1 & z",
            f"weight 1: {count} > count(f(x) for x in P)",
        ))
    )  # fmt: skip
    asked = [f"query {count}", f"query (e(p1, p2), {count}, count(f(x) for x in P)) given f(p1)"]
    return "\n".join([*lines, *QUERIES, *asked]) + "\n"


def linked(seed: int, most: int = 3) -> str:
    """A program with evidence on pairs, of which there are at most so many."""
    rng = random.Random(seed)
    n = rng.choice((3, 4))
    guard = rng.choice(("", " if x != y", " if x < y")) if n < 4 else " if x < y"
    lines = _begun(rng, n, guard)
    if rng.random() < 0.3:
        lines.append(f"require e(x, y) => !(f(x) & f(y)) for x, y in P{guard}")
    pairs = {tuple(sorted(rng.sample(range(1, n + 1), 2))) for _ in range(most)}
    lines += [f"observe {rng.choice(('', '!'))}e(p{a}, p{b})" for a, b in sorted(pairs)]
    return "\n".join([*lines, *QUERIES]) + "\n"


def ordered(seed: int) -> str:
    """A program in which the order of members matters."""
    rng = random.Random(seed)
    lines = _begun(rng, rng.choice((3, 4)), " if x < y")
    lines.append(f"weight {rng.choice(WEIGHTS)}: e(x, y) & f(x) => f(y) for x, y in P if x < y")
    if rng.random() < 0.5:
        lines.append(f"weight {rng.choice(WEIGHTS)}: f(x) & !f(y) for x, y in P if x < y")
    return "\n".join([*lines, *QUERIES]) + "\n"


def functions(seed: int) -> str:
    """A program about functions whose values are members."""
    rng = random.Random(seed)
    n = rng.choice((3, 3, 4))
    target, m = ("P", n) if rng.random() < 0.7 else ("Q", 3)
    lines = [f"type P = p1..p{n}", f"type Q = q1..q{m}", "random z", "random f(P)"]
    lines += [f"random g(P): {target}{rng.choice(('', '', ' ~ uniform'))}"]
    unary = ("f(x)", "z", *(("g(x) = x", "g(x) != x") if target == "P" else ("g(x) = q2",)))
    lines += [f"random s({target})"] if rng.random() < 0.4 else []
    known = "s(y)" if "s(" in lines[-1] else "f(y)" if target == "P" else "z"
    rules = [
        f"weight #w: g(x) = y & f(x) & {known} for x in P, y in {target}",
        f"weight #w: f(x) => g(x) != y for x in P, y in {target}",
        f"weight #w: {rng.choice(unary)} | {rng.choice(unary)} for x in P",
        f"weight #w: count(g(x) = y for x in P) <= 1 for y in {target}",
        f"require exists(g(x) = y & f(x) for x in P) for y in {target}",
        f"weight #w: g(x) in {{{target.lower()}1, {target.lower()}2}} for x in P",
        f"weight #w: count(f(x) & g(x) != {target.lower()}2 for x in P) = 1",
    ]
    if target == "P":
        rules += [
            "require g(x) != x for x in P", "weight 0.7: g(x) = y & g(y) = x for x, y in P",
            "require g(x) = y => g(y) = y for x, y in P", "factor 0.4 * count(g(x) = x for x in P)",
    "require alldifferent(g(x) for x in P)",
        ]  # fmt: skip
    if n <= m or target == "P":
        rules += [
            f"require g(x) {how} for x, y in P{guard}"
            for how, guard in (("!= g(y)", " if x < y"), ("= g(y) => x = y", ""), ("!= g(y)", " if x != y"))
        ]
    lines += [rng.choice(rules).replace("#w", rng.choice(WEIGHTS)) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.3:
        lines.append(f"observe g(p1) {rng.choice(('=', '!='))} {target.lower()}2")
    lines += ["query logz", "query f(p1)", "query g(x) for x in P", "query (f(p1), g(p1)) given z"]
    lines += [f"query g(p1) = {target.lower()}1 given g(p2) = {target.lower()}2", "query (g(p2), z)"]
    lines += [f"query g(p3) in {{{target.lower()}1}}"]
    lines += ["query count(g(x) = x for x in P)"] if target == "P" else []
    return "\n".join(lines) + "\n"


_NEXT = (
    "y = x + 1", "x = y - 1", "y - x = 1", "x + 1 = y", "y - 1 = x", "abs(x - y) = 1", "x < y & y <= x + 1",
    "abs(x - y) <= 1 & x != y", "x - y = -1", "2 * y = 2 * x + 2",
)  # fmt: skip


def successors(seed: int) -> str:
    """A program about integers, in which it matters which of them are next to each other."""
    rng = random.Random(seed)
    n, low = rng.choice((3, 4, 4)), rng.choice((1, 0, -1, 2))
    lines = [f"type P = {low}..{low + n - 1}", "random z", "random f(P)"]
    kind = rng.choice(("", "x < y", "x != y", "y = x + 1", "y = x + 1"))
    kind = "" if kind == "x != y" and n == 4 else kind
    lines += [f"random e(x: P, y: P) if {kind}"] if kind else []
    valued = rng.random() < 0.4 and n < 4
    lines += ["random g(P): 1..3"] if valued else []
    unary = ["f(x)", "!f(x)", "z", f"x = {low}", f"x < {low + 2}", f"(f(x) | x = {low + n - 1})"]
    unary += ["g(x) = 1", "g(x) != 2", "g(x) > 1"] if valued else []

    def one(name: str) -> str:
        return rng.choice(unary).replace("x", name)

    for _ in range(rng.randint(2, 4)):
        weight, near = rng.choice(WEIGHTS), rng.choice(_NEXT)
        forms = [
            f"weight {weight}: {one('x')} & {one('y')} for x, y in P if {near}",
            f"weight {weight}: {one('x')} => {one('y')} for x, y in P if {near}",
            f"weight {weight}: ({near}) & {one('x')} & {one('y')} for x, y in P",
            f"require ({near}) => ({one('x')} | {one('y')} | f(y)) for x, y in P",
            f"weight {weight}: {one('x')} & {one('y')} for x, y in P if x <{rng.choice(('', '='))} y",
            f"weight {weight}: f(x) & f(x + 1) for x in P if x < {low + n - 1}",
            f"weight {weight}: f(x - 1) => {one('x')} for x in P if x > {low}",
            f"weight 0.3 * x: {one('x')} for x in P",
            f"weight {weight}: f({low + 1}) & {one('x')} for x in P",
            f"require f(x) for x in P if x = {low}",
            f"weight {weight}: f(x) for x in {low}..{low + 1}",
            f"weight {weight}: f(x) for x in P if x % 2 = 0",
            f"weight {weight}: count(f(x) for x in P) = 2",
            f"factor {weight} * count(f(x) for x in P if x > {low})",
        ]
        if kind == "y = x + 1":
            forms += [f"weight {weight}: e(x, y) & {one('x')} => {one('y')} for x, y in P if {kind}"] * 4
        elif kind:
            forms += [f"weight {weight}: e(x, y) & {one('x')} => {one('y')} for x, y in P if {kind}"] * 3
            forms += [f"weight {weight}: e(x, y) & {one('x')} for x, y in P if y = x + 1"] * 3
        lines.append(rng.choice(forms))
    if rng.random() < 0.4:
        seen = (f"observe f({low})", f"observe !f({low + 2})", f"observe f(x) | z for x in P if x > {low}")
        lines.append(rng.choice(seen))
    lines += ["query logz", "query f(x) for x in P", f"query (f({low}), f({low + 1}))"]
    lines += [f"query (f({low}), f({low + 2}), z)", "query count(f(x) for x in P)"]
    lines += [f"query z given f({low + 1})", "query f(x) & f(y) for x, y in P if y = x + 1"]
    lines += [f"query f(x) & x > {low} for x in P", "query f(x) & !f(y) & y = x + 1 for x, y in P if x < y"]
    lines += ["query g(x) for x in P", "query g(x) = 2 for x in P"] if valued else []
    if kind:
        asked = f"query (f({low + 1}), e({low + 1}, {low + 2})) given f({low})"
        lines += [f"query e({low}, {low + 1})", asked]
    return "\n".join(lines) + "\n"
