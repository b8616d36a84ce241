"""docs/commands.md says what the commands say of themselves."""

from __future__ import annotations

from tests.docs.commands import PAGE, page


def test_the_page_is_that_of_the_commands() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it anew: python -m tests.docs.commands"
