"""The rules of `plx lint`: each finds its bad example, and is quiet where there is no reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import plx
from plx.check.catalogue import CATALOGUE
from plx.reading import read_program
from tests.docs.blocks import blocks

ROOT = Path(__file__).resolve().parents[2]
RULES = pytest.mark.parametrize("rule", CATALOGUE.values(), ids=lambda rule: rule.code)


def codes(text: str) -> list[str | None]:
    return [found.code for found in plx.compile(text).lint()]


@pytest.fixture(autouse=True)
def files_of_the_rule(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files that the programs of a rule read lie where they are looked for."""
    if "rule" in request.fixturenames:
        monkeypatch.chdir(tmp_path)
        for name, text in getattr(request.getfixturevalue("rule"), "files", {}).items():
            (tmp_path / name).write_text(text, encoding="utf-8")


@RULES
def test_the_bad_example_is_found_and_the_good_one_is_clean(rule) -> None:
    assert rule.code in codes(rule.bad)
    assert codes(rule.good) == []


@RULES
def test_examples_are_laid_out_well_and_run(rule) -> None:
    from plx.formatting import formatted
    from plx.source import Source

    for text in (rule.bad, rule.good):
        assert formatted(Source("example", text)) == text
        assert plx.run(text)


@RULES
def test_a_comment_hides_a_finding(rule) -> None:
    if rule.code == "PLX100":
        return
    (line,) = {found.span.line for found in plx.compile(rule.bad).lint() if found.code == rule.code}
    rows = rule.bad.splitlines()
    beside = "\n".join([*rows[: line - 1], f"{rows[line - 1]}  # plx: ignore {rule.code}", *rows[line:]])
    above = "\n".join([*rows[: line - 1], f"# plx: ignore {rule.code.lower()}, PLX100", *rows[line - 1 :]])
    other = "\n".join([*rows[: line - 1], "# plx: ignore PLX100", *rows[line - 1 :]])
    assert rule.code not in codes(beside)
    assert rule.code not in codes(above)
    assert rule.code in codes(other)


def test_a_comment_hides_warnings_of_check_too() -> None:
    assert plx.compile("random a  # plx: ignore PLX102\nrandom b\nweight 1: b").warnings == ()


def test_every_code_in_the_source_is_in_the_catalogue() -> None:
    used = {
        code
        for path in (ROOT / "plx").rglob("*.py")
        if path.name != "catalogue.py"
        for code in re.findall(r'"(PLX\d{3})"', path.read_text(encoding="utf-8"))
    }
    assert used == set(CATALOGUE)


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/**/*.plx")), ids=lambda path: path.name)
def test_examples_are_clean(path) -> None:
    assert [str(found) for found in plx.load(path).lint()] == []


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))], ids=lambda path: path.name
)
def test_documents_are_clean(path, tmp_path) -> None:
    """But for declarations that nothing uses in the page of the language, a rule of Alchemy's about facts
    alone, and what the page of lint shows."""
    meant = {
        "language.md": {"PLX102", "PLX201"},
        "language-details.md": {"PLX102", "PLX201"},
        "data.md": {"PLX102", "PLX201"},
        "from-alchemy.md": {"PLX205"},
        "lint.md": set(CATALOGUE),
    }
    allowed = meant.get(path.name, set())
    found = blocks(path.read_text(encoding="utf-8"))
    for block in found:
        if block.tag.startswith(("csv ", "text ")):
            file = tmp_path / block.tag.split()[1]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
    for block in found:
        if block.tag == "plx" and not block.text.startswith("# examples/"):  # those are clean above
            model = read_program(f"{path.name}, line {block.line}", block.text.encode(), {}, tmp_path)
            assert [str(one) for one in model.lint() if one.code not in allowed] == []


HEADER = "type T = {a, b, c}\nrandom f(T)\nrandom g(T)\nrandom n(T): 0..19\nrelation e(T, T) = {(a, b)}\n"


@pytest.mark.parametrize(
    "rule",
    [
        "weight 1: f(x) & f(y) for x, y in T if x != y",
        "weight 1: f(x) & g(y) for x, y in T",
        "weight 1: f(x) => f(y) for x, y in T",
        "weight 1: f(x) & f(y) & x != y for x, y in T",
        "weight 1: f(x) & f(y) for (x, y) in e",
        "weight 1: f(x) & g(x) => f(y) for x, y in T",
        "weight 1: e(x, y) & f(x) => n(y) = 3 for x, y in T",
        "weight 1: n(x) > 18 => f(x) for x in T",
        "weight 1: n(x) != 3 => f(x) for x in T",
        "factor 0.1 * n(x) for x in T",
    ],
)
def test_no_finding_where_there_is_no_reason(rule) -> None:
    rest = "weight 1: f(x) <=> g(x) for x in T\nweight 1: n(x) = 0 & e(a, x) | g(x) for x in T\nquery f(a)"
    assert codes(f"{HEADER}{rule}\n{rest}") == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("weight 0.1: f(x) = f(y) for x, y in T", "PLX202"),
        ("factor 0.1 * n(x) * n(y) for x, y in T", "PLX202"),
        ("weight 1: n(x) = 3 & f(x) => g(x) for x in T", "PLX203"),
        ("weight 1: n(x) in {3} => g(x) for x in T", "PLX203"),
        ("weight 1: f(x) | !f(x) for x in T", "PLX205"),
        ("observe f = {a, b, c}\nweight 1: f(x) for x in T", "PLX205"),
        ("require f(x) | !f(x) for x in T", "PLX205"),
        ("observe f = {a, b, c}\nquery f(x) for x in T", "PLX204"),
        ("observe f = {a, b, c}\nquery count(f(x) for x in T)", "PLX204"),
        ("weight 1: g(x) for x in T weight 1:g(x) for x in T", "PLX206"),
        ("define d = f(a)", "PLX201"),
        ("type S = {u, v}", "PLX201"),
    ],
)
def test_findings(text, code) -> None:
    assert code in codes(HEADER + text)


def test_no_finding_in_a_query_that_is_decided_in_part() -> None:
    assert "PLX204" not in codes(f"{HEADER}observe f(a)\nquery f(x) for x in T")
