"""How kinds of words are called in messages, and how other languages spell what plx has."""

from __future__ import annotations

from collections.abc import Iterable

from plx.syntax.words import RESERVED, STATEMENTS

OPERANDS = frozenset(
    {"NAME", "NUMBER", "STRING", "TRUE", "FALSE", "LPAR", "LBRACE", "EXISTS", "FORALL", "COUNT", "SUM"}
    | {"ADD", "BANG", "NOT", "CONSTRAINT"}
)
"""The kinds of word that begin a formula or a value."""

CONNECTIVES = frozenset({"IFF", "IMPLIES", "BAR", "OR", "XOR", "AMP", "AND"})
RELATIONS = frozenset({"EQUAL", "COMPARE", "IN", "NOT"})
ARITHMETIC = frozenset({"DOTS", "ADD", "MUL", "CARET"})
OPERATORS = CONNECTIVES | RELATIONS | ARITHMETIC
"""The kinds of word that stand between two formulas or values."""

_CALLED = {
    "NAME": "a name",
    "NUMBER": "a number",
    "STRING": "a name in quotes",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "COMMA": "`,`",
    "COLON": "`:`",
    "COLUMNS": "`columns`",
    "TABLE": "`table`",
    "SQL": "`sql`",
    "TILDE": "`~`",
    "EQUAL": "`=`",
    "COMPARE": "a comparison",
    "DOTS": "`..`",
    "IFF": "`<=>`",
    "IMPLIES": "`=>`",
    "AMP": "`&`",
    "BAR": "`|`",
    "BANG": "`!`",
    "ADD": "`+` or `-`",
    "MUL": "`*`, `/` or `%`",
    "CARET": "`^`",
}
_LAST = {"an operator", "the next statement"}


def called(kind: str) -> str:
    """A kind of word as it is called in a message."""
    word = kind.lower()
    if word in STATEMENTS or kind in ("$END", "LEARN"):
        return "the next statement"
    return f"`{word}`" if word in RESERVED else _CALLED.get(kind, "something else")


def listing(expected: frozenset[str]) -> str:
    """What could come next, e.g. ``a formula or value`` or ``` `,`, `)` or an operator```."""
    kinds, items = set(expected), set()
    if OPERANDS - {"BANG", "NOT"} <= expected:
        kinds -= OPERANDS
        items.add("a formula or value")
    elif len(OPERATORS & expected) >= 2:
        kinds -= OPERATORS
        items.add("an operator")
    items |= {called(kind) for kind in kinds}
    return either(sorted(items, key=lambda item: (item in _LAST, item.strip("`").isalpha(), item)))


def either(items: Iterable[str]) -> str:
    """``a``, ``a or b``, ``a, b or c``."""
    *most, last = list(items)
    if not most:
        return last
    link = ", or " if any(" or " in item for item in (*most, last)) else " or "
    return ", ".join(most) + link + last


EXAMPLES = {
    "TYPE": "`type Area = {theory, systems}`",
    "PARAM": "`param w = 1.5`",
    "RELATION": "`relation friends(Person, Person) = {(anna, bob)}`",
    "RANDOM": "`random grade(s: Student): {pass, fail}`, `random rain ~ 0.2`",
    "DEFINE": "`define happy(x: Person) = likes(x, x)`",
    "LEARN": "`learn effect = 0.5 ~ normal(0, 1)`",
    "WEIGHT": "`weight 1.2: smokes(x) for x in Person`",
    "FACTOR": "`factor -0.3 * level(x) for x in Person`",
    "REQUIRE": "`require smokes(x) | rests(x) for x in Person`",
    "OBSERVE": "`observe smokes(anna)`",
    "QUERY": "`query smokes(bob) given smokes(anna)`",
}
"""A statement of each kind."""

MARKS = {
    ":=": "write `=`",
    "===": "write `=`",
    "&&": "write `&` or `and`",
    "||": "write `|` or `or`",
    "->": "write `=>` for “implies”",
    "==>": "write `=>` for “implies”",
    "-->": "write `=>` for “implies”",
    "<->": "write `<=>` for “if and only if”",
    "<==>": "write `<=>` for “if and only if”",
    "<=>>": "write `<=>` for “if and only if”",
    "<>": "write `!=` for “differs”",
    "!==": "write `!=` for “differs”",
    "=!": "write `!=` for “differs”; a negated formula after `=` needs parentheses",
    "=<": "write `<=`",
    "**": "write `^` for a power",
    "//": "a comment starts with `#`; division is `/`, its whole part `floor(a / b)`",
    "/*": "a comment starts with `#` and ends with its line",
    "*/": "a comment starts with `#` and ends with its line",
    "%%": "a comment starts with `#`",
    "...": "write `..` between the ends of a range",
    "..=": "write `..`; a range has both of its ends",
    "..<": "write `..`; a range has both of its ends",
    "/\\": "write `&` or `and`",
    "\\/": "write `|` or `or`",
    "^^": "write one `^` for a power, `&` for “and”",
    "::": "write one `:`",
    ":-": "write `=>`, with the condition before it: `B => A` for “A if B”",
    "=:=": "write `=`",
    "\\=": "write `!=` for “differs”",
    "=\\=": "write `!=` for “differs”",
    "\\+": "write `!` or `not`",
    ",,": "one comma is enough",
}
"""Marks of other languages → what to write instead."""

_AND, _OR, _NOT = "write `&` or `and`", "write `|` or `or`", "write `!` or `not`"
_IF, _IFF = "write `=>` for “implies”", "write `<=>` for “if and only if”"
_QUOTE = 'a name with other characters is written in double quotes: `"New York"`'

CHARACTERS = {
    "[": "a set is written in braces, `{a, b}`, and arguments in parentheses, `f(a, b)`",
    "]": "a set is written in braces, `{a, b}`, and arguments in parentheses, `f(a, b)`",
    "'": _QUOTE,
    "`": _QUOTE,
    ";": "leave it out: the next reserved word starts the next statement",
    ".": "leave it out: a statement has no full stop; a rule that always holds is a `require`",
    "~": _NOT,
    "¬": _NOT,
    "∧": _AND,
    "∨": _OR,
    "⊕": "write `xor`",
    "⊻": "write `xor`",
    "→": _IF,
    "⇒": _IF,
    "⟹": _IF,
    "↔": _IFF,
    "⇔": _IFF,
    "≡": _IFF,
    "≠": "write `!=`",
    "≤": "write `<=`",
    "≥": "write `>=`",
    "∈": "write `in`",
    "∉": "write `not in`",
    "∀": "write `forall(F for x in T)`",
    "∃": "write `exists(F for x in T)`",
    "∑": "write `sum(E for x in T)`",
    "∪": "write `|`",
    "×": "write `*`",
    "·": "write `*`",
    "÷": "write `/`",
    "−": "write a plain `-`",
    "–": "write a plain `-`",
    "—": "write a plain `-`",
    "…": "write `..`",
    "∞": "a weight is finite; a rule that always holds is a `require`",
    "√": "write `sqrt(x)`",
    "“": 'write plain double quotes: `"`',
    "”": 'write plain double quotes: `"`',
    "„": 'write plain double quotes: `"`',
    "«": 'write plain double quotes: `"`',
    "»": 'write plain double quotes: `"`',
    "‘": _QUOTE,
    "’": _QUOTE,
    "，": "write a plain `,`",
    "、": "write a plain `,`",
    "：": "write a plain `:`",
    "；": "leave it out: the next reserved word starts the next statement",
    "（": "write a plain `(`",
    "）": "write a plain `)`",
    "｛": "write a plain `{`",
    "｝": "write a plain `}`",
    "＝": "write a plain `=`",
    "。": "leave it out: a statement has no full stop",
    "?": "a variable is a plain name that a `for` binds",
    "$": "a variable is a plain name that a `for` binds",
    "@": "a name has letters, digits, `_` and primes",
    "\\": "`\\` stands only inside quotes",
}
"""Characters that start no word → what to write instead."""

WORDS = {
    "implies": "write `=>`",
    "iff": "write `<=>`",
    "is": "write `=`",
    "equals": "write `=`",
    "where": "write `if` after the bindings of a `for`",
    "when": "write `if` after the bindings of a `for`",
    "with": "write `if` after the bindings of a `for`",
    "such": "write `if` after the bindings of a `for`",
    "then": "write `A => B` for “if A then B”",
    "unless": "write `!A => B`",
    "v": "write `|` or `or`",
    "mod": "write `%`",
    "to": "write `..`",
    "union": "write `|`",
    "contains": "write `x in S`",
}
"""Words of other languages that stand between two formulas → what to write instead."""

STARTS = {
    "domain": "type",
    "enum": "type",
    "sort": "type",
    "set": "type",
    "const": "param",
    "let": "param",
    "data": "param",
    "parameter": "param",
    "predicate": "random",
    "variable": "random",
    "var": "random",
    "bool": "random",
    "boolean": "random",
    "unknown": "random",
    "fact": "relation",
    "facts": "relation",
    "table": "relation",
    "function": "define",
    "def": "define",
    "macro": "define",
    "rule": "weight",
    "formula": "weight",
    "potential": "factor",
    "constraint": "require",
    "assert": "require",
    "hard": "require",
    "must": "require",
    "evidence": "observe",
    "condition": "observe",
    "assume": "observe",
    "ask": "query",
    "print": "query",
    "show": "query",
    "infer": "query",
    "probability": "query",
}
"""How other languages start a statement → how plx does."""
