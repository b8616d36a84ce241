"""Languages of other tools that are translated to programs of plx, by the suffix of their files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from plx.formats.translated import Translated


def _mln(*arguments: object, **options: object) -> Translated:
    from plx.formats.mln import read_mln

    return read_mln(*arguments, **options)  # type: ignore[arg-type]


TRANSLATORS: Final[dict[str, Callable[..., Translated]]] = {".mln": _mln}
"""Suffix → translator: of a path, of files with evidence, and of options. A new language is one entry."""
