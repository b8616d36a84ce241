"""docs/lint.md is what the catalogue says."""

from __future__ import annotations

from tests.docs.lint import PAGE, page


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.docs.lint"
