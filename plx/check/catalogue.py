"""The rules of `plx lint`, each with a code: what it finds, why it matters, a bad and a good program.

``plx check`` and ``plx run`` tell those with codes up to PLX199, ``plx lint`` tells all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class LintRule:
    """One kind of warning; ``bad`` and ``good`` are programs, which read ``files``: names and contents."""

    code: str
    title: str
    why: str
    bad: str
    good: str
    files: Mapping[str, str] = field(default_factory=dict)


_RULES = [
    LintRule(
        "PLX100",
        "an ignore comment that names no rule",
        "`# plx: ignore CODE` hides the warnings of one rule on its line, or on the next line where it "
        "has a line of its own. A code that there is not hides nothing.",
        "random a\nweight 1: a  # plx: ignore PLX999\nquery a\n",
        "random a\nrandom b  # plx: ignore PLX102\nweight 1: a\nquery a\n",
    ),
    LintRule(
        "PLX101",
        "a rule without instances",
        "A scope over an empty set or relation, or with a guard that is always false, has no binding, so "
        "the rule says nothing.",
        "type T = {a, b}\nrelation e(T, T) = {}\nrandom f(T)\n"
        "weight 1: f(x) => f(y) for (x, y) in e\nquery f(a)\n",
        "type T = {a, b}\nrelation e(T, T) = {(a, b)}\nrandom f(T)\n"
        "weight 1: f(x) => f(y) for (x, y) in e\nquery f(a)\n",
    ),
    LintRule(
        "PLX102",
        "an unknown that no rule mentions",
        "Without a rule or an observation all values of an unknown are equally likely, whatever else is "
        "true. Often a rule has been forgotten.",
        "random rain\nrandom wet\nweight 1: rain\nquery wet\n",
        "random rain\nrandom wet\nweight 1: rain\nweight 2: rain <=> wet\nquery wet\n",
    ),
    LintRule(
        "PLX103",
        "a variable that is bound but not used",
        "Each instance is counted: a rule over a variable that it does not mention counts once for each "
        "of its values, so its weight is multiplied.",
        "type T = {a, b}\nrandom f(T)\nweight 1: f(x) for x, y in T\nquery f(a)\n",
        "type T = {a, b}\nrandom f(T)\nweight 2: f(x) for x in T\nquery f(a)\n",
    ),
    LintRule(
        "PLX104",
        "a hard rule over pairs that x = y makes stronger",
        "A scope binds equal values too. `require f(x) | f(y) for x, y in T` has the instance `f(a) | "
        "f(a)`, so it says `f(x)` for all x.",
        "type T = {a, b, c}\nrandom f(T)\nrequire !(f(x) & f(y)) for x, y in T\nquery f(a)\n",
        "type T = {a, b, c}\nrandom f(T)\nrequire !(f(x) & f(y)) for x, y in T if x < y\nquery f(a)\n",
    ),
    LintRule(
        "PLX105",
        "a variable that hides a symbol or a fixed value",
        "A bare word is a bound variable first. Where a variable is spelt like a symbol, the symbol "
        "cannot be meant any more, unless it is in quotes.",
        "type T = {a, b}\nrandom f(T)\nweight 1: f(a) for a in T\nquery f(b)\n",
        "type T = {a, b}\nrandom f(T)\nweight 1: f(x) for x in T\nquery f(b)\n",
    ),
    LintRule(
        "PLX106",
        "`query a | b`, which is no conditional probability",
        "`|` is or. P(a | b) of textbooks is `query a given b`.",
        "random a\nrandom b\nweight 1: a => b\nquery b | a\n",
        "random a\nrandom b\nweight 1: a => b\nquery b given a\n",
    ),
    LintRule(
        "PLX107",
        "logit of a probability for a conjunction of unknowns",
        "`weight logit(p): a & b` makes the whole formula likelier and so changes the probability of a "
        "as well. A conditional probability takes two weights.",
        "random a\nrandom b\nweight logit(0.8): a & b\nquery b\n",
        "random a\nrandom b\nweight log(0.8): a & b\nweight log(1 - 0.8): a & !b\nquery b\n",
    ),
    LintRule(
        "PLX108",
        "a symbol that looks like a truth value",
        "`true` and `false` are in lower case. `True` is a name, and in a set it is a symbol.",
        "random a: {True, False}\nweight 1: a = True\nquery a\n",
        "random a\nweight 1: a\nquery a\n",
    ),
    LintRule(
        "PLX109",
        "`alldifferent` over more terms than there are values",
        "Of more terms than values some two are equal in every world, so the constraint never holds.",
        "type T = {a, b, c}\nrandom f(T): 1..2\nweight 1: alldifferent(f(x) for x in T)\nquery f(a)\n",
        "type T = {a, b, c}\nrandom f(T): 1..3\nweight 1: alldifferent(f(x) for x in T)\nquery f(a)\n",
    ),
    LintRule(
        "PLX110",
        "a learned number that no rule uses",
        "Data say nothing about a number that stands in no weight and no factor: it stays what its prior "
        "says.",
        "learn u = 0\nlearn w = 0\nrandom a\nweight w: a\nquery a\n",
        "learn w = 0\nrandom a\nweight w: a\nquery a\n",
    ),
    LintRule(
        "PLX111",
        "a first row that is read as a member",
        "The first row of a file names its columns if it calls them as the program does. Otherwise it is "
        "data, and a heading becomes one member more.",
        'type Person from "people.csv"\nrandom smokes(Person)\nweight 1: smokes(x) for x in Person\n'
        "query smokes(anna)\n",
        'type Person from "people.csv" columns (name)\nrandom smokes(Person)\n'
        "weight 1: smokes(x) for x in Person\nquery smokes(anna)\n",
        {"people.csv": "name\nanna\nbob\n"},
    ),
    LintRule(
        "PLX201",
        "a declaration that nothing uses",
        "A type, param, relation or define that no other statement mentions has no influence on any "
        "answer. It may be misspelt elsewhere, or left over.",
        "param strength = 2\nparam strenght = 3\nrandom a\nweight strength: a\nquery a\n",
        "param strength = 2\nrandom a\nweight strength: a\nquery a\n",
    ),
    LintRule(
        "PLX202",
        "a symmetric rule that counts each pair twice",
        "A rule that says the same of (x, y) and (y, x) has an instance for each of the two, and one "
        "with x = y. So it counts with twice its weight, and the instances with x = y change single "
        "unknowns.",
        "type T = {a, b, c}\nrandom f(T)\nweight 0.5: f(x) & f(y) for x, y in T\nquery f(a)\n",
        "type T = {a, b, c}\nrandom f(T)\nweight 0.5: f(x) & f(y) for x, y in T if x < y\nquery f(a)\n",
    ),
    LintRule(
        "PLX203",
        "a weight on an implication that rarely has anything to say",
        "An implication is true wherever its left side is false. If that is nearly everywhere, its "
        "weight mostly makes the left side less likely, and hardly ever the right side likelier.",
        "type Day = d1..d20\nrandom born: Day\nrandom lucky\nweight 1: born = d1 => lucky\nquery lucky\n",
        "type Day = d1..d20\nrandom born: Day\nrandom lucky\nweight 1: born = d1 & lucky\nquery lucky\n",
    ),
    LintRule(
        "PLX204",
        "a query that evidence decides",
        "What is observed, or follows from what is fixed, has the same answer whatever the rules say.",
        "random a\nrandom b\nweight 1: a <=> b\nobserve a\nquery a\n",
        "random a\nrandom b\nweight 1: a <=> b\nobserve a\nquery b\n",
    ),
    LintRule(
        "PLX205",
        "a rule that always or never holds",
        "A formula that is true in every world, or in none, adds the same to all worlds, so the rule "
        "changes no answer. So does one that observations decide.",
        "type T = {a, b}\nrandom f(T)\nweight 1: f(a) = f(a)\nweight 1: f(b)\nquery f(a) & f(b)\n",
        "type T = {a, b}\nrandom f(T)\nweight 1: f(a) = f(b)\nweight 1: f(b)\nquery f(a) & f(b)\n",
    ),
    LintRule(
        "PLX206",
        "a rule that stands twice",
        "Weights of equal rules add, so a copied line counts double.",
        "random a\nrandom b\nweight 1: a => b\nweight 1: a => b\nquery b\n",
        "random a\nrandom b\nweight 2: a => b\nquery b\n",
    ),
]

CATALOGUE: Mapping[str, LintRule] = {rule.code: rule for rule in _RULES}
"""The rules by code, in order."""
