"""What other languages write where plx has no such thing → what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

DISCRETE_ONLY: Final = "unknowns are discrete and finite; continuous ones are not part of plx"
IF_ELSE: Final = (
    "“if A then b else c” is `b * (A) + c * (!A)` for numbers, `(A => B) & (!A => C)` for formulas"
)


def _each(hints: Mapping[str, str]) -> dict[str, str]:
    """The hint of each word, from hints by words that are parted by blanks."""
    return {word: hint for words, hint in hints.items() for word in words.split()}


_DISTRIBUTIONS = _each(
    {
        "bernoulli bern flip coin": "truth",
        "categorical discrete multinomial choice discreteuniform uniformdraw randint": "choice",
        "normal gaussian gauss mvnormal lognormal halfnormal beta gamma inversegamma dirichlet": "continuous",
        "exponential laplace cauchy halfcauchy studentt logistic uniform": "continuous",
        "poisson geometric negativebinomial": "unbounded",
    }
)


def distribution(name: str, unknown: str = "x", chance: str = "p") -> str | None:
    """How an unknown with a distribution of this name is written; None for no known distribution."""
    match _DISTRIBUTIONS.get(name.replace("_", "").casefold()):
        case "truth":
            return likely(unknown, chance)
        case "choice":
            return f"`random {unknown}: {{a, b}} ~ {{a: 0.3, b: 0.7}}`, or `~ uniform`"
        case "continuous":
            return f"{DISCRETE_ONLY}: {_scored(unknown)} is its log density"
        case "unbounded":
            return f"unknowns are finite: {_scored(unknown)} is its log chance"
    return None


def _scored(unknown: str) -> str:
    return f"`random {unknown}: 0..9 ~ softmax(f)`, where `f(k: 0..9)`"


def likely(fact: str, chance: str) -> str:
    """How something is made true with some probability."""
    return f"`random {fact} ~ {chance}` is true with probability {chance}"


def conditional(fact: str, condition: str, chance: str) -> str:
    """How P(fact | condition) is given."""
    holds = f"({condition})" if " " in condition else condition
    return (
        f"`P({fact} | {condition}) = {chance}` is `weight log({chance}): {holds} & {fact}` "
        f"and `weight log(1 - {chance}): {holds} & !{fact}`"
    )


_LISTED = "give its values: `random f(T): 0..9`"
_NUMBERS = f"{DISCRETE_ONLY}: give a range, `random f(T): 0..9`"
_TRUTH = "a `random` without `:` is true or false; as a set write `Boolean`"
_SYMBOLS = "list the symbols: `{a, b}`, or a `type` of them"

SETS: Final = _each(
    {
        "bool boolean binary logical truth": _TRUTH,
        "int integer nat natural whole number num ℕ ℤ": _LISTED,
        "real float double reals continuous probability ℝ": _NUMBERS,
        "string str text symbol symbols char": _SYMBOLS,
    }
)
"""Types of other languages, in lower case."""

_BEST = "`query map` gives a most probable world"

VALUES: Final = _each(
    {
        "True TRUE": "write `true`",
        "_": "`_` stands for anything in a tuple and is no variable: give it a name",
        "False FALSE": "write `false`",
        "None null NULL nil undefined": "there is no empty value: add a symbol for it, `{none} | T`",
        "inf Inf infinity Infinity nan NaN": "weights are finite: use `require` for what must hold",
        "argmax arg_max mpe": _BEST,
        "pi": "write `3.14159265358979`",
    }
)
"""Values of other languages."""

_EXPECTED = "the query of a number gives its mean: `query level(a)`"
_DIFFERENT = "write `alldifferent(E for x in T)`"
_COUNTED = "a formula counts as 0 or 1 in arithmetic"

FUNCTIONS: Final = _each(
    {
        "argmax arg_max mpe mode maximize maximum_a_posteriori": _BEST,
        "E Expect expect expectation expected mean Exp": _EXPECTED,
        "ifelse ite If where cond if_then_else select": IF_ELSE,
        "I Indicator indicator iverson int bool Int": _COUNTED,
        "And AND conj conjunction": "write `a & b`",
        "Or OR disj disjunction": "write `a | b`",
        "Not NOT neg": "write `!a`",
        "Xor XOR": "write `a xor b`",
        "implies Implies IMPLIES": "write `a => b`",
        "iff Iff IFF equivalent": "write `a <=> b`",
        "equals eq equal": "write `a = b`",
        "all All ForAll every": "write `forall(F for x in T)`",
        "any Any some Exists exist": "write `exists(F for x in T)`",
        "len size card cardinality": "write `count(true for x in T)`",
        "prod product": "a product is `exp(sum(log(E) for x in T))`",
        "avg average": "write `sum(E for x in T) / count(true for x in T)`",
        "Sum SUM total": "write `sum(E for x in T)`",
        "all_different allDifferent AllDifferent alldiff all_distinct distinct": _DIFFERENT,
        "range Range": "a range is `0..4`, with both ends",
        "ln Log log_e": "`log` is the natural logarithm",
        "log2 log10": "`log` is the natural logarithm: `log(x) / log(2)`",
        "sigmoid expit inv_logit logistic": "write `1 / (1 + exp(-x))`",
        "pow power Pow": "write `x ^ y`",
        "mod Mod rem": "write `x % y`",
        "div idiv trunc": "write `floor(x / y)`",
        "ceil ceiling": "write `-floor(-x)`",
        "round": "write `floor(x + 1/2)`",
        "odds": "`logit(p)` is `log(p / (1 - p))`",
    }
)
"""Functions of other languages, as they are spelt."""

PROBABILITIES: Final = frozenset({"P", "p", "Pr", "pr", "Prob", "prob", "probability", "Probability"})
"""How a probability is written elsewhere: ``P(a | b)``."""

_FUNCTION = "a function with a name is a `define`: `define f(x: T) = …`"

LEADS: Final = _each(
    {
        "exist exists some": "write `exists(F for x in T)`",
        "forall all every each": "write `forall(F for x in T)`",
        "argmax maximize minimize mpe": _BEST,
        "lambda": _FUNCTION,
    }
)
"""Words that stand before a variable elsewhere, in lower case."""

_FROM_FILES = 'types, params, relations and observations are read from files: `type Person from "people.csv"`'
_NO_FLOW = "a program is a list of statements, without loops, functions or classes"
_DECIDE = "`factor E` says what is better, and `query map` finds the best world"
_MEMBERS = "a fixed number is a `param`; an unknown with values is `random x: 0..9`"

OPENINGS: Final = _each(
    {
        "import include using library load open read": _FROM_FILES,
        "with while repeat return class module end begin then else": _NO_FLOW,
        "minimize maximize solve argmax optimize": _DECIDE,
        "int integer nat": _MEMBERS,
        "real float double vector matrix": f"a fixed number is a `param`; {DISCRETE_ONLY}",
        "lambda": _FUNCTION,
    }
)
"""Words that start statements elsewhere, in lower case."""

BLOCKS: Final = (
    "there are no blocks: every statement starts with its own word, `param` for what is given, "
    "`random` for what is unknown, `weight`, `factor` and `require` for the model"
)
