"""``plx lsp``: the language server."""

from __future__ import annotations

import os
from importlib.util import find_spec

import typer


def lsp() -> None:
    """Serve editors: mistakes as one types, hover, definitions, references, renaming, completion, formatting.

    Editors start it and speak to it over standard input and output. It needs pygls: `pip install 'plx[lsp]'`.
    """
    if find_spec("pygls") is None:
        raise typer.BadParameter("plx lsp needs pygls: pip install 'plx[lsp]'")
    from plx.lsp.server import serve

    with os.fdopen(os.dup(0), "rb") as requests, os.fdopen(os.dup(1), "wb") as answers:
        serve(requests, answers)
