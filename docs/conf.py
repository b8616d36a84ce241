"""How Sphinx makes a site of these pages, which are plain Markdown and read as well without it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

DOCS = Path(__file__).parent
PACKAGE = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = PACKAGE["name"]
version = release = PACKAGE["version"]
extensions = ["myst_parser"]
exclude_patterns = ["editors/vscode/node_modules"]
nitpicky = True

myst_heading_anchors = 4

html_theme = "furo"
html_title = f"{project} {version}"
html_copy_source = False
pygments_style = "tango"
pygments_dark_style = "github-dark"

_SECTION = re.compile(r"^## (.+)\n((?:(?!## ).*\n?)*)", re.MULTILINE)
_FOLDER = re.compile(r"\[([^\]]+)\]\((\.\.?/[\w/-]+)\)")
_ITEM = re.compile(r"^- \[([^\]]+)\]\(([\w/-]+)\.md\)", re.MULTILINE)


def setup(app: Any) -> None:
    """Colour the blocks that are no code, and lay out the side bar."""
    for tag in ("csv", "output"):
        app.add_lexer(tag, TextLexer)
    app.connect("source-read", _navigation)
    app.connect("source-read", _without_folders)


def _navigation(app: Any, page: str, source: list[str]) -> None:
    """Make the index the side bar too: a part for each section, an entry for each item that is a link.

    A page that it does not list is a warning of Sphinx's, and so an error.
    """
    if page == "index":
        sections = _SECTION.findall(source[0])
        source[0] += "".join(_part(title, _ITEM.findall(items)) for title, items in sections)


def _without_folders(app: Any, page: str, source: list[str]) -> None:
    """Leave the words of a link to a folder of the repository, which has no page here."""
    here = (DOCS / page).parent
    source[0] = _FOLDER.sub(lambda link: link[1] if (here / link[2]).is_dir() else link[0], source[0])


def _part(title: str, entries: list[tuple[str, str]]) -> str:
    lines = "".join(f"{name} <{page}>\n" for name, page in entries)
    return f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{lines}```\n" if entries else ""
