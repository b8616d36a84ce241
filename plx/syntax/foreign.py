"""What other languages write where plx has no such thing → what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

DISCRETE_ONLY: Final = "unknowns are discrete and finite; continuous ones are not part of plx"
IF_ELSE: Final = (
    "“if A then b else c” is `b * (A) + c * (!A)` for numbers, `(A => B) & (!A => C)` for formulas"
)

_YES_OR_NO = frozenset("bernoulli bern flip coin".split())
_ONE_OF = frozenset("categorical discrete multinomial choice discreteuniform uniformdraw randint".split())
_CONTINUOUS = frozenset(
    "normal gaussian gauss mvnormal beta gamma inversegamma dirichlet exponential lognormal laplace cauchy "
    "studentt halfnormal halfcauchy logistic uniform".split()
)
_UNBOUNDED = frozenset("poisson geometric negativebinomial".split())


def distribution(name: str, unknown: str = "x", chance: str = "p") -> str | None:
    """How an unknown with a distribution of this name is written; None for no known distribution."""
    kind = name.replace("_", "").casefold()
    if kind in _YES_OR_NO:
        return likely(unknown, chance)
    if kind in _ONE_OF:
        return f"declare `random {unknown}: {{a, b}}`; `factor log(p({unknown}))` takes its chances from a `param p`"
    if kind in _CONTINUOUS:
        return f"{DISCRETE_ONLY}: `random {unknown}: 0..9`, with a `factor` of its log density"
    if kind in _UNBOUNDED:
        return f"unknowns are finite: `random {unknown}: 0..9`, with a `factor` of its log probability"
    return None


def likely(fact: str, chance: str) -> str:
    """How something is made true with some probability."""
    return (
        f"declare `random {fact}`; `weight logit({chance}): {fact}` makes it true with probability {chance}"
    )


def conditional(fact: str, condition: str, chance: str) -> str:
    """How P(fact | condition) is given."""
    holds = f"({condition})" if " " in condition else condition
    return (
        f"`P({fact} | {condition}) = {chance}` is `weight log({chance}): {holds} & {fact}` "
        f"and `weight log(1 - {chance}): {holds} & !{fact}`"
    )


_LISTED = "give its values: `random f(T): 0..9`"
_NUMBERS = f"{DISCRETE_ONLY}: give a range, `random f(T): 0..9`"
_TRUTH = "a `random` without `:` is true or false; as a set write `{false, true}`"
_SYMBOLS = "list the symbols: `{a, b}`, or a `type` of them"

SETS: Final[Mapping[str, str]] = {
    **dict.fromkeys("bool boolean binary logical truth".split(), _TRUTH),
    **dict.fromkeys("int integer nat natural whole number num ℕ ℤ".split(), _LISTED),
    **dict.fromkeys("real float double reals continuous probability ℝ".split(), _NUMBERS),
    **dict.fromkeys("string str text symbol symbols char".split(), _SYMBOLS),
}
"""Types of other languages, in lower case."""

VALUES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("True", "TRUE"), "write `true`"),
    **dict.fromkeys(("False", "FALSE"), "write `false`"),
    **dict.fromkeys(
        ("None", "null", "NULL", "nil", "undefined"),
        "there is no empty value: add a symbol for it to the domain, `{none} | T`",
    ),
    **dict.fromkeys(
        ("inf", "Inf", "infinity", "Infinity", "nan", "NaN"),
        "weights are finite: use `require` for what must hold",
    ),
    "e": "e is `exp(1)`",
    "pi": "write `3.14159265358979`",
}
"""Values of other languages."""

_EXPECTED = "the query of a number gives its mean: `query level(a)`"
_BEST = "`query map` gives a most probable world"
_COUNTED = "a formula counts as 0 or 1 in arithmetic"

FUNCTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys("argmax arg_max mpe mode maximize maximum_a_posteriori".split(), _BEST),
    **dict.fromkeys("E Expect expect expectation expected mean Exp".split(), _EXPECTED),
    **dict.fromkeys("ifelse ite If where cond if_then_else select".split(), IF_ELSE),
    **dict.fromkeys("I Indicator indicator iverson int bool Int".split(), _COUNTED),
    **dict.fromkeys("And AND conj conjunction".split(), "write `a & b`"),
    **dict.fromkeys("Or OR disj disjunction".split(), "write `a | b`"),
    **dict.fromkeys("Not NOT neg".split(), "write `!a`"),
    **dict.fromkeys("Xor XOR".split(), "write `a xor b`"),
    **dict.fromkeys("implies Implies IMPLIES".split(), "write `a => b`"),
    **dict.fromkeys("iff Iff IFF equivalent".split(), "write `a <=> b`"),
    **dict.fromkeys("equals eq equal".split(), "write `a = b`"),
    **dict.fromkeys("all All ForAll every".split(), "write `forall(F for x in T)`"),
    **dict.fromkeys("any Any some Exists exist".split(), "write `exists(F for x in T)`"),
    **dict.fromkeys("len size card cardinality".split(), "write `count(true for x in T)`"),
    **dict.fromkeys("prod product".split(), "a product is `exp(sum(log(E) for x in T))`"),
    **dict.fromkeys("avg average".split(), "write `sum(E for x in T) / count(true for x in T)`"),
    **dict.fromkeys("Sum SUM total".split(), "write `sum(E for x in T)`"),
    **dict.fromkeys("range Range".split(), "a range is `0..4`, with both ends"),
    **dict.fromkeys("ln Log log_e".split(), "`log` is the natural logarithm"),
    **dict.fromkeys("log2 log10".split(), "`log` is the natural logarithm: `log(x) / log(2)`"),
    **dict.fromkeys("sigmoid expit inv_logit logistic".split(), "write `1 / (1 + exp(-x))`"),
    **dict.fromkeys("pow power Pow".split(), "write `x ^ y`"),
    **dict.fromkeys("mod Mod rem".split(), "write `x % y`"),
    **dict.fromkeys("div idiv trunc".split(), "write `floor(x / y)`"),
    **dict.fromkeys("ceil ceiling".split(), "write `-floor(-x)`"),
    "round": "write `floor(x + 1/2)`",
    "odds": "`logit(p)` is `log(p / (1 - p))`",
}
"""Functions of other languages, as they are spelt."""

PROBABILITIES: Final = frozenset({"P", "p", "Pr", "pr", "Prob", "prob", "probability", "Probability"})
"""How a probability is written elsewhere: ``P(a | b)``."""

LEADS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("exist", "exists", "some"), "write `exists(F for x in T)`"),
    **dict.fromkeys(("forall", "all", "every", "each"), "write `forall(F for x in T)`"),
    **dict.fromkeys(("argmax", "maximize", "minimize", "mpe"), _BEST),
    "lambda": "a function with a name is a `define`: `define f(x: T) = …`",
}
"""Words that stand before a variable elsewhere, in lower case."""

_FROM_FILES = 'types, params, relations and observations are read from files: `type Person from "people.csv"`'
_NO_FLOW = "a program is a list of statements, without loops, functions or classes"
_DECIDE = "`factor E` says what is better, and `query map` finds the best world"
_MEMBERS = "a fixed number is a `param`; an unknown with values is `random x: 0..9`"

OPENINGS: Final[Mapping[str, str]] = {
    **dict.fromkeys("import include using library load open read".split(), _FROM_FILES),
    **dict.fromkeys("with while repeat return class module end begin then else".split(), _NO_FLOW),
    **dict.fromkeys("minimize maximize solve argmax optimize".split(), _DECIDE),
    **dict.fromkeys("int integer nat".split(), _MEMBERS),
    **dict.fromkeys(
        "real float double vector matrix".split(), f"a fixed number is a `param`; {DISCRETE_ONLY}"
    ),
    "lambda": LEADS["lambda"],
}
"""Words that start statements elsewhere, in lower case."""

BLOCKS: Final = (
    "there are no blocks: every statement starts with its own word, `param` for what is given, "
    "`random` for what is unknown, `weight`, `factor` and `require` for the model"
)
