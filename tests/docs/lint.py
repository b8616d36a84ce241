"""The page of lint, written from the catalogue: ``python -m tests.docs.lint`` writes docs/lint.md anew."""

from __future__ import annotations

from pathlib import Path

from plx.check.catalogue import CATALOGUE, LintRule

PAGE = Path(__file__).resolve().parents[2] / "docs" / "lint.md"

_HEAD = """# What plx warns of

Some programs are right, and yet say something else than their writer meant. `plx check`, `plx run` and the
others tell what is most likely a slip, with a code up to PLX199. `plx lint` tells all that this page lists:
it also grounds the program, and exits with 1 if it finds something.

```text
plx lint model.plx                    look for everything on this page
plx lint examples --format json      all programs of a folder, for other tools
plx explain PLX104                    what a code means, with a bad and a good example
```

In Python, `model.warnings` are those of `plx check`, and `model.lint()` has all. To hide a finding that is
meant, name its code in a comment on its line, or on a line of its own before it:

```plx
type Person = {anna, bob, cleo}
random smokes(Person)
# plx: ignore PLX202
weight 0.5: smokes(x) = smokes(y) for x, y in Person
random rain  # plx: ignore PLX102
query smokes(anna)
```

This page is written by `python -m tests.docs.lint`.

| code | what it finds |
| --- | --- |
"""


def page() -> str:
    """The whole page."""
    rows = "".join(f"| [{rule.code}](#{rule.code.lower()}) | {rule.title} |\n" for rule in CATALOGUE.values())
    return _HEAD + rows + "".join(map(_section, CATALOGUE.values()))


def _section(rule: LintRule) -> str:
    files = "".join(f"`{name}`:\n\n```csv {name}\n{text}```\n\n" for name, text in rule.files.items())
    return (
        f"\n## {rule.code}\n\n{rule.title[0].upper()}{rule.title[1:]}. {rule.why}\n\n{files}"
        f"Bad:\n\n```plx\n{rule.bad}```\n\nGood:\n\n```plx\n{rule.good}```\n"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
