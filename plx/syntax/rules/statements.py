"""The frame of statements: their names, and the marks that part their pieces."""

from __future__ import annotations

from plx.errors import Diagnostic
from plx.syntax.mistake import Mistake
from plx.syntax.rules.starts import draw
from plx.syntax.wording import EXAMPLES
from plx.syntax.words import FILE_WORDS


def no_name(m: Mistake) -> Diagnostic | None:
    """``type = {a}``: the declared name is missing."""
    declares = m.statement in ("TYPE", "PARAM", "RELATION", "RANDOM", "DEFINE")
    if not declares or m.at != m.start + 1 or m.kind == "STRING":
        return None
    keyword = m.words[m.start].text
    return m.says(f"a name is missing after `{keyword}`", f"for example {EXAMPLES[m.statement]}")


def type_of_values(m: Mistake) -> Diagnostic | None:
    """``param letter(P): L from "letters.csv"``: the type of the values is not declared."""
    if m.statement not in ("PARAM", "LEARN") or m.kind != "COLON" or m.open:
        return None
    if not m.before or not m.after or m.after.type != "NAME":
        return None
    message = f"a `{m.statement.lower()}` is declared without the type of its values"
    return m.says(message, f"leave out `: {m.after.text}`: values say by themselves what they are")


def no_equals(m: Mistake) -> Diagnostic | None:
    """``type T {a}`` or ``param w: 3``: the equals sign is missing."""
    if m.statement not in ("TYPE", "PARAM", "RELATION", "DEFINE") or not m.wants("EQUAL") or m.wants("AMP"):
        return None
    if not m.before or m.open:
        return None
    return m.says(f"an `=` is missing after `{m.before.text}`", f"for example {EXAMPLES[m.statement]}")


def no_domain_colon(m: Mistake) -> Diagnostic | None:
    """``random f(T) = {a}``: the values of a random function follow a colon."""
    if m.statement != "RANDOM" or not m.wants("COLON") or m.open or m.ended:
        return None
    hint = draw(m, m.line) or f"for example {EXAMPLES['RANDOM']}"
    return m.says("the values of a random function follow a `:`", hint)


def no_weight_colon(m: Mistake) -> Diagnostic | None:
    """``weight 1.2 f(x)`` and ``weight f(x)``: weight and formula are parted by a colon."""
    if m.statement != "WEIGHT" or not m.wants("COLON") or m.open or m.before is None:
        return None
    if m.ended or m.kind == "FOR":
        message = "`weight` takes a weight, a `:` and a formula"
        return m.says(message, f"for example {EXAMPLES['WEIGHT']}; a rule that always holds is a `require`")
    weight = m.words[m.start + 1].span.to(m.before.span).text
    message = f"a `:` is missing between the weight and its formula, after `{weight}`"
    return m.says(message, f"for example {EXAMPLES['WEIGHT']}")


def nothing_after_target(m: Mistake) -> Diagnostic | None:
    """``query map(f)``, ``query logz = 3``."""
    if m.before is None or m.before.type not in ("MAP", "LOGZ") or m.at != m.start + 2 or m.ended:
        return None
    hint = "write `query map`, `query map 5` or `query logz`; a name cannot be a reserved word"
    return m.says(f"`{m.before.text}` stands alone in its query", hint)


def wrong_from(m: Mistake) -> Diagnostic | None:
    """``observe f(x) from "a.csv"`` and ``random f from "a.csv"``."""
    if m.kind != "FROM":
        return None
    if m.statement == "OBSERVE":
        return m.says("a file comes after a name without arguments", 'write `observe f from "seen.csv"`')
    hint = "`type`, `param`, `relation` and `observe` read files"
    return m.says(f"a `{m.words[m.start].text}` cannot come from a file", hint)


def wrong_else(m: Mistake) -> Diagnostic | None:
    """``observe f(a) else false``, ``param w(T) = {a: 1} else 0``: neither after a file nor in braces."""
    if m.kind != "ELSE" or m.open or m.statement not in ("TYPE", "PARAM", "RELATION", "OBSERVE"):
        return None
    table = "observe f = {a: v, else: w}" if m.statement == "OBSERVE" else "param w(T) = {a: 1, else: 0}"
    return m.says("an `else` follows a file, or stands in the braces of a table", f"for example `{table}`")


def late_columns(m: Mistake) -> Diagnostic | None:
    """``from "a.csv" else 0 columns (x, y)``, ``from "a.db" columns (x) table "a"``."""
    if m.text not in FILE_WORDS or not m.has("FROM") or m.open or m.starts_line:
        return None
    if m.text == "columns":
        hint = 'for example `param w(T) from "w.csv" columns (a, b) else 0`'
        return m.says("`columns (…)` comes right after the file", hint)
    hint = 'for example `param w(T) from "w.db" table "w" columns (a, b) else 0`'
    return m.says(f"`{m.text}` comes right after the file, and once", hint)


def bare_rows(m: Mistake) -> Diagnostic | None:
    """``from "a.db" table people``."""
    if m.before is None or m.before.type not in ("TABLE", "SQL"):
        return None
    if m.before.type == "TABLE":
        return m.says(
            "the name of the table in quotes is missing after `table`", 'for example `table "people"`'
        )
    hint = 'for example `sql "select name from people"`'
    return m.says("a query of the database in quotes is missing after `sql`", hint)


def colon_too_many(m: Mistake) -> Diagnostic | None:
    """A colon in a statement that has none."""
    if m.kind != "COLON" or m.open or m.wants_operand:
        return None
    hints = {
        "FACTOR": "`factor E` takes a value alone; `weight E: F` adds E where F holds",
        "REQUIRE": "`require F` takes a formula alone, without a weight",
        "OBSERVE": "`observe f(x) = v` takes a formula",
        "QUERY": "`query Q as name` gives the answer a name",
        "WEIGHT": "a weight has one `:`; what belongs to a variable is written `for x in T`",
    }
    keyword = m.words[m.start].text
    return m.says(f"`:` does not belong here in a `{keyword}`", hints.get(m.statement))


def comma_too_many(m: Mistake) -> Diagnostic | None:
    """``query a, b``, ``require a, b``."""
    if m.kind != "COMMA" or m.open or m.statement in ("TYPE", "PARAM", "RELATION", "RANDOM", "DEFINE"):
        return None
    if m.has("FOR"):
        return None
    hint = "join formulas with `&`, or write one statement for each"
    if m.statement == "QUERY":
        hint = "write one `query` for each, or `(a, b)` for their joint distribution"
        if m.has("BAR"):
            hint = "`|` is or; conditions follow `given`: `query a given b, c`"
    return m.says(f"a `{m.words[m.start].text}` takes one thing, not a list", hint)
